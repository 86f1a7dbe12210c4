"""Any Gymnasium environment as a problem: `gym:<id>`, its spaces mapped to the unit cube, rewards to [0,1].

`gym:file.py:Class` is an environment of the user's own, which has no id.

Bounds come from the spaces where they are finite, from the user (`--set obs_low=... reward_high=...`), or
from a probe: a few episodes of random play with a fixed seed, widened a little. A reward outside its bounds
is clipped, counted and told.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from adamb.firmware_model.host.errors import InputError, nearest
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Policy, Problem, Report, constant_policy
from adamb.host_sim.problems.gym.maps import (
    RawScores,
    RewardMap,
    SpaceMap,
    declared_space,
    first_observation,
    next_observation,
    refuse,
)
from adamb.host_sim.user_code import load_class, names_file

LONGEST_HORIZON = 1000
DEFAULT_HORIZON = 100


class GymProblem(Problem):
    """One environment per instance, and every episode exactly H steps long.

    After a termination nothing more can be earned: the state stays and the raw reward is 0, which goes
    through the same map as all others, so which play is best does not change. A truncation says nothing
    about the task: the last observation is what follows the step, then the environment is reset and played
    on. A continuing run carries the environment from one episode of H steps to the next.
    """

    name = "gym"
    narrowed_by = "keep up to three coordinates: --set observe=0,2,3, or --set wrapper=file.py:Class"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "id": Parameter("", "str", "Gymnasium id"),
        "make": Parameter("{}", "str", "keyword arguments of gymnasium.make, as JSON"),
        "wrapper": Parameter(None, "str", "your gymnasium.Wrapper around the environment, file.py:Class"),
        "observe": Parameter(None, "floats", "coordinates of the observation that are seen, from 0", 0, 1e6),
        "obs_low": Parameter(None, "floats", "lower bounds of observations, one or one per coordinate seen"),
        "obs_high": Parameter(None, "floats", "upper bounds of observations"),
        "action_low": Parameter(None, "floats", "lower bounds of actions"),
        "action_high": Parameter(None, "floats", "upper bounds of actions"),
        "reward_low": Parameter(None, "float", "raw reward of a step that becomes 0"),
        "reward_high": Parameter(None, "float", "raw reward of a step that becomes 1"),
        "repeat": Parameter(1, "int", "steps of the environment in one step; their rewards add up", 1, 1000),
        "probe": Parameter(20, "int", "random episodes to estimate bounds not given", 1, 10000),
    }

    def _usual_horizon(self) -> int:
        limit = self._limit(self._make())
        return DEFAULT_HORIZON if limit is None else min(limit, LONGEST_HORIZON)

    def setup(self, generators: list[np.random.Generator]) -> None:
        self._envs = [self._make() for _ in self.seeds]
        env, params = self._envs[0], self.params
        limit = self._limit(env)
        if limit is not None and self.horizon > limit and not self.continuing:
            raise InputError("horizon", self.horizon, f"{params['id']} ends after {limit} steps")
        actions, seen = (declared_space(self.name, env, f"{kind}_space") for kind in ("action", "observation"))
        self._action = SpaceMap("action", actions, params["action_low"], params["action_high"])
        self._action.require_bounds()
        self._observation = SpaceMap("obs", seen, params["obs_low"], params["obs_high"], params["observe"])
        self._rewards = RewardMap(params["reward_low"], params["reward_high"], self.n)
        if self._observation.unbounded or self._rewards.missing:
            self._probe()
        self.d_s, self.d_a = self._observation.size, self._action.size
        self._done = np.zeros(self.n, dtype=bool)
        self._raw_rewards = np.zeros(self.n)
        self._scores = RawScores(self.n)

    def _limit(self, env: gym.Env) -> int | None:
        """Steps of ours until the environment's time limit."""
        limit = None if env.spec is None else env.spec.max_episode_steps
        return None if limit is None else -(-limit // self.params["repeat"])

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
        if names_file(name):
            own = load_class("problem", name, gym.Env)
            try:
                return self._wrapped(own(**options))
            except Exception as error:
                refuse(f"gym:{name}", "make", error)
        return self._wrapped(self._registered(name, options))

    def _registered(self, name: str, options: dict[str, Any]) -> gym.Env:
        try:
            with warnings.catch_warnings():  # an id that is out of date is answered by the error below
                warnings.simplefilter("ignore", DeprecationWarning)
                return gym.make(name, disable_env_checker=True, **options)
        except (gym.error.Error, TypeError, ImportError) as error:
            unknown = isinstance(error, gym.error.NameNotFound)
            words = "is not known to Gymnasium" if unknown else str(error).splitlines()[0].rstrip(".")
            hint = "" if name in gym.registry else f"; {nearest(name, gym.registry)}"
            raise InputError("problem", f"gym:{name}", f"{words}{hint}") from None
        except Exception as error:
            refuse(f"gym:{name}", "make", error)

    def _wrapped(self, env: gym.Env) -> gym.Env:
        wrapper = self.params["wrapper"]
        if wrapper is None:
            return env
        if not names_file(wrapper):
            raise InputError("wrapper", wrapper, "write file.py:Class")
        return load_class("wrapper", wrapper, gym.Wrapper)(env)

    def _probe(self) -> None:
        """Bounds seen in random play; the raw 0 of an episode that ends early is a reward like any other."""
        env = self._make()
        draws = np.random.default_rng(0)
        seen, rewards = [], []
        for episode in range(self.params["probe"]):
            observation = first_observation(self.name, env, 0 if episode == 0 else None)
            seen.append(self._observation.raw(observation))
            for _ in range(self.horizon):
                action = self._action.from_unit(draws.random(self._action.size))
                observation, reward, terminated, truncated = self._play(env, action)
                seen.append(self._observation.raw(observation))
                rewards.append(reward)
                if terminated or truncated:
                    break
        env.close()
        self._observation.fit(np.array(seen))
        self._rewards.fit(rewards)

    def _play(self, env: gym.Env, action: Any) -> tuple[Any, float, bool, bool]:
        """`repeat` steps with one action, fewer where the environment ends."""
        total = 0.0
        for _ in range(self.params["repeat"]):
            observation, reward, terminated, truncated = next_observation(self.name, env, action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        self._done[:] = False
        self._scores.begin_episode(fresh=True)
        return np.array([self._reset(i) for i in range(self.n)])

    def _carried_state(self) -> np.ndarray:
        states = self.state.copy()
        self._scores.begin_episode(fresh=False)
        for i in np.flatnonzero(self._done):
            states[i] = self._reset(int(i))
        self._done[:] = False
        return states

    def _reset(self, i: int) -> np.ndarray:
        first = self.episode == 0 and not self._scores.started[i]
        self._scores.started[i] = True
        observation = first_observation(self.name, self._envs[i], self.seeds[i] if first else None)
        return self._observation.to_unit(observation, f"start of episode {self.episode}")

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        following = states.copy()
        self._raw_rewards = np.zeros(self.n)
        self._truncated: list[int] = []
        where = f"step {h} of episode {self.episode}"
        for i in np.flatnonzero(~self._done):
            played = self._play(self._envs[i], self._action.from_unit(actions[i]))
            observation, self._raw_rewards[i], terminated, truncated = played
            following[i] = self._observation.to_unit(observation, where)
            self._done[i] = terminated
            if truncated and not terminated:
                self._truncated.append(int(i))
            self._scores.step(int(i), float(self._raw_rewards[i]), terminated, truncated)
        return self._rewards.scale(self._raw_rewards, where), following

    def step(self, h: int, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A truncated environment continues from a reset, `state`, which no action has led to."""
        rewards, following = super().step(h, actions)
        over = self._next_h == self.horizon and not self.continuing  # the next episode begins with a reset
        if self._truncated and not over:
            self.state = following.copy()
            for i in self._truncated:
                self.state[i] = self._reset(i)
        return rewards, following

    def report(self) -> Report:
        """Of every seed: rewards clipped, environment episodes ended, and the return of the last of them."""
        figures = {"clipped_rewards": self._rewards.clipped.copy(), **self._scores.figures()}
        notes = self._rewards.notes((self.episode + 1) * self.horizon)
        return Report(raw_returns=self._scores.returns(), figures=figures, notes=notes)

    def info(self) -> dict[str, np.ndarray]:
        """Raw observation and reward of the last step, and whether the episode has ended early."""
        return {
            **super().info(),
            "observation": self._observation.numbers(self.state),
            "raw_reward": self._raw_rewards.copy(),
            "ended": self._done.copy(),
        }

    def rules(self) -> dict[str, Policy]:
        policies = super().rules()
        policies["low"], policies["high"] = constant_policy(self, 0.0), constant_policy(self, 1.0)
        return policies

    def describe(self) -> dict[str, Any]:
        return {
            **super().describe(),
            "reward_bounds": [self._rewards.low, self._rewards.high],
            "observation_bounds": self._observation.describe(),
            "action_bounds": self._action.describe(),
        }

    def close(self) -> None:
        """Release the environments."""
        for env in self._envs:
            env.close()
