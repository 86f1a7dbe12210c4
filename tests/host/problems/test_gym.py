"""Problems are proper Gymnasium environments, and Gymnasium environments are proper problems."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import gym_env
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import make_problem, problem_names

OURS = [name for name in problem_names() if name.startswith(("oil", "ambulance"))]


@pytest.mark.parametrize("name", OURS)
def test_every_problem_passes_the_environment_checker_without_warnings(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(gym_env.environment_id(name)).unwrapped)


def test_ids_are_the_names_in_camel_case():
    assert gym_env.environment_id("oil-laplace") == "AdaMB/OilLaplace-v0"
    assert {gym_env.environment_id(name) for name in problem_names()} <= set(gym.registry)


@pytest.mark.parametrize("name", OURS)
def test_the_single_environment_is_the_vectorised_problem_bit_for_bit(name):
    env = gym.make(gym_env.environment_id(name), drift="half", episodes=4)
    problem = make_problem(name, [9, 42], drift="half", episodes=4)
    rng = np.random.default_rng(5)
    for episode in range(4):
        observation, info = env.reset(seed=42 if episode == 0 else None)
        states = problem.begin_episode()
        assert (observation == states[1]).all() and info["episode"] == episode
        assert "reward" not in info and (info.get("state", observation) == observation).all()
        for h in range(problem.horizon):
            action = rng.random(problem.d_a)
            rewards, states = problem.step(h, np.stack([action, action]))
            observation, reward, terminated, truncated, _ = env.step(action)
            assert (observation == states[1]).all() and reward == rewards[1]
            assert terminated == (h == problem.horizon - 1) and not truncated
        assert env.spec.max_episode_steps == problem.horizon


def test_the_end_of_a_window_of_a_continuing_task_is_a_truncation():
    env = gym.make("AdaMB/OilLaplace-v0", continuing=True, horizon=1)
    env.reset(seed=0)
    for wrong in ([0.1, 0.2], [], "x", [[0.1, 0.2]]):
        with pytest.raises(InputError, match="action = "):
            env.step(wrong)
    assert env.step(np.array([0.5]))[2:4] == (False, True)


def test_options_of_the_problem_are_options_of_the_environment():
    env = gym.make("AdaMB/OilQuadratic-v0", instance="paper", lam=2, horizon=7)
    observation, _ = env.reset(seed=1)
    assert observation.tolist() == [0.5]
    assert env.step(np.array([0.5]))[1] == pytest.approx(1 - 2 * 0.25**2)
    assert env.unwrapped.problem.horizon == env.spec.max_episode_steps == 7
    with pytest.raises(InputError, match="did you mean lam"):
        gym.make("AdaMB/OilQuadratic-v0", lamm=2)


@pytest.mark.parametrize("name", ["oil-noisy", "oil-2d"])
def test_a_problem_driven_through_gymnasium_is_the_problem_itself(name):
    bounds = {"reward_low": 0, "reward_high": 1}
    through = make_problem(f"gym:{gym_env.environment_id(name)}", [3, 8], horizon=5, params=bounds)
    direct = make_problem(name, [3, 8])
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert (through.begin_episode() == direct.begin_episode()).all()
        for h in range(5):
            actions = rng.random((2, direct.d_a))
            for got, expected in zip(through.step(h, actions), direct.step(h, actions), strict=True):
                assert (got == expected).all()


def play(problem, episodes=3, draw=0):
    rng, seen = np.random.default_rng(draw), []
    for _ in range(episodes):
        seen.append(problem.begin_episode())
        for h in range(problem.horizon):
            rewards, states = problem.step(h, rng.random((problem.n, problem.d_a)))
            seen += [rewards[:, None], states]
    return np.concatenate(seen, axis=1)


@pytest.mark.parametrize(
    "name, d_s, d_a, params",
    [
        ("gym:Pendulum-v1", 3, 1, {"reward_low": -17, "reward_high": 0}),
        ("gym:MountainCarContinuous-v0", 2, 1, {"reward_low": -0.1, "reward_high": 100}),
        ("gym:CartPole-v1", 4, 1, {}),
        ("gym:FrozenLake-v1", 1, 1, {"reward_low": 0, "reward_high": 1, "make": '{"is_slippery": false}'}),
    ],
)
def test_gymnasium_environments_run_in_the_unit_cube(name, d_s, d_a, params):
    problems = [make_problem(name, [1, 2], horizon=30, params=params) for _ in range(2)]
    first, again = map(play, problems)
    assert (problems[0].d_s, problems[0].d_a) == (d_s, d_a)
    assert first.tobytes() == again.tobytes()
    assert first.min() >= 0 and first.max() <= 1 and np.ptp(first) > 0.1


def test_discrete_spaces_map_to_cells_and_every_value_is_reached():
    problem = make_problem("gym:CartPole-v1", [0], horizon=5)
    actions = [problem._action.from_unit(np.array([u])) for u in (0.0, 0.49, 0.5, 1.0)]
    assert actions == [0, 0, 1, 1]
    lake = make_problem("gym:FrozenLake-v1", [0], horizon=5, params={"reward_low": 0, "reward_high": 1})
    units = [lake._observation.to_unit(s, "")[0] for s in range(16)]
    assert units == pytest.approx((np.arange(16) + 0.5) / 16)
    assert lake._observation.numbers(np.array(units)).tolist() == list(range(16))


def test_an_episode_that_ends_early_stays_and_earns_raw_zero():
    problem = make_problem("gym:CartPole-v1", [0], horizon=100, params={"reward_low": -1, "reward_high": 1})
    problem.begin_episode()
    rewards = []
    for h in range(100):
        reward, state = problem.step(h, np.zeros((1, 1)))
        rewards.append(reward[0])
    assert rewards[0] == 1.0 and rewards[-1] == 0.5 and problem.info()["ended"][0]
    assert sorted(rewards, reverse=True) == rewards
    assert (state == problem.state).all()


class Scripted(gym.Env):
    """Says what it is told to, to see what is refused."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, rewards=(0.5,), observations=(0.0, 1.0), render_mode=None):
        self.rewards, self.observations, self.render_mode = rewards, observations, render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.array([self.observations[0]]), {}

    def step(self, action):
        self.t += 1
        observation = self.observations[self.t % len(self.observations)]
        return np.array([observation]), self.rewards[(self.t - 1) % len(self.rewards)], False, False, {}


