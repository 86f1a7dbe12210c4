"""What every problem offers: N independent instances of one task that step together, arrays in, arrays out.

A task is written once, as `dynamics` over N instances. Noise, start states, drift and the carried state of a
continuing task are handled here so that they cannot differ between tasks. The random streams of an instance
depend on its own seed only (never on N, the agent or its actions): one instance alone repeats, bit for bit,
what it does among two hundred, and two agents with the same seed get the same random draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim.agent import Shape
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
from adamb.host_sim.parameter import Parameter, check_declared, choose, parse_parameters
from adamb.host_sim.policies import Optimum, Policy, RandomPolicy, constant_policy
from adamb.host_sim.registry import make_problem, problem_class, problem_names
from adamb.host_sim.user_code import checked_optimum, checked_outcome, place_of

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
    #: Set by tasks that clip everything they return; the outcomes of all others are checked at every step.
    trusted: bool = False
    #: (n, d_s) start states of every episode; None where each episode draws its own.
    fixed_start: np.ndarray | None = None
    #: What to do when `d_s` or `d_a` is more than an agent takes.
    narrowed_by: str = ""
    #: How many location numbers per instance `--drift walk` moves; 0 means the task cannot drift.
    drift_width: int = 0
    #: Standard deviation of one step of `--drift walk`, per episode.
    walk_deviation: float = 0.002

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
        self.horizon = HORIZON.parse("horizon", self.default_horizon() if horizon is None else horizon)
        self.clipped = np.zeros(self.n, dtype=np.int64)
        self.episode = -1
        self.version = 0
        self._optimum: tuple[int, Optimum | None] | None = None
        self._next_h = self.horizon
        self.setup([stream(seed, STREAM_INSTANCE) for seed in self.seeds])
        self.d_s, self.d_a = DIMENSIONS.parse("d_s", self.d_s), DIMENSIONS.parse("d_a", self.d_a)
        if self.drift != "none" and self.drift_width == 0:
            raise InputError("drift", drift, f"{self.name} has nothing that can drift")
        self._starts = Tape(self.seeds, STREAM_START, self.draw_starts)
        self._noise = Tape(self.seeds, STREAM_NOISE, self.draw_noise, (self.horizon,))
        self._drifts = Tape(self.seeds, STREAM_DRIFT, self._draw_walk)
        self.state = np.zeros((self.n, self.d_s))
        self._episode_noise = np.empty((self.horizon, 0, self.n))
        self.last: tuple[np.ndarray, ...] = ()

    # ---- what agents and runners call -------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """What an agent has to know of this problem."""
        return Shape(self.d_s, self.d_a, self.horizon, self.seeds, self.episodes)

    def alone(self, i: int) -> Problem:
        """Instance i by itself, from its first episode: the same draws as among the others."""
        return self.again(self.seeds[i : i + 1])

    def again(self, seeds: Sequence[int]) -> Problem:
        """The same task with these seeds, from its first episode."""
        return type(self)(
            seeds, name=self.name, episodes=self.episodes, horizon=self.horizon,
            instance=self.instance, drift=self.drift, continuing=self.continuing, **self.params,
        )  # fmt: skip

    def begin_episode(self) -> np.ndarray:
        """Start the next episode of every instance and return the start states (n, d_s)."""
        self.episode += 1
        self._apply_drift()
        drawn = self._starts.episode().T
        carry = self.continuing and self.episode > 0
        self.state = self.carried_state() if carry else self.fresh_start(drawn)
        if self.state.shape != (self.n, self.d_s):
            limit = f"must have the shape {(self.n, self.d_s)}{place_of(self.draw_starts)}"
            raise InputError("start states", self.state.shape, limit)
        self._episode_noise = self._noise.episode()
        self._next_h = 0
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
        outcome = self.dynamics(h, state, inside, self._episode_noise[h])
        rewards, following = outcome if self.trusted else checked_outcome(self, h, outcome)
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
            self._optimum = (self.version, found if self.trusted else checked_optimum(self, found))
        return self._optimum[1]

    def baselines(self) -> dict[str, Policy]:
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
            "instances": [self.describe_instance(i) for i in range(self.n)],
        }

    # ---- what a task gives ------------------------------------------------------------------------------

    @abstractmethod
    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rewards (n,) and next states (n, d_s), fresh arrays; `noise` is this step's slice of the tape."""

    def default_horizon(self) -> int:
        """Steps of an episode unless the user says otherwise; `params` are known already."""
        return type(self).horizon

    def setup(self, generators: list[np.random.Generator]) -> None:
        """Draw the instance parameters from one generator per instance; called once."""
        return None

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, d_s) start states of one instance."""
        return generator.random((episodes, self.d_s))

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """Start states (n, d_s) of this episode given the drawn ones; a fixed start replaces them."""
        return np.ascontiguousarray(drawn) if self.fixed_start is None else self.fixed_start.copy()

    def carried_state(self) -> np.ndarray:
        """Start states of a continuing task: where the last episode ended."""
        return self.state

    def resumed(self, states: np.ndarray) -> np.ndarray:
        """Where the next action is played after a step led to `states`; another place only after a reset."""
        return states

    def raw_returns(self) -> np.ndarray | None:
        """(n, episodes) returns of a run in the task's own units; None where those are ours."""
        return None

    def figures(self) -> dict[str, np.ndarray]:
        """What else a run should tell, by name, one number (n,) of each instance."""
        return {}

    def statistics(self) -> dict[str, Any]:
        """Counts of the whole run for `adamb run --statistics`; empty where nothing is counted."""
        return {}

    def notes(self) -> list[str]:
        """Sentences that a user should read after a run, such as how many rewards were clipped."""
        return []

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, H, ...) random numbers of one instance; `dynamics` sees [h] of it with axis n last."""
        return np.empty((episodes, self.horizon, 0))

    def mirror(self) -> None:
        """`--drift half`: mirror the location of every instance."""
        raise NotImplementedError

    def walk(self, steps: np.ndarray) -> None:
        """`--drift walk`: move the location numbers by `steps` (n, drift_width)."""
        raise NotImplementedError

    def solve(self) -> Optimum | None:
        """The optimum of the current parameters, None where no model is known."""
        return None

    def describe_instance(self, i: int) -> dict[str, Any]:
        """What the seed of instance i decided."""
        start = "random" if self.fixed_start is None else self.fixed_start[i].tolist()
        return {"seed": self.seeds[i], "start": start}

    # ---- shared machinery -------------------------------------------------------------------------------

    def _draw_walk(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return draws.normal(generator, (episodes, self.drift_width))

    def _apply_drift(self) -> None:
        if self.drift == "half" and self.episode == self.episodes // 2:
            self.mirror()
            self.version += 1
        elif self.drift == "walk" and self.episode > 0:
            self.walk(self.walk_deviation * self._drifts.episode().T)
            self.version += 1

    def _count_clipped(self, h: int, actions: np.ndarray, inside: np.ndarray) -> None:
        if np.isnan(actions).any():
            raise InputError("action", float("nan"), f"step {h} of episode {self.episode}: not a number")
        self.clipped += (inside != actions).sum(axis=1)


def _plain(value: object) -> object:
    return [float(v) for v in value] if isinstance(value, (tuple, np.ndarray)) else value
