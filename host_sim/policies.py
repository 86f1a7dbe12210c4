"""Play without learning: what a policy is, the simplest ones, and what an optimum has to offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from adamb.host_sim.draws import Tape
    from adamb.host_sim.problem import Problem

Policy = Callable[[int, np.ndarray], np.ndarray]


class Optimum(Protocol):
    """The best possible play under the current parameters, for all instances."""

    @property
    def mean(self) -> np.ndarray:
        """(n,) expected return of an episode over the start distribution."""

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n,) expected return of steps h..H-1 from the given states."""

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n, d_a) best actions."""

    def q(self, instance: int, h: int) -> np.ndarray:
        """Q* of one instance and step on a grid (state axes first, then action axes), for pictures."""


class RandomPolicy:
    """Uniform actions from a stream of their own, so that playing it leaves the problem's draws alone."""

    def __init__(self, draws: Tape) -> None:
        self._draws = draws
        self._episode = np.empty(0)

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if h == 0 or self._episode.size == 0:
            self._episode = self._draws.episode()
        return np.ascontiguousarray(self._episode[h].T)


def constant_policy(problem: Problem, action: float | Sequence[float]) -> Policy:
    """Always the same action."""
    actions = np.broadcast_to(np.asarray(action, dtype=float), (problem.n, problem.d_a))
    return lambda h, states: actions.copy()
