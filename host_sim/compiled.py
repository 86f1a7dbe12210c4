"""Problems whose step is a C function of `c/worlds`: of all instances at once, or in whole episodes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.problem import MAX_EPISODES, Problem


@dataclass(frozen=True)
class CompiledProblem:
    """How a step is played under the present parameters; `kept` is memory that C only points to."""

    pointer: Any
    numbers: int
    """Random numbers that a step reads."""
    kept: tuple[Any, ...]

    @classmethod
    def of(cls, step: str, world: Any, *kept: Any, numbers: int = 1) -> CompiledProblem:
        """`step` is a C function of a world, `world` its `ffi.new` structure."""
        pointer = ffi.new("play_problem *", {"world": world, "step": ffi.addressof(lib, step)})
        return cls(pointer, numbers, (world, *kept))


class ProblemInC(Problem):
    """A problem whose `dynamics` and whose whole episodes are the same C function."""

    trusted = True
    #: So many episodes at most are begun at once.
    most_at_once: int = MAX_EPISODES
    _present: tuple[int, CompiledProblem] | None = None

    @abstractmethod
    def world(self) -> CompiledProblem:
        """The step under the present parameters; asked for again when drift has moved them."""

    def compiled(self) -> CompiledProblem | None:
        """The same, for whole episodes; None where they cannot be played at once."""
        return self._world()

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        world, n = self._world(), self.n
        given = [np.ascontiguousarray(each, dtype=float) for each in (states, actions, noise)]
        for each, width in zip(given, (self.d_s, self.d_a, world.numbers), strict=True):
            if each.size < n * width:
                raise InputError("dynamics", each.shape, f"needs {n} rows of {width} numbers")
        rewards, following = np.empty(n), np.empty((n, self.d_s))
        pointers = [ffi.from_buffer("double[]", each) for each in (*given, rewards, following)]
        lib.play_step_all(world.pointer, ffi.new("play_batch *", (n, self.d_s, self.d_a, h, *pointers)))
        return rewards, following

    def begin_episodes(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Start one or more whole episodes, at most so many.

        Gives their start states (m, n, d_s), of a continuing task the first one's alone, and their noise
        (m, H, ..., n). The parameters are the same in all of them. `end_episodes` must follow.
        """
        self.episode += 1
        self._apply_drift()
        if self.drift == "walk":
            most = 1
        elif self.drift == "half" and self.episode < self.episodes // 2:
            most = min(most, self.episodes // 2 - self.episode)
        count = min(most, self.most_at_once, self._starts.episodes_left(), self._noise.episodes_left())
        drawn, noise = np.moveaxis(self._starts.take(count), -1, 1), self._noise.take(count)
        starts = self.fresh_starts(drawn, noise)
        if starts.shape != (count, self.n, self.d_s):
            limit = f"must have the shape {(count, self.n, self.d_s)}"
            raise InputError("start states", starts.shape, limit)
        if self.continuing and self.episode > 0:
            starts[0] = self.carried_state()
        self.episode += count - 1
        self._episode_noise = noise[-1]
        return starts, noise

    def end_episodes(self, *last: np.ndarray) -> None:
        """Say how the last step of the last episode went: state, action, reward, the state that followed."""
        self.state, self._next_h, self.last = last[-1], self.horizon, last

    def fresh_starts(self, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """What `fresh_start` gives, for whole episodes: (m, n, d_s) of (m, n, ...) drawn ones."""
        fixed = self.fixed_start
        starts = drawn if fixed is None else np.broadcast_to(fixed, (len(drawn), *fixed.shape))
        return np.array(starts, dtype=float, order="C")

    def _world(self) -> CompiledProblem:
        if self._present is None or self._present[0] != self.version:
            self._present = self.version, self.world()
        return self._present[1]


def doubles(array: np.ndarray) -> Any:
    """Where the numbers lie; the caller keeps them."""
    return ffi.cast("double *", array.ctypes.data)
