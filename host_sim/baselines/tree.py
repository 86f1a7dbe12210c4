"""Baselines that adapt their partition without a model: adaptive Q-learning and contextual zooming."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Shape, register_agent
from adamb.host_sim.baselines import HEADER_BYTES, ON_OFF, Baseline, bonus_parameter
from adamb.host_sim.compiled import CompiledLearners, as_doubles
from adamb.host_sim.parameter import Parameter

MOST_NODES = 1 << 24
"""Uncapped runs stop here, far above what any run of interest grows to."""


class PooledTree(CompiledLearners, Baseline):
    """Learners that live in the nodes of one pool; a subclass says what a node takes."""

    c_name = "baselines_tree"
    node_bytes = 4

    def _counters(self) -> np.ndarray:
        counters = np.zeros((self.n, 5), dtype=np.int64)
        lib.baselines_tree_counters(self._learners, ffi.from_buffer("int64_t[]", counters))
        return counters

    def bytes_used(self) -> np.ndarray:
        return HEADER_BYTES + self.node_bytes * self._counters()[:, 0]

    def bytes_peak(self) -> np.ndarray:
        return HEADER_BYTES + self.node_bytes * self._counters()[:, 1]

    def stats(self) -> dict[str, np.ndarray]:
        counters = self._counters()
        return {"leaves": counters[:, 2], "refused_splits": counters[:, 3], "reclaims": counters[:, 4]}


class TreeBaseline(PooledTree):
    """A dyadic partition of state and action per step.

    A node is 4 bytes: the value (15 bits, one bit tells a leaf from a divided node, whose index of children
    takes its place) and the count (16 bits, two of them the age where merging is on). `layout=eager` makes
    all 2^d children of a ball at once. `layout=lazy` divides the state side, and the action side of a part
    when it is first played: the same balls in fewer bytes as soon as a side has more than one dimension.
    """

    zoom = False

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        options = self.options
        if options["layout"] is None:
            options["layout"] = "lazy" if self.d_s + self.d_a > 2 else "eager"
        shared, stepless = options["share"] == "on", options["share"] == "stepless"
        self.roots = 1 if shared or stepless else self.horizon
        self.node_bytes = 2 + 2 * (self.horizon if shared and not self.zoom else 1)
        self.max_nodes = self._cap()
        config = ffi.new("baselines_tree_config *")
        config.n, config.d_s, config.d_a, config.horizon = self.n, self.d_s, self.d_a, self.horizon
        config.zoom, config.share, config.stepless = self.zoom, shared, stepless
        config.discount = options.get("discount", 0.0)
        config.lazy = options["layout"] == "lazy"
        config.random_action = options["action"] == "random"
        config.reclaim = options["when_full"] == "reclaim"
        config.max_nodes = self.max_nodes
        config.bonus, config.phi, config.gamma = options["bonus"], options["phi"], options["gamma"]
        self._make(config)

    def _cap(self) -> int:
        """Nodes a learner may have: what the budget pays for, no more than `size` leaves."""
        cap = MOST_NODES
        if self.budget_bytes is not None:
            cap = min(cap, (self.budget_bytes - HEADER_BYTES) // self.node_bytes)
            if cap < self.roots:
                required = HEADER_BYTES + self.roots * self.node_bytes
                raise BudgetExceeded(required, self.budget_bytes, "one undivided ball per step")
        size = self.options["size"]
        if size is not None:
            eager = self.options["layout"] == "eager"
            most_fan = 1 << (self.d_s + self.d_a if eager else max(self.d_s, self.d_a))
            cap = min(cap, self.roots + max(0, size - self.roots) // (most_fan - 1) * most_fan)
        return cap

    def played(self, learner: int, h: int) -> tuple[float, int, int]:
        """Value, count and level of the ball that was last played at step h."""
        ball = ffi.new("double[3]")
        lib.baselines_tree_played(self._learners, learner, h, ball)
        return ball[0], int(ball[1]), int(ball[2])

    def balls(self, learner: int, h: int, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """(m, 3) Q, level and count of the balls of one learner at m pairs of a state and an action."""
        found = np.empty((len(states), 3))
        pairs = as_doubles(states), as_doubles(actions), ffi.from_buffer("double[]", found)
        lib.baselines_tree_balls(self._learners, learner, h, len(states), *pairs)
        return found


def tree_options(bonus: float, share: str) -> dict[str, Parameter]:
    return {
        "bonus": bonus_parameter(bonus),
        "size": Parameter(None, "int", "most leaves; without it the budget decides", 1, 1 << 20),
        "phi": Parameter(1.0, "float", "samples before the whole space is divided", 1e-3, 1e4),
        "gamma": Parameter(2.0, "float", "a ball of level l is divided at phi * 2^(gamma l) samples", 0.5, 6),
        "action": Parameter("centre", "str", "which point of the ball is played", words=("centre", "random")),
        "share": Parameter(share, "str", "one tree for all steps", words=ON_OFF),
        "when_full": Parameter("freeze", "str", "what happens when full", words=("freeze", "reclaim")),
        "layout": Parameter(None, "str", "order of division", words=("eager", "lazy")),
    }


class AdaptiveQLearning(TreeBaseline):
    """Sinclair, Banerjee, Yu (2019): optimistic Q-learning on balls that divide after 4^level samples.

    Not in the paper, and off by default: `when_full=reclaim`; `share=on`, where every sample updates the
    values of all steps, which is right when rewards and dynamics do not depend on the step; and
    `share=stepless`, one tree with one discounted value per ball, after single-partition adaptive
    Q-learning (Araújo, Figueiredo, Ayala Botto 2020).
    """

    name = "adaql"
    options_known: ClassVar = {
        **tree_options(bonus=0.3, share="off"),
        "share": Parameter("off", "str", "one tree for all steps", words=(*ON_OFF, "stepless")),
        "discount": Parameter(0.8, "float", "of the stepless return", 0, 0.999),
    }


class ContextualZooming(TreeBaseline):
    """Slivkins (2014) on dyadic balls: an adaptive contextual bandit, which is H = 1.

    The step is no part of the context, so all steps teach one tree; `share=off` gives each its own.
    """

    name = "zoom"
    zoom = True
    options_known: ClassVar = tree_options(bonus=0.5, share="on")


register_agent(AdaptiveQLearning.name, AdaptiveQLearning)
register_agent(ContextualZooming.name, ContextualZooming)
