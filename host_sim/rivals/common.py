"""What all rivals share: checked options, sizes that follow from a byte budget, the compiled loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import AGENT_STREAM, Agent, unknown_name
from adamb.host_sim.parameter import Parameter

__all__ = ["HEADER_BYTES", "ON_OFF", "Rival", "bonus_parameter", "ffi", "largest_size", "lib", "net_size"]

HEADER_BYTES = 16
"""Sizes and constants (8), the random state (4), the top of the pool and its free list (4)."""

MOST_DIMENSIONS = 3
MOST_CELLS = 1 << 22
"""More table cells per learner than this are a typing error, not an experiment."""

ON_OFF = ("off", "on")


def bonus_parameter(default: float) -> Parameter:
    """The exploration constant; `auto` is the rival's own default."""
    return Parameter(default, "float", "exploration constant c of the bonus c/√n", 0, 100, ("auto",))


class Rival(Agent):
    """An agent whose options are declared as data and whose learners live in compiled memory."""

    options_known: ClassVar[Mapping[str, Parameter]] = {}

    def __init__(
        self,
        *,
        d_s: int,
        d_a: int,
        horizon: int,
        seeds: Sequence[int],
        episodes: int,
        budget_bytes: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            d_s=d_s, d_a=d_a, horizon=horizon, seeds=seeds, episodes=episodes, budget_bytes=budget_bytes
        )
        for field, value in (("d_s", d_s), ("d_a", d_a)):
            if not 1 <= value <= MOST_DIMENSIONS:
                raise InputError(field, value, f"{self.name} takes 1 to {MOST_DIMENSIONS} dimensions")
        if budget_bytes is not None and budget_bytes < 1:
            raise InputError("budget_bytes", budget_bytes, "must be at least 1")
        self.options = self._parse(options)
        self._seed_words = np.array([_seed_word(seed) for seed in self.seeds], dtype=np.uint64)

    def _parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        for option in given:
            if option not in self.options_known:
                raise unknown_name(f"option of agent {self.name}", option, self.options_known)
        parsed = {}
        for option, parameter in self.options_known.items():
            value = given.get(option, parameter.default)
            parsed[option] = None if value is None else parameter.parse(option, value)
            if parsed[option] == "auto":
                parsed[option] = parameter.default
        return parsed

    def _seeds_pointer(self) -> Any:
        return ffi.from_buffer("uint64_t[]", self._seed_words)

    def _out(self) -> tuple[np.ndarray, Any]:
        """A fresh array for actions: the caller may keep it."""
        actions = np.empty((self.n, self.d_a))
        return actions, ffi.from_buffer("double[]", actions)

    def describe(self) -> dict[str, Any]:
        return {"mode": self.name, **self.options}


def _seed_word(seed: int) -> np.uint64:
    return np.random.SeedSequence([seed, AGENT_STREAM]).generate_state(1, np.uint64)[0]


def doubles(array: np.ndarray) -> Any:
    """A pointer to numbers the C side only reads; valid while `array` lives."""
    return ffi.from_buffer("double[]", np.ascontiguousarray(array, dtype=np.float64))


def owned(pointer: Any, free: Callable[[Any], None]) -> Any:
    """A handle that frees itself; C gives NULL when the host has no memory left."""
    if pointer == ffi.NULL:
        raise MemoryError("the host has not enough memory for these learners")
    return ffi.gc(pointer, free)


def net_size(episodes: int, horizon: int, d: int) -> int:
    """Cells per dimension that balance the grid's error against its learning time: (K·H)^(1/(d+2))."""
    return max(2, math.ceil((episodes * horizon) ** (1 / (d + 2)) - 1e-9))


def largest_size(
    bytes_of: Callable[[int], int],
    *,
    given: int | None,
    default: int,
    budget: int | None,
    contributor: str,
    least: int = 1,
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
        if size < least:
            raise BudgetExceeded(bytes_of(least), budget, contributor)
    return size


def check_cells(name: str, cells: int) -> None:
    """Refuse tables that no constrained device and few hosts could hold."""
    if cells > MOST_CELLS:
        raise InputError("size", cells, f"{name} would need more than {MOST_CELLS} table cells per learner")
