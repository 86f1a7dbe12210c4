"""A uniformly drawn past policy is what the run played then, and playing it teaches nothing."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.studies.past_policy import past_policy

SEEDS = range(500, 520)


def test_policies_of_a_longer_run_lose_less():
    short = past_policy("oil-quadratic", SEEDS, episodes=5, evaluate=50)
    long = past_policy("oil-quadratic", SEEDS, episodes=400, evaluate=50)
    assert long.gap.mean() < 0.5 * short.gap.mean(), "seeds 500..519"
    assert long.share_within(0.5) > short.share_within(0.5)
    assert long.share_within(5.0) == 1.0


def test_every_seed_draws_its_own_episode_and_draws_it_again():
    first, again = (past_policy("oil-laplace", SEEDS, episodes=30, evaluate=5) for _ in range(2))
    assert (first.episodes == again.episodes).all() and (first.value == again.value).all()
    assert len(set(first.episodes.tolist())) > 5 and first.episodes.min() >= 0 and first.episodes.max() < 30


def test_a_policy_of_the_first_episode_plays_the_centre():
    found = past_policy("oil-quadratic", [7], episodes=1, evaluate=20)
    assert found.episodes.tolist() == [0] and np.isfinite(found.value).all()
    assert found.gap[0] > 0


def test_a_problem_without_optimum_and_empty_counts_are_refused():
    with pytest.raises(InputError, match="optimum"):
        past_policy("dram-1x1", [1], episodes=2)
    with pytest.raises(InputError, match="evaluate"):
        past_policy("oil-laplace", [1], episodes=2, evaluate=0)
