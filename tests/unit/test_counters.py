"""Every counter of a controller and of what surrounds it: where it ends, and what happens from there on.

docs/reliability.md has the table; its rows are compared with what both twins do when a counter is set near its end.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec, store, unit
from adamb.firmware_model.exact import reference as exact
from adamb.firmware_model.exact.model import HEADER_WORDS, Config
from adamb.firmware_model.exact.recipes import EAGER
from support.flash import Flash, fitting
from support.paths import ROOT
from support.twins import CTwin, PythonTwin

WORD, LONG = 2**16 - 1, 2**32 - 1
# Header words that do not count up: sizes, settings, links, means, and numbers of what is there now.
NOT_COUNTERS = {
    "magic", "hash", "units", "dims", "bits", "flags", "scale", "steps_at", "pool_at", "bonus", "rng",
    "free_head", "free_n", "fresh", "used_peak", "share", "table", "return_dev", "held", "held_mean", "steps_mean",
    "splits", "episodes_high",
    "same_reward", "same_next", "other_reward", "other_next",
}  # fmt: skip
OUTSIDE = {"n of a record", "damages", "restored", "reinitialised", "passes", "sequence", "out_of_range"}
twins = pytest.mark.parametrize("twin", [CTwin(), PythonTwin()], ids=lambda twin: twin.name)


def table() -> dict[str, int]:
    """Counter → its end, from docs/reliability.md."""
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    section = text.split("## Counters and their ends")[1].split("\n## ")[0]
    found = {}
    for names, end in re.findall(r"^\| ([^|]+) \| ([\d,]+) \|", section, re.MULTILINE):
        found |= {name.strip(" `"): int(end.replace(",", "")) for name in names.split(",")}
    return found


def test_the_table_has_every_counter() -> None:
    assert set(table()) == (set(HEADER_WORDS) - NOT_COUNTERS) | OUTSIDE


def test_the_times_beside_the_table_are_right() -> None:
    text = " ".join((ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").split())
    hours, years = WORD / 3600, LONG / 3600 / 24 / 365.25
    assert f"one per second: {hours:.0f} hours to 65,535, {years:.0f} years to 4,294,967,295" in text


def controller(twin: Any, **fields: Any) -> tuple[array, Any]:
    config = vars(Config(**fields))
    block = array("H", bytes(2 * 512))
    made = twin.init(twin.config(config), block)
    assert not isinstance(made, int)
    block[_spec.H_HELD] = 0  # held episodes are no part of the sharing test
    return block, made


def steps(made: Any, number: int, *, end: bool = True, reward: int = 65535) -> None:
    action = array("H", [0])
    for i in range(number):
        assert made.act(0, [i * 7919 & 0xFFFF], action) == made.observe(0, reward, [i * 331 & 0xFFFF]) == 0
        assert not end or made.end_episode() == 0


@twins
@pytest.mark.parametrize("name", ["refused", "no_room", "reclaims", "saturations", "restarts"])
def test_a_counter_of_events_stops(twin: Any, name: str) -> None:
    options: dict[str, Any] = {
        "refused": {"thresholds": [1] * 15, "when_full": 1},
        "no_room": {"thresholds": [1] * 15, "when_full": 1},
        "reclaims": {"thresholds": [1] * 15},
        "saturations": {"d_s": 2, "thresholds": EAGER, "split_counts": 1, "bonus": 0},
        "restarts": {"detect": 1},
    }[name]
    config = Config(horizon=2, **options)
    words = twin.required_words(twin.config(vars(config))) + (40 if name != "saturations" else 1600)
    block = array("H", bytes(2 * words))
    made, action = twin.init(twin.config(vars(config)), block), array("H", [0])
    at = getattr(_spec, f"H_{name.upper()}")
    events = 0
    for i in range(3000):
        block[at] = WORD - 1 if events == 0 else block[at]
        state = [0, 0] if name == "saturations" else [i * 7919 & 0xFFFF]
        reward = 60000 if i < 200 else 0
        for h in range(2):
            assert made.act(h, state, action) == made.observe(h, reward, state) == 0
        assert made.end_episode() == 0
        events += block[at] != WORD - 1
        if events > 20:
            break
    assert block[at] == table()[name] == WORD and events > 5
    assert twin.check(block) == 0


@twins
def test_episodes_stop_as_a_whole_and_the_reference_agrees(twin: Any) -> None:
    block, made = controller(twin, horizon=1)
    reference = exact.init(Config(horizon=1), 512)
    assert not isinstance(reference, int)
    block[_spec.H_EPISODES], block[_spec.H_EPISODES_HIGH] = WORD - 2, WORD
    reference.m.episodes = LONG - 2
    for wanted in (LONG - 1, LONG, LONG, LONG):
        steps(made, 1)
        steps(reference, 1)
        assert twin.stats(block)["episodes"] == reference.m.episodes == wanted
        steps(made, 40, end=False), steps(reference, 40, end=False)
        assert array("H", reference.words()) == block
    assert table()["episodes"] == LONG


@twins
def test_episodes_carry_from_the_low_to_the_high_word(twin: Any) -> None:
    block, made = controller(twin, horizon=1)
    block[_spec.H_EPISODES] = WORD
    steps(made, 1)
    assert (block[_spec.H_EPISODES], block[_spec.H_EPISODES_HIGH]) == (0, 1)


@twins
@pytest.mark.parametrize("name", ["seen", "return_sum"])
def test_what_an_episode_adds_up_stops_until_it_ends(twin: Any, name: str) -> None:
    block, made = controller(twin, horizon=1)
    at = getattr(_spec, f"H_{name.upper()}")
    block[at] = WORD - 1
    steps(made, 5, end=False)
    assert block[at] == table()[name] == WORD
    assert made.end_episode() == 0 and block[at] == 0


@twins
def test_episodes_since_a_restart_stop(twin: Any) -> None:
    block, made = controller(twin, horizon=1, detect=1)
    block[_spec.H_SINCE] = WORD - 1
    steps(made, 5)
    assert block[_spec.H_SINCE] == table()["since"] == WORD


@twins
def test_the_drop_stops_above_what_an_episode_can_add(twin: Any) -> None:
    block, made = controller(twin, horizon=1)  # without detect: no restart clears it
    block[_spec.H_DROP], block[_spec.H_STEPS_MEAN], block[_spec.H_STEPS_N] = WORD - 1, 4000, 9
    block[_spec.H_RETURN_DEV] = 1
    steps(made, 1, reward=0)
    assert block[_spec.H_DROP] == table()["drop"] == WORD


@twins
@pytest.mark.parametrize("name", ["same_n", "other_n"])
def test_pairs_of_the_sharing_test_are_halved_with_their_sums(twin: Any, name: str) -> None:
    block, made = controller(twin, horizon=2, share=2)
    at = getattr(_spec, f"H_{name.upper()}")
    assert table()[name] == _spec.SHARE_COUNT_MAX
    block[at], block[at + 1], block[at + 2] = _spec.SHARE_COUNT_MAX, 1000, 500
    action = array("H", [0])
    for i in range(20):  # until the same action comes twice
        h = 0 if name == "same_n" else i % 2
        assert made.act(h, [500], action) == made.observe(h, 9, [500]) == 0
        if block[at] != _spec.SHARE_COUNT_MAX:
            break
    assert block[at] == _spec.SHARE_COUNT_MAX // 2 + 1 and block[at + 1] <= 500 + 255


@twins
def test_all_pairs_of_the_sharing_test_begin_again_at_0(twin: Any) -> None:
    block, made = controller(twin, horizon=2, share=2)
    block[_spec.H_OTHER_TOTAL] = WORD
    action = array("H", [0])
    for h in (0, 1):
        assert made.act(h, [500], action) == made.observe(h, 9, [500]) == 0
    assert block[_spec.H_OTHER_TOTAL] == 0 and table()["other_total"] == WORD
    assert made.end_episode() == 0 and block[_spec.H_SHARE] == _spec.SHARE_TESTING, "the test goes on"


@twins
def test_the_samples_of_a_ball_stop(twin: Any) -> None:
    block, made = controller(twin, horizon=1, thresholds=[WORD] * 15)
    steps(made, 1)
    at = 4 * block[block[_spec.H_STEPS_AT] + _spec.S_ROOT] + _spec.R_N
    block[at] = block[at] & ~_spec.N_MAX & WORD | _spec.N_MAX - 1
    steps(made, 5)
    assert block[at] & _spec.N_MAX == table()["n of a record"] == _spec.N_MAX


@twins
@pytest.mark.parametrize("name", ["damages", "restored", "reinitialised", "passes"])
def test_a_counter_of_the_guard_stops(twin: Any, name: str) -> None:
    fields = vars(Config(horizon=1))
    block, flash = array("H", bytes(2 * 512)), Flash(64, 2048, 4)
    made = twin.open_guard(twin.config(fields), block, twin.open_store(flash, 512) if name == "restored" else None)
    assert name != "restored" or made.save() == 0
    made.count(name, WORD - 1) if twin.name == "c" else setattr(made, name, WORD - 1)
    for _ in range(3):
        if name != "passes":
            block[_spec.H_UNITS] ^= 1 << 14
        for _ in range(8):
            assert made.tick() >= 0
    assert getattr(made, name) == table()[name] == WORD


@twins
def test_a_store_whose_saves_are_numbered_to_the_end_refuses_and_keeps_the_last(twin: Any) -> None:
    block, _ = controller(twin, horizon=1)
    made = twin.open_store(Flash(64, 2048, 4), 512)
    made.sequence = LONG - 1
    assert [made.save(block) for _ in range(3)] == [0, _spec.ERR_DEVICE, _spec.ERR_DEVICE]
    found = array("H", bytes(2 * 512))
    assert made.restore(fitting(block), found) == 0 and made.sequence == table()["sequence"] == LONG
    assert store.open(made.flash, 512).sequence == LONG if twin.name == "python" else True


@twins
def test_values_out_of_range_are_counted_up_to_an_end(twin: Any) -> None:
    made = twin.unit(0, 10)
    made.out_of_range = unit.MOST_COUNTED - 1
    assert [made.code(11) for _ in range(3)] == [65535] * 3
    assert made.out_of_range == table()["out_of_range"] == unit.MOST_COUNTED
