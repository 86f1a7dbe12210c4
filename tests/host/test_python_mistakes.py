"""A wrong value from Python is an InputError with the field, the value and the limit."""

import gymnasium
import numpy as np
import pytest

import adamb.host_sim.gym_env  # noqa: F401 (registers the environments)
from adamb.budgets.errors import InputError
from adamb.host_sim import Problem, make_problem, simulate


class Echo(Problem):
    def dynamics(self, h, states, actions, noise):
        return actions[:, 0], states.copy()


@pytest.mark.parametrize("given, line", [
    ({"episodes": "x"}, "episodes = 'x': must be a whole number from 1 to 10000000"),
    ({"episodes": 0}, "episodes = 0: must be"),
    ({"horizon": 2.5}, "horizon = 2.5: must be a whole number from 1 to 1000"),
    ({"horizon": "five"}, "horizon = 'five': must be"),
])  # fmt: skip
def test_sizes_of_a_problem_are_whole_numbers_within_limits(given, line):
    for make in (lambda: make_problem("oil-laplace", [0], **given), lambda: Echo([0], **given)):
        with pytest.raises(InputError) as caught:
            make()
        assert line in str(caught.value)


@pytest.mark.parametrize("name, value", [("horizon", "six"), ("horizon", 0), ("d_s", 1.5), ("d_a", None)])
def test_sizes_that_a_class_declares_are_checked_by_name(name, value):
    with pytest.raises(InputError, match=f"{name} = {value!r}: must be a whole number from 1 to"):
        type("Odd", (Echo,), {name: value})([0])


def test_an_agent_is_a_name_or_an_agent():
    with pytest.raises(InputError, match="agent = None: must be a name"):
        simulate(make_problem("oil-laplace", [0], episodes=5), None)


def test_the_last_episodes_are_at_least_one():
    result = simulate(make_problem("oil-laplace", [0, 1], episodes=5), "random")
    assert result.reward(last=100) == result.reward()
    for last in (0, -2, "a", 1.5):
        with pytest.raises(InputError, match=r"last = .*: must be a whole number from 1"):
            result.reward(last=last)


@pytest.mark.parametrize("action", [[0.1, 0.2], [], "x", [[0.1, 0.2]]])
def test_an_environment_refuses_an_action_of_another_shape(action):
    env = gymnasium.make("AdaMB/OilLaplace-v0")
    env.reset(seed=1)
    with pytest.raises(InputError, match="action = "):
        env.step(action)
    assert env.step(np.array([0.5]))[0].shape == (1,)
