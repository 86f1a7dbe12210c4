"""Worst cases: the closed forms of the paper, exact splits and leaves, upper bounds on units and bytes."""
