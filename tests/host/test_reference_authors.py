"""The reference with the authors' deviations earns what the authors' program earns.

Their program fixes the deposit at .75 and the start at .5 (the paper's figures say .7). Its bonus factor is
chosen from the authors' own list; here by the mean reward on tuning seeds 100-139, which the seeds below do
not contain: laplace .75: 2.30, 1: 2.38, 1.5: 2.49, 2: 2.46; quadratic .5: 4.55, .6: 4.60, .75: 4.59.
"""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed

from adamb.host_sim.problem import make_problem
from adamb.host_sim.reference import ReferenceAgent


def returns(name, seeds, episodes, **options):
    """Mean return of an episode, per seed, on the fixed instance of the paper."""
    problem = make_problem(name, seeds, instance="paper", episodes=episodes)
    agent = ReferenceAgent(
        d_s=problem.d_s, d_a=problem.d_a, horizon=problem.horizon, seeds=seeds, episodes=episodes, **options
    )
    total = np.zeros(len(seeds))
    for _ in range(episodes):
        states = problem.begin_episode()
        for h in range(problem.horizon):
            actions = agent.act(h, states)
            rewards, states = problem.step(h, actions)
            agent.observe(h, rewards, states)
            total += rewards
        agent.end_episode()
    return total / episodes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "factor", "count", "expected", "tolerance"),
    [("oil-laplace", 1.5, 80, 2.54, 0.10), ("oil-quadratic", 0.6, 20, 4.57, 0.08)],
)
def test_reward_is_that_of_the_authors_program(name, factor, count, expected, tolerance):
    seeds = list(range(2000, 2000 + count))
    parts = [seeds[i : i + 10] for i in range(0, count, 10)]
    run = delayed(returns)
    found = np.concatenate(
        Parallel(n_jobs=2)(run(name, part, 2000, deviations="authors", bonus=factor) for part in parts)
    )
    error = found.std(ddof=1) / np.sqrt(count)
    print(f"{name}: seeds {seeds[0]}-{seeds[-1]}, {found.mean():.3f} +- {1.96 * error:.3f}")
    assert found.mean() == pytest.approx(expected, abs=tolerance)
