"""Problems where the action moves one coordinate and noise alone the other: solved exactly."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from adamb.host_sim import draws
from adamb.host_sim.compiled import ProblemInC, doubles
from adamb.host_sim.exact_math import first_best
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems.located import LocatedProblem
from adamb.host_sim.solvers.exogenous import (
    ACTION_NODES,
    Evaluation,
    ExogenousModel,
    LocatedOptimum,
    SeasonalModel,
    best_play,
    seasonal_mean,
    static_play,
)


class ExogenousProblem(ProblemInC, LocatedProblem):
    """A problem with an `ExogenousModel`: the optimum and the model-based baselines come from it."""

    def setup(self, generators: list[np.random.Generator]) -> None:
        self.set_location(self.params["c"])
        self._solved: dict[float, Evaluation] = {}

    @abstractmethod
    def model(self, location: float) -> ExogenousModel:
        """The model of an instance at a location."""

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return draws.normal(generator, (episodes, self.horizon, 1))

    def season(self) -> tuple[dict[str, Any], np.ndarray]:
        """For C, how the coordinate that noise moves swings around its season; and memory to keep."""
        means = np.array([seasonal_mean(h, self.horizon, self.c) for h in range(self.horizon + 1)])
        deviation = self.params["noise"]
        return {"memory": SeasonalModel.MEMORY, "deviation": deviation, "mean": doubles(means)}, means

    def solved(self, location: float) -> Evaluation:
        """Optimal play at a location, solved once."""
        if location not in self._solved:
            self._solved[location] = best_play(self.model(location))
        return self._solved[location]

    def solve(self) -> LocatedOptimum | None:
        return LocatedOptimum(self, self.c, between=self.drift == "walk")

    def myopic_policy(self) -> Policy:
        """Best expected reward of this step under the current locations."""

        def play(h: int, states: np.ndarray) -> np.ndarray:
            actions = np.empty((len(states), 1))
            for place in np.unique(self.c):
                chosen = np.flatnonzero(self.c == place)
                model = self.model(float(place))
                x = states[chosen, :1] if model.has_own else np.zeros((len(chosen), 1))
                rewards = model.reward(h, x, states[chosen, -1:], model.actions[None, :])
                actions[chosen, 0] = model.actions[first_best(rewards)]
            return actions

        return play

    def best_static(self) -> float:
        """The best constant action at the first instance's location, by exact evaluation of all of them."""
        model = self.model(float(self.c[0]))
        start = self.fixed_start

        def worth(node: int) -> float:
            played = static_play(model, float(model.actions[node]))
            return played.mean() if start is None else float(played.value(0, start[:1])[0])

        def best(nodes: range) -> int:
            return nodes[int(first_best(np.array([worth(node) for node in nodes])))]

        coarse = best(range(0, ACTION_NODES, 10))
        near = best(range(max(0, coarse - 9), min(ACTION_NODES, coarse + 10)))
        return float(model.actions[near])

    def baselines(self) -> dict[str, Policy]:
        policies = super().baselines()
        policies["myopic"] = self.myopic_policy()
        policies["best-static"] = self._lazy_static()
        return policies

    def _lazy_static(self) -> Policy:
        found: list[float] = []

        def play(h: int, states: np.ndarray) -> np.ndarray:
            if not found:
                found.append(self.best_static())
            return np.full((len(states), self.d_a), found[0])

        return play
