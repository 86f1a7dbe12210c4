"""Both twins' self-checks and counters agree, on healthy blocks and on damaged ones."""

from array import array

import pytest

from adamb.budgets.controller import make_config, new_block
from adamb.firmware_model import _spec, binding, check, core

CASES = {
    "shared 1+1": (1, 1, 5, {}, 600),
    "per step 2+1": (2, 1, 3, {"share": "off"}, 900),
    "paper 1+2": (1, 2, 4, {"mode": "paper", "phi": 1}, 1500),
    "3+3": (3, 3, 2, {"share": "on"}, 4000),
}


def run(name: str, steps: int = 4000) -> array:
    """A block after a pseudo-random stream; the stream needs no generator of its own to be repeatable."""
    d_s, d_a, horizon, options, extra = CASES[name]
    config = make_config(d_s, d_a, horizon, options)
    block = new_block((binding.required_words(config) + extra) // 4 * 4)
    controller = binding.init(config, block)
    assert not isinstance(controller, int)
    x, action = 12345, array("H", [0] * d_a)
    state = [x] * d_s
    for i in range(steps):
        h = i % horizon
        assert controller.act(h, state, action) == 0
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        near = [(action[k % d_a] + (x >> 3 & 0x1FFF)) & 0xFFFF for k in range(d_s)]
        reward = 0xFFFF - abs(near[0] - 40000) if x & 7 else x & 0xFFFF
        assert controller.observe(h, min(max(reward, 0), 0xFFFF), near) == 0
        if h + 1 == horizon:
            assert controller.end_episode() == 0
        state = near
    return block


@pytest.mark.parametrize("name", CASES)
def test_a_healthy_block_passes_both_checks_and_reads_the_same(name: str) -> None:
    block = run(name)
    assert check.check(block) == 0
    assert binding.Controller(block).check() == 0
    assert check.stats(block) == binding.read_stats(block)


@pytest.mark.parametrize("name", CASES)
def test_both_checks_judge_a_damaged_block_alike(name: str) -> None:
    block = run(name)
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
