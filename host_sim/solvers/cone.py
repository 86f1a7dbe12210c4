"""Exact play where a move costs its length and lands where it was aimed, in any dimension.

V_h(x) = max_a max(f_h(x) - alpha|x-a|, 0) + V_{h+1}(a), and the two maxima swap:
V_h(x) = max(f_h(x) + U_{h+1}(x), max V_{h+1}) with U(x) = max_a V(a) - alpha|x-a|. U is a cone transform, two
running maxima per axis, and alpha-Lipschitz; f_h is known exactly at every x. So only U is kept on a grid.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

Survey = Callable[[int, np.ndarray], np.ndarray]
"""f_h at states (n, m, d)."""

#: Points per axis over which the mean over random starts is taken.
START_POINTS = {1: 4001, 2: 101, 3: 31}


def cone(values: np.ndarray, nodes: np.ndarray, slope: float, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """max over b of values(b) - slope * |nodes - b| along one axis, and the index of the b that attains it.

    Two running maxima do in O(G) what the maximum over all pairs does in O(G^2); applied axis by axis it
    charges travel per coordinate. `nodes` broadcasts to `values`.
    """
    tilt = slope * nodes
    left, left_at = _running_maximum(values + tilt, axis)
    right, right_at = (np.flip(part, axis) for part in _running_maximum(np.flip(values - tilt, axis), axis))
    left, right = left - tilt, right + tilt
    return np.maximum(left, right), np.where(left >= right, left_at, values.shape[axis] - 1 - right_at)


def _running_maximum(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    highest = np.maximum.accumulate(values, axis=axis)
    shape = [1] * values.ndim
    shape[axis] = -1
    index = np.arange(values.shape[axis], dtype=np.int32).reshape(shape)
    return highest, np.maximum.accumulate(np.where(values == highest, index, 0), axis=axis)


class UnionAxis:
    """Per instance a uniform grid on [0,1] and a few nodes of its own, where its values have kinks."""

    def __init__(self, extras: np.ndarray, points: int) -> None:
        self.extras, self.points = extras, points
        uniform = np.broadcast_to(np.linspace(0.0, 1.0, points), (extras.shape[0], points))
        self.nodes = np.sort(np.concatenate([uniform, extras], axis=1), axis=1)

    def locate(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell that holds each of `at` (n, m), and how far along it the point is."""
        passed = (at[:, :, None] >= self.extras[:, None, :]).sum(axis=2)
        cell = (at * (self.points - 1)).astype(np.int64) + passed
        np.minimum(cell, self.nodes.shape[1] - 2, out=cell)
        low = np.take_along_axis(self.nodes, cell, axis=1)
        width = np.take_along_axis(self.nodes, cell + 1, axis=1) - low
        fraction = (at - low) / np.maximum(width, 1e-300)
        return cell, np.minimum(np.maximum(fraction, 0.0), 1.0)


