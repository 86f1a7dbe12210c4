"""The Python twin holds the same words as the C core after every call, whatever happens.

A failure prints the step, the call, the word and what it is, and a command that repeats it. Cases are drawn
from the seeds in the test names.
"""

from __future__ import annotations

import subprocess
import sys
from array import array
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec
from adamb.firmware_model import core as twin
from adamb.firmware_model.host import binding
from adamb.tools.inspect.word_names import unit_words, word_name
from adamb.tools.maintain.lockstep import Case, Pair, case_of, draw_case, run_case
from adamb.tools.maintain.worlds import KINDS, World

# One case for every counter and every turn of the controller that random cases seldom take.
CORNERS = {
    "deep": Case(gamma=1, extra_words=8000, steps=3000),
    "deep-2+2": Case(d_s=2, d_a=2, gamma=1, extra_words=8000, steps=2000),
    "steps-differ": Case(world="steps", share=2, steps=2000),
    "steps-alike": Case(world="pieces", share=2, horizon=12, steps=3000),
    "change": Case(world="jump", horizon=2, steps=4000),
    "saturation": Case(world="burst", d_s=3, gamma=1, horizon=2, steps=3000),
    "saturation-paper": Case(world="burst", d_s=3, gamma=1, horizon=2, paper=1, steps=3000),
    "full-count": Case(world="burst", gamma=5, phi_num=60000, share=1, horizon=1, steps=9000, detect=0),
    "starved": Case(world="noise", d_s=2, d_a=3, extra_words=0, steps=2000),
    "starved-paper": Case(world="noise", paper=1, extra_words=0, steps=2000),
    "reclaim": Case(world="sweep", share=0, extra_words=300, steps=4000),
    "reclaim-3+3": Case(world="sweep", d_s=3, d_a=3, extra_words=600, steps=3000),
    "reclaim-paper": Case(world="sweep", paper=1, extra_words=300, steps=2000),
    "frozen": Case(world="pieces", freeze=1, extra_words=100, steps=2000),
    "disorder": Case(world="edges", disorder=True, d_s=2, steps=2000),
    "largest-block": Case(world="noise", extra_words=140_000, steps=60),
    "largest-bonus": Case(world="noise", auto_bonus=0, bonus=32767, horizon=1, d_a=2, steps=1500),
}


@cache
def corner(name: str) -> Pair:
    return run_case(CORNERS[name])


def cases() -> st.SearchStrategy[Case]:
    bit = st.integers(0, 1)
    return st.builds(
        Case,
        d_s=st.integers(1, 3), d_a=st.integers(1, 3), horizon=st.integers(1, 31), paper=bit, own=bit,
        share=st.integers(0, 2), freeze=bit, random_action=bit, detect=bit, auto_bonus=bit,
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


@pytest.mark.parametrize("seed", range(1, 6))
def test_random_cases_keep_the_same_words(seed: int) -> None:
    run_case(draw_case(seed, 2500))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 1420, 20))
def test_a_million_steps_keep_the_same_words(seed: int) -> None:
    for case_seed in range(seed, seed + 20):
        run_case(draw_case(case_seed, 2500))


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


def test_counters_stop_and_episodes_carry_in_both_twins() -> None:
    last = {"refused", "no_room", "reclaims", "saturations", "restarts"}
    words = {getattr(_spec, f"H_{name.upper()}"): 65535 for name in last} | {_spec.H_EPISODES: 65530}
    stats = run_case(CORNERS["starved"], words).c.stats()
    assert {name: stats[name] for name in last} == dict.fromkeys(last, 65535)
    assert stats["episodes"] == 65530 + CORNERS["starved"].steps // 5 - 1


def test_a_test_of_sharing_that_never_ends_wraps_in_both_twins() -> None:
    case = Case(world="burst", horizon=31, steps=30)
    block = run_case(case, {_spec.H_OTHER_TOTAL: 65535, _spec.H_RETURN_SUM: 65535}).c_block
    assert block[_spec.H_OTHER_TOTAL] < 100


def test_a_ball_reaches_its_largest_sample_count() -> None:
    pair = corner("full-count")
    root = pair.c_block[pair.c_block[_spec.H_STEPS_AT]]
    assert pair.c_block[4 * root + _spec.R_N] & _spec.N_MAX == _spec.N_MAX


def test_the_command_that_repeats_a_case_runs() -> None:
    command = Case(steps=30).command().replace("python", sys.executable, 1)
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "30 steps, all words equal" in done.stdout


def test_text_that_is_no_case_is_refused() -> None:
    with pytest.raises(InputError, match="is not a case"):
        case_of('{"d_x": 1}')


def test_every_word_of_a_used_block_has_a_name() -> None:
    block = corner("reclaim-3+3").c_block
    names = [word_name(block, i) for i in range(4 * block[_spec.H_FRESH])]
    assert names[_spec.H_RNG] == "header word rng"
    assert not any("lost" in name for name in names)
    kinds = {name.split(",")[0].split(" of ")[0] for name in unit_words(block).values()}
    assert {"record", "routing block 1", "routing block 2", "counts", "V node"} <= kinds


@pytest.mark.parametrize("kind", list(KINDS))
def test_worlds_repeat_and_stay_in_range(kind: str) -> None:
    def played() -> list[object]:
        world, rng = World(kind, 3, 2, 2, 4), Random(1)
        state, seen = world.start(), []
        for i in range(400):
            reward, state = world.step(i % 4, state, [rng.randrange(65536), rng.randrange(65536)])
            seen.append((reward, tuple(state)))
        return seen

    once = played()
    assert once == played()
    assert all(0 <= x <= 65535 for reward, state in once for x in (reward, *state))  # type: ignore[misc]


def test_a_block_moves_between_the_twins() -> None:
    case = Case(steps=500)
    pair = run_case(case)
    from_c = twin.attach(array("H", pair.c_block))
    from_python = binding.Controller(array("H", pair.python_block))
    action = array("H", (0,))
    other = array("H", (0,))
    for k in range(200):
        h, state = k % 5, [k * 331 & 0xFFFF]
        assert from_c.act(h, state, action) == from_python.act(h, state, other) == 0
        assert from_c.observe(h, action[0], state) == from_python.observe(h, other[0], state) == 0
    assert from_c.w == from_python.w
