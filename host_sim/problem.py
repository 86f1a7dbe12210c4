"""The interface of problems: N independent instances of one task that step together, arrays in, arrays out.

A task is written once, as `dynamics` over N instances. Noise, start states, drift and the carried state of a
continuing task are handled here so that they cannot differ between tasks. The random streams of an instance
depend on its own seed only (never on N, the agent or its actions): one instance alone repeats, bit for bit,
what it does among two hundred, and two agents with the same seed get the same random draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim.agents import Shape
from adamb.host_sim.draws import (
    STREAM_DRIFT,
    STREAM_INSTANCE,
    STREAM_NOISE,
    STREAM_POLICY,
    STREAM_START,
    Tape,
    reflect,
    stream,
)
from adamb.host_sim.parameter import Parameter, Range, check_declared, choose, declared, parse_parameters
from adamb.host_sim.problems import make_problem, problem_class, problem_names

__all__ = [
    "Optimum", "Parameter", "Policy", "Problem", "RandomPolicy", "Tape", "constant_policy", "make_problem",
    "problem_class", "problem_names", "reflect", "stream",
]  # fmt: skip

INSTANCES = ("random", "paper")
DRIFTS = ("none", "half", "walk")
MAX_EPISODES = 10_000_000
EPISODES = Parameter(2000, "int", "episodes of a run", 1, MAX_EPISODES)
HORIZON = Parameter(5, "int", "steps of an episode", 1, 1000)
DIMENSIONS = Parameter(1, "int", "of states, and of actions", 1, 1_000_000)


Policy = Callable[[int, np.ndarray], np.ndarray]


class Optimum(Protocol):
    """The best possible play under the current parameters, for all instances."""

    @property
    def mean(self) -> np.ndarray:
        """(n,) expected return of an episode over the start distribution."""

    def value(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n,) expected return of steps h..H-1 from the given states."""

    def policy(self, h: int, states: np.ndarray) -> np.ndarray:
        """(n, d_a) best actions."""

    def q(self, instance: int, h: int) -> np.ndarray:
        """Q* of one instance and step on a grid (state axes first, then action axes), for pictures."""


class RandomPolicy:
    """Uniform actions from a stream of their own, so that playing it leaves the problem's draws alone."""

    def __init__(self, draws: Tape) -> None:
        self._draws = draws
        self._episode = np.empty(0)

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if h == 0 or self._episode.size == 0:
            self._episode = self._draws.episode()
        return np.ascontiguousarray(self._episode[h].T)


def constant_policy(problem: Problem, action: float | Sequence[float]) -> Policy:
    """Always the same action."""
    actions = np.broadcast_to(np.asarray(action, dtype=float), (problem.n, problem.d_a))
    return lambda h, states: actions.copy()


@dataclass(frozen=True)
class Report:
    """Report of a problem on a run, besides its rewards."""

    raw_returns: np.ndarray | None = None
    """(n, episodes) returns in the task's own units; None where those are ours."""
    figures: dict[str, np.ndarray] = field(default_factory=dict)
    """One number (n,) of each instance, by name."""
    statistics: dict[str, Any] = field(default_factory=dict)
    """Counts of the whole run, which `adamb run --explain` prints."""
    notes: list[str] = field(default_factory=list)
    """Sentences that a user should read, such as how many rewards were clipped."""


