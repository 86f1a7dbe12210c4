"""A million episodes with drift, changes, a full pool and power cuts: `python tests soak`.

Every controller lives twice. The first life has no cuts. The second one saves after every SPAN episodes and loses power
again and again, in a save or between two: its memory is filled with garbage and restored, and it repeats the episodes
that were lost. After every SPAN episodes it must hold the words of the first life. No word beside the block changes.
"""

from __future__ import annotations

import argparse
import random
import zlib
from array import array
from typing import Any

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from adamb.firmware_model.host.options import make_config
from support.flash import TEARS, CStore, Flash

SPAN, ERA, BESIDE = 250, 12, 64
# d_s, d_a, horizon, options, words; page, sector, sectors.
KINDS: dict[str, tuple[int, int, int, dict[str, Any], int, tuple[int, int, int]]] = {
    "1+1, 1 KiB": (1, 1, 5, {}, 512, (64, 512, 8)),
    "2+1, 2 KiB": (2, 1, 5, {"share": "on"}, 1024, (256, 2304, 4)),
    "2+2 random, 2 KiB": (2, 2, 3, {"share": "off", "action": "random"}, 1024, (16, 512, 16)),
    "1+1 paper, 3 KiB": (1, 1, 5, {"mode": "paper", "phi": 1, "share": "off"}, 1536, (64, 4096, 3)),
}


class Controller:
    """A block between words that must not change, and what it lives through, which its place decides alone."""

    def __init__(self, name: str, seed: int) -> None:
        self.d_s, d_a, self.horizon, options, self.words, self.geometry = KINDS[name]
        self.config, self.seed = make_config(self.d_s, d_a, self.horizon, options, seed=seed & 0xFFFF), seed
        self.memory = array("H", [0xBEEF] * (self.words + 2 * BESIDE))
        self.block = memoryview(self.memory)[BESIDE:-BESIDE]
        self.pointer = ffi.from_buffer("uint16_t[]", self.block)

    def begin(self) -> None:
        assert lib.adamb_init(binding.c_config(self.config), self.pointer, self.words) == 0

    def live(self, place: int) -> int:
        """SPAN episodes, and a digest of the words in use after them. At the end of an era nothing pays."""
        rng, steps = np.random.default_rng([self.seed, place]), SPAN * self.horizon
        level = np.random.default_rng([self.seed, place // ERA]).integers(30000, 60000)
        rewards = rng.integers(0, 5000, steps, dtype=np.uint16) + np.uint16(0 if place % ERA == ERA - 1 else level)
        states = rng.integers(0, 65536, (steps + 1, self.d_s), dtype=np.uint16)
        streams = [
            ffi.from_buffer("uint16_t[]", np.ascontiguousarray(each)) for each in (states[:-1], rewards, states[1:])
        ]
        assert lib.adamb_batch_replay(self.pointer, steps, *streams, ffi.NULL) == 0
        assert lib.adamb_check(self.pointer, self.words) == 0
        assert set(self.memory[:BESIDE]) == set(self.memory[-BESIDE:]) == {0xBEEF}, (
            "a word beside the block has changed"
        )
        return self.digest()

    def digest(self) -> int:
        return zlib.crc32(self.block[: 4 * self.block[_spec.H_FRESH]])

    def stats(self) -> dict[str, int]:
        return binding.read_stats(self.block)


def second_life(one: Controller, digests: list[int]) -> tuple[int, int]:
    """Up to the last digest; how often power was lost, and how many saves were completed."""
    rng, flash = random.Random(one.seed), Flash(*one.geometry, seed=one.seed)
    completed = coming = cuts = saves = 0
    while completed < len(digests) - 1:
        for i in range(one.words):
            one.block[i] = rng.randrange(65536)
        flash.power_on()
        store = CStore(flash, one.words)
        if store.restore(one.config, one.block) == _spec.ERR_EMPTY and completed == 0:
            one.begin()
        completed = coming if one.digest() == digests[coming] else completed
        assert one.digest() == digests[completed], "restored neither the last nor the coming save"
        flash.lose_power(1 + rng.randrange(20 * one.words // flash.page_bytes), rng.choice(TEARS))
        pulled = rng.randrange(1, 60)  # power may also go between two saves
        while completed < len(digests) - 1 and pulled and not flash.dead:
            assert one.live(completed) == digests[completed + 1], "a life with cuts differs from the life without"
            coming, pulled = completed + 1, pulled - 1
            code = store.save(one.block)
            assert code == 0 or flash.dead
            completed, saves = (coming, saves + 1) if code == 0 else (completed, saves)
        cuts += 1
    return cuts, saves


def lives(name: str, episodes: int, seed: int) -> dict[str, int]:
    one = Controller(name, seed)
    one.begin()
    digests = [one.digest(), *(one.live(place) for place in range(episodes // SPAN))]
    cuts, saves = second_life(one, digests)
    return one.stats() | {"cuts": cuts, "saves": saves}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--episodes", type=int, default=1_000_000, help="of the first controller; a tenth of the others"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for number, name in enumerate(KINDS):
        found = lives(name, options.episodes // (10 if number else 1), options.seed)
        shown = ", ".join(f"{found[each]} {each}" for each in ("episodes", "cuts", "saves", "restarts", "reclaims"))
        print(f"{name}: {shown}", flush=True)
    return 0
