"""The exact bounds: equal to brute force where that is possible, and to the figures we quote."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.bounds.exact import ForestBound, TreeBound
from adamb.budgets.bounds.paper import partition_size
from adamb.budgets.bounds.thresholds import from_thresholds, split_rule
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import threshold
from support.bounds import depth_of, leaves_of, reachable


def brute_force(d: int, thresholds: tuple[int, ...], rule: str, samples: int) -> list[tuple[int, int]]:
    """(most leaves, deepest level) after 0..samples samples, over all sequences of samples."""
    return [
        (max(map(leaves_of, trees)), max(map(depth_of, trees))) for trees in reachable(d, thresholds, rule, samples)
    ]


CASES = [
    (1, (1, 2, 4), 11),
    (1, (2, 3, 5), 11),
    (1, (1, 3, 9), 13),
    (2, (1, 2, 4), 10),
    (2, (1, 4, 16), 11),
    (2, (1, 8, 64), 14),
    (2, (3, 6, 12), 12),
    (3, (1, 2, 4), 8),
]


@pytest.mark.parametrize("rule", ["own", "inherited", "early"])
@pytest.mark.parametrize(("d", "thresholds", "samples"), CASES)
def test_level_filling_is_the_worst_case_over_all_split_sequences(d, thresholds, samples, rule):
    bound = TreeBound(from_thresholds(d, thresholds, rule))
    for k, (leaves, depth) in enumerate(brute_force(d, thresholds, rule, samples)):
        assert bound.deepest(k) == depth, f"level after {k} samples"
        if bound.tight:
            assert bound.leaves(k) == leaves, f"leaves after {k} samples"
        else:
            assert bound.leaves(k) >= leaves, f"leaves after {k} samples"


def test_costs_that_fall_with_the_level_still_give_an_upper_bound_that_says_it_is_not_tight():
    thresholds = tuple(threshold(level, Fraction(1, 2), Fraction(3, 2)) for level in range(6))
    bound = TreeBound(from_thresholds(1, thresholds, "inherited"))
    assert bound.rule.costs == (2, 1, 1, 2, 1, 3)
    assert not bound.tight
    for k, (leaves, _) in enumerate(brute_force(1, thresholds, "inherited", 11)):
        assert bound.leaves(k) >= leaves


def test_the_quoted_figure_67_leaves_against_335_of_the_paper():
    bound = TreeBound(split_rule(2, 3, 1, "own"))
    assert bound.leaves(2000) == 67
    assert bound.tight
    assert round(partition_size(2000, d=2, gamma=3, phi=1).value) == 335


def test_thresholds_above_the_13_bit_limit_never_trigger():
    rule = split_rule(2, 3, 1, "own")
    assert rule.thresholds == (1, 8, 64, 512, 4096)
    assert rule.finest == 5
    assert rule.finest_because == "the threshold 32768 of level 5 is above 8190"
    bound = TreeBound(rule)
    assert bound.leaves(10**12) == 4**5
    assert bound.samples_for_level(6) is None


def test_the_layout_limit_ends_the_table_when_no_threshold_does():
    rule = split_rule(2, Fraction(1, 2), 1, "own", level_max=4)
    assert rule.finest == 4
    assert "layout ends at level 4" in rule.finest_because


@given(
    level=st.integers(0, 8),
    gamma=st.fractions(min_value=Fraction(1, 8), max_value=5, max_denominator=12),
    phi=st.fractions(min_value=Fraction(1, 20), max_value=30, max_denominator=20),
)
@settings(deadline=None)
def test_threshold_is_the_least_integer_not_below_phi_times_2_to_the_gamma_level(level, gamma, phi):
    n, power = threshold(level, gamma, phi), gamma * level
    degree = power.denominator
    assert Fraction(n) ** degree >= phi**degree * 2**power.numerator
    assert n == 1 or Fraction(n - 1) ** degree < phi**degree * 2**power.numerator
    assert abs(n - ceil(float(phi) * 2 ** float(power))) <= 1


def test_a_float_means_the_decimal_it_prints():
    assert threshold(0, 1, 0.1) == 1
    assert threshold(1, "0.5", 1) == 2  # √2
    assert threshold(10, 0.1, 1) == 2  # 2^(10·0.1) is exactly 2; binary 0.1 would give 3


@lru_cache
def forest(share: str) -> ForestBound:
    return ForestBound(TreeBound(split_rule(2, 2, 1, "inherited")), 5, share)


def test_sharing_gives_one_tree_all_samples_and_auto_the_worse_of_both():
    tree = forest("on").tree
    assert forest("off").leaves(100) == 5 * tree.leaves(100)
    assert forest("on").leaves(100) == tree.leaves(500)
    for k in range(0, 3000, 37):
        assert forest("auto").leaves(k) == max(forest("off").leaves(k), forest("on").leaves(k))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"d": 1, "gamma": 2}, "d"),
        ({"d": 2, "gamma": 0}, "gamma"),
        ({"d": 2, "gamma": float("nan")}, "gamma"),
        ({"d": 2, "gamma": "two"}, "gamma"),
        ({"d": 2, "gamma": "1/0"}, "gamma"),
        ({"d": 2, "gamma": "0.12345"}, "gamma"),
        ({"d": 2, "gamma": 2, "phi": -1}, "phi"),
        ({"d": 2, "gamma": 2, "phi": "1e-30"}, "phi"),
        ({"d": 2, "gamma": 2, "rule": "both"}, "split"),
    ],
)
def test_a_bad_value_is_named_with_its_limit(arguments, field):
    with pytest.raises(InputError) as caught:
        split_rule(**arguments)
    assert caught.value.field == field
    assert "must" in caught.value.limit


def test_negative_numbers_of_samples_or_episodes_are_refused():
    with pytest.raises(InputError, match="samples"):
        forest("on").tree.leaves(-1)
    with pytest.raises(InputError, match="episodes"):
        forest("on").leaves(-1)
    with pytest.raises(InputError, match="horizon"):
        ForestBound(forest("on").tree, 0)
    with pytest.raises(InputError, match="share"):
        ForestBound(forest("on").tree, 5, "maybe")
