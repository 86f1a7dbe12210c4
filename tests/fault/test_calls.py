"""Wrong calls, wrong configurations and blocks that are too small: a code comes back and nothing changes."""

from __future__ import annotations

from array import array

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host.binding import ffi, lib
from support.used_blocks import CONFIGS, config_of, new_block, play

GUARD = 0xBEEF
cases = pytest.mark.parametrize("name", CONFIGS)


# --- memory -----------------------------------------------------------------------------------------------


@cases
@pytest.mark.parametrize("extra", [0, 1, 3, 400, 5000])
def test_guard_words_around_the_block_stay_intact(name, extra):
    config = config_of(name)
    words, margin = lib.adamb_required_words(config) + extra, 300
    content = array("H", [GUARD] * (words + 2 * margin))
    block = ffi.from_buffer("uint16_t[]", content) + margin
    assert lib.adamb_init(config, block, words) == 0
    play(block, config, 3000)
    assert lib.adamb_check(block, words) == 0
    assert set(content[:margin]) == set(content[-margin:]) == {GUARD}


@cases
def test_required_words_suffice_and_one_less_is_refused_with_its_own_code(name):
    config = config_of(name)
    required = lib.adamb_required_words(config)
    content = array("H", [GUARD] * required)
    block = ffi.from_buffer("uint16_t[]", content)
    for words in (required - 1, required // 2, 1, 0):
        assert lib.adamb_init(config, block, words) == _spec.ERR_MEMORY
        assert set(content) == {GUARD}
    assert lib.adamb_init(config, block, required) == 0
    play(block, config, 2000)
    assert lib.adamb_check(block, required) == 0


def test_a_block_beyond_the_reach_of_links_is_used_up_to_there():
    config = config_of("1+1")
    content = array("H", bytes(2 * 140_000))
    block = ffi.from_buffer("uint16_t[]", content)
    assert lib.adamb_init(config, block, 140_000) == 0
    assert content[_spec.H_UNITS] == _spec.UNITS_MAX
    play(block, config, 500)
    assert lib.adamb_check(block, 140_000) == 0


# --- configuration ----------------------------------------------------------------------------------------

BAD_FIELDS = [
    ("d_s", 0), ("d_s", 4), ("d_a", 0), ("d_a", 4), ("horizon", 0), ("horizon", 32), ("paper", 2), ("own", 2),
    ("share", 3), ("freeze", 2), ("random_action", 2), ("detect", 2), ("auto_bonus", 2), ("bonus", 32768),
    *((name, 255) for name in ("d_s", "d_a", "horizon", "paper", "own", "share", "freeze", "random_action",
                               "detect", "auto_bonus")),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), BAD_FIELDS)
def test_a_configuration_field_outside_its_limit_is_refused(field, value):
    config = config_of("1+1")
    setattr(config, field, value)
    refuses(config)


@pytest.mark.parametrize("level", [0, 1, 7, 14])
def test_thresholds_must_not_be_zero_or_fall(level):
    config = config_of("1+1")
    config.thresholds[level] = 0
    refuses(config)
    if level:
        config = config_of("1+1")
        for above in range(level, 15):
            config.thresholds[above] = 100
        config.thresholds[level - 1] = 101
        refuses(config)


def refuses(config):
    content = array("H", [GUARD] * 4000)
    assert lib.adamb_required_words(config) == _spec.ERR_CONFIG
    assert lib.adamb_init(config, ffi.from_buffer("uint16_t[]", content), 4000) == _spec.ERR_CONFIG
    assert set(content) == {GUARD}


def test_every_field_of_the_configuration_has_a_test_of_its_limit():
    fields = {name for name, _ in ffi.typeof("adamb_config").fields}
    assert fields == {name for name, _ in BAD_FIELDS} | {"thresholds", "seed"}  # any seed is allowed


