"""SPEC 3: what lives in the pool, as objects that know their unit and can print their words.

Nothing here works on words. Objects refer to each other; an allocator hands out the unit numbers that SPEC.md
prescribes, and the words of the block are written down only on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from adamb.firmware_model import _spec as spec


class Resident(Protocol):
    """Something that occupies one unit."""

    unit: int

    def words(self) -> list[int]: ...


class Pool:
    """Hands out units in the prescribed order and remembers what returned and forgotten units still hold."""

    def __init__(self, first: int, units: int) -> None:
        self.first = first
        self.units = units
        self.fresh = first
        self.free: list[int] = []
        self.peak = 0
        self.residents: dict[int, Resident] = {}
        self.remains: dict[int, list[int]] = {}

    @property
    def room(self) -> int:
        return len(self.free) + self.units - self.fresh

    def take(self, resident: Resident) -> bool:
        """Give the resident a unit; False when there is none."""
        if self.free:
            unit = self.free.pop()
        elif self.fresh < self.units:
            unit = self.fresh
            self.fresh += 1
        else:
            return False
        resident.unit = unit
        self.residents[unit] = resident
        self.remains.pop(unit, None)
        self.peak = max(self.peak, self.fresh - self.first - len(self.free))
        return True

    def give_back(self, resident: Resident) -> None:
        del self.residents[resident.unit]
        self.remains[resident.unit] = [self.free[-1] if self.free else 0, 0, 0, 0]
        self.free.append(resident.unit)

    def forget(self) -> None:
        """A restart leaves the old words where they are."""
        for unit, resident in self.residents.items():
            self.remains[unit] = resident.words()
        self.residents.clear()
        self.free.clear()
        self.fresh = self.first

    def words(self) -> list[int]:
        out: list[int] = []
        for unit in range(self.first, self.units):
            resident = self.residents.get(unit)
            out += resident.words() if resident else self.remains.get(unit, [0, 0, 0, 0])
        return out


def surplus_word(surplus: int) -> int:
    return spec.TAG | (surplus + spec.SURPLUS_ZERO)


@dataclass(eq=False)
class Entry:
    """Visits of one state cell; `depth` is the cell's length in bits."""

    cell: int
    count: int
    depth: int

    @property
    def limit(self) -> int:
        return (1 << (15 - self.depth)) - 1

    def word(self) -> int:
        return spec.TAG | self.cell << (15 - self.depth) | self.count


@dataclass(eq=False)
class CountsUnit:
    """Entries of one unit by word; in a chain word 0 never holds one but the link to the next unit."""

    chained: bool
    places: list[Entry | None] = field(default_factory=lambda: [None] * 4)
    next: CountsUnit | None = None
    unit: int = 0

    def words(self) -> list[int]:
        out = [place.word() if place else 0 for place in self.places]
        if self.chained and self.next:
            out[0] = self.next.unit
        return out


@dataclass(eq=False)
class Record:
    """A visited ball: a leaf with a surplus, or split with its first routing block."""

    surplus: int
    n: int
    reward: int
    below: Routing | None = None
    credit: int = 0
    single: Entry | None = None
    units: list[CountsUnit] = field(default_factory=list)
    unit: int = 0

    def entries(self) -> list[Entry]:
        if self.single:
            return [self.single]
        return [entry for unit in self.units for entry in unit.places if entry]

    def words(self) -> list[int]:
        link = self.below.unit if self.below else surplus_word(self.surplus)
        counts = self.single.word() if self.single else self.units[0].unit if self.units else 0
        return [link, self.n | self.credit << spec.CREDIT_SHIFT, self.reward, counts]


@dataclass(eq=False)
class Routing:
    """The slots of a chunk: a number is the surplus of all balls below, none of them visited."""

    slots: list[int | Record | Routing]
    rest: int = 0
    unit: int = 0

    def words(self) -> list[int]:
        """A chunk of one bit leaves two words that keep what the block was made of."""
        used = [surplus_word(slot) if isinstance(slot, int) else slot.unit for slot in self.slots]
        return used + [self.rest] * (4 - len(used))


@dataclass(eq=False)
class Tree:
    """One partition; a list of one slot, so that the root is changed like any other slot."""

    slots: list[int | Record | Routing]


@dataclass(eq=False)
class VCell:
    """A state cell of V: with a node below `value` is the mean of the sides, else `action` is to play."""

    value: int
    action: int
    below: VNode | None = None

    def slot(self) -> int:
        return self.below.unit if self.below else spec.TAG | self.value

    def aux(self) -> int:
        return self.value if self.below else self.action


@dataclass(eq=False)
class VNode:
    sides: tuple[VCell, VCell]
    unit: int = 0

    def mean(self) -> int:
        return (self.sides[0].value + self.sides[1].value + 1) >> 1

    def words(self) -> list[int]:
        a, b = self.sides
        return [a.slot(), b.slot(), a.aux(), b.aux()]


@dataclass(eq=False)
class TableUnit:
    """Two entries {cell and step, outcome} of the sharing test."""

    pairs: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0), (0, 0)])
    unit: int = 0

    def words(self) -> list[int]:
        return [word for pair in self.pairs for word in pair]
