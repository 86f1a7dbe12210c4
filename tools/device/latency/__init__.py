"""Costs of act and observe on a target, call by call: `meters` counts, `bounds` bounds, `report` makes the figures."""
