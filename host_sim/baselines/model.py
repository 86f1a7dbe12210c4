"""Baselines with a model on finitely many states: UCBVI on a grid, Kernel-UCBVI on representative states."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape, register_agent
from adamb.host_sim.baselines import HEADER_BYTES, NET, ON_OFF, TableBaseline, bonus_parameter
from adamb.host_sim.parameter import Parameter

COUNT_MAX = 255
SPARE_SHARE = 4
"""Of a budget, sparse counts keep one part in this many for second and further next states."""
PACKING = 0.75
"""Points dropped at random into the unit interval, each at least 0.75/m from all others, number about m when
no more fit; so this distance uses the representatives that are paid for and still covers the space."""


class ModelBaseline(TableBaseline):
    """Counts of next states, mean rewards, optimistic values on finitely many states and actions.

    A pair of state and action keeps Q, n and the mean reward (2 bytes each), and its next states. `dense`
    counts are one byte for every state. `sparse` counts are entries of state, count and link (4 bytes; 6
    above 256 states), the first inside the pair, the others in a pool; when that is full, a next state goes
    to the nearest entry of its pair. V is the largest Q and needs no bytes; the last step has no next state.
    """

    c_name = "baselines_model"
    representatives = False
    prior = 0.0

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        self.shared = self.options["share"] == "on"
        self.sparse = self.options["counts"] == "sparse"
        bytes_of = self.table_bytes if self.options["size"] else self._comfortable_bytes
        self.size = self._choose_size(bytes_of, "the table of counts")
        self._make(self._config())

    def _config(self) -> Any:
        config = ffi.new("baselines_model_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, self.d_s, self.d_a, self.horizon
        config.size_s = 0 if self.representatives else self.size
        config.states, config.size_a = self._states(self.size), self._size_a(self.size)
        config.share, config.full = self.shared, self.options["planning"] == "full"
        config.monotone = self.options["monotone"] == "on"
        config.spare, config.count_max = self._spare(), COUNT_MAX
        config.bonus, config.prior = self.options["bonus"], self.prior
        config.bandwidth, config.apart = self._bandwidth(), PACKING / self.size
        return config

    def _comfortable_bytes(self, size: int) -> int:
        """The table and, for sparse counts, room for second next states."""
        table = self.table_bytes(size)
        return table + table // (SPARE_SHARE - 1) if self.sparse else table

    def _bandwidth(self) -> float:
        return 0.0

    def _spare(self) -> int:
        if not self.sparse or self.budget_bytes is None:
            return -1
        return (self.budget_bytes - self.table_bytes(self.size)) // self._entry_bytes(self.size)

    def _entry_bytes(self, size: int) -> int:
        return 4 if self._states(size) <= 256 else 6

    def table_bytes(self, size: int) -> int:
        """Bytes of a learner before the pool of further sparse entries."""
        row = self._entry_bytes(size) if self.sparse else self._states(size)
        values, models = self.horizon, 1 if self.shared else self.horizon
        rows = 1 if self.shared else self.horizon - 1
        per_pair = 2 * values + 4 * models + rows * row
        positions = 2 * self.d_s * self._states(size) if self.representatives else 0
        return HEADER_BYTES + positions + self._pairs(size) * per_pair

    def _counters(self) -> np.ndarray:
        counters = np.zeros((self.n, 5), dtype=np.int64)
        lib.baselines_model_counters(self._learners, ffi.from_buffer("int64_t[]", counters))
        return counters

    def bytes_used(self) -> np.ndarray:
        table = np.full(self.n, self.table_bytes(self.size), dtype=np.int64)
        if not self.sparse:
            return table
        counters = self._counters()
        return table + self._entry_bytes(self.size) * (counters[:, 2] - counters[:, 4])

    def stats(self) -> dict[str, np.ndarray]:
        counters = self._counters()
        return {
            "leaves": np.full(self.n, self.horizon * self._pairs(self.size)),
            "states": counters[:, 0],
            "visited_cells": counters[:, 1],
            "entries": counters[:, 2],
            "saturations": counters[:, 3],
        }

    def played(self, learner: int, h: int) -> tuple[float, int, float]:
        """Value, count and mean reward of the pair that was last played at step h."""
        pair = ffi.new("double[3]")
        lib.baselines_model_played(self._learners, learner, h, pair)
        return pair[0], int(pair[1]), pair[2]


def model_options(bonus: float, size: str, planning: str) -> dict[str, Parameter]:
    return {
        "bonus": bonus_parameter(bonus),
        "size": Parameter(None, "int", size, 1, 1024),
        "actions": Parameter(None, "int", "actions per dimension where it differs", 1, 1024),
        "planning": Parameter(planning, "str", "when values are renewed", words=("one-step", "full")),
        "counts": Parameter("dense", "str", "how next states are kept", words=("dense", "sparse")),
        "monotone": Parameter("on", "str", "values only decrease, as in the paper", words=ON_OFF),
        "share": Parameter("off", "str", "one model for all steps", words=ON_OFF),
    }


class GridUCBVI(ModelBaseline):
    """Azar, Osband, Munos (2017) on a uniform grid, as the AdaMB paper compares with."""

    name = "epsmb"
    options_known: ClassVar = {
        **model_options(0.1, "cells per dimension; else (K H)^(1/(d+2)) or what fits", "one-step"),
        "net": NET,
    }


class KernelUCBVI(ModelBaseline):
    """Domingues, Ménard, Pirotta, Kaufmann, Valko (2020), finitely many actions, a kernel over states.

    Bounded memory by representative states: a state farther than 0.75/size from all others becomes one
    while there is room, and stands for its neighbourhood. Counts are kept unsmoothed and smoothed when
    planning, which gives every representative the samples taken before it existed. `planning=one-step` is
    the paper's Greedy-Kernel-UCBVI.
    """

    name = "kernel-ucbvi"
    representatives = True
    prior = 0.01
    options_known: ClassVar = {
        **model_options(0.1, "at most size^d_s representatives, 0.75/size apart", "one-step"),
        "bandwidth": Parameter(None, "float", "reach of the kernel; 1.5/size unless given", 1e-4, 10),
    }

    def _bandwidth(self) -> float:
        return self.options["bandwidth"] or 1.5 / self.size


register_agent(GridUCBVI.name, GridUCBVI)
register_agent(KernelUCBVI.name, KernelUCBVI)
