"""A controller plays the centres of balls, never an end of a range: they must reach what constant rules play."""

from itertools import product

import numpy as np
import pytest

from adamb.host_sim.problem import constant_policy, make_problem, problem_names

ON_CHIP = [name for name in problem_names() if name.startswith(("allocation", "cache", "dram"))]
SEEDS, EPISODES, CELLS = range(5, 11), 40, 16
"""Centres of balls up to level 3 are the multiples of 1/16, without 0 and 1."""

TUNED = ("best-static", "timeout-")
"""Numbers inside a range: smaller balls come as near as one likes."""

pytestmark = pytest.mark.usefixtures("own_cache")


def constant_rules(name):
    """Actions of the rules that always play the same."""
    found = {}
    for label in make_problem(name, SEEDS).rules():
        if label.startswith(TUNED):
            continue
        problem, played = make_problem(name, SEEDS), []
        policy = problem.rules()[label]
        for _ in range(2):
            states = problem.begin_episode()
            for h in range(problem.horizon):
                played.append(policy(h, states))
                states = problem.step(h, played[-1])[1]
        if (np.array(played) == played[0][0]).all():
            found[label] = played[0][0]
    return found


def earned(name, action):
    """Mean reward of always the same action."""
    problem = make_problem(name, SEEDS)
    policy, rewards = constant_policy(problem, action), []
    for _ in range(EPISODES):
        states = problem.begin_episode()
        for h in range(problem.horizon):
            reward, states = problem.step(h, policy(h, states))
            rewards.append(reward)
    return float(np.mean(rewards))


@pytest.mark.parametrize("name", ON_CHIP)
def test_a_ball_of_level_3_or_coarser_earns_what_a_constant_rule_earns(name):
    """Of the balls around the rule's action, one earns the same but for 0.5 %."""
    apart = {}
    for label, action in constant_rules(name).items():
        around = np.clip([np.floor(action * CELLS), np.ceil(action * CELLS)], 1, CELLS - 1) / CELLS
        of_rule = earned(name, action)
        found = [earned(name, centre) / of_rule - 1 for centre in product(*around.T)]
        apart[label] = min(found, key=abs)
    print(name, {label: f"{share:.2%}" for label, share in apart.items()}, f"seeds {SEEDS}")
    assert apart and max(map(abs, apart.values())) <= 0.005
