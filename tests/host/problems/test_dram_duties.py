"""The constants of the write drain and of the refresh debt are parameters."""

import numpy as np
import pytest

from adamb.host_sim.problem import make_problem

SEED = 3
RNG = np.random.default_rng(SEED)


def stepped(name, states, actions, **params):
    problem = make_problem(name, [SEED] * len(states), params=params)
    reward, following = problem.dynamics(0, np.array(states), np.array(actions), np.zeros((1, len(states))))
    return reward, following[:, 0]


def test_turnaround_and_penalty_are_what_a_drain_and_an_overflow_cost():
    dry, full = [0.0, 0.0], [1.0, 0.0]
    reward, _ = stepped("dram-drain", [dry, full], [[1.0], [0.0]], turnaround=0.5, penalty=2.0)
    assert reward == pytest.approx([1 - 0.5 / 3.5, 1 - 2.0 / 3.5])
    reward, _ = stepped("dram-drain", [dry, full], [[1.0], [0.0]])
    assert reward == pytest.approx([1 - 0.1 / 2.6, 1 - 1.5 / 2.6])


def test_debt_is_what_a_step_adds_and_penalty_what_force_costs():
    reward, debt = stepped("dram-refresh", [[0.5, 1.0], [0.9, 0.0]], [[0.0], [0.0]], debt=0.3, penalty=2.0)
    assert debt == pytest.approx([0.8, 0.0]) and reward == pytest.approx([1.0, 1 - 2 * 1.2 / 3])
    reward, debt = stepped("dram-refresh", [[0.5, 1.0], [0.9, 0.0]], [[0.0], [0.0]])
    assert debt == pytest.approx([0.7, 0.0]) and reward == pytest.approx([1.0, 1 - 1.1 / 2])


EXTREMES = [
    ("dram-drain", {"turnaround": 0, "penalty": 0}),
    ("dram-drain", {"turnaround": 10, "penalty": 10}),
    ("dram-refresh", {"debt": 0.9, "penalty": 10}),
    ("dram-refresh", {"debt": 0.01, "penalty": 0}),
]


@pytest.mark.parametrize("name, params", EXTREMES)
def test_rewards_stay_between_0_and_1_at_the_limits(name, params):
    states = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], *RNG.random((2000, 2)).tolist()]
    for share in (0.0, 0.05, 0.5, 1.0):
        reward, own = stepped(name, states, [[share]] * len(states), **params)
        assert reward.min() >= 0 and reward.max() <= 1 and own.min() >= 0 and own.max() <= 1
