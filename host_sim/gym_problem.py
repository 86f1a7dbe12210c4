"""Any Gymnasium environment as a problem: `gym:<id>`, its spaces mapped to the unit cube, rewards to [0,1].

Bounds come from the spaces where they are finite, from the user (`--set obs_low=... reward_high=...`), or
from a probe: a few episodes of random play with a fixed seed, widened a little. A reward outside its bounds
stops the run with the option to set: clipping it in silence would change the task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.parameter import Parameter, nearest
from adamb.host_sim.problem import Policy, Problem, constant_policy

# Spaces use the largest float32 where they mean "no bound".
UNBOUNDED = 1e15
LONGEST_HORIZON = 1000
DEFAULT_HORIZON = 100
MARGIN = 0.1


class GymProblem(Problem):
    """One environment per instance. An episode that ends early stays where it ended and earns raw 0.

    That keeps every episode H steps long without changing which play is best: all raw rewards, the zeros
    after the end among them, go through one affine map.
    """

    name = "gym"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "id": Parameter("", "str", "Gymnasium id"),
        "make": Parameter("{}", "str", "keyword arguments of gymnasium.make, as JSON"),
        "obs_low": Parameter(None, "floats", "lower bounds of observations, one or one per coordinate"),
        "obs_high": Parameter(None, "floats", "upper bounds of observations"),
        "action_low": Parameter(None, "floats", "lower bounds of actions"),
        "action_high": Parameter(None, "floats", "upper bounds of actions"),
        "reward_low": Parameter(None, "float", "raw reward that becomes 0"),
        "reward_high": Parameter(None, "float", "raw reward that becomes 1"),
        "probe": Parameter(20, "int", "episodes of random play that probe bounds nobody gave", 1, 10000),
    }

    def _default_horizon(self) -> int:
        limit = _time_limit(self._make())
        return DEFAULT_HORIZON if limit is None else min(limit, LONGEST_HORIZON)

    def _setup(self, generators: list[np.random.Generator]) -> None:
        self._envs = [self._make() for _ in self.seeds]
        env = self._envs[0]
        limit = _time_limit(env)
        if limit is not None and self.horizon > limit:
            raise InputError("horizon", self.horizon, f"{self.params['id']} ends after {limit} steps")
        params = self.params
        self._action = SpaceMap("action", env.action_space, params["action_low"], params["action_high"])
        self._observation = SpaceMap("obs", env.observation_space, params["obs_low"], params["obs_high"])
        self.reward_low, self.reward_high = self.params["reward_low"], self.params["reward_high"]
        self._action.require_bounds()
        if self._observation.unbounded or self.reward_low is None or self.reward_high is None:
            self._probe()
        if not self.reward_low < self.reward_high:
            raise InputError("reward_high", self.reward_high, f"must be above reward_low = {self.reward_low}")
        self.d_s, self.d_a = self._observation.size, self._action.size
        self._done = np.zeros(self.n, dtype=bool)
        self._raw_rewards = np.zeros(self.n)

    def _make(self) -> gym.Env:
        name = self.params["id"]
        if name.startswith("AdaMB/"):
            from adamb.host_sim import gym_env

            gym_env.register_environments()
        try:
            options = json.loads(self.params["make"])
        except json.JSONDecodeError as error:
            raise InputError("make", self.params["make"], f"must be a JSON object: {error}") from None
        if not isinstance(options, dict):
            raise InputError("make", self.params["make"], "must be a JSON object")
        try:
            return gym.make(name, disable_env_checker=True, **options)
        except (gym.error.Error, TypeError, ImportError) as error:
            hint = "" if name in gym.registry else f"; {nearest(name, gym.registry)}"
            raise InputError("problem", f"gym:{name}", f"{str(error).splitlines()[0]}{hint}") from None

    def _probe(self) -> None:
        """Bounds seen in random play; the raw 0 of an episode that ends early is a reward like any other."""
        env = self._make()
        luck = np.random.default_rng(0)
        seen, rewards = [], [0.0]
        for episode in range(self.params["probe"]):
            observation, _ = env.reset(seed=0 if episode == 0 else None)
            seen.append(self._observation.raw(observation))
            for _ in range(self.horizon):
                action = self._action.from_unit(luck.random(self._action.size))
                observation, reward, terminated, truncated, _ = env.step(action)
                seen.append(self._observation.raw(observation))
                rewards.append(float(reward))
                if terminated or truncated:
                    break
        env.close()
        self._observation.fit(np.array(seen))
        low, high = min(rewards), max(rewards)
        margin = MARGIN * (high - low)
        if self.reward_low is None:
            self.reward_low = low - (margin if low < 0 else 0.0)
        if self.reward_high is None:
            self.reward_high = high + (margin if high > 0 else 0.0)
            self.reward_high = max(self.reward_high, self.reward_low + 1e-9)

    def _fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        self._done[:] = False
        return np.array([self._reset(i) for i in range(self.n)])

    def _carried_state(self) -> np.ndarray:
        states = self.state.copy()
        for i in np.flatnonzero(self._done):
            states[i] = self._reset(int(i))
        self._done[:] = False
        return states

    def _reset(self, i: int) -> np.ndarray:
        observation, _ = self._envs[i].reset(seed=self.seeds[i] if self.episode == 0 else None)
        return self._observation.to_unit(observation, f"start of episode {self.episode}")

    def _dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        following = states.copy()
        self._raw_rewards = np.zeros(self.n)
        where = f"step {h} of episode {self.episode}"
        for i in np.flatnonzero(~self._done):
            outcome = self._envs[i].step(self._action.from_unit(actions[i]))
            observation, reward, terminated, truncated, _ = outcome
            self._raw_rewards[i] = reward
            following[i] = self._observation.to_unit(observation, where)
            self._done[i] = terminated or truncated
        return self._scaled(where), following

    def _scaled(self, where: str) -> np.ndarray:
        raw = self._raw_rewards
        if not (raw.min() >= self.reward_low and raw.max() <= self.reward_high):
            wrong = float(raw[~((raw >= self.reward_low) & (raw <= self.reward_high))][0])
            side = "reward_low" if wrong < self.reward_low else "reward_high"
            limit = f"{where}: outside {self.reward_low:g} to {self.reward_high:g}, "
            fix = f"set {side} (--set {side}=...)" if np.isfinite(wrong) else "rewards must be numbers"
            raise InputError("reward", wrong, limit + fix)
        return (raw - self.reward_low) / (self.reward_high - self.reward_low)

    def info(self) -> dict[str, np.ndarray]:
        """Raw observation and reward of the last step, and whether the episode has ended early."""
        return {
            **super().info(),
            "observation": self._observation.numbers(self.state),
            "raw_reward": self._raw_rewards.copy(),
            "ended": self._done.copy(),
        }

    def baselines(self) -> dict[str, Policy]:
        policies = super().baselines()
        policies["low"], policies["high"] = constant_policy(self, 0.0), constant_policy(self, 1.0)
        return policies

    def describe(self) -> dict[str, Any]:
        return {
            **super().describe(),
            "reward_bounds": [self.reward_low, self.reward_high],
            "observation_bounds": self._observation.describe(),
            "action_bounds": self._action.describe(),
        }

    def close(self) -> None:
        """Release the environments."""
        for env in self._envs:
            env.close()


class SpaceMap:
    """A Box or Discrete space as the unit cube; a value of a Discrete space is the centre of its cell."""

    def __init__(self, kind: str, space: gym.Space, low: tuple | None, high: tuple | None) -> None:
        self.kind, self.space = kind, space
        if isinstance(space, gym.spaces.Discrete):
            if low is not None or high is not None:
                raise InputError(f"{kind}_low", low, "the space is Discrete and needs no bounds")
            self.count, self.size = int(space.n), 1
            self.low, self.high = np.zeros(1), np.full(1, float(self.count))
        elif isinstance(space, gym.spaces.Box):
            self.count, self.size = 0, int(np.prod(space.shape, dtype=np.int64))
            self.low = self._given(f"{kind}_low", low, space.low)
            self.high = self._given(f"{kind}_high", high, space.high)
            if (self.low >= self.high).any():
                raise InputError(f"{kind}_high", high, f"must be above {kind}_low")
        else:
            raise InputError(f"{kind} space", str(space), "must be Box or Discrete")

    def _given(self, field: str, numbers: tuple | None, of_space: np.ndarray) -> np.ndarray:
        bounds = of_space.astype(np.float64).reshape(-1).copy()
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
        if self.count:
            return np.array([int(value) - int(self.space.start) + 0.5])  # type: ignore[attr-defined]
        return np.asarray(value, dtype=np.float64).reshape(-1)

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


def _time_limit(env: gym.Env) -> int | None:
    return None if env.spec is None else env.spec.max_episode_steps
