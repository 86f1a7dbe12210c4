"""The integer arithmetic of the core against exact fractions."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adamb.firmware_model import _spec, number
from adamb.firmware_model._scratch import T_FRACTION, T_HORIZON, T_WORDS

VALUES = st.integers(0, _spec.VALUE_MAX)
WORDS = st.integers(0, 65535)


def test_random_numbers_visit_every_word_but_zero_once_before_they_repeat() -> None:
    w = array("H", bytes(2 * _spec.H_WORDS))
    w[_spec.H_RNG] = 1
    seen = {number.random(w) for _ in range(65535)}
    assert seen == set(range(1, 65536))
    assert w[_spec.H_RNG] == 1


@pytest.mark.parametrize("total", [1, 2, 3, 127, 128, 255, 256, 511, 4095, 32767, 40955])
def test_shift_brings_a_total_to_eight_bits(total: int) -> None:
    assert 128 <= number.shifted(total, number.shift(total)) <= 255


@given(total=st.integers(1, 2**17))
def test_shift_is_the_only_one_that_does(total: int) -> None:
    shift = number.shift(total)
    assert [s for s in range(-12, 9) if 128 <= number.shifted(total, s) <= 255] == [shift]


@given(pairs=st.lists(st.tuples(st.integers(0, 8191), VALUES), min_size=1, max_size=4))
@example(pairs=[(8191, 32767)] * 4)
@example(pairs=[(1, 32767)])
def test_mean_of_weighted_values_is_within_a_percent(pairs: list[tuple[int, int]]) -> None:
    total = sum(n for n, _ in pairs)
    if total == 0:
        return
    shift = number.shift(total)
    weights = [number.shifted(n, shift) for n, _ in pairs]
    assert 124 <= sum(weights) <= 255
    result = number.mean(sum(n * value for n, (_, value) in zip(weights, pairs, strict=True)), sum(weights))
    exact = Fraction(sum(n * value for n, (_, value) in zip(weights, pairs, strict=True)), sum(weights))
    # Eight bits of the sum are cut before the division: at most 256/124 of a value, and half a table step.
    assert -3 - exact / 16384 <= result - exact <= exact / 16384
    assert result <= _spec.VALUE_MAX


@given(value=VALUES, weight=st.integers(124, 255))
def test_mean_of_equal_values_is_that_value_but_for_what_is_cut(value: int, weight: int) -> None:
    assert value - 3 - value // 16384 <= number.mean(value * weight, weight) <= value + 1


def test_mean_of_the_largest_values_fits_a_value() -> None:
    largest = [number.mean(_spec.VALUE_MAX * weight, weight) for weight in range(124, 256)]
    assert min(largest) >= _spec.VALUE_MAX - 4
    assert max(largest) <= _spec.VALUE_MAX


@given(factor=st.integers(0, _spec.BONUS_MAX), weight=st.integers(1, 4 * 8191 + 32764))
@example(factor=32767, weight=1)
@example(factor=32767, weight=65528)
def test_bonus_is_the_root_and_at_most_3_percent_more(factor: int, weight: int) -> None:
    exact = factor / math.sqrt(weight / 4)
    assert exact * 0.9999 - 1 <= number.bonus(factor, weight) <= exact * 1.031


@given(factor=st.integers(0, _spec.BONUS_MAX), weight=st.integers(1, 65527))
def test_more_evidence_never_gives_a_larger_bonus(factor: int, weight: int) -> None:
    assert number.bonus(factor, weight + 1) <= number.bonus(factor, weight)


@given(start=WORDS, end=WORDS, part=st.integers(0, 8191), rest=st.integers(0, 8191))
def test_blend_goes_the_exact_way_cut_towards_its_start(start: int, end: int, part: int, rest: int) -> None:
    if part + rest == 0:
        return
    exact = start + Fraction((end - start) * part, part + rest)
    cut = math.floor if end >= start else math.ceil
    assert number.blend(start, end, part, part + rest) == cut(exact)


def test_initial_value_is_a_reward_of_one_for_every_step_left() -> None:
    t = array("i", bytes(4 * T_WORDS))
    for horizon, fraction in ((5, 12), (7, 12), (8, 11), (15, 11), (16, 10), (31, 10)):
        t[T_HORIZON], t[T_FRACTION] = horizon, fraction
        for h in range(horizon):
            exact = (horizon - h) << fraction
            assert number.initial(t, h) == exact


def test_tables_hold_what_their_names_say() -> None:
    def entries(table: bytes) -> list[int]:
        return [table[i] | table[i + 1] << 8 for i in range(0, len(table), 2)]

    assert entries(_spec.RECIPROCAL) == [round(Fraction(2**22, total)) for total in range(124, 256)]
    assert entries(_spec.INVERSE_ROOT) == [math.isqrt(2**32 // weight) for weight in range(16, 64)]
