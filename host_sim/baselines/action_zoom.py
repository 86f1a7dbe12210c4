"""The adaptive bandit: one held action per episode, found by zooming into the action space alone."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape, register_agent
from adamb.host_sim.baselines import HEADER_BYTES, bonus_parameter, memory
from adamb.host_sim.baselines.tree import PooledTree
from adamb.host_sim.parameter import Parameter

MOST_NODES = 1 << 20


class ActionZooming(PooledTree):
    """Kleinberg, Slivkins, Upfal (2008) on dyadic cells of the action space, blind to state and step.

    An action is played for a whole episode and credited with the return per step. What this reaches is what
    the best fixed action is worth, so only a learner above it shows that state pays.
    """

    name = "bandit-zoom"
    options_known: ClassVar = {
        "bonus": bonus_parameter(0.1),
        "size": Parameter(None, "int", "most leaves; without it the budget decides", 1, 1 << 16),
        "phi": Parameter(1.0, "float", "plays before the whole space is divided", 1e-3, 1e4),
        "gamma": Parameter(2.0, "float", "a cell of level l is divided at phi * 2^(gamma l) plays", 0.5, 6),
        "when_full": Parameter("freeze", "str", "what happens when full", words=("freeze", "reclaim")),
    }

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        config = ffi.new("baselines_tree_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, 0, self.d_a, 1
        config.zoom, config.share = True, True
        config.reclaim = self.options["when_full"] == "reclaim"
        config.max_nodes = self._cap()
        config.bonus, config.phi = self.options["bonus"], self.options["phi"]
        config.gamma = self.options["gamma"]
        self._make(config)
        self._action, self._return = np.zeros((self.n, self.d_a)), np.zeros(self.n)
        self._held = ffi.new("baselines_held *", {"d_a": self.d_a, "horizon": self.horizon})
        self._held.tree = self._learners
        self._held.action, self._held.sum = memory(self._action), memory(self._return)

    def _stepped(self) -> tuple[str, Any]:
        """Of the tree, with the action that is held."""
        return "baselines_held", self._held

    def _cap(self) -> int:
        cap = MOST_NODES
        if self.budget_bytes is not None:
            cap = (self.budget_bytes - HEADER_BYTES) // self.node_bytes
            if cap < 1:
                raise BudgetExceeded(HEADER_BYTES + self.node_bytes, self.budget_bytes, "one undivided cell")
        if self.options["size"] is not None:
            fan = 1 << self.d_a
            cap = min(cap, 1 + (self.options["size"] - 1) // (fan - 1) * fan)
        return cap

    def played(self, learner: int) -> tuple[float, int, int]:
        """Mean, count and level of the cell that was last played."""
        cell = ffi.new("double[3]")
        lib.baselines_tree_played(self._learners, learner, 0, cell)
        return cell[0], int(cell[1]), int(cell[2])


register_agent(ActionZooming.name, ActionZooming)
