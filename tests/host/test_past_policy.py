"""A uniformly drawn past policy is what the run played then, and playing it teaches nothing."""

from __future__ import annotations

from adamb.host_sim.studies.growth import past_policy

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
