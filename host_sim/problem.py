"""What every problem offers: N independent instances of one task that step together, arrays in, arrays out.

A task is written once, as `_dynamics` over N instances. Noise, start states, drift and the carried state of a
continuing task are handled here so that they cannot differ between tasks. The random streams of an instance
depend on its own seed only (never on N, the agent or its actions): one instance alone repeats, bit for bit,
what it does among two hundred, and two agents with the same seed meet the same luck.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.parameter import Parameter, choose, parse_parameters
from adamb.host_sim.registry import make_problem, problem_class, problem_names, register

__all__ = [
    "Optimum",
    "Parameter",
    "Policy",
    "Problem",
    "RandomPolicy",
    "Tape",
    "constant_policy",
    "make_problem",
    "problem_class",
    "problem_names",
    "reflect",
    "register",
    "stream",
]

Policy = Callable[[int, np.ndarray], np.ndarray]

INSTANCES = ("random", "paper")
DRIFTS = ("none", "half", "walk")

# One random stream per purpose, so that for example a fixed start leaves the noise as it was.
STREAM_INSTANCE, STREAM_START, STREAM_NOISE, STREAM_DRIFT, STREAM_POLICY = range(5)

TAPE_NUMBERS = 1024


def stream(seed: int, purpose: int) -> np.random.Generator:
    """The generator of one purpose of one instance."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


