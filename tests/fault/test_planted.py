"""Damage planted in a healthy block, kind by kind: adamb_check must find each."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest

from adamb.firmware_model import _spec, check, core
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import make_config
from support.planted import BALANCED, balanced_block, cell_before_step, deep_balls, deep_values, too_fine
from support.used_blocks import new_block

TAG, WORDS = _spec.TAG, _spec.UNIT_WORDS


class Block:
    """A block in use as words, with just enough understanding of its layout to plant damage."""

    def __init__(self, name: str, *, extra: int = 6000, steps: int = 700) -> None:
        self.words = new_block(name, extra=extra, steps=steps)[1]
        self.steps, self.fresh = self.words[_spec.H_STEPS_AT], self.words[_spec.H_FRESH]

    def is_link(self, word: int) -> bool:
        return self.words[word] & TAG == 0 and self.words[word] != 0

    def root(self, h: int = 0) -> int:
        """Unit of the root record of a step."""
        return self.words[self.steps + h * _spec.S_WORDS + _spec.S_ROOT]

    def below(self, record: int) -> range:
        """The words of the block below a record."""
        first = self.words[record * WORDS + _spec.R_LINK] * WORDS
        return range(first, first + WORDS)

    def child(self, h: int = 0) -> int:
        """A word below the root of a step that is a link."""
        return next(filter(self.is_link, self.below(self.root(h))))

    def records(self, *steps: int) -> list[int]:
        found, pending = [], [self.root(h) for h in steps or (0,)]
        while pending:
            found.append(pending.pop())
            if self.is_link(found[-1] * WORDS):
                pending += [self.words[i] for i in self.below(found[-1]) if self.is_link(i)]
        return found

    def inner(self, *steps: int) -> list[int]:
        return [record for record in self.records(*steps) if self.is_link(record * WORDS)]

    def leaf(self) -> int:
        """A leaf record that has counts."""
        record = self.root()
        while self.is_link(record * WORDS):
            record = self.words[next(filter(self.is_link, self.below(record)))]
        return record

    def counts(self) -> int:
        """A unit of counts."""
        words = [record * WORDS + _spec.R_COUNTS for record in self.records()]
        return self.words[next(filter(self.is_link, words))]

    @property
    def v_slot(self) -> int:
        return self.steps + _spec.S_V_SLOT

    def cell(self) -> int:
        word = self.v_slot
        while self.is_link(word):
            word = self.words[word] * WORDS
        return word

    @property
    def head(self) -> int:
        return self.words[_spec.H_FREE_HEAD]

    def last_free(self) -> int:
        last = self.head
        while self.words[last * WORDS]:
            last = self.words[last * WORDS]
        return last


def slot_of_nothing(b: Block) -> tuple[int, int]:
    """A slot that holds a value, of any step."""
    return next(i for record in b.inner(*range(5)) for i in b.below(record) if not b.is_link(i)), 0


def exchanged(b: Block) -> list[tuple[int, int]]:
    """Every unit still comes up once, but a block of children stands where a record should."""
    slot = next(i for i in b.below(b.root()) if b.words[i] in b.inner())
    record = b.words[slot]
    return [(slot, b.words[record * WORDS]), (record * WORDS, record)]


def leak(b: Block) -> list[tuple[int, int]]:
    return [(_spec.H_FREE_HEAD, b.words[b.head * WORDS]), (_spec.H_FREE_N, b.words[_spec.H_FREE_N] - 1)]


def flipped(word: int, by: int = 1) -> Callable[[Block], tuple[int, int]]:
    return lambda b: (word, b.words[word] + by)


Change = Callable[[Block], tuple[int, int] | list[tuple[int, int]]]
# What is planted: a word and what it becomes.
IN_TREES: dict[str, Change] = {
    "a link to the header": lambda b: (b.child(), 1),
    "a link beyond the used units": lambda b: (b.child(), b.fresh),
    "a link beyond the block": lambda b: (b.child(), 0x7FFF),
    "a link back to the root": lambda b: (b.child(), b.root()),
    "a unit used twice": lambda b: (b.child(1), b.words[b.child()]),
    "two links exchanged between levels": exchanged,
    "a record without value and without link": lambda b: (b.leaf() * WORDS + _spec.R_LINK, 0),
    "a slot without value and without link": slot_of_nothing,
    "a leaf cut off from the tree": lambda b: (b.child(), TAG),
    "a split that is not counted": flipped(_spec.H_SPLITS),
    "counts that point into the tree": lambda b: (b.leaf() * WORDS + _spec.R_COUNTS, b.root()),
    "counts of the root": lambda b: (b.root() * WORDS + _spec.R_COUNTS, TAG | 1),
    "a wrong mean in a value tree": lambda b: (b.v_slot + 2, b.words[b.v_slot + 2] + 1),
    "a value that its means do not know": lambda b: (b.cell(), b.words[b.cell()] ^ 0x0100),
    "a cell without an action": lambda b: (b.cell() + 2, 0),
    "a value tree that enters the partition": lambda b: (b.v_slot, b.root()),
}
IN_COUNTS: dict[str, Change] = {
    "an untagged entry among counts": lambda b: (b.counts() * WORDS + 1, 5),
    # Tracking keeps at most one unit of counts; a chain belongs to the paper's mode.
    "a chain of counts in tracking": lambda b: [(b.counts() * WORDS, b.fresh), (_spec.H_FRESH, b.fresh + 1)],
}
IN_FREE_UNITS: dict[str, Change] = {
    "a free list that is cut": lambda b: (b.head * WORDS, 0),
    "a leak with a matching number of free units": leak,
    "a free list that bites its tail": lambda b: (b.last_free() * WORDS, b.head),
    "a unit that is free and in use": lambda b: (b.head * WORDS, b.root()),
}
HEADER = [
    ("H_UNITS", 0xFFFF), ("H_DIMS", 0), ("H_DIMS", 0x0541), ("H_DIMS", 0x0514), ("H_DIMS", 0x2011),
    ("H_DIMS", 0x0011), ("H_BITS", 0), ("H_SCALE", 0x0E0B), ("H_SCALE", 0x0F0C), ("H_STEPS_AT", 0),
    ("H_POOL_AT", 1), ("H_FRESH", 0), ("H_FRESH", 0x7FFF), ("H_SHARE", 3), ("H_RNG", 0),
    ("H_FREE_HEAD", 0x7FFF), ("H_FREE_N", 9), ("H_SPLITS", 0),
]  # fmt: skip


def found(words: array) -> int:
    """What the check of both twins answers."""
    code = int(binding.lib.adamb_check(binding.ffi.from_buffer("uint16_t[]", words), len(words)))
    assert code == check.check(words)
    return code


def plant(block: Block, change: Change) -> None:
    assert found(block.words) == 0
    before, changes = array("H", block.words), change(block)
    for word, value in changes if isinstance(changes, list) else [changes]:
        block.words[word] = value & 0xFFFF
    assert block.words != before, "no damage done"
    assert found(block.words) == _spec.ERR_BLOCK


@pytest.mark.parametrize("what", IN_TREES)
def test_damage_of_a_tree(what):
    plant(Block("1+1 per step"), IN_TREES[what])


def test_counts_of_the_paper_that_point_into_the_tree():
    plant(Block("1+1 paper"), IN_TREES["counts that point into the tree"])


@pytest.mark.parametrize("what", IN_COUNTS)
def test_damage_of_counts(what):
    plant(Block("1+1", steps=3000), IN_COUNTS[what])


@pytest.fixture(scope="module")
def freed():
    """Words beyond the least with which a pool had to reclaim and has units on its free list."""
    return next(extra for extra in range(0, 400, 4) if new_block("1+1", extra, 4000)[1][_spec.H_FREE_N] >= 2)


@pytest.mark.parametrize("what", IN_FREE_UNITS)
def test_damage_of_the_free_list(what, freed):
    plant(Block("1+1", extra=freed, steps=4000), IN_FREE_UNITS[what])


@pytest.mark.parametrize(("word", "value"), HEADER)
def test_a_header_word_that_cannot_be(word, value):
    plant(Block("1+1 per step"), lambda _: (getattr(_spec, word), value))


def test_a_table_of_the_sharing_test_that_overlaps_the_tree():
    testing = Block("1+1", steps=10)
    assert testing.words[_spec.H_SHARE] == _spec.SHARE_TESTING
    plant(testing, flipped(_spec.H_TABLE, 3))


def test_memory_that_never_was_a_block():
    for content in (bytes(4000), b"\xff" * 4000, bytes(range(250)) * 16):
        assert found(array("H", content)) == _spec.ERR_BLOCK


# A sound block, and the same with damage that only one comparison sees. Number, sum and mix of the units met are
# each needed, since damage exists that leaves the other two.
PAIRS: dict[str, Callable[[], tuple[array, array]]] = {
    **{f"only the {name} of the units met is wrong": lambda name=name: balanced_block(name) for name in BALANCED},
    "a ball finer than the finest level": lambda: (deep_balls(0), deep_balls(1)),
    "values divided too often, left": lambda: (deep_values(0, 0), deep_values(1, 0)),
    "values divided too often, right": lambda: (deep_values(0, 1), deep_values(1, 1)),
    "a header with a level more than there can be": too_fine,
}


@pytest.mark.parametrize("what", PAIRS)
def test_damage_beside_a_block_that_is_sound(what):
    assert [found(words) for words in PAIRS[what]()] == [0, _spec.ERR_BLOCK]


@pytest.mark.parametrize("attach", [binding.Controller, core.attach], ids=["c", "python"])
def test_a_cell_of_v_in_the_header_gets_no_finer_action(attach):
    block, step = cell_before_step()
    before = block[step]
    assert attach(block).observe(0, 0xFFFF, [0]) == 0
    assert block[step] == before


@pytest.mark.parametrize("d_s", [1, 3])
def test_a_pending_random_action_of_three_coordinates_is_no_damage(d_s):
    block = array("H", bytes(2000))
    controller, action = binding.init(make_config(d_s, 3, 2, {"action": "random"}), block), array("H", [0] * 3)
    for i in range(40):
        assert controller.act(i % 2, [1000 * i] * d_s, action) == 0
        assert found(block) == 0
