"""Every problem as a Gymnasium environment: `gymnasium.make("AdaMB/OilLaplace-v0", drift="half")`.

Importing this module registers the ids. An environment is the vectorised problem with one instance, nothing
more, so an agent written against Gymnasium meets exactly what ours meet.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.problem import Problem, make_problem, problem_names


class AdambEnv(gym.Env[np.ndarray, np.ndarray]):
    """One instance of a problem; `reset(seed=...)` chooses the instance, further resets play on with it.

    An episode has exactly H steps. Its end is a termination, because the horizon belongs to the task; only
    where the task continues (`continuing=True`) is it a truncation.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (the base class declares it as an instance variable)
    _spec: EnvSpec | None = None

    def __init__(
        self,
        problem: str,
        *,
        instance: str = "random",
        drift: str = "none",
        continuing: bool = False,
        episodes: int = 2000,
        horizon: int | None = None,
        render_mode: str | None = None,
        **params: object,
    ) -> None:
        if render_mode is not None:
            raise InputError("render_mode", render_mode, "there is nothing to render, must be None")
        self.render_mode = None
        self._name = problem
        self._options: dict[str, Any] = {
            "instance": instance, "drift": drift, "continuing": continuing, "episodes": episodes,
            "horizon": horizon, "params": params,
        }  # fmt: skip
        shape = make_problem(problem, [0], **self._options)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (shape.d_s,), np.float64)
        self.action_space = gym.spaces.Box(0.0, 1.0, (shape.d_a,), np.float64)
        self._horizon = shape.horizon
        self._problem: Problem | None = None
        self._h = 0

    @property
    def spec(self) -> EnvSpec | None:
        """What it was made of; says how many steps an episode has, which agents of other libraries ask for."""
        return self._spec

    @spec.setter
    def spec(self, made: EnvSpec | None) -> None:
        self._spec = made and replace(made, max_episode_steps=self._horizon)

    @property
    def problem(self) -> Problem:
        """The vectorised problem underneath, with one instance."""
        if self._problem is None:
            raise gym.error.ResetNeeded("call reset() before anything else")
        return self._problem

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and self._problem is None:
            seed = int(self.np_random.integers(2**31))
        if seed is not None:
            self._problem = make_problem(self._name, [seed], **self._options)
        states = self.problem.begin_episode()
        self._h = 0
        return states[0], self._info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        rewards, states = self.problem.step(self._h, self._checked(action))
        self._h += 1
        ended = self._h == self.problem.horizon
        continuing = self.problem.continuing
        return states[0], float(rewards[0]), ended and not continuing, ended and continuing, self._info()

    def _checked(self, action: Any) -> np.ndarray:
        width = self.problem.d_a
        try:
            actions = np.asarray(action, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("action", action, f"must be {width} numbers from 0 to 1") from None
        if actions.size != width:
            raise InputError("action", actions.shape, f"must have the shape {(width,)} of the action space")
        return actions.reshape(1, width)

    def _info(self) -> dict[str, Any]:
        raw = {name: values[0] for name, values in self.problem.info().items()}
        return {**raw, "h": self._h, "episode": self.problem.episode}


def environment_id(name: str) -> str:
    """The Gymnasium id of a problem: oil-laplace -> AdaMB/OilLaplace-v0."""
    return f"AdaMB/{''.join(part.capitalize() for part in name.split('-'))}-v0"


def register_environments() -> None:
    """Tell Gymnasium about every built-in problem."""
    for name in problem_names():
        if environment_id(name) not in gym.registry:
            gym.register(environment_id(name), entry_point="adamb.host_sim.gym_env:AdambEnv", kwargs={"problem": name})


register_environments()
