"""The interface that every agent implements.

An agent is n independent learners stepping together, one per seed, so that thirty seeds cost little more
than one and comparisons are paired. `adamb.host_sim.agents` knows them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adamb.budgets.errors import unknown_name
from adamb.budgets.sizes import parse_size
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.parameter import Parameter, check_declared

AGENT_STREAM = 0xA6E27
"""Mixed into every agent's seed: an agent must not draw the numbers its problem draws."""


REPLACED = {
    "act", "observe", "end_episode", "begin_episode", "step", "dynamics", "resumed", "fresh_start",
    "carried_state",
}  # fmt: skip
"""Methods that are not called while episodes are played in C."""


@dataclass(frozen=True)
class Shape:
    """All that an agent gets to know about its problem: dimensions, steps, and one learner for each seed.

    >>> shape = Shape(d_s=1, d_a=2, horizon=5, seeds=range(3), episodes=100)
    >>> shape.n, shape.seeds
    (3, (0, 1, 2))
    """

    d_s: int
    d_a: int
    horizon: int
    seeds: Sequence[int]
    episodes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(int(seed) for seed in self.seeds))

    @property
    def n(self) -> int:
        """How many learners step together."""
        return len(self.seeds)


class Agent(ABC):
    """n learners in lockstep; every array's first axis is the learner.

    A subclass declares its options in `options_known`; `self.options` then holds the values of a run, and an
    option that is not declared is refused.

    >>> class Halfway(Agent):
    ...     name = "halfway"
    ...     def act(self, h, states):
    ...         return np.full((self.n, self.d_a), 0.5)
    >>> Halfway(Shape(1, 2, 5, seeds=[7], episodes=10)).act(0, np.zeros((1, 1)))
    array([[0.5, 0.5]])
    """

    name = "agent"
    core: str | None = None
    """Which implementation runs; set for adamb only."""
    options_known: ClassVar[Mapping[str, Parameter]] = {}
    """What `--agent-set name=value` may change; the word `auto`, where it is allowed, means the default."""
    lanes = 0
    """How many learners can run at once, each on a target of its own; 0 where all step together."""
    needs_problem = False
    """True for a class that is built from the problem itself, not from its dimensions."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        check_declared("options_known", cls.options_known)

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        self.options = self._parse(options)
        self.shape = shape
        self.d_s, self.d_a, self.horizon = shape.d_s, shape.d_a, shape.horizon
        self.seeds, self.n, self.episodes = tuple(shape.seeds), shape.n, shape.episodes
        self.budget_bytes = budget_of(budget_bytes)

    def _parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        known = self.options_known
        take_options(self.name, given, **dict.fromkeys(known))
        values = {name: given.get(name, parameter.default) for name, parameter in known.items()}
        values = {name: known[name].default if value == "auto" else value for name, value in values.items()}
        return {
            name: value if value is None else known[name].parse(name, value) for name, value in values.items()
        }

    @abstractmethod
    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        """Actions (n, d_a) in [0,1] for the states (n, d_s) at step h."""

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:  # noqa: B027
        """Learn from what followed the last act of step h."""

    def end_episode(self) -> None:  # noqa: B027
        """The episode is over."""

    def bytes_used(self) -> np.ndarray:
        """Bytes (n,) the learner occupies now; 0 for an agent that keeps nothing it has learned."""
        return np.zeros(self.n, dtype=np.int64)

    def bytes_peak(self) -> np.ndarray:
        """The most bytes (n,) the learner has occupied so far."""
        return self.bytes_used()

    def stats(self) -> dict[str, np.ndarray]:
        """Counters (n,) by name: leaves, refused_splits, reclaims, saturations, restarts and others."""
        return {}

    def describe(self) -> dict[str, Any]:
        """The settings in effect, JSON-able: `mode`, `share` and whatever the agent was built with."""
        return {}

    def alone(self, i: int, lane: int) -> Agent:
        """Learner i by itself, where learners take turns; `lane` says on which target."""
        raise NotImplementedError

    def release(self) -> None:  # noqa: B027
        """A run in turns is over: give back what `alone` opened."""

    def on_target(self) -> dict[str, Any] | None:
        """What was measured where the learner runs, for agents that do not run on this computer."""
        return None

    def digest(self) -> str | None:
        """A hash of the first learner's final memory block, for agents whose memory is one block."""
        return None


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


def offered(thing: object) -> Any:
    """What a problem or an agent offers for episodes in C, with its method `compiled`; None without one.

    None, too, where the object or a class below that method has another of those that C stands in for.
    """
    kinds = type(thing).__mro__

    def place(name: str) -> int:
        return next((i for i, kind in enumerate(kinds) if name in kind.__dict__), len(kinds))

    if REPLACED & vars(thing).keys() or place("compiled") > min(map(place, REPLACED)):
        return None
    return thing.compiled()  # type: ignore[attr-defined]


def budget_of(size: int | str | None) -> int | None:
    """Whole bytes of a cap given as 4096 or "4KiB"; None is no cap."""
    return None if size is None else parse_size(size, "budget_bytes")


def take_options(agent: str, given: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The defaults overlaid with what was given; an option the agent does not have is an InputError."""
    for name in given:
        if name not in defaults:
            raise unknown_name("option", name, defaults, f"agent {agent} has no such option")
    return {**defaults, **given}


def generators(seeds: Sequence[int], *stream: int) -> list[np.random.Generator]:
    """One generator per learner, so that a learner draws the same numbers alone and among others."""
    return [np.random.default_rng([seed, AGENT_STREAM, *stream]) for seed in seeds]


@dataclass
class Progress:
    """What a run looks like from outside while it runs; one object, updated after every episode."""

    agent: Agent
    episodes: int
    returns: np.ndarray
    optimal: np.ndarray | None
    done: int = 0
    turn: tuple[int, int] = (0, 1)
    """How many learners were done before this one, and how many there are, where they take turns."""