class Tape:
    """Random numbers of whole episodes, drawn in blocks per instance, handed out for all instances at once.

    The block length depends on the shape of one episode only, not on N: a block boundary is visible in the
    numbers when a draw mixes distributions.
    """

    def __init__(
        self, seeds: Sequence[int], purpose: int, draw: Callable[[np.random.Generator, int], np.ndarray]
    ) -> None:
        self._seeds, self._purpose, self._draw = seeds, purpose, draw
        self._generators: list[np.random.Generator] = []
        self._block = np.empty(0)
        self._cursor = 0
        self._episodes = 0

    def episode(self) -> np.ndarray:
        """The numbers of the next episode; the last axis counts instances."""
        if self._cursor == self._episodes:
            self._refill()
        self._cursor += 1
        return self._block[self._cursor - 1]

    def _refill(self) -> None:
        if not self._generators:
            self._generators = [stream(seed, self._purpose) for seed in self._seeds]
            probe = self._draw(np.random.default_rng(0), 1)
            self._episodes = max(1, TAPE_NUMBERS // max(1, probe.size))
        draws = [self._draw(generator, self._episodes) for generator in self._generators]
        self._block = np.ascontiguousarray(np.stack(draws, axis=-1))
        self._cursor = 0


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


class Problem(ABC):
    """N instances of one task with S = [0,1]^d_s, A = [0,1]^d_a, rewards in [0,1] and exactly H steps.

    A subclass gives `_dynamics` and, where they apply, the hooks below it. `parameters` lists what
    `--set name=value` may change.
    """

    name: str = ""
    d_s: int = 1
    d_a: int = 1
    horizon: int = 5
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    #: Set by tasks that clip everything they return; the outcomes of all others are checked at every step.
    trusted: bool = False
    #: How many location numbers per instance `--drift walk` moves; 0 means the task cannot drift.
    drift_width: int = 0
    #: Standard deviation of one step of `--drift walk`, per episode.
    walk_deviation: float = 0.002

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
        self.seeds = [_checked_seed(seed) for seed in seeds]
        if not self.seeds:
            raise InputError("seeds", len(self.seeds), "at least one instance is needed")
        if episodes < 1:
            raise InputError("episodes", episodes, "must be at least 1")
        if horizon is not None and not 1 <= horizon <= 1000:
            raise InputError("horizon", horizon, "must be from 1 to 1000")
        self.name = name or type(self).name or type(self).__name__
        self.n = len(self.seeds)
        self.episodes = episodes
        self.instance = choose("instance", instance, INSTANCES)
        self.drift = choose("drift", drift, DRIFTS)
        self.continuing = bool(continuing)
        self.params: dict[str, Any] = parse_parameters(self.parameters, params, problem=self.name)
        self.horizon = self._default_horizon() if horizon is None else int(horizon)
        self.clipped = np.zeros(self.n, dtype=np.int64)
        self.episode = -1
        self.version = 0
        self._optimum: tuple[int, Optimum | None] | None = None
        self._next_h = self.horizon
        self._setup([stream(seed, STREAM_INSTANCE) for seed in self.seeds])
        if self.drift != "none" and self.drift_width == 0:
            raise InputError("drift", drift, f"{self.name} has nothing that can drift")
        self._starts = Tape(self.seeds, STREAM_START, self._draw_starts)
        self._noise = Tape(self.seeds, STREAM_NOISE, self._draw_noise)
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
        self.state = self._carried_state() if carry else self._fresh_start(drawn)
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
        rewards, following = self._dynamics(h, state, inside, self._episode_noise[h])
        if not self.trusted:
            rewards, following = np.asarray(rewards, dtype=float), np.asarray(following, dtype=float)
            self._check_outcome(h, rewards, following)
        self._next_h = h + 1
        self.state = following
        self.last = (state, inside, rewards, following)
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
            self._optimum = (self.version, self._solve())
        return self._optimum[1]

    def baselines(self) -> dict[str, Policy]:
        """Policies that need no learning; a subclass adds the field's own heuristics."""
        policies: dict[str, Policy] = {"random": RandomPolicy(self), "centre": constant_policy(self, 0.5)}
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
            "instances": [self._describe_instance(i) for i in range(self.n)],
        }

    # ---- what a task gives ------------------------------------------------------------------------------

    @abstractmethod
    def _dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rewards (n,) and next states (n, d_s), fresh arrays; `noise` is this step's slice of the tape."""

    def _default_horizon(self) -> int:
        """Steps of an episode unless the user says otherwise; `params` are known already."""
        return type(self).horizon

    def _setup(self, generators: list[np.random.Generator]) -> None:
        """Draw the instance parameters from one generator per instance; called once."""
        return None

    def _draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, d_s) start states of one instance."""
        return generator.random((episodes, self.d_s))

    def _fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """Start states (n, d_s) of this episode given the drawn ones; a fixed start replaces them."""
        return np.ascontiguousarray(drawn)

    def _carried_state(self) -> np.ndarray:
        """Start states of a continuing task: where the last episode ended."""
        return self.state

    def _draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """(episodes, H, ...) random numbers of one instance; `_dynamics` sees [h] of it with axis n last."""
        return np.empty((episodes, self.horizon, 0))

    def _mirror(self) -> None:
        """`--drift half`: mirror the location of every instance."""
        raise NotImplementedError

    def _walk(self, steps: np.ndarray) -> None:
        """`--drift walk`: move the location numbers by `steps` (n, drift_width)."""
        raise NotImplementedError

    def _solve(self) -> Optimum | None:
        """The optimum of the current parameters, None where no model is known."""
        return None

    def _describe_instance(self, i: int) -> dict[str, Any]:
        """What the seed of instance i decided."""
        return {"seed": self.seeds[i]}

    # ---- shared machinery -------------------------------------------------------------------------------

    def _draw_walk(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        return generator.standard_normal((episodes, self.drift_width))

    def _apply_drift(self) -> None:
        if self.drift == "half" and self.episode == self.episodes // 2:
            self._mirror()
            self.version += 1
        elif self.drift == "walk" and self.episode > 0:
            self._walk(self.walk_deviation * self._drifts.episode().T)
            self.version += 1

    def _check_outcome(self, h: int, rewards: np.ndarray, following: np.ndarray) -> None:
        """A learner fed with NaN or values outside its range fails silently and much later, so stop here."""
        where = f"step {h} of episode {self.episode}"
        if rewards.shape != (self.n,) or following.shape != (self.n, self.d_s):
            shapes = f"{rewards.shape} and {following.shape}"
            raise InputError("shape", shapes, f"{where}: must be {(self.n,)} and {(self.n, self.d_s)}")
        for field, values in (("reward", rewards), ("state", following)):
            if not (values.min() >= 0.0 and values.max() <= 1.0):
                wrong = values[~((values >= 0.0) & (values <= 1.0))]
                raise InputError(field, float(wrong[0]), f"{where}: must be from 0 to 1")

    def _count_clipped(self, h: int, actions: np.ndarray, inside: np.ndarray) -> None:
        if np.isnan(actions).any():
            raise InputError("action", float("nan"), f"step {h} of episode {self.episode}: not a number")
        self.clipped += (inside != actions).sum(axis=1)


class RandomPolicy:
    """Uniform actions from a stream of their own, so that playing it leaves the problem's luck alone."""

    def __init__(self, problem: Problem) -> None:
        shape = (problem.horizon, problem.d_a)
        self._tape = Tape(problem.seeds, STREAM_POLICY, lambda rng, episodes: rng.random((episodes, *shape)))
        self._episode = np.empty(0)

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if h == 0 or self._episode.size == 0:
            self._episode = self._tape.episode()
        return np.ascontiguousarray(self._episode[h].T)


def constant_policy(problem: Problem, action: float | Sequence[float]) -> Policy:
    """Always the same action."""
    actions = np.broadcast_to(np.asarray(action, dtype=float), (problem.n, problem.d_a))
    return lambda h, states: actions.copy()


def reflect(values: np.ndarray) -> np.ndarray:
    """Fold numbers back into [0,1] at the borders, so that a walk does not stick to them."""
    folded = np.mod(values, 2.0)
    return np.where(folded > 1.0, 2.0 - folded, folded)


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError("seed", seed, "must be a whole number from 0")
    return int(seed)


def _plain(value: object) -> object:
    return [float(v) for v in value] if isinstance(value, (tuple, np.ndarray)) else value
