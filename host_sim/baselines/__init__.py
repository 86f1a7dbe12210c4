"""Baselines for AdaMB: published learners, each in the leanest layout it can run in.

Baselines compute with doubles; their memory is counted as the 16-bit numbers a device would keep, so a byte
count is a lower bound for them and a comparison at equal bytes leans their way. Every baseline takes `bonus`
(its one exploration constant c, tuned per problem in the literature), `size` and a byte budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.host_sim._sim import ffi
from adamb.host_sim.agents import Agent, Shape
from adamb.host_sim.compiled import CompiledLearners
from adamb.host_sim.parameter import Parameter

HEADER_BYTES = 16
"""Sizes and constants (8), the random state (4), the top of the pool and its free list (4)."""

MOST_DIMENSIONS = 3
MOST_CELLS = 1 << 22
"""More table cells per learner than this are a typing error, not an experiment."""

ON_OFF = ("off", "on")


def bonus_parameter(default: float) -> Parameter:
    """The exploration constant; `auto` is the baseline's own default."""
    return Parameter(default, "float", "exploration constant c of the bonus c/√n", 0, 100, ("auto",))


class Baseline(Agent):
    """A published learner, for as many dimensions as its C takes."""

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(shape, budget_bytes=budget_bytes, **options)
        for field, value in (("d_s", self.d_s), ("d_a", self.d_a)):
            if not 1 <= value <= MOST_DIMENSIONS:
                raise InputError(field, value, f"{self.name} takes 1 to {MOST_DIMENSIONS} dimensions")

    def describe(self) -> dict[str, Any]:
        return {"mode": self.name, **self.options}


NET = Parameter("centres", "str", "points: centres of cells, or multiples of 1/size", words=("centres", "multiples"))


class TableBaseline(CompiledLearners, Baseline):
    """A baseline with a table whose cells per dimension are the option `size`, or follow from the budget.

    With `net=multiples` its points are 0, 1/size, 2/size, … as in the program of the AdaMB paper, and a state
    stands for the nearest: the same cells, half a cell to the left, the last one wider. A subclass chooses
    `size`.
    """

    size: int

    def _make(self, config: Any) -> None:
        self.offset, self.action_offset = self._offset(self.size), self._offset(self._size_a(self.size))
        super()._make(config)

    def _offset(self, size: int) -> float:
        return 0.5 / size if self.options.get("net") == "multiples" else 0.0

    def _size_a(self, size: int) -> int:
        return self.options["actions"] or size

    def _states(self, size: int) -> int:
        return size**self.d_s

    def _pairs(self, size: int) -> int:
        """Pairs of a state and an action in the table of a step."""
        return self._states(size) * self._size_a(size) ** self.d_a

    def _choose_size(self, bytes_of: Callable[[int], int], contributor: str) -> int:
        size = largest_size(
            bytes_of,
            given=self.options["size"],
            default=net_size(self.episodes, self.horizon, self.d_s + self.d_a),
            budget=self.budget_bytes,
            contributor=contributor,
        )
        self.options["size"] = size
        check_cells(self.name, self.horizon * self._pairs(size))
        return size


def memory(array: np.ndarray) -> Any:
    """A pointer to numbers that the C side changes; valid while `array` lives."""
    return ffi.from_buffer("double[]", array)


def net_size(episodes: int, horizon: int, d: int) -> int:
    """Cells per dimension that balance the grid's error against its learning time: (K·H)^(1/(d+2))."""
    return max(2, math.ceil((episodes * horizon) ** (1 / (d + 2)) - 1e-9))


def largest_size(
    bytes_of: Callable[[int], int], *, given: int | None, default: int, budget: int | None, contributor: str
) -> int:
    """The size that was asked for, or the largest up to the default that fits the budget.

    A finer net than the default only learns slower, so bytes to spare are not spent on one.
    """
    if given is not None:
        if budget is not None and bytes_of(given) > budget:
            raise BudgetExceeded(bytes_of(given), budget, contributor)
        return given
    size = default
    while budget is not None and bytes_of(size) > budget:
        size -= 1
        if size < 1:
            raise BudgetExceeded(bytes_of(1), budget, contributor)
    return size


def check_cells(name: str, cells: int) -> None:
    """Refuse tables that no constrained device and few hosts could hold."""
    if cells > MOST_CELLS:
        raise InputError("size", cells, f"{name} would need more than {MOST_CELLS} table cells per learner")
