"""Exact dynamic programs that several problems share: tools on grids, and play where a move costs its length.

Values are kept at grid nodes and read between them by linear interpolation, so a solver is exact to the
curvature times the squared spacing as long as every kink of its value function is a node. Solutions that took
long are kept on disk, under a name made from everything they depend on.

Where a move lands where it was aimed, in any dimension,
V_h(x) = max_a max(f_h(x) - alpha|x-a|, 0) + V_{h+1}(a), and the two maxima swap:
V_h(x) = max(f_h(x) + U_{h+1}(x), max V_{h+1}) with U(x) = max_a V(a) - alpha|x-a|. U is a cone transform, two
running maxima per axis, and alpha-Lipschitz; f_h is known exactly at every x. So only U is kept on a grid.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np

#: Part of every cache name: raise it when a solver changes its answers.
SOLVER_VERSION = 3
CACHE_LIMIT_BYTES = 200 * 2**20
RECENT_LIMIT = 4

_recent: dict[Path, dict[str, np.ndarray]] = {}


# ---- expectations ---------------------------------------------------------------------------------------


def normal_excess(mean: np.ndarray, deviation: np.ndarray, level: np.ndarray) -> np.ndarray:
    """E[(Y - level)+] for Y ~ N(mean, deviation^2); a deviation of 0 is a fixed Y."""
    from scipy.special import ndtr  # slow to import, and rarely needed

    scale = np.maximum(deviation, 1e-12)
    z = (mean - level) / scale
    return scale * (np.exp(-0.5 * z * z) * 0.3989422804014327 + z * ndtr(z))


def expected_clip(mean: np.ndarray, deviation: float) -> np.ndarray:
    """E[clip(mean + N(0, deviation^2), 0, 1)]."""
    if deviation == 0.0:
        return np.clip(mean, 0.0, 1.0)
    spread = np.asarray(deviation)
    return normal_excess(mean, spread, np.asarray(0.0)) - normal_excess(mean, spread, np.asarray(1.0))


def clipped_normal_slopes(mean: np.ndarray, deviation: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Weights D (..., len(nodes) - 1) with E[V(clip(Y, nodes[0], nodes[-1]))] = V[0] + D @ diff(V).

    V is linear between nodes, so there is no quadrature error: over one cell the expected progress of the
    clipped Y is the difference of two excesses.
    """
    excess = normal_excess(mean[..., None], deviation[..., None], nodes)
    return (excess[..., :-1] - excess[..., 1:]) / np.diff(nodes)


# ---- grids ----------------------------------------------------------------------------------------------


def chebyshev(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on [0,1] and barycentric weights of the polynomial through them."""
    angles = (2 * np.arange(points) + 1) * np.pi / (2 * points)
    return 0.5 - 0.5 * np.cos(angles), (-1.0) ** np.arange(points) * np.sin(angles)


def barycentric(nodes: np.ndarray, weights: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Matrix (len(at), len(nodes)) that evaluates the polynomial through the nodes at other points."""
    distance = at[:, None] - nodes
    exact = distance == 0.0
    terms = weights / np.where(exact, 1.0, distance)
    matrix = terms / terms.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    matrix[hit] = exact[hit]
    return matrix


def interpolate(values: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Multilinear interpolation of `values` on uniform grids over [0,1]^d at `states` (..., d)."""
    dims = states.shape[-1]
    corners = np.zeros(states.shape[:-1], dtype=np.int64)
    fractions = []
    strides = [int(np.prod(values.shape[axis + 1 : dims], dtype=np.int64)) for axis in range(dims)]
    for axis in range(dims):
        position = states[..., axis] * (values.shape[axis] - 1)
        cell = np.minimum(position.astype(np.int64), values.shape[axis] - 2)
        corners += cell * strides[axis]
        fractions.append(position - cell)
    flat = values.reshape(-1)
    return _blend(flat, corners, fractions, strides)


def _blend(flat: np.ndarray, corner: np.ndarray, fractions: list[np.ndarray], strides: Sequence[int]) -> np.ndarray:
    if not fractions:
        return flat[corner]
    low = _blend(flat, corner, fractions[1:], strides[1:])
    high = _blend(flat, corner + strides[0], fractions[1:], strides[1:])
    return low + fractions[0] * (high - low)


# ---- solutions kept on disk -----------------------------------------------------------------------------


def cache_folder() -> Path:
    """Folder of kept solutions: ADAMB_CACHE, or the platform's folder for things that can be made again."""
    if "ADAMB_CACHE" in os.environ:
        return Path(os.environ["ADAMB_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "adamb" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "adamb"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "adamb"


def solution_key(*parts: object) -> str:
    """A name for everything a solution depends on; arrays count by their exact bytes."""
    digest = hashlib.sha256(str(SOLVER_VERSION).encode())
    for part in parts:
        shown = repr(part.shape if isinstance(part, np.ndarray) else part).encode()
        shown += part.tobytes() if isinstance(part, np.ndarray) else b""
        digest.update(len(shown).to_bytes(8, "little") + shown)
    return digest.hexdigest()[:40]


def cached(key: str, compute: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays stored under `key`, computed and stored when they are not there (or not readable).

    The last few stay in memory as well: a drifting problem asks for its table at every episode.
    """
    path = cache_folder() / f"optimum-{key}.npz"
    if path in _recent:
        return _recent[path]
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, KeyError, EOFError, RuntimeError):
        arrays = compute()
        _store(path, arrays)
    _recent[path] = arrays
    while len(_recent) > RECENT_LIMIT:
        del _recent[next(iter(_recent))]
    return arrays


def _store(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write under a temporary name and rename, so that a reader never sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(file.name, path)
        _prune(path.parent)
    except OSError:
        # A read-only or full disk costs only the time to solve again.
        return


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("optimum-*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > CACHE_LIMIT_BYTES:
            file.unlink(missing_ok=True)


class ClipTable:
    """`expected_clip` from a table fine against the noise: it is asked for every pair of nodes."""

    def __init__(self, deviation: float, alpha: float) -> None:
        self.deviation = deviation
        if deviation > 0.0:
            self.low = -min(alpha + 1.0, 10.0 * deviation)
            high = 1.0 + 10.0 * deviation
            self.scale = max(2000.0, 50.0 / deviation)
            steps = int((high - self.low) * self.scale) + 2
            self.table = expected_clip(self.low + np.arange(steps) / self.scale, deviation)
            self.rise = np.diff(self.table)

    def __call__(self, mean: np.ndarray) -> np.ndarray:
        if self.deviation == 0.0:
            return np.minimum(np.maximum(mean, 0.0), 1.0)
        position = np.maximum(mean, self.low)
        position -= self.low
        position *= self.scale
        cell = position.astype(np.int32)
        position -= cell
        position *= self.rise[cell]
        position += self.table[cell]
        return position


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
