"""What all rivals share: checked options, sizes that follow from a byte budget, the compiled loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agent import AGENT_STREAM, Agent, CompiledAgent, Shape
from adamb.host_sim.parameter import Parameter

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
    """An agent whose learners live in compiled memory."""

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(shape, budget_bytes=budget_bytes, **options)
        for field, value in (("d_s", self.d_s), ("d_a", self.d_a)):
            if not 1 <= value <= MOST_DIMENSIONS:
                raise InputError(field, value, f"{self.name} takes 1 to {MOST_DIMENSIONS} dimensions")
        self._seed_words = np.array([_seed_word(seed) for seed in self.seeds], dtype=np.uint64)

    def _seeds_pointer(self) -> Any:
        return ffi.from_buffer("uint64_t[]", self._seed_words)

    def _out(self) -> tuple[np.ndarray, Any]:
        """A fresh array for actions: the caller may keep it."""
        actions = np.empty((self.n, self.d_a))
        return actions, ffi.from_buffer("double[]", actions)

    def describe(self) -> dict[str, Any]:
        return {"mode": self.name, **self.options}


NET = Parameter(
    "centres", "str", "points: centres of cells, or multiples of 1/size", words=("centres", "multiples")
)


class TableRival(Rival):
    """A rival with a table whose cells per dimension are the option `size`, or follow from the budget.

    With `net=multiples` its points are 0, 1/size, 2/size, … as in the program of the AdaMB paper, and a state
    stands for the nearest: the same cells, half a cell to the left, the last one wider. `c_name` is what the
    names of the C functions begin with; a subclass chooses `size` and hands its configuration to `_make`.
    """

    c_name = ""
    size: int

    def _make(self, config: Any) -> None:
        self.offset, self.action_offset = self._offset(self.size), self._offset(self._size_a(self.size))
        new, free = getattr(lib, f"{self.c_name}_new"), getattr(lib, f"{self.c_name}_free")
        self._table = owned(new(config, self._seeds_pointer()), free)

    def _offset(self, size: int) -> float:
        return 0.5 / size if self.options.get("net") == "multiples" else 0.0

    def _size_a(self, size: int) -> int:
        return self.options["actions"] or size

    def _states(self, size: int) -> int:
        return size**self.d_s

    def _pairs(self, size: int) -> int:
        """Pairs of a state and an action in the table of a step."""
        return self._states(size) * self._size_a(size) ** self.d_a

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        actions, pointer = self._out()
        call = getattr(lib, f"{self.c_name}_act")
        call(self._table, 0, self.n, h, doubles(states + self.offset), pointer)
        return actions - self.action_offset

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        call = getattr(lib, f"{self.c_name}_observe")
        if call(self._table, 0, self.n, h, doubles(rewards), doubles(next_states + self.offset)) < 0:
            raise MemoryError("the host has not enough memory for the counts")

    def _compiled(self) -> CompiledAgent:
        offsets = {"offset": self.offset, "action_offset": self.action_offset}
        return CompiledAgent.of(self.c_name, self._table, self.n, **offsets)

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


def _seed_word(seed: int) -> np.uint64:
    return np.random.SeedSequence([seed, AGENT_STREAM]).generate_state(1, np.uint64)[0]


def doubles(array: np.ndarray) -> Any:
    """A pointer to numbers the C side only reads; valid while `array` lives."""
    return ffi.from_buffer("double[]", np.ascontiguousarray(array, dtype=np.float64))


def memory(array: np.ndarray) -> Any:
    """A pointer to numbers that the C side changes; valid while `array` lives."""
    return ffi.from_buffer("double[]", array)


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
