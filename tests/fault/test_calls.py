"""Wrong calls, wrong configurations and blocks that are too small: a code comes back and nothing changes.

edges.c asks C for null pointers; tests/vectors compares which configurations are refused with the exact reference.
"""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamb.firmware_model import _spec, core
from adamb.firmware_model.exact.model import Config
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from support.twins import PythonTwin
from support.used_blocks import CONFIGS, config_of, new_block, play

GUARD = 0xBEEF
cases = pytest.mark.parametrize("name", CONFIGS)


# --- memory -----------------------------------------------------------------------------------------------


@cases
def test_required_words_suffice_and_one_less_is_refused_with_its_own_code(name):
    config = config_of(name)
    required = lib.adamb_required_words(config)
    content = array("H", [GUARD] * required)
    block = ffi.from_buffer("uint16_t[]", content)
    for words in (required - 1, required // 2, 1, 0):
        assert lib.adamb_init(config, block, words) == _spec.ERR_MEMORY
        assert core.init(config, array("H", bytes(2 * words))) == _spec.ERR_MEMORY
        assert set(content) == {GUARD}
    assert lib.adamb_init(config, block, required) == 0
    assert isinstance(core.init(config, array("H", [GUARD] * required)), core.Controller)
    play(block, config, 2000)
    assert lib.adamb_check(block, required) == 0


# --- configuration ----------------------------------------------------------------------------------------

SWITCHES = ("mode", "split_counts", "when_full", "random_action", "detect", "auto_bonus")
BAD_IN_PYTHON = [
    ("share", -1), ("bonus", -1), ("seed", -1), ("seed", 65536), *((name, -1) for name in SWITCHES),
    ("thresholds", [1] * 14 + [70000]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), BAD_IN_PYTHON)
def test_a_number_that_no_field_of_c_holds_is_refused(field, value):
    config, block = core.Config(**{field: value}), array("H", [GUARD] * 4000)
    assert core.required_words(config) == core.init(config, block) == _spec.ERR_CONFIG
    assert set(block) == {GUARD}


def test_a_name_that_is_no_field_is_refused():
    with pytest.raises(AttributeError, match="horizont"):
        core.Config(horizont=3)


@given(gamma=st.integers(0, 255), phi_num=st.integers(0, 65535), phi_den=st.integers(1, 65535))
def test_thresholds_are_the_exact_ceiling_or_never_in_both_twins(gamma: int, phi_num: int, phi_den: int) -> None:
    table = core.thresholds(gamma, phi_num, phi_den)
    config = binding.ffi.new("adamb_config *")
    binding.lib.adamb_thresholds(config, gamma, phi_num, phi_den)
    assert list(config.thresholds) == list(table)
    for level in range(15 if gamma and phi_num else 0):
        exact = math.ceil(Fraction(phi_num, phi_den) * 2 ** (gamma * level))
        finite = exact <= _spec.THRESHOLD_MAX and gamma * level < 14
        assert table[level] == (exact if finite else _spec.THRESHOLD_NEVER)


# --- arguments and order ----------------------------------------------------------------------------------


def begun(twin: Any, **fields: Any) -> tuple[Any, array]:
    config = twin.config(Config(**fields).as_dict())
    block = array("H", bytes(2 * (twin.required_words(config) + 1000)))
    return twin.init(config, block), block


def unchanged(block: array, code: int, *calls: Any) -> None:
    before = array("H", block)
    assert [call() for call in calls] == [code] * len(calls)
    assert block == before


@pytest.mark.parametrize("point", [[-1, 0], [0, 65536], [0], []])
def test_a_point_outside_the_square_or_too_short_is_refused(point):
    made, block = begun(PythonTwin(), d_s=2)
    action = array("H", [0])
    unchanged(block, _spec.ERR_ARGUMENT, lambda: made.act(0, point, action))
    assert made.act(0, [1, 2], action) == 0
    unchanged(block, _spec.ERR_ARGUMENT, lambda: made.observe(0, 0, point))


def test_too_short_an_action_and_a_reward_outside_its_range_are_refused():
    made, block = begun(PythonTwin(), d_a=2)
    unchanged(block, _spec.ERR_ARGUMENT, lambda: made.act(0, [0], array("H", [0])))
    assert made.act(0, [0], array("H", [0, 0])) == 0
    unchanged(block, _spec.ERR_ARGUMENT, lambda: made.observe(0, -1, [0]), lambda: made.observe(0, 65536, [0]))


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


def test_a_few_words_or_fewer_than_the_block_has_are_no_block():
    assert core.attach(array("H", [_spec.MAGIC, _spec.SPEC_HASH])) == _spec.ERR_BLOCK
    _, content, block = new_block("1+1")
    assert lib.adamb_check(block, len(content) // 2) == _spec.ERR_BLOCK


# --- calls of the host for many blocks at once ----------------------------------------------------------------


@pytest.mark.parametrize("dims", [0x0000, 0x0510, 0x0501, 0x0011, 0x051F, 0x05F1, 0xFFFF])
def test_a_damaged_shape_is_a_bad_block_in_every_batch_call(dims):
    block = array("H", [0] * 512)
    made = binding.init(Config(d_s=1, d_a=1, horizon=5), block)
    assert not isinstance(made, int)
    block[_spec.H_DIMS] = dims
    words = ffi.cast("uint16_t *", ffi.from_buffer(block))
    before = block[:]
    numbers, out = ffi.new("double[16]"), ffi.new("double[16]")
    few = ffi.new("uint16_t[16]")
    assert lib.adamb_batch_act(words, 512, 1, 0, numbers, out) == _spec.ERR_BLOCK
    assert lib.adamb_batch_observe(words, 512, 1, 0, numbers, numbers) == _spec.ERR_BLOCK
    assert lib.adamb_batch_replay(words, 1, few, few, few, few) == _spec.ERR_BLOCK
    assert block == before and list(out) == [0.0] * 16
