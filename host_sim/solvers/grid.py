"""Exact play by dynamic programming on grids: the tools that the solvers of the single problems share.

Values are kept at grid nodes and read between them by linear interpolation, so a solver is exact to the
curvature times the squared spacing as long as every kink of its value function is a node. Solutions that took
long are kept on disk, under a name made from everything they depend on.
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
from pathlib import Path

import numpy as np
from scipy.special import ndtr

#: Part of every cache name: raise it when a solver changes its answers.
SOLVER_VERSION = 2
CACHE_LIMIT_BYTES = 200 * 2**20
RECENT_LIMIT = 4

_recent: dict[Path, dict[str, np.ndarray]] = {}


# ---- expectations ---------------------------------------------------------------------------------------


def normal_excess(mean: np.ndarray, deviation: np.ndarray, level: np.ndarray) -> np.ndarray:
    """E[(Y - level)+] for Y ~ N(mean, deviation^2); a deviation of 0 is a fixed Y."""
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


def _blend(
    flat: np.ndarray, corner: np.ndarray, fractions: list[np.ndarray], strides: Sequence[int]
) -> np.ndarray:
    if not fractions:
        return flat[corner]
    low = _blend(flat, corner, fractions[1:], strides[1:])
    high = _blend(flat, corner + strides[0], fractions[1:], strides[1:])
    return low + fractions[0] * (high - low)


# ---- solutions kept on disk -----------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where solutions are kept: ADAMB_CACHE, or the platform's folder for things that can be made again."""
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
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        KeyError,
        EOFError,
        RuntimeError,
    ):
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
