"""The reference with the authors' deviations earns on one ambulance what the authors' program earns there.

alpha = .25, requests from Beta(5,2), start .5. The bonus factor is chosen by the mean reward on tuning seeds
100-123, which the seeds below do not contain: .45: 4.271, .52: 4.266, .6: 4.264, .68: 4.257 (and on 100-107
.25: 4.22, .4: 4.25, .75: 4.24, 1: 4.20).
"""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed

from adamb.host_sim import make_agent, make_problem, simulate

FACTOR, SEEDS, EXPECTED, TOLERANCE = 0.45, range(2000, 2024), 4.27, 0.03


def returns(seeds):
    problem = make_problem("ambulance-1", seeds, instance="paper", params={"alpha": 0.25}, episodes=2000)
    agent = make_agent("adamb", problem, core="reference", deviations="authors", bonus=FACTOR)
    result = simulate(problem, agent, record=1)
    assert (result.optimal == pytest.approx(4.370, abs=2e-3)), "not the problem the figure is for"
    return result.returns.mean(axis=1)


@pytest.mark.slow
def test_one_ambulance_pays_what_it_pays_the_authors_program():
    parts = [list(SEEDS[i : i + 6]) for i in range(0, len(SEEDS), 6)]
    found = np.concatenate(Parallel(n_jobs=2)(delayed(returns)(part) for part in parts))
    half = 1.96 * found.std(ddof=1) / np.sqrt(len(found))
    print(f"ambulance-1: seeds {SEEDS[0]}-{SEEDS[-1]}, c = {FACTOR}, {found.mean():.3f} +- {half:.3f}")
    assert found.mean() == pytest.approx(EXPECTED, abs=TOLERANCE)
