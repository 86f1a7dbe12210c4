"""The history of a controller: snapshots of one block over a run, and a timeline.

A frame is the used part of the block. Frames lie closer together where learning is quick, at the start, and
evenly after that. The counters are read after every episode, so that the timeline is exact and not only as
fine as the frames. Successive frames differ little: their differences, in two planes of bytes, compress to a
few per cent.
"""

from __future__ import annotations

import io
import json
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.reader import BLOCK_COUNTERS
from adamb.host_sim.agents import SequentialAgent

if TYPE_CHECKING:
    from adamb.host_sim.agents import Agent, Progress
    from adamb.host_sim.problem import Problem


FRAMES = 200
COUNTER_POINTS = 20_000
OPTIMUM_FRAMES = 9
"""Number of pictures of Q* that are kept while a drift moves it."""
GRID_POINTS = {2: 65, 3: 33, 4: 17, 5: 9, 6: 7}
"""Points of Q* per axis by number of axes; more cannot be distinguished in the picture."""
FORMAT = 1
FULL = 65535
UNREADABLE = (
    ValueError, KeyError, EOFError, RuntimeError, SyntaxError, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""Errors of reading a file that is no whole recording; RuntimeError: compressed in an unknown way."""


def frame_episodes(episodes: int, frames: int = FRAMES) -> list[int]:
    """After which episodes to take a frame: 0, the last, and half of the rest on a logarithmic scale."""
    if episodes + 1 <= frames:
        return list(range(episodes + 1))
    half = (frames - 1) // 2
    log = np.geomspace(1, episodes, half).round().astype(int)
    even = np.linspace(0, episodes, frames - half).round().astype(int)
    return sorted({0, *log.tolist(), *even.tolist()})


@dataclass
class OptimumPictures:
    """Q* of the recorded instance on a uniform grid, after the episodes at which it was looked at."""

    episodes: np.ndarray
    scaled: np.ndarray
    """(pictures, H, state axes…, action axes…), 16 bits: 65535 is the horizon, the most there can be."""

    def grid(self, picture: int, h: int) -> np.ndarray:
        return self.scaled[picture, h].astype(float) * self.scaled.shape[1] / FULL


@dataclass
class Recording:
    """Everything that was written down about one learner."""

    meta: dict[str, Any]
    episodes: np.ndarray
    frames: list[np.ndarray]
    counter_episodes: np.ndarray
    counters: np.ndarray
    """(points, len(BLOCK_COUNTERS)); counters of the block, `splits` falls when balls are merged."""
    optimum: OptimumPictures | None = None

    def to_bytes(self) -> bytes:
        """One .npz archive."""
        arrays: dict[str, Any] = {
            "meta": np.frombuffer(json.dumps(self.meta).encode(), dtype=np.uint8),
            "episodes": np.asarray(self.episodes, dtype=np.int64),
            "lengths": np.array([len(frame) for frame in self.frames], dtype=np.int32),
            "planes": byte_planes(differences(self.frames)),
            "counter_episodes": np.asarray(self.counter_episodes, dtype=np.int64),
            "counters": np.diff(np.asarray(self.counters, dtype=np.int64), axis=0, prepend=0),
        }
        if self.optimum is not None:
            arrays |= {"optimum_episodes": self.optimum.episodes, "optimum": self.optimum.scaled}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def load(cls, path: Path) -> Recording:
        content = io.BytesIO(path.read_bytes())
        try:
            with np.load(content, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            meta = json.loads(arrays["meta"].tobytes())
            if meta.get("format") != FORMAT:
                raise InputError("recording", str(path), f"is of format {meta.get('format')}, not {FORMAT}")
            optimum = None
            if "optimum" in arrays:
                optimum = OptimumPictures(arrays["optimum_episodes"], arrays["optimum"])
            return cls(
                meta=meta,
                episodes=arrays["episodes"],
                frames=undo_differences(words_of(arrays["planes"]), arrays["lengths"].tolist()),
                counter_episodes=arrays["counter_episodes"],
                counters=np.cumsum(arrays["counters"], axis=0),
                optimum=optimum,
            )
        except UNREADABLE as error:
            raise InputError("recording", str(path), f"is not a whole recording of a run ({error})") from None


def differences(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Each frame less the one before it, word by word; small steps up or down become small numbers."""
    parts, before = [], np.zeros(0, dtype=np.uint16)
    for frame in frames:
        step = frame.copy()
        common = min(len(before), len(frame))
        step[:common] -= before[:common]
        signed = step.view(np.int16).astype(np.int32)
        parts.append((signed << 1 ^ signed >> 31).astype(np.uint16))
        before = frame
    return np.concatenate(parts) if parts else before


def undo_differences(steps: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    if sum(lengths) != len(steps):
        raise ValueError("frames do not add up")
    signed = (steps >> 1).astype(np.int32) ^ -(steps & 1).astype(np.int32)
    frames, at, before = [], 0, np.zeros(0, dtype=np.uint16)
    for length in lengths:
        frame = signed[at : at + length].astype(np.uint16)
        common = min(len(before), length)
        frame[:common] += before[:common]
        frames.append(frame)
        before, at = frame, at + length
    return frames


def byte_planes(words: np.ndarray) -> np.ndarray:
    """All low bytes, then all high bytes: the high ones of small numbers are zeros in a row."""
    return np.concatenate([(words & 255).astype(np.uint8), (words >> 8).astype(np.uint8)])


def words_of(planes: np.ndarray) -> np.ndarray:
    half = len(planes) // 2
    return planes[:half].astype(np.uint16) | planes[half:].astype(np.uint16) << 8


class Recorder:
    """Looks at the first learner after every episode; nothing is compressed before the run is over."""

    def __init__(self, problem: Problem, agent: Agent, episodes: int, frames: int = FRAMES) -> None:
        blocks = getattr(agent, "blocks", None)
        if blocks is None:
            kind = f"{agent.name} ({agent.core} core)" if agent.core else agent.name
            raise InputError("record", kind, "has no block to record; agent adamb with core c or python has")
        if isinstance(agent, SequentialAgent) and problem.drift != "none":
            raise InputError("record", problem.drift, "drift is recorded where all seeds step together only")
        self._problem, self._seed = problem, agent.seeds[0]
        self._block: np.ndarray = blocks[0]
        self._columns = np.array([getattr(spec, f"H_{name.upper()}") for name in BLOCK_COUNTERS])
        self._due = frame_episodes(episodes, frames)
        self._stride = -(-episodes // COUNTER_POINTS)
        self._counters = np.zeros((episodes // self._stride + 2, len(BLOCK_COUNTERS)), dtype=np.uint16)
        self._counter_episodes: list[int] = []
        self._episodes: list[int] = []
        self._frames: list[np.ndarray] = []
        self._pictures: list[tuple[int, int, np.ndarray]] = []
        self._wanted_pictures = {self._due[i] for i in range(0, len(self._due), _picture_gap(len(self._due)))}
        self._look(0)

    def __call__(self, progress: Progress) -> None:
        if progress.agent.seeds[0] == self._seed:  # others may be played before or after
            self.record(progress.done)

    def next_call(self, done: int) -> int:
        """The next episode whose counters or whose block is kept."""
        counters = done - done % self._stride + self._stride
        return min([counters, *(due for due in self._due[len(self._frames) :][:1] if due > done)])

    def record(self, done: int) -> None:
        if done % self._stride == 0:
            self._counters[len(self._counter_episodes)] = self._block[self._columns]
            self._counter_episodes.append(done)
        if len(self._frames) < len(self._due) and done >= self._due[len(self._frames)]:
            self._look(done)

    def _look(self, done: int) -> None:
        used = int(self._block[spec.H_FRESH]) * int(spec.UNIT_WORDS)
        self._frames.append(self._block[:used].copy())
        self._episodes.append(done)
        version = self._problem.version
        seen = self._pictures[-1][1] if self._pictures else None
        jumped = self._problem.drift == "half" and version != seen
        if seen is None or jumped or (version != seen and done in self._wanted_pictures):
            picture = optimum_picture(self._problem)
            if picture is not None:
                self._pictures.append((done, version, picture))

    def finish(self, done: int) -> Recording:
        """The recording of a run that ended after `done` episodes, as planned or before."""
        if self._episodes[-1] != done:
            self._look(done)
        if not self._counter_episodes or self._counter_episodes[-1] != done:
            self._counters[len(self._counter_episodes)] = self._block[self._columns]
            self._counter_episodes.append(done)
        optimum = None
        if self._pictures:
            episodes = np.array([episode for episode, _, _ in self._pictures], dtype=np.int64)
            optimum = OptimumPictures(episodes, np.stack([picture for _, _, picture in self._pictures]))
        return Recording(
            meta={"format": FORMAT, "spec_hash": int(spec.SPEC_HASH), "problem": self._problem.describe()},
            episodes=np.array(self._episodes, dtype=np.int64),
            frames=self._frames,
            counter_episodes=np.array(self._counter_episodes, dtype=np.int64),
            counters=self._counters[: len(self._counter_episodes)].astype(np.int64),
            optimum=optimum,
        )


def _picture_gap(frames: int) -> int:
    return max(1, frames // OPTIMUM_FRAMES)


def optimum_picture(problem: Problem) -> np.ndarray | None:
    """Q* of the first instance now, (H, axes…) in 16 bits; None where no model is known."""
    optimum = problem.optimal()
    if optimum is None:
        return None
    points = GRID_POINTS[problem.d_s + problem.d_a]
    steps = [resample(np.asarray(optimum.q(0, h), dtype=float), points) for h in range(problem.horizon)]
    share = np.clip(np.nan_to_num(np.stack(steps)) / problem.horizon, 0.0, 1.0)
    return (share * FULL).round().astype(np.uint16)


def optimum_now(problem: Problem) -> OptimumPictures | None:
    """Q* of the first instance as it is now, as a single picture."""
    picture = optimum_picture(problem)
    return None if picture is None else OptimumPictures(np.array([problem.episode + 1]), picture[None])


def resample(table: np.ndarray, points: int) -> np.ndarray:
    """The table on `points` evenly spaced points per axis, linear in between."""
    for axis, size in enumerate(table.shape):
        if size == points:
            continue
        at = np.linspace(0, size - 1, points)
        low = np.minimum(at.astype(int), max(size - 2, 0))
        weight = (at - low).reshape([-1 if k == axis else 1 for k in range(table.ndim)])
        high = np.minimum(low + 1, size - 1)
        table = np.take(table, low, axis=axis) * (1 - weight) + np.take(table, high, axis=axis) * weight
    return table
