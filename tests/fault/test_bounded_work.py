"""The work of a call on a damaged block follows from the levels, not from how many units there are."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from adamb.firmware_model import _spec, core
from adamb.firmware_model.host.options import make_config


class Counting(list):
    """The words of a block, which count how often they are read."""

    reads = 0

    def __getitem__(self, i):
        self.reads += 1
        return super().__getitem__(i)


def reads_of_an_observe(words: int, options: dict[str, str], damaged: bool) -> int:
    """The most of 40 calls after 300 episodes; damaged: each unit of counts then links to itself."""
    config = make_config(1, 1, 3, options, seed=1)
    block, action = array("H", bytes(2 * words)), array("H", [0])
    controller, most = core.init(config, block), 0
    for k in range(940):
        if k == 900:
            first, end = block[_spec.H_POOL_AT], block[_spec.H_UNITS]
            counts = {block[4 * unit + _spec.R_COUNTS] for unit in range(first, block[_spec.H_FRESH])}
            for unit in counts & set(range(first, end)) if damaged else ():
                block[4 * unit] = unit
            assert len(counts) > 9, "there must be something to damage"
            block = Counting(block)
            controller = core.attach(block)
        state = [k * 7919 & 0xFFFF]
        controller.act(k % 3, state, action)
        before = getattr(block, "reads", 0)
        controller.observe(k % 3, (action[0] + 3 * k) & 0xFFFF, [k * 4001 & 0xFFFF])
        most = max(most, getattr(block, "reads", 0) - before)
        if k % 3 == 2:
            controller.end_episode()
    return most


@pytest.mark.parametrize("d_a", [1, 2])
def test_a_finer_partition_costs_an_observe_no_more(d_a):
    """Every sample at one state divides its ball, until hundreds of balls lie over that state."""
    config = core.Config(d_a=d_a, horizon=2, detect=0, split_counts=1, share=0, thresholds=[1] * 15)
    block, action, draw = Counting(array("H", bytes(2 * 32768))), array("H", [0] * d_a), Random(1)
    controller, found = core.init(config, block), []
    for episodes in (40, 360):
        worst = 0
        for _ in range(episodes):
            for h in range(2):
                controller.act(h, [40000], action)
                block[core.call_step(controller.t, h) + _spec.S_ACTION] = draw.randrange(65536) | 1
                before = block.reads
                controller.observe(h, draw.randrange(65536), [40000])
                worst = max(worst, block.reads - before)
        found.append((block[_spec.H_SPLITS], worst))
    (few, before), (many, after) = found
    assert many > 5 * few > 2 * _spec.SCAN_BALLS_WIDE, found
    assert after < 3 * before, found


@pytest.mark.parametrize("mode", ["tracking", "paper"])
def test_units_of_counts_that_link_to_themselves_cost_no_more_in_a_larger_block(mode):
    small, large = (reads_of_an_observe(words, {"mode": mode}, True) for words in (4096, 65536))
    assert small == large
    if mode == "tracking":
        assert large <= 4 * reads_of_an_observe(4096, {"mode": mode}, False)
