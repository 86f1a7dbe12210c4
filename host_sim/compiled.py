"""Whole episodes in C, where a problem and an agent are both compiled: the same numbers, far sooner.

Between two steps in Python lie some microseconds of calls, which is more than a step costs. A class that is
compiled says so with a method `compiled`. It speaks for that class alone: a subclass may change what a step
does, so it is played through its methods, as everything is that has no such method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import AdambError
from adamb.host_sim._sim import ffi, lib

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.problem import Problem

REPLACED = {"act", "observe", "end_episode", "begin_episode", "step", "dynamics", "resumed"}
"""Methods that are not called while episodes are played in C."""


@dataclass(frozen=True)
class CompiledProblem:
    """How a step is played under the present parameters; `kept` is memory that C only points to.

    `noise` is what becomes of the numbers of the tape before a step sees them.
    """

    pointer: Any
    kept: tuple[Any, ...]
    noise: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(
        cls, step: str, world: Any, *kept: Any, noise: Callable[[np.ndarray], np.ndarray] = np.asarray
    ) -> CompiledProblem:
        """`step` is a C function of a world, `world` its `ffi.new` structure."""
        pointer = ffi.new("play_problem *", {"world": world, "step": ffi.addressof(lib, step)})
        return cls(pointer, (world, *kept), noise)


@dataclass(frozen=True)
class CompiledAgent:
    """Compiled learners, a group with the same memory after another."""

    groups: tuple[tuple[Any, int, Any], ...]
    """Calls, how many learners they are for, and memory that C only points to."""

    @classmethod
    def of(cls, prefix: str, learners: Any, n: int, *kept: Any, **offsets: float) -> CompiledAgent:
        """`prefix` begins the names of the C functions, such as `rivals_grid` of `rivals_grid_act`."""
        pointer = ffi.new("play_agent *", {"learners": ffi.cast("void *", learners), **offsets})
        for call in ("act", "observe", "end_episode"):
            if hasattr(lib, f"{prefix}_{call}"):
                setattr(pointer, call, ffi.addressof(lib, f"{prefix}_{call}"))
        return cls(((pointer, n, (learners, *kept)),))


def offered(thing: Problem | Agent) -> Any:
    """What the class itself offers; None where it offers nothing, or where a method was replaced."""
    hook = vars(type(thing)).get("compiled")
    return None if hook is None or REPLACED & vars(thing).keys() else hook(thing)


class CompiledPlay:
    """The episodes of one run."""

    def __init__(self, problem: Problem, agent: CompiledAgent) -> None:
        self.problem, self.agent = problem, agent
        self._version = -1
        self._world: Any = None
        self._run = ffi.new("play_run *")
        run, n = self._run, problem.n
        run.n, run.d_s, run.d_a, run.horizon = n, problem.d_s, problem.d_a, problem.horizon
        run.carry = problem.continuing
        self._last = np.empty((n, problem.d_s)), np.empty((n, problem.d_a)), np.empty((n, problem.d_s))
        run.last_states, run.last_actions, run.end_states = map(doubles, self._last)

    @classmethod
    def of(cls, problem: Problem, agent: Agent) -> CompiledPlay | None:
        """None where one of the two is not compiled."""
        learners = offered(agent)
        if learners is None or offered(problem) is None:
            return None
        return cls(problem, learners)

    def play(self, starts: np.ndarray, noise: np.ndarray, returns: np.ndarray) -> tuple[float, float]:
        """Episodes that the problem has begun, into `returns` (n, m); gives the shares of act and observe."""
        problem, run = self.problem, self._run
        if self._version != problem.version:
            self._version, self._world = problem.version, offered(problem)
        noise = np.ascontiguousarray(self._world.noise(noise))
        run.episodes, run.numbers = len(starts), noise[0, 0].size // problem.n
        run.starts, run.noise, run.returns = doubles(starts), doubles(noise), doubles(returns)
        run.stride = returns.strides[0] // returns.itemsize
        run.clipped = ffi.from_buffer("int64_t[]", problem.clipped)
        run.act_ns = run.observe_ns = run.environment_ns = 0
        first = 0
        for calls, n, _ in self.agent.groups:
            code = lib.play_episodes(run, self._world.pointer, calls, first, n)
            if code:
                raise AdambError(f"a learner refused a call (code {code})")
            first += n
        states, actions, following = (array.copy() for array in self._last)
        problem.end_episodes(states, actions, following)
        timed = max(1, run.act_ns + run.observe_ns + run.environment_ns)
        return run.act_ns / timed, run.observe_ns / timed


def doubles(array: np.ndarray) -> Any:
    """Where the numbers lie; the caller keeps them."""
    return ffi.cast("double *", array.ctypes.data)
