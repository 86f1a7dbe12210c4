"""Damage planted in a healthy block, kind by kind: adamb_check must find each."""

from __future__ import annotations

from array import array

import pytest

from adamb.firmware_model import _spec, check, core
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from support.planted import BALANCED, balanced_block, cell_before_step, deep_balls, deep_values, too_fine
from support.used_blocks import new_block

TAG, WORDS = _spec.TAG, _spec.UNIT_WORDS


class Block:
    """A block in use as words, with just enough understanding of its layout to plant damage."""

    def __init__(self, name: str, **options) -> None:
        _, self.words, _ = new_block(name, extra=6000, **options)
        self.steps = self.words[_spec.H_STEPS_AT]
        self.pool, self.fresh = self.words[_spec.H_POOL_AT], self.words[_spec.H_FRESH]

    def check(self) -> int:
        return int(lib.adamb_check(ffi.from_buffer("uint16_t[]", self.words), len(self.words)))

    def is_link(self, word: int) -> bool:
        return self.words[word] & TAG == 0 and self.words[word] != 0

    def root(self, h: int = 0) -> int:
        """Unit of the root record of a step."""
        return self.words[self.steps + h * _spec.S_WORDS + _spec.S_ROOT]

    def children(self, record: int) -> int:
        return self.words[record * WORDS + _spec.R_LINK]

    def child_slot(self, record: int, wanted) -> int:
        """A word in the block below a record whose content is as wanted."""
        first = self.children(record) * WORDS
        return next(i for i in range(first, first + WORDS) if wanted(i))

    def leaf(self) -> int:
        """A leaf record that has counts."""
        record = self.root()
        while self.is_link(record * WORDS):
            record = self.words[self.child_slot(record, self.is_link)]
        return record

    def v_slot(self, h: int = 0) -> int:
        return self.steps + h * _spec.S_WORDS + _spec.S_V_SLOT


@pytest.fixture
def block():
    made = Block("1+1 per step")
    assert made.check() == 0
    return made


def corrupt(block: Block, word: int, value: int) -> None:
    assert block.words[word] != value & 0xFFFF, "no damage done"
    block.words[word] = value & 0xFFFF
    assert block.check() == _spec.ERR_BLOCK


def test_a_link_to_the_header(block):
    corrupt(block, block.child_slot(block.root(), block.is_link), 1)


def test_a_link_beyond_the_used_units(block):
    corrupt(block, block.child_slot(block.root(), block.is_link), block.fresh)


def test_a_link_beyond_the_block(block):
    corrupt(block, block.child_slot(block.root(), block.is_link), 0x7FFF)


def test_a_link_back_to_the_root(block):
    corrupt(block, block.child_slot(block.root(), block.is_link), block.root())


def test_a_unit_used_twice(block):
    first = block.child_slot(block.root(), block.is_link)
    corrupt(block, block.child_slot(block.root(1), block.is_link), block.words[first])


def test_two_links_exchanged_between_levels(block):
    """Every unit still comes up once, but a block of children stands where a record should."""
    inner = [record for record in records(block)[1:] if block.is_link(record * WORDS)]
    slot = block.child_slot(block.root(), lambda i: block.words[i] in inner)
    record = block.words[slot]
    below = block.children(record)
    block.words[slot], block.words[record * WORDS] = below, record
    assert block.check() == _spec.ERR_BLOCK


def test_a_record_without_value_and_without_link(block):
    corrupt(block, block.leaf() * WORDS + _spec.R_LINK, 0)


def test_a_slot_without_value_and_without_link(block):
    every = [record for h in range(5) for record in records(block, h)]
    inner = [record for record in every if block.is_link(record * WORDS)]
    slots = [block.children(record) * WORDS + i for record in inner for i in range(WORDS)]
    corrupt(block, next(slot for slot in slots if not block.is_link(slot)), 0)


def test_a_leaf_cut_off_from_the_tree(block):
    corrupt(block, block.child_slot(block.root(), block.is_link), TAG)


def test_a_split_that_is_not_counted(block):
    corrupt(block, _spec.H_SPLITS, block.words[_spec.H_SPLITS] + 1)


def test_a_ball_finer_than_the_finest_level():
    """Links in range, units accounted for, still too deep; one level less is in order."""
    for beyond, wanted in ((0, 0), (1, _spec.ERR_BLOCK)):
        deep = deep_balls(beyond)
        assert lib.adamb_check(ffi.from_buffer("uint16_t[]", deep), len(deep)) == wanted
        assert check.check(deep) == wanted


@pytest.mark.parametrize("name", ["1+1 per step", "1+1 paper"])
def test_counts_that_point_into_the_tree(name):
    damaged = Block(name)
    corrupt(damaged, damaged.leaf() * WORDS + _spec.R_COUNTS, damaged.root())


def test_counts_of_the_root(block):
    corrupt(block, block.root() * WORDS + _spec.R_COUNTS, TAG | 1)


def test_an_untagged_entry_among_counts():
    noisy = Block("1+1", steps=3000)
    units = [
        noisy.words[record * WORDS + _spec.R_COUNTS]
        for record in records(noisy)
        if noisy.is_link(record * WORDS + _spec.R_COUNTS)
    ]
    corrupt(noisy, units[0] * WORDS + 1, 5)


def records(block: Block, h: int = 0) -> list[int]:
    found, pending = [], [block.root(h)]
    while pending:
        record = pending.pop()
        found.append(record)
        if block.is_link(record * WORDS):
            first = block.children(record) * WORDS
            pending += [block.words[i] for i in range(first, first + WORDS) if block.is_link(i)]
    return found


