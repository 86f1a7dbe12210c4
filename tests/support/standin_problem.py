"""A problem whose answer is known by hand: the best action is (c + x)/2 and then every step pays 0.8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adamb.host_sim.problem import Parameter, Problem

BEST = 0.8
# As the command line and sweeps name it.
PROBLEM = f"{__file__}:Standin"


@dataclass
class StandinOptimum:
    c: np.ndarray
    horizon: int

    @property
    def mean(self) -> np.ndarray:
        return self.value(0, self.c[:, None])

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return np.full(len(states), BEST * (self.horizon - h))

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        return (self.c[:, None] + states) / 2

    def q(self, instance: int, h: int) -> np.ndarray:
        raise NotImplementedError


class Standin(Problem):
    name = "standin"
    horizon = 4
    drift_width = 1
    parameters: ClassVar[dict[str, Parameter]] = {
        "c": Parameter(None, "float", "where the target lies", 0.0, 1.0),
        "known": Parameter(True, "bool", "whether the optimum is offered"),
    }

    def setup(self, generators):
        fixed = self.params["c"]
        self.c = np.array([generator.random() if fixed is None else fixed for generator in generators])

    def dynamics(self, h, states, actions, noise):
        rewards = BEST * (1 - np.abs(actions[:, 0] - (self.c + states[:, 0]) / 2))
        return rewards, actions.copy()

    def move(self, steps):
        self.c = 1 - self.c if steps is None else np.clip(self.c + 0.002 * steps[:, 0], 0, 1)

    def solve(self):
        return StandinOptimum(self.c.copy(), self.horizon) if self.params["known"] else None

    def rules(self):
        return {**super().rules(), "follow": lambda h, states: states.copy()}
