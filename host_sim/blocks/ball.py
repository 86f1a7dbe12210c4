"""What a view of a block is made of: balls of a partition, cells of a V tree, and where their codes lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class BallView:
    """A leaf of a partition: the box of side 2^-level whose corner the two codes name."""

    level: int
    state_code: int
    action_code: int
    surplus: int
    record: int
    """Unit of its own record, 0 for a ball that was never visited."""
    parent: int
    """Unit of the record above it, 0 at the root."""
    n: int
    credit: int
    reward_q16: int

    @property
    def visited(self) -> bool:
        return self.record != 0


@dataclass(frozen=True)
class ValueCell:
    """A cell of the V tree of one step: its first `bits` code bits, its value and the best action there."""

    code: int
    bits: int
    value: int
    action_code: int


class SlotPlace(NamedTuple):
    """A slot of a partition and the way to it: how many blocks into a level, and the bits consumed so far."""

    slot: int
    level: int = 0
    chunk: int = 0
    s_bits: int = 0
    a_bits: int = 0
    state: int = 0
    action: int = 0
    parent: int = 0


def coordinates(code: int, dims: int, bits: int = 16) -> tuple[float, ...]:
    """The corner of the cell whose first `bits` bits are those of an interleaved code, in [0,1)^dims."""
    found = [0] * dims
    for position in range(bits):
        found[position % dims] = found[position % dims] << 1 | code >> (15 - position) & 1
    sizes = [len(range(axis, bits, dims)) for axis in range(dims)]
    return tuple(value / (1 << size) for value, size in zip(found, sizes, strict=True))
