"""Optima against play."""

from __future__ import annotations

import numpy as np


def assert_optimal_play_earns_its_value(problem, episodes, slack):
    """On average, within four standard errors and the slack that the tables of the optimum need."""
    excess = []
    for _ in range(episodes):
        states = problem.begin_episode()
        optimum = problem.optimal()
        total = -optimum.value(0, states)
        for h in range(problem.horizon):
            rewards, states = problem.step(h, optimum.policy(h, states))
            total += rewards
        excess.append(total)
    error = np.std(excess) / np.sqrt(np.size(excess))
    assert abs(np.mean(excess)) < 4 * error + slack, f"{np.mean(excess):.5f} +- {error:.5f}"
