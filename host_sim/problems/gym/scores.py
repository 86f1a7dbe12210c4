"""Returns in the environment's own units: of our episodes of H steps, and of the environment's episodes."""

from __future__ import annotations

import numpy as np

ENDED = 10
"""Episodes of the environment, the last that have ended, which tell what an agent has reached."""


class RawScores:
    """Raw rewards of n environments, added up in two ways."""

    def __init__(self, n: int) -> None:
        self.started = np.zeros(n, dtype=bool)
        #: Raw returns of our episodes so far, the last of which may be under way.
        self._windows: list[np.ndarray] = []
        self._running = np.zeros(n)
        self._ended: list[list[float]] = [[] for _ in range(n)]
        self.terminations = np.zeros(n, dtype=np.int64)
        self.truncations = np.zeros(n, dtype=np.int64)

    def begin_episode(self, *, fresh: bool) -> None:
        """An environment that is reset (`fresh`) before its end leaves no return."""
        self._windows.append(np.zeros(len(self.started)))
        if fresh:
            self._running[:] = 0.0

    def step(self, i: int, reward: float, terminated: bool, truncated: bool) -> None:
        self._windows[-1][i] += reward
        self._running[i] += reward
        if terminated or truncated:
            self._ended[i] = [*self._ended[i], float(self._running[i])][-ENDED:]
            self._running[i] = 0.0
            self.terminations[i] += terminated
            self.truncations[i] += truncated and not terminated

    def returns(self) -> np.ndarray:
        """(n, episodes) raw returns of our episodes."""
        return np.stack(self._windows, axis=1) if self._windows else np.zeros((len(self.started), 0))

    def figures(self) -> dict[str, np.ndarray]:
        """Of every seed; `ended_return` is NaN where no episode of the environment has ended."""
        means = [np.mean(ended) if ended else np.nan for ended in self._ended]
        return {
            "terminations": self.terminations.copy(),
            "truncations": self.truncations.copy(),
            "ended_return": np.array(means),
        }
