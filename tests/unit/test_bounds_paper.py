"""The paper's closed forms: their printed values, and that a condition which does not hold is reported."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets import bounds_paper as paper
from adamb.budgets.bounds_exact import TreeBound
from adamb.budgets.errors import InputError
from adamb.budgets.thresholds import split_rule

ONE_ONE = {"d": 2, "gamma": 3, "phi": 1}


def test_partition_size_has_the_constant_4_to_the_d():
    bound = paper.partition_size(2000, **ONE_ONE)
    assert bound.value == pytest.approx(16 * 2000**0.4)
    assert round(bound.value) == 335
    assert bound.exponent == pytest.approx(2 / 5)
    assert bound.met


def test_level_star_is_the_infimum_of_its_definition():
    for k in (1, 7, 32, 33, 2000, 10**6):
        star = paper.level_star(k, **ONE_ONE)
        assert 2 ** (2 * (star - 1)) * 2 ** (3 * (star - 1)) >= k
        assert star == 0 or 2 ** (5 * (star - 2)) < k
        assert star <= paper.level_star_bound(k, **ONE_ONE).value + 1e-9


@given(
    d=st.integers(2, 6),
    gamma=st.floats(1, 5).map(lambda x: round(x, 2)),
    phi=st.floats(0.5, 30).map(lambda x: round(x, 2)),
    k=st.integers(1, 10**6),
)
@settings(deadline=None)
def test_the_exact_bound_never_exceeds_the_closed_form_where_its_condition_holds(d, gamma, phi, k):
    closed = paper.partition_size(k, d=d, gamma=gamma, phi=phi)
    if closed.met:
        assert TreeBound(split_rule(d, gamma, phi, "own")).leaves(k) <= closed.value


def test_partition_size_says_when_too_few_samples_make_it_meaningless():
    assert not paper.partition_size(1, d=2, gamma=3, phi=10_000).met


def test_sum_lemma_checks_growth_and_ratio():
    assert paper.sum_lemma(2000, lambda level: 1, **ONE_ONE).met
    assert paper.sum_lemma(2000, lambda level: 2.0**level, **ONE_ONE).met
    steep = paper.sum_lemma(2000, lambda level: 2.0 ** (2.5 * level), **ONE_ONE)
    assert not steep.met
    assert "above 2^γ = 8" in steep.note
    falling = paper.sum_lemma(2000, lambda level: 1.0 / (1 + level), **ONE_ONE)
    assert not falling.met
    assert "do not grow" in falling.note


def test_sum_lemma_uses_the_ratio_only_from_level_star_on():
    """lem:countbound needs it: ℓ^β has an infinite ratio at level 0."""
    bound = paper.sum_lemma(10**6, lambda level: float(level), **ONE_ONE)
    assert bound.met
    assert bound.value == pytest.approx(2 ** (2 * 5) * 5)


def test_the_storage_condition_holds_for_two_state_dimensions_but_not_for_three():
    two = paper.storage(2000, horizon=5, d=4, d_s=2, gamma=paper.paper_gamma(2))
    three = paper.storage(2000, horizon=5, d=6, d_s=3, gamma=paper.paper_gamma(3))
    assert two.met
    assert two.exponent == pytest.approx(1 - 2 / (4 + 2 + 2))
    assert not three.met
    assert three.exponent == pytest.approx(1)
    assert "too fast" in three.note
    same = paper.sum_lemma(2000, lambda level: 2.0 ** (3 * level), d=6, gamma=3)
    assert not same.met


@pytest.mark.parametrize("gamma", [0.5, 1, 2, 3, 8])
def test_the_time_condition_never_holds_and_both_exponents_are_reported(gamma):
    stated = paper.time(2000, horizon=5, d=2, d_s=1, gamma=gamma)
    assert not stated.met
    assert not paper.sum_lemma(2000, lambda level: 2.0 ** ((1 + gamma) * level), d=2, gamma=gamma).met
    path = paper.single_path_time(2000, horizon=5, d_s=1, gamma=gamma)
    assert path.exponent is not None and stated.exponent is not None
    assert path.exponent > stated.exponent


def test_single_path_exponent_is_four_thirds_against_six_fifths():
    assert paper.time(2000, horizon=5, d=2, d_s=1, gamma=3).exponent == pytest.approx(6 / 5)
    costs = [paper.single_path_time(2.0**j, horizon=1, d_s=1, gamma=3).value for j in range(30, 61)]
    slope = math.log2(costs[-1] / costs[0]) / 30
    assert slope == pytest.approx(4 / 3, abs=0.01)


def test_single_path_time_adds_up_by_hand():
    # levels hold 1, 8 and 64 samples of weight 1, 2, 4; the last sample is of weight 8
    assert paper.single_path_time(1 + 8 + 64 + 1, horizon=2, d_s=1, gamma=3).value == 2 * (1 + 16 + 256 + 8)


@given(
    gamma=st.floats(2, 5).map(lambda x: round(x, 2)),
    alpha=st.sampled_from([0.3, 0.5, 0.7]),
    k=st.integers(1, 3000),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=50, deadline=None)
def test_sums_of_bonuses_stay_below_their_bound_in_random_runs(gamma, alpha, k, seed):
    bound = paper.bonus_sum(k, d=2, gamma=gamma, phi=1, alpha=alpha)
    rule, draw, leaves, total = split_rule(2, gamma, 1, "own"), random.Random(seed), [[0, 0]], 0.0
    for _ in range(k):
        ball = draw.choice(leaves) if draw.random() < 0.3 else leaves[-1]
        ball[1] += 1
        total += ball[1] ** -alpha
        if ball[0] < rule.finest and ball[1] >= rule.costs[ball[0]]:
            leaves.remove(ball)
            leaves.extend([ball[0] + 1, 0] for _ in range(4))
    if bound.met:
        assert total <= bound.value, f"seed {seed}"


def test_bonus_sums_report_their_conditions():
    assert paper.bonus_sum(2000, d=2, gamma=3, phi=1, alpha=0.5).met
    assert not paper.bonus_sum(2000, d=2, gamma=3, phi=1, alpha=0.2).met
    assert not paper.bonus_sum(2000, d=2, gamma=3, phi=1, alpha=0.5, beta=1).met
    at_one = paper.bonus_sum(2000, d=2, gamma=3, phi=1, alpha=1)
    assert at_one.value == math.inf and not at_one.met and "infinite" in at_one.note
    assert paper.bonus_sum(2000, d=2, gamma=3, phi=1, alpha=0.5).exponent == pytest.approx(3.5 / 5)


def test_the_weakened_condition_of_the_second_sum_is_reported_when_it_does_not_suffice():
    k, d, gamma = 2000, 2, 3
    star = math.log2(k) / (d + gamma) + 2
    beta = (0.5 * gamma - 1) * star * 0.99  # inside the printed condition, outside the real one
    bound = paper.level_bonus_sum(k, d=d, gamma=gamma, phi=1, alpha=0.5, beta=beta)
    assert not bound.met
    assert "does not suffice" in bound.note
    assert paper.level_bonus_sum(k, d=d, gamma=gamma, phi=1, alpha=0.5, beta=1).met


@pytest.mark.parametrize("gamma", [2, 2.5, 3, 4])
@pytest.mark.parametrize("depth", range(1, 9))
def test_ancestors_that_hold_their_thresholds_have_mean_diameter_below_four_times_the_ball(gamma, depth):
    counts = [2.0 ** (gamma * level) for level in range(depth)] + [0.0]
    mean, limit = paper.ancestor_diameter(counts, gamma=gamma)
    assert limit.met
    assert mean <= limit.value


def test_the_ancestor_lemma_says_it_needs_gamma_two_and_fails_below():
    counts = [2.0 ** (0.5 * level) for level in range(12)] + [0.0]
    mean, limit = paper.ancestor_diameter(counts, gamma=0.5)
    assert not limit.met
    assert mean > limit.value


def test_regret_exponents_of_the_theorem():
    assert paper.regret(2, 1) == paper.Growth(1 + 1 / 3, 1 - 1 / 5, paper.regret(2, 1).factor)
    assert paper.regret(4, 2).episodes == pytest.approx(7 / 8)
    assert paper.regret(6, 3).episodes == pytest.approx(8 / 9)


def test_phi_as_printed_and_as_the_regret_derivation_asks():
    assert paper.paper_phi(5, 2, 1) == 5
    assert paper.paper_phi(32, 4, 2) == 64  # exactly, although 32 ** 1.2 is not
    assert paper.regret_phi(5, 2, 1) == pytest.approx(5 ** (5 / 3))
    assert paper.regret_phi(5, 6, 3) == paper.paper_phi(5, 6, 3) == pytest.approx(5 ** (9 / 7))


def test_pac_names_the_uniformly_drawn_past_policy():
    bound = paper.pac_episodes(0.5, 0.1, horizon=5, d=2, d_s=1)
    assert bound.value == pytest.approx((5 ** (4 / 3) / 0.05) ** 5)
    assert "uniformly at random" in bound.note
    assert "not the last one" in bound.note


def test_table_1_has_every_row_with_its_exponents():
    rows = {row.algorithm: row for row in paper.table_1(2, 1)}
    assert list(rows) == [
        "AdaMB",
        "Adaptive Q-Learning",
        "Kernel UCBVI",
        "Net-Based Q-Learning",
        "Lower bound",
    ]
    assert rows["AdaMB"].space is not None and rows["AdaMB"].space.episodes == pytest.approx(3 / 5)
    assert rows["AdaMB"].time is not None and rows["AdaMB"].time.episodes == pytest.approx(6 / 5)
    ql = rows["Adaptive Q-Learning"]
    assert ql.space is not None and ql.space.episodes == pytest.approx(1 / 2)
    assert ql.regret == paper.Growth(2.5, 0.75)
    assert rows["Kernel UCBVI"].regret == paper.Growth(3, 0.8)
    assert rows["Lower bound"].time is None


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: paper.partition_size(0, d=2, gamma=3), "k"),
        (lambda: paper.partition_size(10, d=2, gamma=-1), "gamma"),
        (lambda: paper.partition_size(10, d=2, gamma=3, phi=math.nan), "phi"),
        (lambda: paper.storage(10, horizon=5, d=2, d_s=2, gamma=3), "d_s"),
        (lambda: paper.storage(10, horizon=0, d=2, d_s=1, gamma=3), "horizon"),
        (lambda: paper.bonus_sum(10, d=2, gamma=3, phi=1, alpha=1.5), "alpha"),
        (lambda: paper.bonus_sum(10, d=2, gamma=3, phi=1, alpha=0.5, beta=-1), "beta"),
        (lambda: paper.pac_episodes(0.1, 1.0, horizon=5, d=2, d_s=1), "delta"),
        (lambda: paper.ancestor_diameter([], gamma=2), "counts"),
    ],
)
def test_a_bad_value_is_named(call, field):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.field == field
