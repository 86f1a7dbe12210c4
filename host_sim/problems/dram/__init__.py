"""DRAM controllers: formulas, duties that need planning, a simulated channel."""