class Problem(ABC):
    """N instances of one task with S = [0,1]^d_s, A = [0,1]^d_a, rewards in [0,1] and exactly H steps.

    A subclass gives `dynamics` and, where they apply, the hooks below it. `parameters` lists what
    `--set name=value` may change.

    >>> class Echo(Problem):
    ...     horizon = 2
    ...     def dynamics(self, h, states, actions, noise):
    ...         return 1 - abs(states - actions)[:, 0], actions.copy()
    >>> echo = Echo(seeds=[1, 2])
    >>> rewards, states = echo.step(0, echo.begin_episode())
    >>> rewards
    array([1., 1.])
    """

    name: str = ""
    d_s: int = 1
    d_a: int = 1
    horizon: int = 5
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    #: Name of every state, then of every action: the values of its 0 and its 1, and their unit.
    ranges: ClassVar[Mapping[str, tuple[float, float, str]]] = {}
    #: Set by tasks that clip everything they return; the outcomes of all others are checked at every step.
    trusted: bool = False
    #: (n, d_s) start states of every episode; None where each episode draws its own.
    fixed_start: np.ndarray | None = None
    #: How many location numbers per instance `--set drift=walk` moves; 0 means the task cannot drift.
    drift_width: int = 0

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        check_declared("parameters", cls.parameters)

    def __init__(
        self,
        seeds: Sequence[int],
        *,
        name: str | None = None,
        episodes: int = 2000,
        horizon: int | None = None,
        instance: str = "random",
        drift: str = "none",
        continuing: bool = False,
        **params: object,
    ) -> None:
        if not isinstance(seeds, Iterable):
            raise InputError("seeds", seeds, f"must be several numbers, such as range({seeds})")
        self.seeds = [draws.checked_seed(seed) for seed in seeds]
        if not self.seeds:
            raise InputError("seeds", len(self.seeds), "at least one instance is needed")
        episodes = EPISODES.parse("episodes", episodes)
        self.name = name or type(self).name or type(self).__name__
        self.n = len(self.seeds)
        self.episodes = episodes
        self.instance = choose("instance", instance, INSTANCES)
        self.drift = choose("drift", drift, DRIFTS)
        self.continuing = bool(continuing)
        self.params: dict[str, Any] = parse_parameters(self.parameters, params, problem=self.name)
        self.horizon = HORIZON.parse("horizon", self._usual_horizon() if horizon is None else horizon)
        self.clipped = np.zeros(self.n, dtype=np.int64)
        self.episode = -1
        self.version = 0
        self._optimum: tuple[int, Optimum | None] | None = None
        self._next_h = self.horizon
        self.setup([stream(seed, STREAM_INSTANCE) for seed in self.seeds])
        self.d_s, self.d_a = DIMENSIONS.parse("d_s", self.d_s), DIMENSIONS.parse("d_a", self.d_a)
        #: The same, checked: states, then actions; empty where none are declared.
        self.coordinates: tuple[Range, ...] = declared(self.ranges, self.d_s, self.d_a)
        #: What an agent has to know of this problem.
        self.shape = Shape(self.d_s, self.d_a, self.horizon, self.seeds, self.episodes)
        if self.drift != "none" and self.drift_width == 0:
            raise InputError("drift", drift, f"{self.name} has nothing that can drift")
        self._starts = Tape(self.seeds, STREAM_START, self.draw_starts)
        self._noise = Tape(self.seeds, STREAM_NOISE, self.draw_noise, (self.horizon,))
        self._drifts = Tape(self.seeds, STREAM_DRIFT, self._draw_walk)
        self.state = np.zeros((self.n, self.d_s))
        self._episode_noise = np.empty((self.horizon, 0, self.n))
        self.last: tuple[np.ndarray, ...] = ()

    # ---- what agents and runners call -------------------------------------------------------------------

    def begin_episode(self) -> np.ndarray:
        """Start the next episode of every instance and return the start states (n, d_s)."""
        self.episode += 1
        self._apply_drift()
        drawn = self._starts.episode().T
        carry = self.continuing and self.episode > 0
        self.state = self._carried_state() if carry else self.fresh_start(drawn)
        if self.state.shape != (self.n, self.d_s):
            from adamb.host_sim.user_code import place_of

            limit = f"must have the shape {(self.n, self.d_s)}{place_of(self.draw_starts)}"
            raise InputError("start states", self.state.shape, limit)
        self._episode_noise = self._noise.episode()
        self._next_h, self.last = 0, ()
        return self.state.copy()

    def step(self, h: int, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Play `actions` (n, d_a) at step h; gives rewards (n,) and next states (n, d_s).

        Actions outside the unit cube are clipped and counted in `clipped`.
        """
        if h != self._next_h or h == self.horizon:
            expected = f"step {self._next_h}" if self._next_h < self.horizon else "begin_episode"
            raise InputError("h", h, f"out of order, {expected} comes next")
        inside = np.minimum(np.maximum(actions, 0.0), 1.0)
        if (inside != actions).any():
            self._count_clipped(h, actions, inside)
        state = self.state
        outcome = self._played(h, state, inside, self._step_noise(h))
        if not self.trusted:
            from adamb.host_sim.user_code import checked_outcome

            outcome = checked_outcome(self, h, outcome)
        rewards, following = outcome
        self._next_h = h + 1
        self.state = following
        self.last = state, inside, rewards, following
        return rewards, following.copy()

    def info(self) -> dict[str, np.ndarray]:
        """The last step in raw units; by default the unit cube is the raw unit."""
        if not self.last:
            return {"state": self.state.copy(), "clipped": self.clipped.copy()}
        state, action, reward, following = (array.copy() for array in self.last)
        return {
            "state": state, "action": action, "reward": reward, "next_state": following,
            "clipped": self.clipped.copy(),
        }  # fmt: skip

    def optimal(self) -> Optimum | None:
        """The optimum of the current parameters; solved again only when drift has moved them.

        For a continuing task it is the optimum of one window of H steps from the state given.
        """
        if self._optimum is None or self._optimum[0] != self.version:
            found = self.solve()
            if not self.trusted:
                from adamb.host_sim.user_code import checked_optimum

                found = checked_optimum(self, found)
            self._optimum = (self.version, found)
        return self._optimum[1]

    def rules(self) -> dict[str, Policy]:
        """Policies that need no learning; a subclass adds the field's own heuristics."""
        shape = (self.horizon, self.d_a)
        tape = Tape(self.seeds, STREAM_POLICY, lambda rng, episodes: rng.random((episodes, *shape)))
        policies: dict[str, Policy] = {"random": RandomPolicy(tape), "centre": constant_policy(self, 0.5)}
        if self.d_s == self.d_a:
            policies["stay"] = lambda h, states: states.copy()
        return policies

    def describe(self) -> dict[str, Any]:
        """Which instance this is, as plain data."""
        return {
            "problem": self.name,
            "instance": self.instance,
            "d_s": self.d_s,
            "d_a": self.d_a,
            "horizon": self.horizon,
            "episodes": self.episodes,
            "drift": self.drift,
            "continuing": self.continuing,
            "seeds": list(self.seeds),
            "parameters": {key: _plain(value) for key, value in self.params.items()},
            "ranges": {each.name: [each.zero, each.full, each.unit] for each in self.coordinates},
            "instances": [
                {"seed": seed, "start": "random" if self.fixed_start is None else self.fixed_start[i].tolist()}
                for i, seed in enumerate(self.seeds)
            ],
        }

    # ---- what a task gives ------------------------------------------------------------------------------

    @abstractmethod
    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rewards (n,) and next states (n, d_s), fresh arrays; `noise` (n, ...) is what `draw_noise` drew for h."""

    def setup(self, generators: list[np.random.Generator]) -> None:
        """Draw the instance parameters from one generator per instance; called once."""
        return None

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, d_s) start states of one instance."""
        return generator.random((episodes, self.d_s))

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """Start states (n, d_s) of this episode given the drawn ones; a fixed start replaces them."""
        return np.ascontiguousarray(drawn) if self.fixed_start is None else self.fixed_start.copy()

    def report(self) -> Report:
        """All that a run tells besides its rewards."""
        return Report()

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, H, ...) random numbers of one instance; `dynamics` sees [h] of all, instances first: (n, ...)."""
        return np.empty((episodes, self.horizon, 0))

    def move(self, steps: np.ndarray | None) -> None:
        """`drift=walk`: move the locations by normal numbers (n, drift_width); None, `half`: mirror them."""
        raise NotImplementedError

    def solve(self) -> Optimum | None:
        """The optimum of the current parameters, None where no model is known."""
        return None

    # ---- shared machinery -------------------------------------------------------------------------------

    def _usual_horizon(self) -> int:
        """Steps of an episode unless the user says otherwise; `params` are known already."""
        return type(self).horizon

    def _played(self, h: int, state: np.ndarray, action: np.ndarray, noise: np.ndarray) -> Any:
        """What `dynamics` returns; where shapes do not go together the error says those that it was given."""
        try:
            return self.dynamics(h, state, action, noise)
        except (ValueError, IndexError) as error:
            shapes = f"instances first: states {state.shape}, actions {action.shape}, noise {noise.shape}"
            error.args = (f"{error}; {shapes}",)
            raise

    def _step_noise(self, h: int) -> np.ndarray:
        """(n, ...) numbers of this step; on the tape instances are last."""
        return np.moveaxis(self._episode_noise[h], -1, 0)

    def _carried_state(self) -> np.ndarray:
        """Start states of a continuing task: where the last episode ended."""
        return self.state

    def _draw_walk(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return draws.normal(generator, (episodes, self.drift_width))

    def _apply_drift(self) -> None:
        if self.drift == "half" and self.episode == self.episodes // 2:
            self.move(None)
            self.version += 1
        elif self.drift == "walk" and self.episode > 0:
            self.move(self._drifts.episode().T)
            self.version += 1

    def _count_clipped(self, h: int, actions: np.ndarray, inside: np.ndarray) -> None:
        if np.isnan(actions).any():
            raise InputError("action", float("nan"), f"step {h} of episode {self.episode}: not a number")
        self.clipped += (inside != actions).sum(axis=1)


def with_seeds(problem: Problem, seeds: Sequence[int]) -> Problem:
    """The same task with these seeds, from its first episode: an instance draws the same as among others."""
    return type(problem)(
        seeds, name=problem.name, episodes=problem.episodes, horizon=problem.horizon, instance=problem.instance,
        drift=problem.drift, continuing=problem.continuing, **problem.params,
    )  # fmt: skip


def with_facts(description: dict[str, Any], **facts: Sequence[Any]) -> dict[str, Any]:
    """A description with more that the seeds have decided, by name and instance."""
    rows = zip(description["instances"], *facts.values(), strict=True)
    return {**description, "instances": [{**row, **dict(zip(facts, own, strict=True))} for row, *own in rows]}


def _plain(value: object) -> object:
    return [float(v) for v in value] if isinstance(value, (tuple, np.ndarray)) else value


#: Standard deviation of one step of `--drift walk`, per episode.
WALK = 0.002


class LocatedProblem(Problem):
    """`c` is the location; `--set drift=half` mirrors it, `--set drift=walk` moves it up to the borders."""

    trusted = True
    #: (n,) location of each instance.
    c: np.ndarray

    def set_location(self, location: float) -> None:
        """Put every instance at `location`; a subclass calls this in `setup`."""
        self.c = np.full(self.n, float(location))
        self.drift_width = 1

    def move(self, steps: np.ndarray | None) -> None:
        self.c = 1.0 - self.c if steps is None else np.clip(self.c + WALK * steps[:, 0], 0.0, 1.0)

    def describe(self) -> dict[str, Any]:
        return with_facts(super().describe(), c=self.c.tolist())
