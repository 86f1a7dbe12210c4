"""The reference with the authors' deviations earns what the authors' program earns.

Bonus factors are chosen by the mean reward on tuning seeds, which the seeds below do not contain.

Oil: their program fixes the deposit at .75 and the start at .5 (the paper's figures say .7). Factors from the
authors' own list, tuning seeds 100-139: laplace .75: 2.30, 1: 2.38, 1.5: 2.49, 2: 2.46; quadratic .5: 4.55,
.6: 4.60, .75: 4.59.

One ambulance: alpha = .25, requests from Beta(5,2), start .5. Tuning seeds 100-123: .45: 4.271, .52: 4.266,
.6: 4.264, .68: 4.257 (and on 100-107 .25: 4.22, .4: 4.25, .75: 4.24, 1: 4.20).
"""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed

from adamb.host_sim import make_agent, make_problem, simulate

AMBULANCE_OPTIMUM = 4.370


def returns(name, seeds, factor, params):
    """Mean return of an episode, per seed, on the fixed instance of the paper."""
    problem = make_problem(name, seeds, instance="paper", params=params, episodes=2000)
    agent = make_agent("adamb", problem, core="reference", deviations="authors", bonus=factor)
    result = simulate(problem, agent, record=1)
    if name == "ambulance-1":
        assert result.optimal == pytest.approx(AMBULANCE_OPTIMUM, abs=2e-3), "not the problem of the figure"
    return result.returns.mean(axis=1)


@pytest.mark.parametrize(
    ("name", "factor", "params", "count", "expected", "tolerance"),
    [
        ("oil-laplace", 1.5, {}, 80, 2.54, 0.10),
        ("oil-quadratic", 0.6, {}, 20, 4.57, 0.08),
        ("ambulance-1", 0.45, {"alpha": 0.25}, 24, 4.27, 0.03),
    ],
)
def test_reward_is_that_of_the_authors_program(name, factor, params, count, expected, tolerance):
    seeds = list(range(2000, 2000 + count))
    parts = [seeds[i : i + 10] for i in range(0, count, 10)]
    found = np.concatenate(Parallel(n_jobs=2)(delayed(returns)(name, part, factor, params) for part in parts))
    half = 1.96 * found.std(ddof=1) / np.sqrt(count)
    print(f"{name}: seeds {seeds[0]}-{seeds[-1]}, c = {factor}, {found.mean():.3f} +- {half:.3f}")
    assert found.mean() == pytest.approx(expected, abs=tolerance)
