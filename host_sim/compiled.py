"""Problems whose step is a C function of `c/worlds`, and learners that C steps: all at once, in whole episodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import AGENT_STREAM, Agent, CompiledAgent
from adamb.host_sim.problem import MAX_EPISODES, Problem


@dataclass(frozen=True)
class CompiledProblem:
    """A step under the present parameters; `kept` is memory that C only points to."""

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
            starts[0] = self._carried_state()
        self.episode += count - 1
        self._episode_noise = noise[-1]
        return starts, noise

    def end_episodes(self, *last: np.ndarray) -> None:
        """Say how the last step of the last episode went: state, action, reward, the state that followed."""
        self.state, self._next_h, self.last = last[-1], self.horizon, last

    def fresh_starts(self, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Results of `fresh_start` for whole episodes: (m, n, d_s) of (m, n, ...) drawn ones."""
        fixed = self.fixed_start
        starts = drawn if fixed is None else np.broadcast_to(fixed, (len(drawn), *fixed.shape))
        return np.array(starts, dtype=float, order="C")

    def _step_noise(self, h: int) -> np.ndarray:
        """As on the tape, which C reads: (..., n)."""
        return self._episode_noise[h]

    def _world(self) -> CompiledProblem:
        if self._present is None or self._present[0] != self.version:
            self._present = self.version, self.world()
        return self._present[1]


def doubles(array: np.ndarray) -> Any:
    """Pointer to the numbers; the caller keeps them."""
    return ffi.cast("double *", array.ctypes.data)


def as_doubles(array: np.ndarray) -> Any:
    """Numbers that C only reads; valid while the result lives."""
    return ffi.from_buffer("double[]", np.ascontiguousarray(array, dtype=np.float64))


class CompiledLearners(Agent):
    """Learners that C makes and steps; a subclass hands its configuration to `_make`.

    `c_name` begins the names of the C functions.
    """

    c_name = ""
    offset = action_offset = 0.0
    _learners: Any

    def _make(self, config: Any) -> None:
        words = [np.random.SeedSequence([seed, AGENT_STREAM]).generate_state(1, np.uint64) for seed in self.seeds]
        seeds = ffi.from_buffer("uint64_t[]", np.concatenate(words))
        made = getattr(lib, f"{self.c_name}_new")(config, seeds)
        if made == ffi.NULL:
            raise MemoryError("the host has not enough memory for these learners")
        self._learners = ffi.gc(made, getattr(lib, f"{self.c_name}_free"))

    def _stepped(self) -> tuple[str, Any]:
        """What steps: the start of the names of `act` and the others, and the learners for them."""
        return self.c_name, self._learners

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        name, learners = self._stepped()
        actions = np.empty((self.n, self.d_a))
        pointer = ffi.from_buffer("double[]", actions)
        getattr(lib, f"{name}_act")(learners, 0, self.n, h, as_doubles(states + self.offset), pointer)
        return actions - self.action_offset

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        name, learners = self._stepped()
        call, following = getattr(lib, f"{name}_observe"), as_doubles(next_states + self.offset)
        if call(learners, 0, self.n, h, as_doubles(rewards), following) < 0:
            raise MemoryError("the host has not enough memory for what is learnt")

    def end_episode(self) -> None:
        name, learners = self._stepped()
        if hasattr(lib, f"{name}_end_episode"):
            getattr(lib, f"{name}_end_episode")(learners, 0, self.n)

    def compiled(self) -> CompiledAgent:
        name, learners = self._stepped()
        return CompiledAgent.of(name, learners, self.n, offset=self.offset, action_offset=self.action_offset)


#: For all tapes together; more than a processor keeps near would be no faster.
USUAL_BYTES = 24_000_000
#: A simulation whose tapes of a single episode need more is played step by step.
MOST_BYTES = 256_000_000
MOST_EPISODES = 64


class Tapes:
    """Tapes of what no action changes, for simulators that play whole episodes in C: memory by tape and episode that C
    only points to.

    Instances with the same seed, which agents under comparison play, share one tape. A tape holds as many
    episodes as there is memory for.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        firsts: dict[int, int] = {}
        for i, seed in enumerate(seeds):
            firsts.setdefault(seed, i)
        #: The first instance of each tape.
        self.firsts = list(firsts.values())
        order = {seed: number for number, seed in enumerate(firsts)}
        self.of = np.array([order[seed] for seed in seeds], dtype=np.int32)
        self.episodes = 0

    def make_room(self, bytes_an_episode: int) -> bool:
        """Choose how many episodes a tape has; False where not even one has room."""
        needed = len(self.firsts) * bytes_an_episode
        self.episodes = max(1, min(MOST_EPISODES, USUAL_BYTES // needed))
        return needed <= MOST_BYTES

    def array(self, *shape: int, kind: Any = np.float64) -> np.ndarray:
        """(tape, episode, ...)."""
        return np.zeros((len(self.firsts), self.episodes, *shape), dtype=kind)


def pointer(kind: str, array: np.ndarray) -> Any:
    """Pointer to an array, as C declares it; the caller keeps it."""
    return ffi.cast(f"{kind} *", array.ctypes.data)