class ConeOptimum:
    """The optimum of n instances; each row of `kinks`, (n, k) or (n, d), adds nodes to the grid of its own.

    `points` are the uniform nodes of an axis, `start` (n, d) the states that episodes start from, if fixed.
    """

    def __init__(
        self,
        survey: Survey,
        kinks: np.ndarray,
        d: int,
        *,
        alpha: float,
        horizon: int,
        points: int,
        start: np.ndarray | None,
    ) -> None:
        self._survey, self._start = survey, start
        self.n, self.d, self.horizon, self.alpha = len(kinks), d, horizon, alpha
        per_axis = [kinks] if d == 1 else [kinks[:, axis : axis + 1] for axis in range(d)]
        self.axes = [UnionAxis(extras, points) for extras in per_axis]
        self.shape = tuple(axis.nodes.shape[1] for axis in self.axes)
        self._grids = [
            axis.nodes.reshape(self.n, *(-1 if j == i else 1 for j in range(self.d)))
            for i, axis in enumerate(self.axes)
        ]
        self._solve()

    def _solve(self) -> None:
        """Fill U, the action that attains it, and max V of V_{h+1} for every h."""
        self.cones = np.zeros((self.horizon, self.n, *self.shape))
        self.targets = np.zeros((self.horizon, self.d, self.n, *self.shape), dtype=np.int32)
        self.highest = np.zeros((self.horizon, self.n))
        self.peaks = np.zeros((self.horizon, self.n, self.d))
        states = np.stack(np.broadcast_arrays(*self._grids), axis=-1).reshape(self.n, -1, self.d)
        for h in range(self.horizon - 1, 0, -1):
            highest = self.highest[h].reshape(self.n, *([1] * self.d))
            values = np.maximum(self._survey(h, states).reshape(self.cones[h].shape) + self.cones[h], highest)
            self._keep_peak(h - 1, values, states)
            for axis in range(self.d):
                values, at = cone(values, self._grids[axis], self.alpha, axis + 1)
                for earlier in range(axis):
                    earlier_at = self.targets[h - 1, earlier]
                    earlier_at[:] = np.take_along_axis(earlier_at, at, axis=axis + 1)
                self.targets[h - 1, axis] = at
            self.cones[h - 1] = values

    def _keep_peak(self, h: int, values: np.ndarray, states: np.ndarray) -> None:
        flat = values.reshape(self.n, -1)
        best = flat.argmax(axis=1)
        self.highest[h] = np.take_along_axis(flat, best[:, None], axis=1)[:, 0]
        self.peaks[h] = np.take_along_axis(states, best[:, None, None], axis=1)[:, 0]

    def _read(self, values: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Multilinear interpolation of values (n, *shape) at states (n, m, d)."""
        flat = values.reshape(-1)
        strides = [int(np.prod(self.shape[axis + 1 :], dtype=np.int64)) for axis in range(self.d)]
        corner = np.arange(self.n)[:, None] * int(np.prod(self.shape, dtype=np.int64))
        located = [axis.locate(states[:, :, i]) for i, axis in enumerate(self.axes)]
        corner = corner + sum(cell * stride for (cell, _), stride in zip(located, strides, strict=True))

        def blend(at: np.ndarray, axis: int) -> np.ndarray:
            if axis == self.d:
                return flat[at]
            low, high = blend(at, axis + 1), blend(at + strides[axis], axis + 1)
            return low + located[axis][1] * (high - low)

        return blend(corner, 0)

    def values_at(self, h: int, states: np.ndarray) -> np.ndarray:
        """V*_h of every instance at m states each: (n, m, d) -> (n, m)."""
        moving = self._survey(h, states) + self._read(self.cones[h], states)
        return np.maximum(moving, self.highest[h][:, None])

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.values_at(h, states[:, None, :])[:, 0]

    @property
    def mean(self) -> np.ndarray:
        if self._start is not None:
            return self.value(0, self._start)
        points = START_POINTS[self.d]
        line = (np.arange(points) + 0.5) / points
        cube = np.stack(np.meshgrid(*[line] * self.d, indexing="ij"), axis=-1).reshape(1, -1, self.d)
        return self.values_at(0, np.broadcast_to(cube, (self.n, *cube.shape[1:]))).mean(axis=1)

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        """The best paid move, or the peak of V where it is worth giving this step's reward up."""
        if h == self.horizon - 1:
            return states.copy()
        choices = np.concatenate([states[:, None, :], self._targets_near(h, states)], axis=1)
        travel = np.abs(choices - states[:, None, :]).sum(axis=2)
        worth = self.values_at(h + 1, choices) - self.alpha * travel
        best = worth.argmax(axis=1)[:, None]
        paid = self._survey(h, states[:, None, :]) + np.take_along_axis(worth, best, axis=1)
        moves = np.take_along_axis(choices, best[:, :, None], axis=1)[:, 0]
        return np.where(paid < self.highest[h][:, None], self.peaks[h], moves)

    def _targets_near(self, h: int, states: np.ndarray) -> np.ndarray:
        """The best actions (n, 2^d, d) of the nodes around each state."""
        cells = [axis.locate(states[:, i : i + 1])[0][:, 0] for i, axis in enumerate(self.axes)]
        rows = np.arange(self.n)
        corners = []
        for offsets in product((0, 1), repeat=self.d):
            corner = (rows, *(cell + offset for cell, offset in zip(cells, offsets, strict=True)))
            indices = [self.targets[h, axis][corner] for axis in range(self.d)]
            corners.append([axis.nodes[rows, index] for axis, index in zip(self.axes, indices, strict=True)])
        return np.array(corners).transpose(2, 0, 1)

    def q(self, instance: int, h: int, points: int | None = None) -> np.ndarray:
        """Q*_h of one instance on a uniform grid, state axes first."""
        count = points or {1: 65, 2: 17, 3: 7}[self.d]
        line = np.linspace(0.0, 1.0, count)
        cube = np.stack(np.meshgrid(*[line] * self.d, indexing="ij"), axis=-1).reshape(-1, self.d)
        every = np.broadcast_to(cube, (self.n, *cube.shape))
        survey = self._survey(h, every)[instance]
        last = h == self.horizon - 1
        after = np.zeros(len(cube)) if last else self.values_at(h + 1, every)[instance]
        travel = np.abs(cube[:, None, :] - cube[None, :, :]).sum(axis=2)
        table = np.clip(survey[:, None] - self.alpha * travel, 0.0, 1.0) + after[None, :]
        return table.reshape((count,) * (2 * self.d))