@pytest.fixture
def scripted():
    gym.register("AdambScripted-v0", entry_point=Scripted)
    yield "gym:AdambScripted-v0"
    del gym.registry["AdambScripted-v0"]


BOUNDED = {"obs_low": 0, "obs_high": 1, "reward_low": 0, "reward_high": 1}


@pytest.mark.parametrize(
    "make, message",
    [
        ('{"rewards": [NaN]}', r"reward = nan: step 0 of episode 0.*must be numbers"),
        ('{"observations": [0.1, NaN]}', r"observation = nan: step 0 of episode 0: must be a finite"),
        ('{"observations": [NaN]}', r"observation = nan: start of episode 0"),
    ],
)
def test_bad_rewards_and_observations_name_step_value_and_option(scripted, make, message):
    problem = make_problem(scripted, [0], horizon=3, params={**BOUNDED, "make": make})
    with pytest.raises(InputError, match=message):
        play(problem)


@pytest.mark.parametrize(
    "rewards, scaled, side", [("0.5, 3.0", 1.0, "reward_high=3"), ("0.5, -2.0", 0.0, "reward_low=-2")]
)
def test_rewards_outside_their_bounds_are_clipped_counted_and_told(scripted, rewards, scaled, side):
    params = {**BOUNDED, "make": f'{{"rewards": [{rewards}]}}'}
    problem = make_problem(scripted, [0, 1], horizon=4, params=params)
    problem.begin_episode()
    assert [problem.step(h, np.zeros((2, 1)))[0].tolist() for h in range(2)] == [[0.5, 0.5], [scaled] * 2]
    assert problem.report().figures["clipped_rewards"].tolist() == [1, 1]
    (note,) = problem.report().notes
    assert "2 rewards" in note and "outside 0 to 1" in note and f"--set {side}" in note


