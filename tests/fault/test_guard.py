"""The guard: slices that learning does not disturb, and damage answered by a save or a clean start."""

from __future__ import annotations

import random
from array import array
from types import SimpleNamespace
from typing import Any

import pytest

from adamb.firmware_model import _spec, check, core, guard
from adamb.firmware_model.host import binding
from support.flash import Flash
from support.twins import CTwin, PythonTwin
from support.used_blocks import DAMAGED, configured
from support.used_blocks import guarded_episode as episode


def opened(twin: Any, *, saves: bool = True) -> tuple[Any, Flash]:
    config, words = configured("1+1")
    flash = Flash(64, 1024, 4 * (words // 512 + 1), seed=7)
    block = array("H", bytes(2 * words))
    return twin.open_guard(config, block, twin.open_store(flash, words) if saves else None), flash


twins = pytest.mark.parametrize("twin", [CTwin(), PythonTwin()], ids=["c", "python"])


def live(one: Any) -> None:
    for number in range(20):
        episode(one, random.Random(number))


def saved(twin: Any) -> tuple[Any, Flash]:
    """A guard that has learnt and saved, and where it saved."""
    one, flash = opened(twin)
    live(one)
    assert one.save() == 0
    return one, flash


@twins
def test_a_sealed_word_that_flips_is_answered_by_the_newest_save(twin):
    one, _ = saved(twin)
    before = array("H", one.block)
    episode(one, random.Random(99))
    one.block[_spec.H_DIMS] ^= 2
    action = array("H", [0])
    assert one.controller.act(0, [5], action) == _spec.ERR_BLOCK
    assert one.handle(_spec.ERR_BLOCK) == guard.RESTORED
    used = 4 * before[_spec.H_FRESH]
    assert one.block[:used] == before[:used] and not any(one.block[used:])
    assert (one.damages, one.restored, one.reinitialised) == (1, 1, 0)


@twins
def test_without_a_store_damage_is_answered_by_a_clean_start(twin):
    one, _ = opened(twin, saves=False)
    live(one)
    assert one.save() == _spec.ERR_EMPTY
    one.block[_spec.H_UNITS] ^= 1 << 14
    assert one.tick() == guard.REINITIALISED
    fresh = array("H", bytes(2 * len(one.block)))
    assert not isinstance(binding.init(one.config, fresh), int)
    assert one.block == fresh and (one.damages, one.restored, one.reinitialised) == (1, 0, 1)


@twins
def test_a_damaged_block_is_replaced_instead_of_saved(twin):
    one, flash = saved(twin)
    image = bytes(flash.data)
    one.block[_spec.H_SPLITS] += 1  # no slice looks at this
    assert one.save() == guard.RESTORED
    assert flash.data == image and check.check(one.block) == 0


@pytest.mark.parametrize("name", DAMAGED)
def test_slices_between_observe_calls_never_alarm_and_a_pass_ends_in_the_stated_number_of_calls(name):
    config, words = configured(name)
    block = array("H", bytes(2 * words))
    made = guard.open(config, block)
    assert not isinstance(made, int)
    made.controller = binding.Controller(block)  # C learns faster
    rng = random.Random(name)
    for _ in range(2500 // config.horizon):
        assert set(episode(made, rng)) == {0}
    assert made.passes > 0
    place, calls = guard.Place(), 1
    while guard.scrub(block, place) == 0:
        calls += 1
    assert calls <= 4 * check.stats(block)["units_used"] + 2 * config.horizon
    assert (place.path, place.h, place.part) == (0, 0, 0)


def test_too_few_words_are_refused():
    """What C answers to null pointers is in edges.c."""
    assert guard.scrub(array("H", [0] * 10), guard.Place()) == _spec.ERR_ARGUMENT
    assert guard.open(configured("1+1")[0], array("H", [0] * 40)) == _spec.ERR_MEMORY


def test_a_store_of_the_program_that_says_restored_and_is_wrong_is_not_believed() -> None:
    """In Python any object with restore and save may be the store."""
    config, wrong = core.Config(), core.Config(horizon=4)

    def broken(block: array) -> None:
        core.init(config, block)
        block[_spec.H_MAGIC] = 0

    for leaves in (broken, lambda block: core.init(wrong, block)):
        block = array("H", bytes(2 * 600))
        own = SimpleNamespace(restore=lambda _, block, leaves=leaves: (leaves(block), 0)[1])
        made = guard.open(config, block, own)
        assert block[_spec.H_DIMS] == 1 | 1 << 4 | config.horizon << 8
        assert made.controller.act(0, [9], array("H", [0])) == 0
