"""The guard: slices that learning does not disturb, and damage answered by a save or a clean start."""

from __future__ import annotations

import random
from array import array
from types import SimpleNamespace
from typing import Any

import pytest

from adamb.budgets.controller import make_config
from adamb.firmware_model import _spec, check, core, guard, store
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import c_config, ffi, lib
from support.flash import CStore, Flash
from support.twins import CGuard
from support.used_blocks import DAMAGED

cases = pytest.mark.parametrize("name", DAMAGED)


def configured(name: str, seed: int = 1) -> tuple[Any, int]:
    d_s, d_a, horizon, options, extra = DAMAGED[name]
    config = make_config(d_s, d_a, horizon, options, seed=seed)
    return config, binding.required_words(config) + extra


def open_pair(name: str, *, saves: bool = True) -> tuple[list[Any], list[Flash]]:
    """C and Python, each with a block and a storage of its own."""
    config, words = configured(name)
    flashes = [Flash(64, 1024, 4 * (words // 512 + 1), seed=7) for _ in range(2)]
    blocks = [array("H", bytes(2 * words)) for _ in range(2)]
    c = CGuard(config, blocks[0], CStore(flashes[0], words) if saves else None)
    python = guard.open(config, blocks[1], store.open(flashes[1], words) if saves else None)
    assert c.code == guard.REINITIALISED and not isinstance(python, int)
    return [c, python], flashes


def counted(one: Any) -> list[int]:
    place = (one.place.path, one.place.h, one.place.part)
    return [one.damages, one.restored, one.reinitialised, one.passes, *place]


def episode(one: Any, rng: random.Random) -> list[int]:
    """One episode as the example plays it; every code that came back."""
    config, codes = one.config, []
    state, action = [rng.randrange(65536) for _ in range(config.d_s)], array("H", [0] * config.d_a)
    for h in range(config.horizon):
        codes.append(one.handle(one.controller.act(h, state, action)))
        if codes[-1]:
            return codes
        state = [(action[i % config.d_a] + rng.randrange(9000)) & 0xFFFF for i in range(config.d_s)]
        codes.append(one.handle(one.controller.observe(h, rng.randrange(65536), state)))
        codes.append(one.tick())
        if max(codes) > 0:
            return codes
    codes.append(one.handle(one.controller.end_episode()))
    return codes


@cases
def test_both_guards_answer_damage_alike_and_leave_the_same_words_and_storage(name):
    pair, flashes = open_pair(name)
    rng = random.Random(name)
    for number in range(120):
        seed = rng.random()
        answers = [episode(one, random.Random(seed)) for one in pair]
        assert answers[0] == answers[1], number
        if number % 10 == 9:
            codes = [one.save() for one in pair]
            assert codes[0] == codes[1] >= 0
        if number % 7 == 3:
            word, bit = rng.randrange(4 * pair[0].block[_spec.H_FRESH]), rng.randrange(16)
            for one in pair:
                one.block[word] ^= 1 << bit
        assert pair[0].block == pair[1].block, number
        assert counted(pair[0]) == counted(pair[1]), number
        assert flashes[0].data == flashes[1].data, number
    print(name, counted(pair[0]))
    assert pair[0].damages > 0 and pair[0].restored > 0


twins = pytest.mark.parametrize("twin", [0, 1], ids=["c", "python"])


def live(one: Any) -> None:
    for number in range(20):
        episode(one, random.Random(number))


def saved(twin: int) -> tuple[Any, Flash]:
    """A guard that has learnt and saved, and where it saved."""
    pair, flashes = open_pair("1+1")
    live(pair[twin])
    assert pair[twin].save() == 0
    return pair[twin], flashes[twin]


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
    one = open_pair("1+1", saves=False)[0][twin]
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


@twins
def test_a_save_of_other_dimensions_is_left_alone(twin):
    """`act` reads and writes as many coordinates as the block says; the arrays follow the settings."""
    pair, flashes = open_pair("1+1")
    assert pair[twin].save() == 0
    config, words = make_config(1, 2, 5, {}), len(pair[twin].block)
    block = array("H", bytes(2 * words))
    if twin == 0:
        assert CGuard(config, block, CStore(flashes[0], words)).code == guard.REINITIALISED
    else:
        assert not isinstance(guard.open(config, block, store.open(flashes[1], words)), int)
    assert block[_spec.H_DIMS] == 1 | 2 << 4 | 5 << 8


@cases
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


def test_a_place_that_makes_no_sense_is_the_beginning():
    config, words = configured("1+1")
    block = array("H", bytes(2 * words))
    assert not isinstance(binding.init(config, block), int)
    here, there = ffi.new("adamb_place *"), guard.Place()
    for path, h, part in [(1 << 28, 0, 0), (5, 77, 1), (0xFFFFFFFF, 255, 9)]:
        here.path, here.h, here.part = path, h, part
        there.path, there.h, there.part = path, h, part
        code = guard.scrub(block, there)
        assert lib.adamb_scrub(ffi.from_buffer("uint16_t[]", block), words, here) == code == 0
        assert (here.path, here.h, here.part) == (there.path, there.h, there.part) == (0, 0, 1)


def test_a_missing_configuration_is_refused_although_there_is_a_save():
    one, flash = saved(0)
    kept, block = CStore(flash, len(one.block)), array("H", one.block)
    pointer, opened = ffi.from_buffer("uint16_t[]", block), ffi.new("adamb_guard *")
    refused = lib.adamb_guard_open(opened, ffi.NULL, pointer, len(block), kept._store)
    assert refused == _spec.ERR_ARGUMENT and block == one.block


def test_what_is_no_argument_is_refused():
    block = ffi.new("uint16_t[]", 400)
    assert lib.adamb_scrub(ffi.NULL, 400, ffi.new("adamb_place *")) == _spec.ERR_ARGUMENT
    assert lib.adamb_scrub(block, 400, ffi.NULL) == _spec.ERR_ARGUMENT
    assert lib.adamb_scrub(block, 10, ffi.new("adamb_place *")) == _spec.ERR_ARGUMENT
    assert guard.scrub(array("H", [0] * 10), guard.Place()) == _spec.ERR_ARGUMENT
    config = c_config(configured("1+1")[0])
    opened = ffi.new("adamb_guard *")
    assert lib.adamb_guard_open(ffi.NULL, config, block, 400, ffi.NULL) == _spec.ERR_ARGUMENT
    assert lib.adamb_guard_open(opened, ffi.NULL, block, 400, ffi.NULL) == _spec.ERR_ARGUMENT
    assert lib.adamb_guard_open(opened, config, ffi.NULL, 400, ffi.NULL) == _spec.ERR_ARGUMENT
    assert lib.adamb_guard_open(opened, config, block, 40, ffi.NULL) == _spec.ERR_MEMORY
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
