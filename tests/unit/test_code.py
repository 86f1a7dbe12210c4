"""Codes of points, integer arithmetic and values of a user's unit, against bits one by one and exact fractions."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adamb.firmware_model import _spec, core, number, unit
from adamb.firmware_model._scratch import (
    C_ACTION_MASK,
    C_ACTION_SHIFT,
    C_CHUNKS,
    C_FINEST,
    C_FRACTION,
    C_HORIZON,
    C_STATE_MASK,
    C_STATE_SHIFT,
    T_WORDS,
)
from adamb.firmware_model.config import scratch
from adamb.firmware_model.host.binding import ffi, lib

WORDS = st.integers(0, 65535)
BITS = {1: 16, 2: 8, 3: 5}
DIMS = [(d_s, d_a) for d_s in (1, 2, 3) for d_a in (1, 2, 3)]


def interleaved(point: list[int]) -> int:
    bits = [x >> (15 - level) & 1 for level in range(BITS[len(point)]) for x in point]
    return sum(bit << (15 - i) for i, bit in enumerate(bits))


@given(point=st.integers(1, 3).flatmap(lambda dims: st.lists(WORDS, min_size=dims, max_size=dims)))
def test_pack_interleaves_the_first_bits_of_every_coordinate(point: list[int]) -> None:
    assert number.code_pack(point, len(point)) == interleaved(point)


@given(point=st.integers(1, 3).flatmap(lambda dims: st.lists(WORDS, min_size=dims, max_size=dims)))
def test_unpack_gives_back_the_bits_that_a_code_holds(point: list[int]) -> None:
    dims = len(point)
    found = array("H", bytes(2 * dims))
    number.code_unpack(number.code_pack(point, dims), dims, found)
    keep = 0xFFFF << (16 - BITS[dims]) & 0xFFFF
    assert list(found) == [x & keep for x in point]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_centre_is_half_way_in_every_coordinate_of_the_cell(dims: int) -> None:
    finest = {1: 14, 2: 7, 3: 4}[dims]
    for level in range(finest + 1):
        first = interleaved([0xA5A5 & 0xFFFF << 16 - level & 0xFFFF] * dims)
        found = array("H", bytes(2 * dims))
        number.code_unpack(number.code_centre(first, dims * level, dims), dims, found)
        low = 0xA5A5 & (0xFFFF << 16 - level) & 0xFFFF
        assert list(found) == [low + (0x8000 >> level)] * dims


@pytest.mark.parametrize(("d_s", "d_a"), DIMS)
def test_a_level_is_divided_into_blocks_of_two_bits_state_first(d_s: int, d_a: int) -> None:
    division, order = number.code_division(d_s, d_a), "s" * d_s + "a" * d_a
    for chunk in range((d_s + d_a + 1) // 2):
        part = order[2 * chunk : 2 * chunk + 2]
        nibble = division >> 4 * chunk & 15
        assert (nibble & 3, nibble >> 2) == (part.count("s"), part.count("a"))
    assert division >> 4 * ((d_s + d_a + 1) // 2) == 0


@pytest.mark.parametrize(("d_s", "d_a"), DIMS)
def test_tables_lead_through_the_bits_of_both_codes_in_order(d_s: int, d_a: int) -> None:
    config = core.Config(d_s=d_s, d_a=d_a)
    block = array("H", bytes(2 * core.required_words(config)))
    core.init(config, block)
    t = scratch(block)
    state = action = ""
    for depth in range(1, t[C_FINEST] * t[C_CHUNKS] + 1):
        for place in range(15, -1, -1):
            if t[C_STATE_MASK + depth] << t[C_STATE_SHIFT + depth] >> place & 1:
                state += f"{place} "
            if t[C_ACTION_MASK + depth] >> place & 1:
                action += f"{place} "
                assert place >= t[C_ACTION_SHIFT + depth]
    assert state.split() == [str(15 - i) for i in range(d_s * t[C_FINEST])]
    assert action.split() == [str(15 - i) for i in range(d_a * t[C_FINEST])]


VALUES = st.integers(0, _spec.VALUE_MAX)


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
        t[C_HORIZON], t[C_FRACTION] = horizon, fraction
        for h in range(horizon):
            exact = (horizon - h) << fraction
            assert number.initial(t, h) == exact


def test_tables_hold_what_their_names_say() -> None:
    def entries(table: bytes) -> list[int]:
        return [table[i] | table[i + 1] << 8 for i in range(0, len(table), 2)]

    assert entries(_spec.RECIPROCAL) == [round(Fraction(2**22, total)) for total in range(124, 256)]
    assert entries(_spec.INVERSE_ROOT) == [math.isqrt(2**32 // weight) for weight in range(16, 64)]


LAST = 65535
ENDS = st.tuples(st.integers(-(2**29), 2**29), st.integers(-LAST, LAST).filter(bool))


def in_c(zero: int, full: int):
    made = ffi.new("adamb_unit *")
    assert lib.adamb_unit_init(made, zero, full) == 0
    return made


def nearest(number: Fraction) -> int:
    """Halves away from the value of code 0, in both directions of a range."""
    return int(number + Fraction(1, 2))


@pytest.mark.parametrize("span", [1, 2, 3, 255, 256, 257, 1000, 4000, 65534, 65535])
@pytest.mark.parametrize("sign", [1, -1])
def test_every_value_of_a_range_comes_back_from_its_code(span, sign):
    made, twin = unit.init(-7, -7 + sign * span), in_c(-7, -7 + sign * span)
    for step in range(0, span + 1, 1 + span // 5000):
        value = -7 + sign * step
        code = made.code(value)
        assert code == nearest(Fraction(step * LAST, span)) == lib.adamb_unit_code(twin, value)
        assert made.value(code) == value == lib.adamb_unit_value(twin, code)
    assert made.out_of_range == twin.out_of_range == 0


@given(ENDS, st.integers(0, LAST))
@settings(deadline=None, print_blob=True)
def test_a_code_is_the_nearest_value_in_both_twins(ends, code):
    zero, span = ends
    made, twin = unit.init(zero, zero + span), in_c(zero, zero + span)
    expected = zero + (1 if span > 0 else -1) * nearest(Fraction(code * abs(span), LAST))
    assert made.value(code) == lib.adamb_unit_value(twin, code) == expected


@given(ENDS, st.integers(-(2**30), 2**30))
@settings(deadline=None, print_blob=True)
def test_a_value_outside_becomes_the_nearest_end_and_is_counted(ends, value):
    zero, span = ends
    made, twin = unit.init(zero, zero + span), in_c(zero, zero + span)
    low, high = sorted((zero, zero + span))
    inside = min(max(value, low), high)
    code = made.code(value)
    assert code == made.code(inside) == lib.adamb_unit_code(twin, value)
    assert made.out_of_range == (value != inside) == twin.out_of_range


def test_each_value_says_whether_it_was_outside():
    """The counter alone did not tell a loop which of its readings not to act on."""
    made, twin = unit.init(1000, 0), in_c(1000, 0)
    assert made.outside == twin.outside == 0
    for value, outside in ((1001, 1), (1000, 0), (-1, 1), (-1, 1), (0, 0), (500, 0)):
        assert made.code(value) == lib.adamb_unit_code(twin, value)
        assert made.outside == twin.outside == outside
    made.out_of_range = twin.out_of_range = unit.MOST_COUNTED
    made.code(2000), lib.adamb_unit_code(twin, 2000)
    assert made.outside == twin.outside == 1, "after the end of the counter, too"


@pytest.mark.parametrize(("zero", "full"), [(5, 5), (0, 65536), (65535, -1), (-(2**31), 2**31 - 1)])
def test_a_range_that_codes_cannot_hold_is_refused(zero, full):
    assert unit.init(zero, full) == _spec.ERR_CONFIG
    made = ffi.new("adamb_unit *", {"zero": 1, "full": 2, "out_of_range": 3})
    assert lib.adamb_unit_init(made, zero, full) == _spec.ERR_CONFIG
    assert (made.zero, made.full, made.out_of_range) == (1, 2, 3)
    assert lib.adamb_unit_init(ffi.NULL, 0, 1) == _spec.ERR_ARGUMENT


def test_the_counter_stops_before_small_integers_end():
    made, twin = unit.init(0, 10), in_c(0, 10)
    made.out_of_range = twin.out_of_range = unit.MOST_COUNTED - 1
    for _ in range(3):
        assert made.code(11) == lib.adamb_unit_code(twin, 11) == LAST
    assert made.out_of_range == twin.out_of_range == unit.MOST_COUNTED == 2**30 - 1
