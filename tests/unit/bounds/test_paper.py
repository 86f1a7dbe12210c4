"""The paper's closed forms: their printed values, and that a condition which does not hold is reported."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.bounds import paper
from adamb.budgets.bounds.exact import TreeBound
from adamb.budgets.bounds.thresholds import split_rule
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import paper_gamma, paper_phi

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


def test_the_storage_condition_holds_for_two_state_dimensions_but_not_for_three():
    two = paper.storage(2000, horizon=5, d=4, d_s=2, gamma=paper_gamma(2))
    three = paper.storage(2000, horizon=5, d=6, d_s=3, gamma=paper_gamma(3))
    assert two.met
    assert two.exponent == pytest.approx(1 - 2 / (4 + 2 + 2))
    assert not three.met
    assert three.exponent == pytest.approx(1)
    assert "too fast" in three.note


@pytest.mark.parametrize("gamma", [0.5, 1, 2, 3, 8])
def test_the_time_condition_never_holds_and_both_exponents_are_reported(gamma):
    stated = paper.time(2000, horizon=5, d=2, d_s=1, gamma=gamma)
    assert not stated.met
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


def test_phi_as_printed():
    assert paper_phi(5, 2, 1) == 5
    assert paper_phi(32, 4, 2) == 64  # exactly, although 32 ** 1.2 is not


def test_pac_names_the_uniformly_drawn_past_policy():
    bound = paper.pac_episodes(0.5, 0.1, horizon=5, d=2, d_s=1)
    assert bound.value == pytest.approx((5 ** (4 / 3) / 0.05) ** 5)
    assert "uniformly at random" in bound.note
    assert "not the last one" in bound.note


def test_pac_of_an_absurd_quality_is_infinite():
    assert paper.pac_episodes(1e-300, 0.1, horizon=5, d=2, d_s=1).value == math.inf


@pytest.mark.parametrize(("d_s", "exponent"), [(1, 4 / 5), (2, 6 / 7), (3, 6 / 7)])
def test_regret_has_the_exponent_of_its_case(d_s, exponent):
    bound = paper.regret(5000, horizon=5, d=d_s + 1, d_s=d_s, lipschitz=4)
    assert bound.exponent == pytest.approx(exponent)
    assert bound.value == pytest.approx(4 * 5 ** (1 + 1 / (d_s + 2)) * 5000**exponent)


@pytest.mark.parametrize("d_s", [1, 2, 3, 4])
def test_every_sum_of_bonuses_meets_its_condition_and_none_outgrows_the_regret(d_s):
    d, gamma = d_s + 1, paper_gamma(d_s)
    regret = paper.regret(1000, horizon=5, d=d, d_s=d_s)
    sums = [paper.bonus_sum(1000, *powers, d=d, gamma=gamma) for powers in paper.bonus_terms(d_s).values()]
    assert all(each.met for each in sums)
    assert max(each.exponent for each in sums) == pytest.approx(regret.exponent)


def test_a_sum_of_bonuses_stays_below_a_few_times_its_bound_when_levels_fill():
    """Every ball of every level played to its threshold, the worst order of the theorem of level filling."""
    d, gamma, total, k, level = 2, 3, 0.0, 0, 0
    while k < 10**6:
        own = 2 ** (gamma * level)
        total += 2 ** (d * level) * sum(n**-0.5 for n in range(1, own + 1))
        k += 2 ** (d * level) * own
        level += 1
    bound = paper.bonus_sum(k, 0.5, 0, d=d, gamma=gamma)
    assert 0.5 * bound.value < total < 4 * bound.value


def test_a_sum_of_bonuses_beyond_its_condition_says_so():
    assert not paper.bonus_sum(10, 0.25, 0, d=2, gamma=3).met
    assert not paper.bonus_sum(10, 1.5, 0, d=2, gamma=3).met


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: paper.bonus_sum(10, -1, 0, d=2, gamma=3), "alpha"),
        (lambda: paper.bonus_sum(10, 0.5, math.nan, d=2, gamma=3), "beta"),
        (lambda: paper.regret(10, horizon=5, d=2, d_s=1, lipschitz=0), "lipschitz"),
        (lambda: paper.partition_size(0, d=2, gamma=3), "k"),
        (lambda: paper.partition_size(10, d=2, gamma=-1), "gamma"),
        (lambda: paper.partition_size(10, d=2, gamma=3, phi=math.nan), "phi"),
        (lambda: paper.storage(10, horizon=5, d=2, d_s=2, gamma=3), "d_s"),
        (lambda: paper.storage(10, horizon=0, d=2, d_s=1, gamma=3), "horizon"),
        (lambda: paper.pac_episodes(0.1, 1.0, horizon=5, d=2, d_s=1), "delta"),
    ],
)
def test_a_bad_value_is_named(call, field):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.field == field
