"""Bytes before and after a run: boards, worst cases, an account of a block, the life of a battery.

    >>> from adamb.budgets import PlannedJob, plan
    >>> plan(PlannedJob(d_s=1, d_a=1, horizon=5, episodes=2000), budget_bytes="4KiB").verdict
    'fits until an episode, then reclaims'

Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adamb.firmware_model.host import exports

if TYPE_CHECKING:
    from adamb.budgets.boards import Board, board_names, load_board
    from adamb.budgets.bounds.exact import ForestBound, TreeBound
    from adamb.budgets.bounds.layout import Layout
    from adamb.budgets.bounds.paper import partition_size, storage
    from adamb.budgets.bounds.thresholds import SplitRule, split_rule
    from adamb.budgets.bounds.units import ControllerBound
    from adamb.budgets.ledger import DamagedBlock, Ledger, read_ledger
    from adamb.budgets.planner import Plan, PlannedJob, plan, smallest_board

__all__ = [
    "Board", "ControllerBound", "DamagedBlock", "ForestBound", "Layout", "Ledger", "Plan", "PlannedJob", "SplitRule",
    "TreeBound", "board_names", "load_board", "partition_size", "plan", "read_ledger", "smallest_board", "split_rule",
    "storage",
]  # fmt: skip

__getattr__, __dir__ = exports(
    __name__,
    {
        "boards": ("Board", "board_names", "load_board"),
        "bounds.exact": ("ForestBound", "TreeBound"),
        "bounds.layout": ("Layout",),
        "bounds.paper": ("partition_size", "storage"),
        "bounds.thresholds": ("SplitRule", "split_rule"),
        "bounds.units": ("ControllerBound",),
        "ledger": ("DamagedBlock", "Ledger", "read_ledger"),
        "planner": ("PlannedJob", "Plan", "plan", "smallest_board"),
    },
)
