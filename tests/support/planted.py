"""Blocks and storages with damage that only one comparison of the core can see."""

from __future__ import annotations

from array import array
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.exact.model import Config
from adamb.firmware_model.host import binding
from support.flash import Flash

MIX = 0x9E3779B1
WORD_MAX = 0xFFFF
SEALED = (_spec.H_UNITS, _spec.H_DIMS, _spec.H_SCALE, _spec.H_POOL_AT)
# The check counts, sums and mixes the units it meets. Units whose products with MIX cancel out, three at a
# time; of the first three the sum is twice the fourth number.
THREE, HALF, OTHERS = (53, 3659, 16094), 9903, (51, 152, 203)
NEIGHBOURS = (300, 301, 302, 303)
# What is wrong, by the one figure that shows it: leaves of the sound block, and those of the damaged one.
BALANCED: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "number": ((*THREE, HALF), (HALF, HALF, HALF)),
    "sum": ((*THREE, *OTHERS), (*OTHERS, *OTHERS)),
    "mix": (NEIGHBOURS, (301, 301, 302, 302)),
}


def balanced_block(name: str) -> tuple[array, array]:
    """A sound block, and one in which leaves stand in the places of others so that only `name` is wrong."""
    leaves, damaged = BALANCED[name]
    for three in (THREE, OTHERS):
        assert (three[0] * MIX ^ three[1] * MIX ^ three[2] * MIX) & 0xFFFFFFFF == 0
    assert sum(THREE) == 2 * HALF
    return _block(leaves, leaves), _block(leaves, damaged)


def _block(leaves: tuple[int, ...], linked: tuple[int, ...]) -> array:
    """One ball split in four, two of these again; records under them in these units, all other units free."""
    block = array("H", bytes(8 * (max(THREE) + 1)))
    assert not isinstance(binding.init(Config(d_s=1, d_a=1, horizon=1), block), int)
    pool, units = block[_spec.H_POOL_AT], block[_spec.H_UNITS]
    inner = range(pool, pool + 6)  # a record and its block, three times
    for record in inner[::2]:
        _record(block, record, record + 1)
        for slot in range(4):
            block[4 * (record + 1) + slot] = _spec.TAG
    block[4 * inner[1]], block[4 * inner[1] + 1] = inner[2], inner[4]
    slots = [4 * below + slot for below in (inner[3], inner[5]) for slot in range(4)]
    for slot, unit in zip(slots, linked, strict=False):
        block[slot] = unit
    for unit in leaves:
        _record(block, unit, _spec.TAG)
    block[block[_spec.H_STEPS_AT] + _spec.S_ROOT] = inner[0]
    taken, head = {*inner, *leaves}, 0
    for unit in range(units - 1, pool - 1, -1):
        if unit not in taken:
            block[4 * unit] = head
            head = unit
    block[_spec.H_FREE_HEAD], block[_spec.H_FREE_N] = head, units - pool - len(taken)
    block[_spec.H_FRESH], block[_spec.H_USED_PEAK], block[_spec.H_SPLITS] = units, len(taken), 3
    return block


def _record(block: array, unit: int, link: int) -> None:
    block[4 * unit + _spec.R_LINK], block[4 * unit + _spec.R_N] = link, 1


def cell_before_step() -> tuple[array, int]:
    """A block, and the word of its first step; the link of V leads to a cell whose action is that word.

    The next sample finds the cell as it should be: its value, a threshold, is what the ball is worth, and
    the action just played is the word. So `observe` takes the finer action of the last time, and
    would write it into the word, did it not see that it is in the header.
    """
    block, action = array("H", bytes(8 * 120)), array("H", [0])
    config = Config(d_s=1, d_a=1, horizon=1, split_counts=1, bonus=0, thresholds=[4090] * 12 + [WORD_MAX] * 3)
    made = binding.init(config, block)
    assert not isinstance(made, int)
    assert made.act(0, [0], action) == made.observe(0, WORD_MAX, [0]) == 0
    step = block[_spec.H_STEPS_AT]
    link, side = divmod(step - 2, 4)
    assert side == 1, "a V node has two cells"
    block[step + _spec.S_V_SLOT] = link
    block[step + _spec.S_STATE], block[step + _spec.S_ACTION] = 0x9000, block[step]
    block[step + _spec.S_LAST] = 0x4000
    return block, step


