"""Between an environment and the unit cube: its spaces, bounds and the coordinates that are kept, its rewards, and its
calls, where a stranger's mistake becomes one line."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym
import numpy as np

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.host_sim.user_code import locate_in_user_code

STEP = "observation, reward, terminated, truncated, info"


def first_observation(name: str, env: gym.Env, seed: int | None) -> Any:
    """The first observation; `name` is the problem, for messages."""
    try:
        answer = env.reset(seed=seed)
    except Exception as error:
        refuse(name, "reset", error)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise InputError("reset", type(answer).__name__, f"of {name} must return observation, info")
    return answer[0]


def next_observation(name: str, env: gym.Env, action: Any) -> tuple[Any, float, bool, bool]:
    """One step: observation, reward, and whether the episode was terminated or truncated."""
    try:
        answer = env.step(action)
    except Exception as error:
        refuse(name, "step", error)
    if not isinstance(answer, tuple) or len(answer) != 5:
        raise InputError("step", type(answer).__name__, f"of {name} must return {STEP}")
    observation, reward, terminated, truncated, _ = answer
    try:
        return observation, float(reward), bool(terminated), bool(truncated)
    except (TypeError, ValueError):
        raise InputError("reward", reward, f"step of {name} must return a number") from None


def declared_space(name: str, env: gym.Env, kind: str) -> gym.Space:
    """`action_space` or `observation_space`, which an environment may have forgotten."""
    found = getattr(env, kind, None)
    if not isinstance(found, gym.Space):
        raise InputError(kind, found, f"{name} must have a space of gymnasium.spaces there")
    return found


def refuse(name: str, call: str, error: Exception) -> NoReturn:
    """The error as one line with its cause and the file and line that raised it."""
    found = locate_in_user_code(error)
    if isinstance(found, AdambError):
        raise found
    frame = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(frame.filename)
    file = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    cause = " ".join(str(error).split())
    raise AdambError(
        f"{name}, {call}: {type(error).__name__}: {cause} ({file}, line {frame.lineno}, {frame.name})"
    ) from error


# Spaces use the largest float32 where they mean "no bound".
UNBOUNDED = 1e15
MARGIN = 0.1


class SpaceMap:
    """A Box or Discrete space as the unit cube; a value of a Discrete space is the centre of its cell.

    `keep` are the coordinates that are seen, all of them if None; actions keep all.
    """

    def __init__(
        self,
        kind: str,
        space: gym.Space,
        low: Sequence[float] | None,
        high: Sequence[float] | None,
        keep: Sequence[float] | None = None,
    ) -> None:
        self.kind, self.space = kind, space
        if isinstance(space, gym.spaces.Discrete):
            if low is not None or high is not None:
                raise InputError(f"{kind}_low", low, "the space is Discrete and needs no bounds")
            self.count, self.size = int(space.n), 1
            self.keep = _kept(keep, 1)
            self.low, self.high = np.zeros(1), np.full(1, float(self.count))
        elif isinstance(space, gym.spaces.Box):
            self.count = 0
            self.keep = _kept(keep, int(np.prod(space.shape, dtype=np.int64)))
            self.size = len(self.keep)
            self.low = self._given(f"{kind}_low", low, space.low)
            self.high = self._given(f"{kind}_high", high, space.high)
            if (self.low >= self.high).any():
                raise InputError(f"{kind}_high", high, f"must be above {kind}_low")
        else:
            remedy = "must be Box or Discrete; --set wrapper=file.py:Class can make it one"
            raise InputError(f"{kind} space", str(space), remedy)

    def _given(self, field: str, numbers: Sequence[float] | None, of_space: np.ndarray) -> np.ndarray:
        bounds = of_space.astype(np.float64).reshape(-1)[self.keep].copy()
        bounds[np.abs(bounds) > UNBOUNDED] = np.inf * np.sign(bounds[np.abs(bounds) > UNBOUNDED])
        if numbers is None:
            return bounds
        if len(numbers) not in (1, self.size):
            raise InputError(field, numbers, f"must be 1 or {self.size} numbers")
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), (self.size,)).copy()

    @property
    def unbounded(self) -> bool:
        return not (np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def require_bounds(self) -> None:
        if self.unbounded:
            shown = f"{self.low.tolist()} to {self.high.tolist()}"
            raise InputError(f"{self.kind} bounds", shown, f"set {self.kind}_low and {self.kind}_high")

    def fit(self, seen: np.ndarray) -> None:
        """Replace missing bounds by those of the values seen, a little wider."""
        lowest, highest = seen.min(axis=0), seen.max(axis=0)
        margin = MARGIN * np.maximum(highest - lowest, 1e-6)
        self.low = np.where(np.isfinite(self.low), self.low, lowest - margin)
        self.high = np.where(np.isfinite(self.high), self.high, highest + margin)

    def raw(self, value: Any) -> np.ndarray:
        """A value of the space as float64 numbers."""
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("observation", value, f"must be a value of {self.space}") from None
        shape = self.space.shape or ()
        if numbers.shape != shape and not (self.count and numbers.size == 1):
            raise InputError("observation", numbers.shape, f"must have the shape {shape} of its space")
        if self.count:
            return numbers.reshape(1) - int(self.space.start) + 0.5  # type: ignore[attr-defined]
        return numbers.reshape(-1)[self.keep]

    def to_unit(self, value: Any, where: str) -> np.ndarray:
        numbers = self.raw(value)
        if not np.isfinite(numbers).all():
            wrong = float(numbers[~np.isfinite(numbers)][0])
            raise InputError("observation", wrong, f"{where}: must be a finite number")
        return np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0)

    def from_unit(self, unit: np.ndarray) -> Any:
        """The value of the space that a point of the unit cube stands for."""
        if self.count:
            start = int(self.space.start)  # type: ignore[attr-defined]
            return min(int(unit[0] * self.count), self.count - 1) + start
        return self.numbers(unit).reshape(self.space.shape).astype(self.space.dtype)

    def numbers(self, unit: np.ndarray) -> np.ndarray:
        """Raw numbers (..., size) of points of the unit cube."""
        if self.count:
            start = int(self.space.start)  # type: ignore[attr-defined]
            return np.minimum(np.floor(unit * self.count), self.count - 1) + start
        return self.low + unit * (self.high - self.low)

    def describe(self) -> Any:
        return {"cells": self.count} if self.count else [self.low.tolist(), self.high.tolist()]


def _kept(keep: Sequence[float] | None, size: int) -> list[int]:
    """Indices of the coordinates that are seen, in the order asked for."""
    if keep is None:
        return list(range(size))
    chosen = [int(index) for index in keep]
    if chosen != list(keep) or len(set(chosen)) < len(chosen) or not all(0 <= i < size for i in chosen):
        shown = ",".join(f"{index:g}" for index in keep)
        raise InputError("observe", shown, f"must be different whole numbers from 0 to {size - 1}")
    return chosen


class RewardMap:
    """One affine map for all rewards, the raw 0 after the end of an episode among them."""

    def __init__(self, low: float | None, high: float | None, n: int) -> None:
        self._given = (low, high)
        self.low, self.high = (0.0 if low is None else low), (1.0 if high is None else high)
        self.clipped = np.zeros(n, dtype=np.int64)
        self._outermost = [np.inf, -np.inf]
        self._assumed = False
        if None not in self._given:
            self._check()

    @property
    def missing(self) -> bool:
        """Whether a bound must be estimated."""
        return None in self._given

    def fit(self, seen: Sequence[float]) -> None:
        """Take missing bounds from rewards of random play, a little wider; 0 is always inside.

        Random play that meets no reward but 0 says nothing about the scale: 0 to 1 is assumed.
        """
        low, high = min(0.0, *seen), max(0.0, *seen)
        margin = MARGIN * (high - low)
        self._assumed = low == high
        if self._given[0] is None:
            self.low = low - margin if low < 0 else 0.0
        if self._given[1] is None:
            self.high = high + margin if high > 0 else float(self._assumed)
        self._check()

    def _check(self) -> None:
        if not self.low < self.high:
            raise InputError("reward_high", self.high, f"must be above reward_low = {self.low}")

    def scale(self, raw: np.ndarray, where: str) -> np.ndarray:
        """Raw rewards (n,) from 0 to 1; an InputError for what is no finite number."""
        if not np.isfinite(raw).all():
            wrong = float(raw[~np.isfinite(raw)][0])
            raise InputError("reward", wrong, f"{where}: rewards must be numbers")
        inside = np.clip(raw, self.low, self.high)
        outside = inside != raw
        if outside.any():
            self.clipped += outside
            self._outermost = [min(self._outermost[0], raw.min()), max(self._outermost[1], raw.max())]
        return (inside - self.low) / (self.high - self.low)

    def notes(self, steps: int) -> list[str]:
        """Sentences for a user about the bounds after so many steps of every seed."""
        found = []
        lowest, highest = self._outermost
        if self.clipped.any():
            share = 100 * self.clipped.sum() / max(1, steps * len(self.clipped))
            sides = [f"--set reward_low={lowest:g}"] if lowest < self.low else []
            sides += [f"--set reward_high={highest:g}"] if highest > self.high else []
            found.append(
                f"{self.clipped.sum()} rewards ({share:.2g} %) were outside {self.low:g} to {self.high:g} "
                f"and clipped, which changes the task; {' '.join(sides)} takes them all"
            )
        elif self._assumed:
            found.append(
                f"random play met no reward but 0, so {self.low:g} to {self.high:g} is assumed; "
                "set reward_low and reward_high"
            )
        elif self.missing:
            found.append(
                f"rewards from {self.low:g} to {self.high:g} became 0 to 1, as far as random play went; "
                f"--set reward_low={self.low:g} --set reward_high={self.high:g} keeps these bounds"
            )
        return found


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
