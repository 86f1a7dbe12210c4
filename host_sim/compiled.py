"""Problems whose step is a C function of `c/worlds`: of all instances at once, or in whole episodes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.problem import Problem


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

    def _world(self) -> CompiledProblem:
        if self._present is None or self._present[0] != self.version:
            self._present = self.version, self.world()
        return self._present[1]


def doubles(array: np.ndarray) -> Any:
    """Where the numbers lie; the caller keeps them."""
    return ffi.cast("double *", array.ctypes.data)
