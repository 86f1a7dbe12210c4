"""The baseline that ignores the state: where it wins, state is not worth its bytes."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from adamb.host_sim._sim import ffi
from adamb.host_sim.agents import Shape, generators, register_agent
from adamb.host_sim.baselines import ON_OFF, Baseline, bonus_parameter, largest_size, memory
from adamb.host_sim.compiled import CompiledLearners
from adamb.host_sim.parameter import Parameter

ARM_BYTES = 4
BANDIT_HEADER_BYTES = 12
"""Constants and sizes (4), the random state (4), the total count (4)."""
DEFAULT_BYTES = 100
"""Storage that Micro-Armed Bandit reports."""

MOST_ARMS = {1: 256, 2: 24, 3: 10}
"""Per dimension; more than this learn too slowly to be worth bytes that are there."""


class ArmBandit(CompiledLearners, Baseline):
    """UCB over a grid of actions, a mean and a count each (4 bytes); about 100 bytes unless told otherwise.

    `hold=episode` plays one arm for a whole episode and credits it with the return per step, which also sees
    what an action does to later states; `hold=step` chooses at every step and credits the immediate reward.
    `discount` below 1 forgets, as the discounted UCB of prefetch controllers does. `share=off` keeps arms of
    its own for every step, so that with `hold=step` it can learn a fixed sequence of actions.
    """

    name = "bandit"
    c_name = "baselines_arms"
    options_known: ClassVar = {
        "bonus": bonus_parameter(0.3),
        "size": Parameter(None, "int", "arms per action dimension; else what fits", 1, 1024),
        "hold": Parameter("episode", "str", "how long an arm is kept", words=("step", "episode")),
        "discount": Parameter(1.0, "float", "weight of the past after each play", 0.5, 1),
        "share": Parameter("on", "str", "one set of arms for all steps", words=ON_OFF),
    }

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        self.tables = self.horizon if self.options["share"] == "off" else 1
        unless_told = None if self.options["size"] else DEFAULT_BYTES * self.tables
        self.size = largest_size(
            self.table_bytes,
            given=self.options["size"],
            default=MOST_ARMS[self.d_a],
            budget=self.budget_bytes or unless_told,
            contributor="the arms",
        )
        self.options["size"] = self.size
        centres = (np.arange(self.size) + 0.5) / self.size
        self.arms = np.array(list(itertools.product(centres, repeat=self.d_a)))
        self.mean = np.zeros((self.tables, self.n, len(self.arms)))
        self.count = np.zeros((self.tables, self.n, len(self.arms)))
        self._order = np.stack([generator.random(len(self.arms)) for generator in generators(self.seeds)])
        self._arm = np.zeros((self.horizon, self.n), dtype=np.int64)
        self._return = np.zeros(self.n)
        arms = self._learners = ffi.new("baselines_arms *", {"n": self.n, "d_a": self.d_a, "horizon": self.horizon})
        arms.arms, arms.tables, arms.hold = len(self.arms), self.tables, self.options["hold"] == "episode"
        arms.bonus, arms.discount = self.options["bonus"], self.options["discount"]
        kept = self.arms, self._order, self.mean, self.count, self._return
        arms.place, arms.order, arms.mean, arms.count, arms.sum = map(memory, kept)
        arms.arm = ffi.from_buffer("int64_t[]", self._arm)

    def table_bytes(self, size: int) -> int:
        return BANDIT_HEADER_BYTES + ARM_BYTES * self.tables * size**self.d_a

    def bytes_used(self) -> np.ndarray:
        return np.full(self.n, self.table_bytes(self.size), dtype=np.int64)

    def stats(self) -> dict[str, np.ndarray]:
        return {"leaves": np.full(self.n, self.tables * len(self.arms))}


register_agent(ArmBandit.name, ArmBandit)
