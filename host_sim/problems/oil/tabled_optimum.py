"""Reading exact play: between the rows of a table over all deposits, and as a mean over start states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adamb.host_sim.problems.oil import Oil
    from adamb.host_sim.problems.oil.noisy_optimum import NoisyOptimum

START_POINTS = 2001


class TabledOptimum:
    """The optimum for deposits that move every episode, read between two rows of a table over all deposits.

    States are stretched so that the deposit of the row lies on the deposit asked for: the kink then never
    falls between two rows.
    """

    def __init__(self, table: NoisyOptimum, problem: Oil) -> None:
        self.table, self.c = table, problem.c[:, 0].copy()
        self._start = None if problem.fixed_start is None else problem.fixed_start.copy()
        rows = len(table.c)
        position = self.c * (rows - 1)
        self.low = np.minimum(position.astype(np.int64), rows - 2)
        self.fraction = position - self.low

    def _stretch(self, x: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        left = x * target / np.maximum(source, 1e-12)
        right = 1.0 - (1.0 - x) * (1.0 - target) / np.maximum(1.0 - source, 1e-12)
        return np.clip(np.where(x < source, left, right), 0.0, 1.0)

    def read(self, h: int, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """V*_h of the given instances at x, both (m,)."""
        c, cells = self.c[rows], self.low[rows]
        low, high = (
            self.table.read(h, row, self._stretch(x, c, self.table.c[row, 0])) for row in (cells, cells + 1)
        )
        return low + self.fraction[rows] * (high - low)

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.read(h, np.arange(len(states)), states[:, 0])

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        rows = self.low + (self.fraction >= 0.5)
        there = self.table.c[rows, 0]
        action = self.table.read_action(h, rows, self._stretch(states[:, 0], self.c, there))
        return self._stretch(action, there, self.c)[:, None]

    @property
    def mean(self) -> np.ndarray:
        return mean_over_starts(self, len(self.c), self._start)

    def q(self, instance: int, h: int) -> np.ndarray:
        nearer = int(self.low[instance] + (self.fraction[instance] >= 0.5))
        return self.table.q(nearer, h)


def mean_over_starts(optimum: NoisyOptimum | TabledOptimum, n: int, start: np.ndarray | None) -> np.ndarray:
    """Expected return from a fixed start, or over uniform ones."""
    if start is not None:
        return optimum.value(0, start)
    rows = np.repeat(np.arange(n), START_POINTS)
    starts = np.tile((np.arange(START_POINTS) + 0.5) / START_POINTS, n)
    return optimum.read(0, rows, starts).reshape(n, START_POINTS).mean(axis=1)
