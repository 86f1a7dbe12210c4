"""Bytes before and after a run: sizes, boards, options, worst cases, and an account of a block.

    >>> from adamb.budgets import PlannedJob, plan
    >>> plan(PlannedJob(d_s=1, d_a=1, horizon=5, episodes=2000), budget_bytes="4KiB").verdict
    'fits until an episode, then reclaims'

Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adamb.budgets.lazy import exports

if TYPE_CHECKING:
    from adamb.budgets.boards import Board, board_names, load_board
    from adamb.budgets.bounds.exact import ForestBound, TreeBound
    from adamb.budgets.bounds.layout import Layout
    from adamb.budgets.bounds.paper import partition_size, storage
    from adamb.budgets.bounds.units import ControllerBound
    from adamb.budgets.controller import OPTIONS, ControllerConfig, Option, block_words, make_config
    from adamb.budgets.errors import AdambError, BudgetExceeded, InputError
    from adamb.budgets.ledger import DamagedBlock, Ledger, read_ledger
    from adamb.budgets.planner import Plan, PlannedJob, plan, smallest_board
    from adamb.budgets.sizes import format_bytes, parse_size
    from adamb.budgets.thresholds import SplitRule, split_rule, threshold

__all__ = [
    "OPTIONS",
    "AdambError",
    "Board",
    "BudgetExceeded",
    "ControllerBound",
    "ControllerConfig",
    "DamagedBlock",
    "ForestBound",
    "InputError",
    "Layout",
    "Ledger",
    "Option",
    "Plan",
    "PlannedJob",
    "SplitRule",
    "TreeBound",
    "block_words",
    "board_names",
    "format_bytes",
    "load_board",
    "make_config",
    "parse_size",
    "partition_size",
    "plan",
    "read_ledger",
    "smallest_board",
    "split_rule",
    "storage",
    "threshold",
]  # fmt: skip

__getattr__, __dir__ = exports(
    __name__,
    {
        "boards": ("Board", "board_names", "load_board"),
        "bounds.exact": ("ForestBound", "TreeBound"),
        "bounds.layout": ("Layout",),
        "bounds.paper": ("partition_size", "storage"),
        "bounds.units": ("ControllerBound",),
        "controller": ("OPTIONS", "ControllerConfig", "Option", "block_words", "make_config"),
        "errors": ("AdambError", "BudgetExceeded", "InputError"),
        "ledger": ("DamagedBlock", "Ledger", "read_ledger"),
        "planner": ("PlannedJob", "Plan", "plan", "smallest_board"),
        "sizes": ("format_bytes", "parse_size"),
        "thresholds": ("SplitRule", "split_rule", "threshold"),
    },
)