def test_random_play_that_meets_no_reward_assumes_0_to_1_and_says_so():
    lake = make_problem("gym:FrozenLake-v1", [0], horizon=20, params={"make": '{"is_slippery": false}'})
    assert lake.describe()["reward_bounds"] == [0.0, 1.0]
    assert "0 to 1 is assumed" in lake.report().notes[0]
    lake.begin_episode()
    path = [1, 1, 2, 1, 2, 2]  # down, down, right, down, right, right: the goal of the fixed map
    rewards = [lake.step(h, np.array([[(move + 0.5) / 4]]))[0][0] for h, move in enumerate(path)]
    assert rewards == [0, 0, 0, 0, 0, 1] and lake.report().figures["clipped_rewards"][0] == 0


def test_bounds_nobody_gave_are_probed_and_said(scripted):
    make = '{"rewards": [2.0, 4.0], "observations": [3.0, 5.0]}'
    problem = make_problem(scripted, [0], horizon=4, params={"make": make})
    described = problem.describe()
    assert described["observation_bounds"] == [[pytest.approx(2.8)], [pytest.approx(5.2)]]
    assert described["reward_bounds"] == [0.0, pytest.approx(4.4)]
    assert play(problem).max() <= 1


@pytest.mark.parametrize(
    "name, params, options, message",
    [
        ("gym:CartPol-v1", {}, {}, "is not known to Gymnasium; did you mean CartPole-v1"),
        ("gym:CartPole-v1", {"make": "{"}, {}, "must be a JSON object"),
        ("gym:CartPole-v1", {"make": '{"gravity_": 1}'}, {}, "gravity_"),
        ("gym:CartPole-v1", {"obs_low": "1,2"}, {}, "must be 1 or 4 numbers"),
        ("gym:CartPole-v1", {"action_low": "0"}, {}, "Discrete and needs no bounds"),
        ("gym:CartPole-v1", {"reward_low": 1, "reward_high": 1}, {}, "must be above reward_low"),
        ("gym:CartPole-v1", {}, {"horizon": 600}, "ends after 500 steps"),
        ("gym:CartPole-v1", {}, {"drift": "half"}, "has nothing that can drift"),
        ("gym:Blackjack-v1", {}, {}, "must be Box or Discrete; --set wrapper"),
        ("gym:CartPole-v1", {"observe": "0,4"}, {}, "observe = '0,4': must be different.* from 0 to 3"),
        ("gym:CartPole-v1", {"observe": "1,1"}, {}, "must be different whole numbers"),
        ("gym:CartPole-v1", {"observe": "0.5"}, {}, "must be different whole numbers"),
        ("gym:CartPole-v1", {"wrapper": "tilt"}, {}, "write file.py:Class"),
        ("gym:CartPole-v1", {"wrapper": "none.py:Tilt"}, {}, "there is no such file"),
    ],
)
def test_what_cannot_be_driven_is_refused_with_the_reason(name, params, options, message):
    with pytest.raises(InputError, match=message):
        make_problem(name, [0], params=params, **options)


@pytest.mark.parametrize(
    "name, params, remedies",
    [
        ("gym:Pendulum-v1", {}, ["horizon = 200", "--set horizon=31", "--set continuing=yes"]),
        ("gym:CartPole-v1", {"repeat": 20}, ["d_s = 4", "must be 1 to 3", "--set observe=0,2,3", "wrapper"]),
    ],
)
def test_a_task_too_long_or_too_wide_is_refused_with_the_remedy(name, params, remedies):
    with pytest.raises(InputError) as caught:
        make_agent("adamb", make_problem(name, [0], params=params))
    assert all(remedy in str(caught.value) for remedy in remedies)


@pytest.mark.parametrize("old_is_there", [True, False])
def test_an_id_that_is_out_of_date_is_answered_in_one_line(monkeypatch, old_is_there):
    """Gymnasium's warning had stood before the line, with colours and the path of its file."""
    monkeypatch.setattr(gym.envs.registration, "registry", dict(gym.registry))
    pendulum = gym.spec("Pendulum-v1").entry_point
    for version in (1, 2) if old_is_there else (2,):
        gym.register(id=f"Aged-v{version}", entry_point=pendulum, max_episode_steps=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if old_is_there:
            assert make_problem("gym:Aged-v1", [0]).horizon == 9
        else:
            with pytest.raises(InputError, match="Aged-v2") as refused:
                make_problem("gym:Aged-v1", [0])
            assert "\n" not in str(refused.value)