@pytest.mark.parametrize("gamma", range(1, 15))
def test_thresholds_are_the_exact_ceilings(gamma):
    config = ffi.new("adamb_config *")
    for numerator, denominator in [(1, 1), (5, 1), (7, 3), (1, 2), (65535, 1), (65534, 65535), (8190, 1)]:
        lib.adamb_thresholds(config, gamma, numerator, denominator)
        for level in range(15):
            exact = -(-(numerator << gamma * level) // denominator)
            expected = exact if exact <= _spec.THRESHOLD_MAX else _spec.THRESHOLD_NEVER
            assert config.thresholds[level] == expected, (level, numerator, denominator)
    for numerator, denominator in [(0, 1), (1, 0)]:
        config = config_of("1+1")
        lib.adamb_thresholds(config, gamma, numerator, denominator)
        refuses(config)


# --- arguments and order ----------------------------------------------------------------------------------


def unchanged(content, code, call):
    before = array("H", content)
    assert call() == code
    assert content == before


@cases
@pytest.mark.parametrize("h", [-1, -(2**31), 2**31 - 1, "horizon"])
def test_a_step_outside_the_horizon_is_refused(name, h):
    config, content, block = new_block(name)
    h = config.horizon if h == "horizon" else h
    state, action = ffi.new("uint16_t[3]"), ffi.new("uint16_t[3]", [7, 8, 9])
    unchanged(content, _spec.ERR_ARGUMENT, lambda: lib.adamb_act(block, h, state, action))
    unchanged(content, _spec.ERR_ARGUMENT, lambda: lib.adamb_observe(block, h, 1, state))
    assert list(action) == [7, 8, 9]


def test_null_pointers_are_refused():
    config, content, block = new_block("1+1")
    state, action = ffi.new("uint16_t[3]"), ffi.new("uint16_t[3]")
    null, words, wrong = ffi.NULL, len(content), _spec.ERR_ARGUMENT
    stats = ffi.new("adamb_statistics *")
    assert lib.adamb_required_words(null) == wrong
    assert lib.adamb_init(config, null, words) == wrong
    unchanged(content, wrong, lambda: lib.adamb_init(null, block, words))
    unchanged(content, wrong, lambda: lib.adamb_act(block, 0, null, action))
    unchanged(content, wrong, lambda: lib.adamb_act(block, 0, state, null))
    unchanged(content, wrong, lambda: lib.adamb_observe(block, 0, 1, null))
    unchanged(content, wrong, lambda: lib.adamb_stats(block, null))
    assert lib.adamb_act(null, 0, state, action) == wrong
    assert lib.adamb_observe(null, 0, 1, state) == wrong
    assert lib.adamb_end_episode(null) == wrong
    assert lib.adamb_stats(null, stats) == wrong
    assert lib.adamb_check(null, words) == wrong


@cases
def test_observe_needs_an_act_of_the_same_step_and_only_one(name):
    config, content, block = new_block(name, steps=0)
    state, action = ffi.new("uint16_t[3]"), ffi.new("uint16_t[3]")
    last = config.horizon - 1
    unchanged(content, _spec.ERR_ORDER, lambda: lib.adamb_observe(block, last, 1, state))
    assert lib.adamb_act(block, last, state, action) == 0
    if last:
        unchanged(content, _spec.ERR_ORDER, lambda: lib.adamb_observe(block, 0, 1, state))
    assert lib.adamb_observe(block, last, 1, state) == 0
    unchanged(content, _spec.ERR_ORDER, lambda: lib.adamb_observe(block, last, 1, state))


@pytest.mark.parametrize("name", [name for name in CONFIGS if "action" not in CONFIGS[name][3]])
def test_an_act_that_is_not_observed_is_forgotten(name):
    """Two acts and one observe are the same as the second act and the observe; only random actions differ."""
    _, first, a = new_block(name)
    _, second, b = new_block(name)
    here, there = ffi.new("uint16_t[3]", [100] * 3), ffi.new("uint16_t[3]", [60_000] * 3)
    action = ffi.new("uint16_t[3]")
    lib.adamb_act(a, 0, there, action)
    for block in (a, b):
        assert lib.adamb_act(block, 0, here, action) == 0
        assert lib.adamb_observe(block, 0, 30_000, there) == 0
    assert first == second


@pytest.mark.parametrize("word", [_spec.H_MAGIC, _spec.H_HASH])
def test_a_block_of_another_kind_or_version_is_refused_by_every_function(word):
    _, content, block = new_block("1+1")
    content[word] ^= 1
    state, action = ffi.new("uint16_t[3]"), ffi.new("uint16_t[3]", [7, 8, 9])
    stats = ffi.new("adamb_statistics *")
    wrong = _spec.ERR_BLOCK
    unchanged(content, wrong, lambda: lib.adamb_act(block, 0, state, action))
    unchanged(content, wrong, lambda: lib.adamb_observe(block, 0, 1, state))
    unchanged(content, wrong, lambda: lib.adamb_end_episode(block))
    unchanged(content, wrong, lambda: lib.adamb_stats(block, stats))
    unchanged(content, wrong, lambda: lib.adamb_check(block, len(content)))
    assert list(action) == [7, 8, 9]


@cases
def test_check_and_stats_change_nothing(name):
    _, content, block = new_block(name)
    stats = ffi.new("adamb_statistics *")
    unchanged(content, 0, lambda: lib.adamb_check(block, len(content)))
    unchanged(content, 0, lambda: lib.adamb_stats(block, stats))
    assert stats.units_used + stats.units_header <= stats.units


def test_a_check_with_fewer_words_than_the_block_has_says_so():
    _, content, block = new_block("1+1")
    assert lib.adamb_check(block, _spec.H_WORDS - 1) == _spec.ERR_ARGUMENT
    assert lib.adamb_check(block, len(content) // 2) == _spec.ERR_BLOCK


def test_counters_stop_at_their_limit():
    config, content, block = new_block("1+3 freeze", extra=0, steps=100)
    content[_spec.H_REFUSED] = content[_spec.H_NO_ROOM] = 0xFFFE
    play(block, config, 3000)
    assert content[_spec.H_REFUSED] == 0xFFFF or content[_spec.H_NO_ROOM] == 0xFFFF


def test_episodes_are_counted_beyond_16_bits():
    config, content, block = new_block("1+1 one step", steps=0)
    content[_spec.H_EPISODES] = 0xFFFF
    play(block, config, 1)
    stats = ffi.new("adamb_statistics *")
    lib.adamb_stats(block, stats)
    assert stats.episodes == 65536
