"""SARSA on tile coding: the learner inside the first self-optimising memory controllers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape, register_agent
from adamb.host_sim.baselines import HEADER_BYTES, ON_OFF, Baseline, check_cells
from adamb.host_sim.compiled import CompiledLearners, as_doubles
from adamb.host_sim.parameter import Parameter

CANDIDATES = {1: 32, 2: 12, 3: 6}
"""Actions per dimension that are compared; they cost time, not bytes."""


class TileSarsa(CompiledLearners, Baseline):
    """Shifted tilings of state and action whose weights (2 bytes) add up to Q, one table per step.

    Tiles that do not fit the budget share weights by hashing, as the controllers in hardware do. `bonus` is
    the optimism of the first values: 1 promises the largest possible return everywhere, 0 nothing.
    `share=on` is what the controllers do that have no episodes: one table, and a discounted return.
    """

    name = "cmac"
    c_name = "baselines_cmac"
    options_known: ClassVar = {
        "bonus": Parameter(0.7, "float", "first value as a share of the largest return", 0, 100, ("auto",)),
        "size": Parameter(8, "int", "tiles per dimension", 1, 1024),
        "tilings": Parameter(4, "int", "how many shifted tilings", 1, 64),
        "actions": Parameter(None, "int", "candidate actions per dimension", 1, 1024),
        "rate": Parameter(0.6, "float", "step size", 1e-6, 1),
        "epsilon": Parameter(0.01, "float", "share of random actions", 0, 1),
        "share": Parameter("off", "str", "one table that does not know the step", words=ON_OFF),
        "discount": Parameter(0.8, "float", "of the shared table's return without end", 0, 0.999),
    }

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        options = self.options
        tiles = (options["size"] + 1) ** (self.d_s + self.d_a)
        shared = options["share"] == "on"
        self._rows = (1 if shared else self.horizon) * options["tilings"]
        self.weights = tiles
        if self.budget_bytes is not None:
            self.weights = min(tiles, (self.budget_bytes - HEADER_BYTES) // (2 * self._rows))
        if self.weights < 1:
            required = HEADER_BYTES + 2 * self._rows
            raise BudgetExceeded(required, self.budget_bytes or 0, "one weight per tiling and step")
        check_cells(self.name, self._rows * self.weights)
        config = ffi.new("baselines_cmac_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, self.d_s, self.d_a, self.horizon
        config.tilings, config.size, config.weights = options["tilings"], options["size"], self.weights
        config.actions = options["actions"] or CANDIDATES[self.d_a]
        config.share, config.discount = shared, options["discount"]
        config.rate, config.epsilon, config.start = options["rate"], options["epsilon"], options["bonus"]
        self._make(config)

    def bytes_used(self) -> np.ndarray:
        return np.full(self.n, HEADER_BYTES + 2 * self._rows * self.weights, dtype=np.int64)

    def stats(self) -> dict[str, np.ndarray]:
        return {"leaves": np.full(self.n, self._rows * self.weights)}

    def value(self, learner: int, h: int, state: np.ndarray, action: np.ndarray) -> float:
        """Q of one learner."""
        return lib.baselines_cmac_value(self._learners, learner, h, as_doubles(state), as_doubles(action))


register_agent(TileSarsa.name, TileSarsa)