def seal(block: array) -> None:
    """Write the checksum of the words that hold sizes (SPEC 3), as init would."""
    mix = 0
    for word in SEALED:
        mix = mix * 11 + block[word]
    mix *= 11
    block[_spec.H_HASH] = _spec.SPEC_HASH ^ (mix ^ mix >> 13) & 0xFFFF


def too_fine() -> tuple[array, array]:
    """A new block with the finest level that there is, and one made with a level more."""
    block = array("H", bytes(8 * 120))
    config = Config(d_s=1, d_a=1, horizon=1, thresholds=[1] * 15)
    assert not isinstance(binding.init(config, block), int)
    assert block[_spec.H_SCALE] >> 8 == _spec.LEVEL_MAX
    finer, steps, pool = array("H", block), block[_spec.H_STEPS_AT], 4 * block[_spec.H_POOL_AT]
    assert block[pool - 1] == 0, "there is room for one more threshold"
    finer[steps + 1 : pool] = block[steps : pool - 1]
    finer[steps] = block[steps - 1]
    finer[_spec.H_STEPS_AT] += 1
    finer[_spec.H_SCALE] += 0x100
    seal(finer)
    return block, finer


def deep_balls(beyond: int) -> array:
    """A block of one step with a ball so many levels beyond the finest; its units are all accounted for."""
    block = array("H", bytes(8 * 120))
    assert not isinstance(binding.init(Config(d_s=1, d_a=1, horizon=1), block), int)
    slot, unit = block[_spec.H_STEPS_AT] + _spec.S_ROOT, block[_spec.H_POOL_AT]
    for _ in range((block[_spec.H_SCALE] >> 8) + beyond):
        block[slot] = unit
        _record(block, unit, unit + 1)
        slot, unit = 4 * unit + 4, unit + 2
        for i in range(slot, slot + 4):
            block[i] = _spec.TAG
        block[_spec.H_SPLITS] += 1
    block[_spec.H_FRESH] = unit
    block[_spec.H_USED_PEAK] = unit - block[_spec.H_POOL_AT]
    return block


def deep_values(beyond: int, side: int) -> array:
    """A block of one step with V divided so many levels beyond the finest, always left (0) or right (1)."""
    block = array("H", bytes(8 * 120))
    assert not isinstance(binding.init(Config(d_s=1, d_a=1, horizon=1), block), int)
    slot = block[_spec.H_STEPS_AT] + _spec.S_V_SLOT
    value, action, unit = block[slot], block[slot + 2], block[_spec.H_POOL_AT]
    for _ in range((block[_spec.H_SCALE] >> 8) + beyond):
        block[slot], block[slot + 2] = unit, value & ~_spec.TAG
        node, unit = 4 * unit, unit + 1
        block[node], block[node + 1], block[node + 2], block[node + 3] = value, value, action, action
        slot = node + side
    block[_spec.H_FRESH] = unit
    block[_spec.H_USED_PEAK] = unit - block[_spec.H_POOL_AT]
    return block


class FlakyStorage(Flash):
    """After so many reads of its head a slot reads as another one, until the head is read once more."""

    def __init__(self, *geometry: int, seed: int = 0) -> None:
        super().__init__(*geometry, seed=seed)
        self.heads = 0
        self.swap: tuple[int, int, int] | None = None  # address of the slot, of the other one, reads

    def swap_slots(self, slot: int, other: int, reads: int) -> None:
        """Slots of one sector each."""
        self.heads, self.swap = 0, (slot * self.sector_bytes, other * self.sector_bytes, reads)

    def read(self, address: int, buffer: Any) -> int:
        if self.swap:
            this, other, reads = self.swap
            self.heads += address == this
            if self.heads == reads and this <= address < this + self.sector_bytes:
                address += other - this
        return super().read(address, buffer)
