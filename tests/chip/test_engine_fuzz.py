"""Blocks that are sound, damaged or random: the engine of the chip does what adamb_act does, and no more."""

from __future__ import annotations

import random
from array import array
from collections import Counter

import pytest

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.binding import ffi, lib
from adamb.tools.device.settings import DeviceSettings
from support.campaigns import few
from support.chip import DIMENSIONS, ChipController, learnt, need_chip_tools

need_chip_tools()

WORDS, BLOCKS = 512, 2000
CHECK_CYCLES, HELD_CYCLES, DEPTH_MAX = 3 * 8 + 1, 4, 16
STATS = ffi.new("adamb_statistics *")
SEALED = (spec.H_UNITS, spec.H_DIMS, spec.H_SCALE, spec.H_POOL_AT, spec.H_HASH, spec.H_MAGIC)


@pytest.fixture(scope="module")
def corpus() -> list[array]:
    found = []
    for d_s, d_a in DIMENSIONS:
        for mode, action in (("tracking", "centre"), ("tracking", "random"), ("paper", "random")):
            block = learnt(d_s, d_a, 2, WORDS, seed=10 * d_s + d_a, mode=mode, action=action).w
            for held in range(3):  # the last: a taught episode, stepwise for the engine
                block[spec.H_HELD] = held
                found.append(array("H", block))
    return found


def damaged(rng: random.Random, sound: array) -> array:
    """Nothing, one bit, links to anywhere, words of the header, a pool or a block of noise, a few bits."""
    block, kind = array("H", sound), rng.randrange(7)
    if kind == 2:
        for _ in range(40):
            block[rng.randrange(spec.H_WORDS, WORDS)] = rng.randrange(WORDS // 2)
    elif kind == 3:
        block[rng.randrange(spec.H_WORDS)] = rng.randrange(65536)
    elif kind in (4, 5):
        for at in range(spec.H_WORDS if kind == 4 else 0, WORDS):
            block[at] = rng.randrange(rng.choice((65536, WORDS // 4)))
    for _ in range({1: 1, 6: rng.randrange(20)}.get(kind, 0)):
        block[rng.randrange(WORDS)] ^= 1 << rng.randrange(16)
    return block


@pytest.mark.parametrize("seed", few(range(20)))
def test_damaged_blocks_are_decided_on_as_the_c_core_does(corpus: list[array], seed: int) -> None:
    """Two decisions on each: the first with a look at its header, the second without."""
    rng, seen = random.Random(seed), Counter()
    chip = ChipController(DeviceSettings(1, spec.DIM_MAX, 2).fields(), WORDS).chip  # its actions are shown whole
    for number in range(BLOCKS):
        sound = rng.choice(corpus)
        block = damaged(rng, sound)
        here, where = ffi.from_buffer("uint16_t[]", block), f"seed {seed}, block {number}"
        if any(sound[word] != block[word] for word in SEALED) and lib.adamb_stats(here, STATS) == 0:
            seen["forged"] += 1  # a seal that fits by chance: SPEC says nothing about it, and C may go outside
            continue
        seen["damaged"] += block != sound
        chip.load(block)
        for look in (CHECK_CYCLES, 0):
            held, h, action = block[spec.H_HELD] == 1, rng.choice((0, 1, rng.randrange(32))), ffi.new("uint16_t[3]")
            state = [rng.randrange(65536) for _ in range(3)]
            code = lib.adamb_act(here, h, ffi.new("uint16_t[]", state), action)
            found, played = chip.decide(h, state)
            assert found == code and (code or played == tuple(action)), where
            cycles = chip.last.cycles
            assert cycles == HELD_CYCLES if held and not look and code == 0 else cycles <= DEPTH_MAX + 6 + look, where
            seen["refused" if code else "held" if held else "stepwise"] += 1
        assert chip.block() == block.tobytes(), where
    assert seen["damaged"] > BLOCKS // 2 and seen["forged"] < BLOCKS // 50
    assert min(seen[kind] for kind in ("refused", "held", "stepwise")) > BLOCKS // 20, seen
