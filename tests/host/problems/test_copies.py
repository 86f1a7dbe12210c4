"""Agents that are compared play copies of an instance: each copy does what the instance does alone."""

import numpy as np
import pytest

from adamb.host_sim import make_problem

SEEDS = (3, 4, 3, 5, 3)


def play(problem, actions):
    """Rewards and states (n, episodes, steps, ...) of actions (episodes, steps, n, d_a)."""
    rewards, states = [], []
    for episode in actions:
        states.append(problem.begin_episode())
        for h, chosen in enumerate(episode):
            reward, state = problem.step(h, chosen)
            rewards.append(reward)
            states.append(state)
    return np.array(rewards).T, np.array(states).swapaxes(0, 1)


@pytest.mark.parametrize("drift", ["half", "walk"])
@pytest.mark.parametrize("name", ["dram-1x1", "dram-3x2", "cache-2x1", "cache-scan"])
def test_a_copy_does_what_its_instance_does_alone(name, drift):
    crowd = make_problem(name, SEEDS, episodes=4, drift=drift)
    generator = np.random.default_rng(1)
    actions = generator.random((4, crowd.horizon, crowd.n, crowd.d_a))
    rewards, states = play(crowd, actions)
    assert (rewards[0] != rewards[2]).any(), "copies act differently"
    for i in range(crowd.n):
        alone = play(crowd.alone(i), actions[:, :, i : i + 1])
        np.testing.assert_array_equal(rewards[i], alone[0][0])
        np.testing.assert_array_equal(states[i], alone[1][0])