def test_a_chain_of_counts_in_tracking():
    """Tracking keeps at most one unit of counts; a chain belongs to the paper's mode."""
    noisy = Block("1+1", steps=3000)
    unit = next(
        noisy.words[record * WORDS + _spec.R_COUNTS]
        for record in records(noisy)
        if noisy.is_link(record * WORDS + _spec.R_COUNTS)
    )
    noisy.words[unit * WORDS] = noisy.fresh
    noisy.words[_spec.H_FRESH] += 1
    assert noisy.check() == _spec.ERR_BLOCK


def test_a_wrong_mean_in_a_value_tree(block):
    corrupt(block, block.v_slot() + 2, block.words[block.v_slot() + 2] + 1)


def test_a_value_that_its_means_do_not_know(block):
    leaf = deepest_value(block, block.v_slot())
    corrupt(block, leaf, block.words[leaf] ^ 0x0100)


def deepest_value(block: Block, word: int) -> int:
    while block.is_link(word):
        word = block.words[word] * WORDS
    return word


def test_a_cell_without_an_action(block):
    corrupt(block, deepest_value(block, block.v_slot()) + 2, 0)


def test_a_value_tree_that_enters_the_partition(block):
    corrupt(block, block.v_slot(), block.root())


def test_a_free_list_that_is_cut():
    tight = freed()
    corrupt(tight, tight.words[_spec.H_FREE_HEAD] * WORDS, 0)


def test_a_leak_with_a_matching_number_of_free_units():
    tight = freed()
    head = tight.words[_spec.H_FREE_HEAD]
    tight.words[_spec.H_FREE_HEAD] = tight.words[head * WORDS]
    tight.words[_spec.H_FREE_N] -= 1
    assert tight.check() == _spec.ERR_BLOCK


def test_a_free_list_that_bites_its_tail():
    tight = freed()
    last = tight.words[_spec.H_FREE_HEAD]
    while tight.words[last * WORDS]:
        last = tight.words[last * WORDS]
    corrupt(tight, last * WORDS, tight.words[_spec.H_FREE_HEAD])


def test_a_unit_that_is_free_and_in_use():
    tight = freed()
    corrupt(tight, tight.words[_spec.H_FREE_HEAD] * WORDS, tight.root())


def freed() -> Block:
    """A block with at least two units on its free list: a pool that had to reclaim."""
    for extra in range(0, 400, 4):
        _, words, _ = new_block("1+1", extra=extra, steps=4000)
        if words[_spec.H_FREE_N] >= 2:
            found = Block.__new__(Block)
            found.words, found.steps = words, words[_spec.H_STEPS_AT]
            found.pool, found.fresh = words[_spec.H_POOL_AT], words[_spec.H_FRESH]
            return found
    raise AssertionError("no size of block has reclaimed")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("H_UNITS", 0xFFFF), ("H_DIMS", 0), ("H_DIMS", 0x0541), ("H_DIMS", 0x0514), ("H_DIMS", 0x2011),
        ("H_DIMS", 0x0011), ("H_BITS", 0), ("H_SCALE", 0x0E0B), ("H_SCALE", 0x0F0C), ("H_STEPS_AT", 0),
        ("H_POOL_AT", 1), ("H_FRESH", 0), ("H_FRESH", 0x7FFF), ("H_SHARE", 3), ("H_RNG", 0),
        ("H_FREE_HEAD", 0x7FFF), ("H_FREE_N", 9), ("H_SPLITS", 0),
    ],
)  # fmt: skip
def test_a_header_word_that_cannot_be(block, word, value):
    corrupt(block, getattr(_spec, word), value)


def test_a_table_of_the_sharing_test_that_overlaps_the_tree():
    testing = Block("1+1", steps=10)
    assert testing.words[_spec.H_SHARE] == _spec.SHARE_TESTING
    corrupt(testing, _spec.H_TABLE, testing.words[_spec.H_TABLE] + 3)


def test_memory_that_never_was_a_block():
    for content in (bytes(4000), b"\xff" * 4000, bytes(range(250)) * 16):
        words = array("H", content)
        assert lib.adamb_check(ffi.from_buffer("uint16_t[]", words), len(words)) == _spec.ERR_BLOCK


@pytest.mark.parametrize("name", BALANCED)
def test_units_exchanged_so_that_only_one_figure_of_the_walk_is_wrong(name):
    """Number, sum and mix of the units met: each is needed, since damage exists that leaves the other two."""
    for block, wanted in zip(balanced_block(name), (0, _spec.ERR_BLOCK), strict=True):
        assert lib.adamb_check(ffi.from_buffer("uint16_t[]", block), len(block)) == wanted
        assert check.check(block) == wanted


@pytest.mark.parametrize("side", [0, 1])
def test_values_divided_once_more_than_the_finest_level_allows(side):
    for beyond, wanted in ((0, 0), (1, _spec.ERR_BLOCK)):
        block = deep_values(beyond, side)
        assert lib.adamb_check(ffi.from_buffer("uint16_t[]", block), len(block)) == wanted
        assert check.check(block) == wanted


def test_a_header_with_a_level_more_than_there_can_be():
    for block, wanted in zip(too_fine(), (0, _spec.ERR_BLOCK), strict=True):
        assert lib.adamb_check(ffi.from_buffer("uint16_t[]", block), len(block)) == wanted
        assert check.check(block) == wanted


@pytest.mark.parametrize("attach", [binding.Controller, core.attach], ids=["c", "python"])
def test_a_cell_of_v_in_the_header_gets_no_finer_action(attach):
    block, step = cell_before_step()
    before = block[step]
    assert attach(block).observe(0, 0xFFFF, [0]) == 0
    assert block[step] == before
