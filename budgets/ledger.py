"""Every byte of a controller by its owner, from the reader of blocks.

The walk follows the links of SPEC 3 and nothing else, so it also finds what no owner claims. A unit that
two owners claim, or a link that leads out of the pool, is a damaged block and is reported as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from adamb.firmware_model.host.reader import OWNERS, UNIT_BYTES, BlockView, DamagedBlock

__all__ = ["OWNERS", "UNIT_BYTES", "DamagedBlock", "Ledger", "host_memory", "ledger_of", "read_ledger"]


@dataclass
class Ledger:
    """Bytes by owner now, and the most that was in use at any time; the numbers are those of the steps' partitions.

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
        owners = ("records", "routing", "counts", "values", "held partition", "sharing test")
        return sum(self.bytes[owner] for owner in owners) // UNIT_BYTES


def ledger_of(view: BlockView, length: int | None = None) -> Ledger:
    """The ledger of a block of so many words; of as many as its header says unless given."""
    balls = [ball for h in range(view.trees) for ball in view.balls(h)]
    counts = view.counts.values()
    return Ledger(
        bytes=view.bytes_by_owner(length),
        peak_bytes=view.peak_bytes,
        leaves=len(balls),
        splits=len(counts) - sum(ball.visited for ball in balls),
        records=len(counts),
        entries=sum(len(each.entries) for each in counts),
        entries_inline=sum(each.inline for each in counts),
    )


def read_ledger(words: Sequence[int], length: int | None = None) -> Ledger:
    """Account for every byte of a block of 16-bit words; the values of `bytes` sum to its length.

    The words after `fresh` have never been used and may be left out; `length` is then that of the whole
    block.

    >>> from array import array
    >>> from adamb.firmware_model import Config, init
    >>> block = array("H", bytes(4096))
    >>> controller = init(Config(d_s=1, d_a=1, horizon=5), block)
    >>> read_ledger(block).total
    4096
    """
    return ledger_of(BlockView(words), len(words) if length is None else length)


def host_memory() -> dict[str, int]:
    """Memory of this Python process, for scale: it is the simulator's, not the controller's."""
    info = psutil.Process().memory_info()
    return {"host process, resident": int(info.rss), "host process, virtual": int(info.vms)}
