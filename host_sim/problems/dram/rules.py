"""Rules for the page timeout that watch the channel, or were found by trying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.problems.dram.lite import action_of

if TYPE_CHECKING:
    from adamb.host_sim.problems.dram.simulated import Dram


class AdaptiveTimeout:
    """Double the timeout when rows were closed too early more often than too late, else halve it."""

    FIRST, LEAST, MOST = 100.0, 1.0, 1023.0

    def __init__(self, problem: Dram) -> None:
        self._problem = problem
        self._timeout = np.full(problem.n, self.FIRST)

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if h > 0 or self._problem.continuing:
            seen = self._problem.info()
            if "epoch_reopened" in seen:
                early = seen["epoch_reopened"] > seen["epoch_conflicts"]
                self._timeout *= np.where(early, 2.0, 0.5)
                np.clip(self._timeout, self.LEAST, self.MOST, out=self._timeout)
        return self._problem.with_timeout(action_of(self._timeout))


class BestStatic:
    """The best constant action, found on first use by playing all of a grid on a problem of another seed."""

    EPISODES, SEED = 150, 10**9

    def __init__(self, problem: Dram) -> None:
        self._problem = problem
        self._found: np.ndarray | None = None

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if self._found is None:
            self._found = self._search()
        return np.tile(self._found, (self._problem.n, 1))

    def _search(self) -> np.ndarray:
        problem = self._problem
        axes = [np.linspace(0.0, 1.0, points) for points in ((21,) if problem.d_a == 1 else (9, 5))]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, problem.d_a)
        return grid[int(np.argmax([self._worth(action) for action in grid]))]

    def _worth(self, action: np.ndarray) -> float:
        problem = self._problem
        params = {**problem.params, "c": float(problem.c[0])}
        copy = type(problem)([self.SEED], name=problem.name, horizon=problem.horizon, **params)
        total = 0.0
        for _ in range(self.EPISODES):
            copy.begin_episode()
            total += sum(float(copy.step(h, action[None, :])[0][0]) for h in range(copy.horizon))
        return total
