"""Configuration, errors and attaching in the Python twin; what the calls do is compared with C elsewhere."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamb.firmware_model import _spec, core
from adamb.firmware_model.host import binding

SWITCHES = ("paper", "own", "freeze", "random_action", "detect", "auto_bonus")


def controller(**fields: Any) -> Any:
    config = core.Config(**fields)
    made = core.init(config, array("H", bytes(2 * core.required_words(config) + 2000)))
    assert isinstance(made, core.Controller)
    return made


@given(gamma=st.integers(1, 14), phi_num=st.integers(1, 65535), phi_den=st.integers(1, 65535))
def test_thresholds_are_the_exact_ceiling_or_never(gamma: int, phi_num: int, phi_den: int) -> None:
    table = core.thresholds(gamma, phi_num, phi_den)
    for level in range(15):
        exact = math.ceil(Fraction(phi_num, phi_den) * 2 ** (gamma * level))
        if exact <= _spec.THRESHOLD_MAX and gamma * level < 14:
            assert table[level] == exact
        else:
            assert table[level] == _spec.THRESHOLD_NEVER


@given(gamma=st.integers(0, 255), phi_num=st.integers(0, 65535), phi_den=st.integers(1, 65535))
def test_thresholds_agree_with_c(gamma: int, phi_num: int, phi_den: int) -> None:
    config = binding.ffi.new("adamb_config *")
    binding.lib.adamb_thresholds(config, gamma, phi_num, phi_den)
    assert list(config.thresholds) == list(core.thresholds(gamma, phi_num, phi_den))


BAD = [
    ("d_s", 0), ("d_s", 4), ("d_a", 0), ("d_a", 4), ("horizon", 0), ("horizon", 32), ("share", 3),
    ("share", -1), ("bonus", 32768), ("bonus", -1), ("seed", -1), ("seed", 65536),
    *((name, 2) for name in SWITCHES), *((name, -1) for name in SWITCHES),
    ("thresholds", [0] * 15), ("thresholds", [2, 1] + [9] * 13), ("thresholds", [1] * 14 + [70000]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_field_outside_its_limit_is_refused_and_the_block_is_left_alone(name: str, value: Any) -> None:
    config = core.Config(**{name: value})
    block = array("H", [7] * 4000)
    assert core.required_words(config) == _spec.ERR_CONFIG
    assert core.init(config, block) == _spec.ERR_CONFIG
    assert block == array("H", [7] * 4000)


def test_a_name_that_is_no_field_is_refused() -> None:
    with pytest.raises(AttributeError, match="horizont"):
        core.Config(horizont=3)


def test_a_block_one_word_too_short_is_refused_and_left_alone() -> None:
    config = core.Config()
    words = core.required_words(config)
    block = array("H", [7] * (words - 1))
    assert core.init(config, block) == _spec.ERR_MEMORY
    assert block == array("H", [7] * (words - 1))
    assert isinstance(core.init(config, array("H", [7] * words)), core.Controller)


@pytest.mark.parametrize("h", [-1, 5, 256, 10**6])
def test_a_step_outside_the_horizon_is_refused(h: int) -> None:
    made = controller()
    before = array("H", made.w)
    assert made.act(h, [0], array("H", (0,))) == _spec.ERR_ARGUMENT
    assert made.observe(h, 0, [0]) == _spec.ERR_ARGUMENT
    assert made.w == before


@pytest.mark.parametrize("point", [[-1, 0], [0, 65536], [0], []])
def test_a_point_outside_the_square_or_too_short_is_refused(point: list[int]) -> None:
    made = controller(d_s=2)
    action = array("H", (0,))
    assert made.act(0, point, action) == _spec.ERR_ARGUMENT
    assert made.act(0, [1, 2], action) == 0
    before = array("H", made.w)
    assert made.observe(0, 0, point) == _spec.ERR_ARGUMENT
    assert made.w == before


def test_too_short_an_action_is_refused() -> None:
    made = controller(d_a=2)
    before = array("H", made.w)
    assert made.act(0, [0], array("H", (0,))) == _spec.ERR_ARGUMENT
    assert made.w == before


@pytest.mark.parametrize("reward", [-1, 65536])
def test_a_reward_outside_its_range_is_refused(reward: int) -> None:
    made = controller()
    made.act(0, [0], array("H", (0,)))
    before = array("H", made.w)
    assert made.observe(0, reward, [0]) == _spec.ERR_ARGUMENT
    assert made.w == before


def test_observe_without_act_is_refused_also_the_second_time() -> None:
    made = controller()
    assert made.observe(0, 0, [0]) == _spec.ERR_ORDER
    made.act(0, [0], array("H", (0,)))
    assert made.observe(0, 0, [0]) == 0
    before = array("H", made.w)
    assert made.observe(0, 0, [0]) == _spec.ERR_ORDER
    assert made.w == before


@pytest.mark.parametrize("word", [_spec.H_MAGIC, _spec.H_HASH])
def test_a_block_of_another_version_is_refused_by_every_call(word: int) -> None:
    made = controller()
    made.w[word] ^= 1
    assert core.attach(made.w) == _spec.ERR_BLOCK
    assert made.act(0, [0], array("H", (0,))) == _spec.ERR_BLOCK
    assert made.observe(0, 0, [0]) == _spec.ERR_BLOCK
    assert made.end_episode() == _spec.ERR_BLOCK


def test_a_few_words_are_no_block() -> None:
    assert core.attach(array("H", [_spec.MAGIC, _spec.SPEC_HASH])) == _spec.ERR_BLOCK


def test_an_attached_copy_goes_on_as_the_original() -> None:
    made = controller(random_action=1)
    action, other = array("H", (0,)), array("H", (0,))
    for k in range(300):
        made.act(k % 5, [k * 977 & 0xFFFF], action)
        made.observe(k % 5, action[0], [k * 331 & 0xFFFF])
    copy = core.attach(array("H", made.w))
    for k in range(100):
        assert made.act(k % 5, [k * 977 & 0xFFFF], action) == copy.act(k % 5, [k * 977 & 0xFFFF], other) == 0
        assert action == other
        made.observe(k % 5, action[0], [k])
        copy.observe(k % 5, action[0], [k])
    assert made.w == copy.w


def test_configuration_may_be_any_object_with_the_fields() -> None:
    class Plain:
        d_s = d_a = share = detect = auto_bonus = seed = 1
        horizon, paper, own, freeze, random_action, bonus = 3, 0, 0, 0, 0, 0
        thresholds = (1, 4, 16, 64, 256, 1024, 4096) + (65535,) * 8

    block = array("H", bytes(2 * core.required_words(Plain)))
    assert isinstance(core.init(Plain, block), core.Controller)
    assert isinstance(binding.init(Plain, array("H", block)), binding.Controller)
