"""The Python twin holds the same words as the C core after every call, whatever happens.

A failure prints the step, the call, the word and what it is, and a command that repeats it.
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adamb.firmware_model import _spec
from adamb.tools.inspect.word_names import unit_words, word_name
from support.campaigns import few
from support.lockstep import CORNERS, Case, Pair, draw_case, run_case
from support.worlds import KINDS


@cache
def corner(name: str) -> Pair:
    return run_case(CORNERS[name])


def cases() -> st.SearchStrategy[Case]:
    bit = st.integers(0, 1)
    return st.builds(
        Case,
        d_s=st.integers(1, 3), d_a=st.integers(1, 3), horizon=st.integers(1, 31), mode=bit, split_counts=bit,
        share=st.integers(0, 2), when_full=bit, random_action=bit, detect=bit, auto_bonus=bit,
        bonus=st.integers(0, _spec.BONUS_MAX), seed=st.integers(0, 65535), gamma=st.integers(1, 5),
        phi_num=st.integers(1, 40), phi_den=st.integers(1, 9),
        extra_words=st.one_of(st.integers(0, 400), st.integers(0, 20000)), world=st.sampled_from(list(KINDS)),
        world_seed=st.integers(0, 2**32), disorder=st.booleans(), steps=st.integers(1, 300),
    )  # fmt: skip


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(Case(steps=1))
@given(case=cases())
def test_any_configuration_keeps_the_same_words(case: Case) -> None:
    run_case(case)


@pytest.mark.parametrize("name", list(CORNERS))
def test_corners_keep_the_same_words(name: str) -> None:
    corner(name)


@pytest.mark.parametrize("seed", few(range(1000, 1420), 6))
def test_a_million_steps_keep_the_same_words(seed: int) -> None:
    run_case(draw_case(seed, 2500))


def test_the_corners_are_reached() -> None:
    seen = {name: corner(name).c.stats() for name in CORNERS}
    assert seen["deep"]["splits"] > 60
    assert seen["deep"]["finest"] == 14
    assert seen["deep-2+2"]["finest"] == 7
    assert seen["steps-differ"]["share"] == _spec.SHARE_OFF
    assert seen["steps-alike"]["share"] == _spec.SHARE_ON
    assert seen["change"]["restarts"] > 0
    assert seen["saturation"]["saturations"] > 0
    assert seen["saturation-paper"]["saturations"] > 0
    assert seen["starved"]["no_room"] > 0
    assert seen["starved"]["refused"] > 0
    assert seen["frozen"]["refused"] > 0
    assert seen["frozen"]["reclaims"] == 0
    assert min(seen[name]["reclaims"] for name in CORNERS if name.startswith("reclaim")) > 5


def test_every_word_of_a_used_block_has_a_name() -> None:
    block = corner("reclaim-3+3").c_block
    names = [word_name(block, i) for i in range(4 * block[_spec.H_FRESH])]
    assert names[_spec.H_RNG] == "header word rng"
    assert not any("lost" in name for name in names)
    kinds = {name.split(",")[0].split(" of ")[0] for name in unit_words(block).values()}
    assert {"record", "routing block 1", "routing block 2", "counts", "V node"} <= kinds
