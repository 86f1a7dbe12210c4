"""Bits that flip in a live block: every call comes back inside it, in both twins alike; links are found."""

from __future__ import annotations

import random
import signal
from array import array
from pathlib import Path
from typing import Any

import pytest

from adamb.budgets.controller import make_config
from adamb.firmware_model import _spec, check, core, guard
from adamb.firmware_model.host import binding
from support import flips
from support.used_blocks import DAMAGED

LINKS_FOUND = 0.99
NEXT_FREE_SCRUBBED = 0.85
cases = pytest.mark.parametrize("name", DAMAGED)


@pytest.fixture(scope="module")
def program(build_driver, tmp_path_factory) -> Path:
    """`build_driver` skips where there are no sanitizers."""
    return flips.build(tmp_path_factory.mktemp("flips"))


def found_share(done: flips.Campaign, name: str) -> float:
    kind = done.kinds[name]
    assert kind.flips > 100, "too few for a share"
    return kind.check / kind.flips


def judge(done: flips.Campaign) -> None:
    print(done.table())
    assert found_share(done, "links") >= LINKS_FOUND
    assert found_share(done, "next free units") >= LINKS_FOUND
    scrubbed, others = done.kinds["next free units"], done.kinds["other free units"]
    assert scrubbed.scrub >= NEXT_FREE_SCRUBBED * scrubbed.flips, "the scrub looks at what is used next"
    assert others.check == others.flips > 0
    assert found_share(done, "sealed header") == 1
    for kind in done.kinds.values():
        assert kind.scrub <= kind.check, "what the slices find the whole check finds"


def test_flips_neither_crash_nor_hang_nor_leave_the_block_and_flipped_links_are_found(program):
    """A hundred thousand more are in `make soak`."""
    judge(flips.campaign(program, flips=20_000, calls=100, seed=3))


# ---- both twins ------------------------------------------------------------------------------------------


class Pair:
    """The same block under both twins; after each call their answers and all words must agree."""

    def __init__(self, name: str, block: array) -> None:
        self.d_s, self.d_a, self.horizon, _, _ = DAMAGED[name]
        self.blocks = [array("H", block), array("H", block)]
        self.twins: list[Any] = [binding.Controller(self.blocks[0]), core.attach(self.blocks[1])]
        self.step = 0

    def flip(self, word: int, bit: int) -> None:
        for block in self.blocks:
            block[word] ^= 1 << bit

    def _agree(self, answers: list[Any]) -> None:
        assert answers[0] == answers[1]
        assert self.blocks[0] == self.blocks[1], [
            (i, hex(a), hex(b)) for i, (a, b) in enumerate(zip(*self.blocks, strict=True)) if a != b
        ][:5]

    def live(self, rng: random.Random, calls: int) -> None:
        state = [rng.randrange(65536) for _ in range(self.d_s)]
        for _ in range(calls):
            h = self.step % self.horizon
            actions = [array("H", [0] * self.d_a) for _ in self.twins]
            self._agree([twin.act(h, state, a) for twin, a in zip(self.twins, actions, strict=True)])
            assert actions[0] == actions[1]
            state = [(actions[0][i % self.d_a] + rng.randrange(9000)) & 0xFFFF for i in range(self.d_s)]
            reward = rng.randrange(65536)
            self._agree([twin.observe(h, reward, state) for twin in self.twins])
            if h + 1 == self.horizon:
                self._agree([twin.end_episode() for twin in self.twins])
            self.step += 1

    def verdicts(self) -> tuple[int, int]:
        """Of the check and of one pass of the scrub, alike in both twins."""
        whole = check.check(self.blocks[1])
        assert self.twins[0].check() == whole
        assert binding.read_stats(self.blocks[0]) == check.stats(self.blocks[1])
        here, there = binding.ffi.new("adamb_place *"), guard.Place()
        pointer = binding.ffi.from_buffer("uint16_t[]", self.blocks[0])
        code = 0
        while code == 0:
            code = guard.scrub(self.blocks[1], there)
            assert binding.lib.adamb_scrub(pointer, len(self.blocks[0]), here) == code
            assert (here.path, here.h, here.part) == (there.path, there.h, there.part)
        return whole, code


def used_block(name: str, rng: random.Random) -> array:
    d_s, d_a, horizon, options, extra = DAMAGED[name]
    config = make_config(d_s, d_a, horizon, options, seed=rng.randrange(1, 65536))
    block = array("H", bytes(2 * (binding.required_words(config) + extra)))
    made = binding.init(config, block)
    assert not isinstance(made, int)
    state, action = [32768] * d_s, array("H", [0] * d_a)
    for step in range(2500):
        assert made.act(step % horizon, state, action) == 0
        state = [(action[i % d_a] + rng.randrange(9000)) & 0xFFFF for i in range(d_s)]
        assert made.observe(step % horizon, rng.randrange(65536), state) == 0
        if (step + 1) % horizon == 0:
            assert made.end_episode() == 0
    return block


def twin_campaign(name: str, count: int, calls: int, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    block = used_block(name, rng)
    for number in range(count):
        pair = Pair(name, block)
        hits = []
        for _ in range(1 if number % 4 else rng.randint(1, 4)):
            end = 4 * block[_spec.H_POOL_AT if rng.random() < 0.25 else _spec.H_FRESH]
            hits.append((rng.randrange(end), rng.randrange(16)))
            pair.flip(*hits[-1])
        print(f"{name}, seed {seed}, flip {number}: words and bits {hits}")
        signal.alarm(60)
        whole, slices = pair.verdicts()
        assert whole or slices >= 0
        pair.live(rng, calls)
        pair.verdicts()
        signal.alarm(0)


@cases
def test_a_partition_that_leads_in_a_circle_is_answered_alike(name):
    """A scan then meets no ball at all before it is too deep."""
    rng = random.Random(name)
    block = used_block(name, rng)
    root = 4 * block[block[_spec.H_STEPS_AT] + _spec.S_ROOT]
    pair = Pair(name, block)
    for words in pair.blocks:
        below = 4 * words[root]
        for slot in range(below, below + 4):
            words[slot] = root // 4
    assert pair.verdicts()[0] == _spec.ERR_BLOCK
    signal.alarm(60)
    pair.live(rng, 60)
    signal.alarm(0)


@cases
def test_both_twins_answer_damage_alike(name):
    twin_campaign(name, 30, 40, seed=1)


@pytest.mark.campaign
@cases
def test_both_twins_answer_2400_damages_alike(name):
    twin_campaign(name, 300, 120, seed=2)
