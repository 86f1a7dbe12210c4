"""Both twins' self-checks and counters agree, on healthy blocks and on damaged ones."""

from array import array

import pytest

from adamb.budgets.controller import make_config, new_block
from adamb.firmware_model import _spec, check, core
from adamb.firmware_model.host import binding
from support.used_blocks import TWINS, used_block


@pytest.mark.parametrize("name", TWINS)
def test_a_healthy_block_passes_both_checks_and_reads_the_same(name: str) -> None:
    block = used_block(name)
    assert check.check(block) == 0
    assert binding.Controller(block).check() == 0
    assert check.stats(block) == binding.read_stats(block)


@pytest.mark.parametrize("name", TWINS)
def test_both_checks_judge_a_damaged_block_alike(name: str) -> None:
    block = used_block(name)
    found = 0
    for word in range(len(block)):
        damaged = array("H", block)
        damaged[word] ^= 1 << (word * 7 % 16)
        verdict = check.check(damaged)
        assert verdict == binding.Controller(damaged).check(), f"word {word}"
        found += verdict != 0
    assert found > len(block) // 20


def test_what_is_no_block_is_refused() -> None:
    assert check.check(array("H", [0] * 10)) == _spec.ERR_ARGUMENT
    assert check.check(array("H", [0] * 1000)) == _spec.ERR_BLOCK
    assert check.stats(array("H", [0] * 1000)) == {}
    assert core.attach(array("H", [0] * 1000)) == _spec.ERR_BLOCK


@pytest.mark.parametrize("d_s", [1, 3])
def test_a_pending_random_action_of_three_coordinates_is_no_damage(d_s: int) -> None:
    config = make_config(d_s, 3, 2, {"action": "random"})
    block = new_block(binding.required_words(config))
    controller = binding.init(config, block)
    assert not isinstance(controller, int)
    action = array("H", [0] * 3)
    for i in range(40):
        assert controller.act(i % 2, [1000 * i] * d_s, action) == 0
        assert controller.check() == check.check(block) == 0
