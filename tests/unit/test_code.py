"""Codes of points against bits interleaved one by one."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamb.firmware_model import call, code, core
from adamb.firmware_model._scratch import (
    T_ACTION_MASK,
    T_ACTION_SHIFT,
    T_CHUNKS,
    T_FINEST,
    T_STATE_MASK,
    T_STATE_SHIFT,
)

WORDS = st.integers(0, 65535)
BITS = {1: 16, 2: 8, 3: 5}
DIMS = [(d_s, d_a) for d_s in (1, 2, 3) for d_a in (1, 2, 3)]


def interleaved(point: list[int]) -> int:
    bits = [x >> (15 - level) & 1 for level in range(BITS[len(point)]) for x in point]
    return sum(bit << (15 - i) for i, bit in enumerate(bits))


@given(point=st.integers(1, 3).flatmap(lambda dims: st.lists(WORDS, min_size=dims, max_size=dims)))
def test_pack_interleaves_the_first_bits_of_every_coordinate(point: list[int]) -> None:
    assert code.pack(point, len(point)) == interleaved(point)


@given(point=st.integers(1, 3).flatmap(lambda dims: st.lists(WORDS, min_size=dims, max_size=dims)))
def test_unpack_gives_back_the_bits_that_a_code_holds(point: list[int]) -> None:
    dims = len(point)
    found = array("H", bytes(2 * dims))
    code.unpack(code.pack(point, dims), dims, found)
    keep = 0xFFFF << (16 - BITS[dims]) & 0xFFFF
    assert list(found) == [x & keep for x in point]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_centre_is_half_way_in_every_coordinate_of_the_cell(dims: int) -> None:
    finest = {1: 14, 2: 7, 3: 4}[dims]
    for level in range(finest + 1):
        first = interleaved([0xA5A5 & 0xFFFF << 16 - level & 0xFFFF] * dims)
        found = array("H", bytes(2 * dims))
        code.unpack(code.centre(first, dims * level, dims), dims, found)
        low = 0xA5A5 & (0xFFFF << 16 - level) & 0xFFFF
        assert list(found) == [low + (0x8000 >> level)] * dims


@pytest.mark.parametrize(("d_s", "d_a"), DIMS)
def test_a_level_is_divided_into_blocks_of_two_bits_state_first(d_s: int, d_a: int) -> None:
    division, order = code.division(d_s, d_a), "s" * d_s + "a" * d_a
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
    t = call.scratch(block)
    state = action = ""
    for depth in range(1, t[T_FINEST] * t[T_CHUNKS] + 1):
        for place in range(15, -1, -1):
            if t[T_STATE_MASK + depth] << t[T_STATE_SHIFT + depth] >> place & 1:
                state += f"{place} "
            if t[T_ACTION_MASK + depth] >> place & 1:
                action += f"{place} "
                assert place >= t[T_ACTION_SHIFT + depth]
    assert state.split() == [str(15 - i) for i in range(d_s * t[T_FINEST])]
    assert action.split() == [str(15 - i) for i in range(d_a * t[T_FINEST])]
