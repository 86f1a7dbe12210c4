"""Ends, limits of time, own units, repeated actions and chosen coordinates of Gymnasium environments."""

import gymnasium as gym
import numpy as np
import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import simulate


def test_after_a_truncation_the_learner_sees_the_last_observation_and_acts_from_a_reset():
    """A limit of time says nothing about the task: no step is lost, and none earns the raw 0 of an end."""
    params = {"reward_low": -17, "reward_high": 0, "make": '{"max_episode_steps": 5}'}
    problem = make_problem("gym:Pendulum-v1", [0], horizon=8, continuing=True, params=params)
    problem.begin_episode()
    for h in range(8):
        reward, following = problem.step(h, np.array([[0.5]]))
        acting = problem.state.copy()
        assert 0 < reward[0] < 1
        assert (acting != following).any() == (h == 4) and not problem.info()["ended"][0]
    figures = problem.report().figures
    assert (figures["truncations"][0], figures["terminations"][0]) == (1, 0)
    assert figures["ended_return"][0] < -1


class Ends(gym.Env):
    """Pays 0.5 a step; its second step is an end and the limit of time at once."""

    observation_space = action_space = gym.spaces.Box(0.0, 1.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1), {}

    def step(self, action):
        self.t += 1
        return np.ones(1), 0.5, self.t == 2, self.t == 2, {}


def test_a_termination_at_the_limit_of_time_is_a_termination_and_a_continuing_run_resets_it():
    gym.register("AdambEnds-v0", entry_point=Ends)
    bounds = {"reward_low": 0, "reward_high": 1}
    try:
        problem = make_problem("gym:AdambEnds-v0", [0], horizon=3, continuing=True, params=bounds)
        for _ in range(2):
            problem.begin_episode()
            steps = [problem.step(h, np.array([[0.5]]))[0][0] for h in range(3)]
            assert steps == [0.5, 0.5, 0.0]
        assert problem.report().figures["terminations"][0] == 2 and problem.report().figures["truncations"][0] == 0
        assert problem.report().figures["ended_return"][0] == 1.0
    finally:
        del gym.registry["AdambEnds-v0"]


def test_returns_are_told_in_the_units_of_the_environment_too():
    params = {"reward_low": -17, "reward_high": 0, "repeat": 20}
    problem = make_problem("gym:Pendulum-v1", [0, 1], horizon=10, episodes=3, params=params)
    result = simulate(problem, "random")
    assert result.raw_returns.shape == (2, 3) and (result.raw_returns < -100).all()
    assert np.allclose(result.raw_returns.mean(axis=1), result.figures["ended_return"])
    assert result.figures["truncations"].tolist() == [3, 3]
    assert result.raw_reward().mean == pytest.approx(result.raw_returns.mean())
    summary = result.to_json()
    assert summary["raw_reward_per_episode"]["mean"] == result.raw_reward().mean
    assert summary["figures"]["truncations"] == 3


def test_a_repeated_action_adds_up_its_rewards_and_stops_at_an_end():
    problem = make_problem("gym:CartPole-v1", [0], horizon=10, params={"repeat": 4})
    problem.begin_episode()
    raw = []
    for h in range(10):
        problem.step(h, np.zeros((1, 1)))
        raw.append(problem.info()["raw_reward"][0])
    assert raw[0] == 4 and raw[-1] == 0 and 8 <= sum(raw) <= 12


def test_chosen_coordinates_are_seen_in_the_order_asked_for():
    whole = make_problem("gym:CartPole-v1", [3], horizon=5)
    part = make_problem("gym:CartPole-v1", [3], horizon=5, params={"observe": "3,0"})
    assert part.d_s == 2
    assert (part.begin_episode() == whole.begin_episode()[:, [3, 0]]).all()
    states = [problem.step(0, np.array([[0.9]]))[1] for problem in (part, whole)]
    assert (states[0] == states[1][:, [3, 0]]).all()


WRAPPER = """
import gymnasium
import numpy as np


class Tilt(gymnasium.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def observation(self, observation):
        return observation[2:3]
"""


def test_a_wrapper_from_a_file_chooses_what_is_seen(tmp_path):
    (tmp_path / "tilt.py").write_text(WRAPPER)
    named = {"wrapper": f"{tmp_path / 'tilt.py'}:Tilt"}
    problem = make_problem("gym:CartPole-v1", [3], horizon=5, params=named)
    whole = make_problem("gym:CartPole-v1", [3], horizon=5, params={"obs_low": -1, "obs_high": 1})
    assert (problem.begin_episode() == whole.begin_episode()[:, 2:3]).all()
