"""Every byte of a controller by its owner: a walk over the block that must account for all of it, exactly
once.

The walk follows the links of SPEC 3 and nothing else, so it also finds what no owner claims. A unit that
two owners claim, or a link that leads out of the pool, is a damaged block and is reported as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import psutil

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.errors import AdambError, InputError
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.config import usable

UNIT_WORDS = int(spec.UNIT_WORDS)
UNIT_BYTES = 2 * UNIT_WORDS

#: In the order of the report. `header` is configuration and state of the whole controller, `steps` the words
#: of each step, `unclaimed` what no owner reaches (0 in a sound block), `tail` words that make no whole unit.
OWNERS = (
    "header", "thresholds", "steps", "padding", "records", "routing", "counts", "values",
    "sharing test", "free", "unclaimed", "tail",
)  # fmt: skip


class DamagedBlock(AdambError):
    """The block is not that of a controller, or its links contradict each other.

    >>> read_ledger([0] * 100)
    Traceback (most recent call last):
    adamb.budgets.ledger.DamagedBlock: not a controller's block: the first word is not its mark
    """


@dataclass
class Ledger:
    """Bytes by owner now, and the most that was in use so far.

    >>> Ledger({"records": 80, "free": 100, "tail": 4}, peak_bytes=120).used_bytes
    80
    """

    bytes: dict[str, int]
    peak_bytes: int
    leaves: int = 0
    splits: int = 0
    records: int = 0
    entries: int = 0
    entries_inline: int = 0

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    @property
    def used_bytes(self) -> int:
        """All but what is free and what the block is too short to use."""
        return self.total - self.bytes["free"] - self.bytes["tail"]

    @property
    def pool_units(self) -> int:
        owners = ("records", "routing", "counts", "values", "sharing test")
        return sum(self.bytes[owner] for owner in owners) // UNIT_BYTES


@dataclass
class _Walk:
    words: Sequence[int]
    length: int
    owner: dict[int, str] = field(default_factory=dict)
    leaves: int = 0
    splits: int = 0
    records: int = 0
    entries: int = 0
    inline: int = 0

    def __post_init__(self) -> None:
        w = self.words
        if len(w) < spec.H_WORDS or w[spec.H_MAGIC] != spec.MAGIC:
            raise DamagedBlock("not a controller's block: the first word is not its mark")
        if not usable([int(word) for word in w[: spec.H_WORDS]]):
            raise DamagedBlock("written by another version of the core, or the header is damaged")
        dims = int(w[spec.H_DIMS])
        try:
            self.layout = Layout(dims & 15, dims >> 4 & 15, dims >> 8)
        except InputError as error:
            raise DamagedBlock(f"the header's dimensions are impossible: {error}") from None
        self.pool_at, self.units = int(w[spec.H_POOL_AT]), int(w[spec.H_UNITS])
        self.fresh = int(w[spec.H_FRESH])
        steps_end = int(w[spec.H_STEPS_AT]) + self.layout.horizon * int(spec.S_WORDS)
        if w[spec.H_STEPS_AT] < spec.H_WORDS or steps_end > self.pool_at * UNIT_WORDS:
            raise DamagedBlock("the header's places of the steps and of the pool contradict each other")
        if self.fresh * UNIT_WORDS > len(w):
            raise DamagedBlock("the block is shorter than the part of it that is in use")
        if not (self.pool_at <= self.fresh <= self.units and self.units * UNIT_WORDS <= self.length):
            raise DamagedBlock("the header's limits of the pool contradict the length of the block")

    def claim(self, unit: int, owner: str) -> int:
        """Record the owner of a unit; the word index of the unit."""
        if not self.pool_at <= unit < self.fresh:
            raise DamagedBlock(f"a link of {owner} leads to unit {unit}, outside the pool")
        if unit in self.owner:
            raise DamagedBlock(f"unit {unit} belongs to {self.owner[unit]} and to {owner}")
        self.owner[unit] = owner
        return unit * UNIT_WORDS

    def is_value(self, word: int) -> bool:
        return bool(word & int(spec.TAG))

    def tree(self, root: int) -> None:
        """Records, routing blocks and counts below the slot at word `root`; explicit stack, no recursion."""
        chunk_slots = [1 << min(2, self.layout.d - bits) for bits in range(0, self.layout.d, 2)]
        stack = [(root, 0, 0)]  # slot word, chunk that the slot leads into (0: a ball), level
        while stack:
            slot, chunk, level = stack.pop()
            word = int(self.words[slot])
            if self.is_value(word):
                if chunk == 0:
                    self.leaves += 1
                else:
                    self.leaves += 1 << max(0, self.layout.d - 2 * chunk)
                continue
            if chunk == 0:
                at = self.claim(word, "records")
                self.records += 1
                self.counts(int(self.words[at + spec.R_COUNTS]), level)
                word = int(self.words[at + spec.R_LINK])
                if self.is_value(word):
                    self.leaves += 1
                    continue
                self.splits += 1
            at = self.claim(word, "routing")
            last = chunk + 1 == len(chunk_slots)
            for i in range(chunk_slots[chunk]):
                stack.append((at + i, 0 if last else chunk + 1, level + last))

    def counts(self, head: int, level: int) -> None:
        if level and self.is_value(head):
            self.entries += 1
            self.inline += 1
            return
        unit = 0 if self.is_value(head) else head
        while unit:
            at = self.claim(unit, "counts")
            self.entries += sum(1 for i in range(UNIT_WORDS) if self.is_value(int(self.words[at + i])))
            first = int(self.words[at])  # a link in a chain, an entry in a unit of four
            unit = 0 if self.is_value(first) else first

    def values(self, slot: int) -> None:
        stack = [slot]
        while stack:
            word = int(self.words[stack.pop()])
            if not self.is_value(word):
                at = self.claim(word, "values")
                stack += [at, at + 1]

    def free(self) -> None:
        unit, claimed = int(self.words[spec.H_FREE_HEAD]), 0
        while unit:
            unit = int(self.words[self.claim(unit, "free")])
            claimed += 1
        if claimed != self.words[spec.H_FREE_N]:
            raise DamagedBlock(f"{claimed} free units, but the header says {self.words[spec.H_FREE_N]}")


def read_ledger(words: Sequence[int], length: int | None = None) -> Ledger:
    """Account for every byte of a block of 16-bit words; the values of `bytes` sum to its length.

    The words behind `fresh` have never been used and may be left out; `length` is then that of the whole
    block.

    >>> from array import array
    >>> from adamb.firmware_model import Config, init
    >>> block = array("H", bytes(4096))
    >>> controller = init(Config(d_s=1, d_a=1, horizon=5), block)
    >>> read_ledger(block).total
    4096
    """
    walk = _Walk(words, len(words) if length is None else length)
    steps_at, horizon = int(words[spec.H_STEPS_AT]), walk.layout.horizon
    shared = words[spec.H_SHARE] != spec.SHARE_OFF
    for h in range(horizon):
        step = steps_at + h * int(spec.S_WORDS)
        if h == 0 or not shared:
            walk.tree(step + int(spec.S_ROOT))
        walk.values(step + int(spec.S_V_SLOT))
    if words[spec.H_SHARE] == spec.SHARE_TESTING:
        for i in range(int(spec.SHARE_TABLE_UNITS)):
            walk.claim(int(words[spec.H_TABLE]) + i, "sharing test")
    walk.free()
    found = dict.fromkeys(OWNERS, 0)
    for owner in walk.owner.values():
        found[owner] += UNIT_BYTES
    steps_end = steps_at + horizon * int(spec.S_WORDS)
    found["header"] = 2 * int(spec.H_WORDS)
    found["thresholds"] = 2 * (steps_at - int(spec.H_WORDS))
    found["steps"] = 2 * (steps_end - steps_at)
    found["padding"] = 2 * (walk.pool_at * UNIT_WORDS - steps_end)
    found["free"] += UNIT_BYTES * (walk.units - walk.fresh)
    found["unclaimed"] = UNIT_BYTES * (walk.fresh - walk.pool_at - len(walk.owner))
    found["tail"] = 2 * (walk.length - walk.units * UNIT_WORDS)
    peak = UNIT_BYTES * (walk.pool_at + int(words[spec.H_USED_PEAK]))
    return Ledger(found, peak, walk.leaves, walk.splits, walk.records, walk.entries, walk.inline)


def host_memory() -> dict[str, int]:
    """Memory of this Python process, for scale: it is the simulator's, not the controller's."""
    info = psutil.Process().memory_info()
    return {"host process, resident": int(info.rss), "host process, virtual": int(info.vms)}
