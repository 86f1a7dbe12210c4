"""Net-based Q-learning: what a uniform grid can do without a model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape, register_agent
from adamb.host_sim.baselines import HEADER_BYTES, NET, ON_OFF, TableBaseline, bonus_parameter
from adamb.host_sim.parameter import Parameter


class NetQLearning(TableBaseline):
    """Song, Sun (2019): optimistic Q-learning where a state stands for the nearest point of a net.

    A cell is a value and a count, 4 bytes; with `share=on` a count and one value per step.
    """

    name = "epsql"
    c_name = "baselines_grid"
    options_known: ClassVar = {
        "bonus": bonus_parameter(0.1),
        "size": Parameter(None, "int", "cells per dimension; else (K H)^(1/(d+2)) or what fits", 1, 1024),
        "actions": Parameter(None, "int", "cells per action dimension where it differs", 1, 1024),
        "share": Parameter("off", "str", "one count for all steps, samples update every step", words=ON_OFF),
        "net": NET,
    }

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        self.size = self._choose_size(self.table_bytes, "the table of values")
        config = ffi.new("baselines_grid_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, self.d_s, self.d_a, self.horizon
        config.size_s, config.size_a = self.size, self._size_a(self.size)
        config.share, config.bonus = self.options["share"] == "on", self.options["bonus"]
        self._make(config)

    def table_bytes(self, size: int) -> int:
        """Bytes of a learner with `size` cells per dimension."""
        shared = self.options["share"] == "on"
        per_pair = 2 * self.horizon + 2 if shared else 4 * self.horizon
        return HEADER_BYTES + self._pairs(size) * per_pair

    def bytes_used(self) -> np.ndarray:
        return np.full(self.n, self.table_bytes(self.size), dtype=np.int64)

    def stats(self) -> dict[str, np.ndarray]:
        visited = np.zeros(self.n, dtype=np.int64)
        lib.baselines_grid_visited(self._learners, ffi.from_buffer("int64_t[]", visited))
        return {"leaves": np.full(self.n, self.horizon * self._pairs(self.size)), "visited_cells": visited}

    def played(self, learner: int, h: int) -> tuple[float, int]:
        """Value and count of the cell that was last played at step h."""
        cell = ffi.new("double[2]")
        lib.baselines_grid_played(self._learners, learner, h, cell)
        return cell[0], int(cell[1])


register_agent(NetQLearning.name, NetQLearning)
