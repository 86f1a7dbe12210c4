"""Calls on blocks made by hand: each leads to one comparison of the core that no used block leads to."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice, pairwise, product
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from support.exact.model import Config
from support.mutants.scenarios import Twin, digest, slices

TAG, ZERO = _spec.TAG, _spec.SURPLUS_ZERO
UNITS = 120
LOW, HIGH = 0x4000, 0xC000
"""Actions of the two halves."""


def new_block(config: Config, words: int = 4 * UNITS) -> array:
    block = array("H", bytes(2 * words))
    assert not isinstance(binding.init(config, block), int)
    return block


def step_of(block: array, h: int) -> int:
    """The first word of a step."""
    return block[_spec.H_STEPS_AT] + h * _spec.S_WORDS


def take(block: array, many: int) -> list[int]:
    """Units that were never used; all words of each are 0."""
    first = block[_spec.H_FRESH]
    block[_spec.H_FRESH] += many
    block[_spec.H_USED_PEAK] += many
    return list(range(first, first + many))


def fill(block: array, unit: int, *words: int) -> None:
    """One word for all four of a unit, or each its own."""
    block[4 * unit : 4 * unit + 4] = array("H", words * 4 if len(words) == 1 else words)


def record(block: array, unit: int, link: int, n: int = 1, reward: int = 0, counts: int = 0) -> None:
    fill(block, unit, link, n, reward, counts)


def split(block: array, root: int, last: int, chunks: int = 1, levels: int = 1, n: int = 1) -> list[int]:
    """Below a root so many levels: records of n samples, and blocks all of whose slots are the same.

    Those of the last block are `last`. The units, from the root down.
    """
    units = take(block, levels * (1 + chunks))
    for i, unit in enumerate(units):
        below = units[i + 1] if i + 1 < len(units) else last
        if i % (1 + chunks) == 0:
            record(block, unit, below, n)
        else:
            fill(block, unit, below)
    block[root + _spec.S_ROOT] = units[0]
    block[_spec.H_SPLITS] += levels
    return units


def values(block: array, step: int, depth: int, left: int = LOW, right: int = HIGH) -> list[int]:
    """V so deep that both sides of every node are the next one; the actions of the last two cells."""
    slot, value = step + _spec.S_V_SLOT, block[step + _spec.S_V_SLOT]
    units = take(block, depth)
    block[slot], block[slot + 2] = units[0], value & _spec.VALUE_MASK
    for unit, below in pairwise(units):
        fill(block, unit, below, below, value & _spec.VALUE_MASK, value & _spec.VALUE_MASK)
    fill(block, units[-1], value, value, left, right)
    return units


def full(block: array) -> None:
    """No unit is left."""
    block[_spec.H_FRESH] = block[_spec.H_UNITS]
    block[_spec.H_USED_PEAK] = block[_spec.H_UNITS] - block[_spec.H_POOL_AT]


def seeds(value: bool) -> Iterator[int]:
    """Words of rng after which a pool that runs low is reclaimed at step 0 of two: V, or the partition."""
    for seed in range(1, 65536):
        x = (seed ^ seed << 7) & 0xFFFF
        x ^= x >> 9
        x = (x ^ x << 8) & 0xFFFF
        if x < 0x8000 and not x & _spec.RECLAIM_MASK and (x & _spec.RECLAIM_VALUE_MASK == 0) == value:
            yield seed


def one_call(twin: Twin, block: array, h: int, reward: int = 30000) -> tuple[int, int, int]:
    """One sample from the first state to itself: codes, and all words behind it."""
    made, d_s, d_a = twin.attach(block), block[_spec.H_DIMS] & 15, block[_spec.H_DIMS] >> 4 & 15
    codes = made.act(h, [0] * d_s, array("H", [0] * d_a)), made.observe(h, reward, [0] * d_s)
    return *codes, digest(block)


def near_cells(twin: Twin) -> Iterator[Any]:
    """The best ball of the next state, at the borders of what is near its V cell: this is divided or not."""
    near = 1 << _spec.VALUE_NEAR_SHIFT
    for q in (2000, 2001):
        for far in (-near - 2, -near - 1, -near, -near + 1, near - 2, near - 1, near, near + 1):
            block = new_block(Config(d_s=2, d_a=1, horizon=2))
            step = step_of(block, 1)
            split(block, step, TAG | ZERO + q)
            block[step + _spec.S_V_SLOT], block[step + _spec.S_V_AUX] = TAG | q + far, LOW
            yield q, far, twin.check(block), one_call(twin, block, 0)


def handed_out(twin: Twin) -> Iterator[Any]:
    """The list of free units begins with one of the way that a sample of the paper's mode goes.

    The ball has no record yet. It gets this unit, and the way ends there in what was the ball's slot: a value
    or a word that is no link. Behind the last unit there are words that could be one. Whether the ball is
    divided tells how many samples were met on the way.
    """
    limits = [1, 4, 5, *[_spec.THRESHOLD_NEVER] * 12]
    for dims, chunks in ((1, 1), (2, 2)):
        config = Config(d_s=dims, d_a=dims, horizon=1, paper=1, thresholds=limits)
        for number in range(2 * (1 + chunks)):
            for word in (TAG | ZERO, UNITS, UNITS + 1):
                block = new_block(config, 4 * UNITS + 3)
                way = split(block, step_of(block, 0), word, chunks, levels=2, n=4)
                block[_spec.H_FREE_HEAD], block[_spec.H_FREE_N] = way[number], 1
                block[4 * UNITS :] = array("H", [way[1 + chunks]] * 3)
                yield dims, number, word, one_call(twin, block, 0)


def without_samples(twin: Twin) -> Iterator[Any]:
    """The list of free units begins with the ball of a sample, which needs one for a second cell of counts.

    So the ball loses its samples in the middle of the call. Its error is then the most that there is, and the
    bonuses are about what this is compared with before a ball is divided early.
    """
    for bonus in (32766, 32767, 32768, 32769):
        block = new_block(Config(horizon=1))
        ball = take(block, 1)[0]
        split(block, step_of(block, 0), ball, levels=2)
        record(block, ball, TAG | ZERO, 1, counts=TAG | 0x7001)
        block[_spec.H_FREE_HEAD], block[_spec.H_FREE_N], block[_spec.H_BONUS] = ball, 1, bonus
        yield bonus, one_call(twin, block, 0)


def deep_nodes(twin: Twin) -> Iterator[Any]:
    """V of the other step is deeper than it can be when a node of it is to go, or when a ball is played."""
    for depth in (_spec.LEVEL_MAX - 1, _spec.LEVEL_MAX, _spec.LEVEL_MAX + 2):
        for seed in islice(seeds(value=True), 4):
            block = new_block(Config(horizon=2))
            values(block, step_of(block, 0), depth)
            full(block)
            block[_spec.H_RNG] = seed
            yield depth, seed, one_call(twin, block, 1)
    for seed in islice(seeds(value=False), 16):
        block = new_block(Config(horizon=2))
        values(block, step_of(block, 0), 16)
        leaves = take(block, 4)
        _, below = split(block, step_of(block, 0), TAG)
        fill(block, below, *leaves)
        for leaf in leaves:
            record(block, leaf, TAG | ZERO)
        full(block)
        block[_spec.H_RNG] = seed
        yield seed, one_call(twin, block, 1)


def few_samples(twin: Twin) -> Iterator[Any]:
    """Paper's mode: balls above have fewer samples than their thresholds, so theirs count one by one."""
    config = Config(horizon=1, paper=1)
    for n in range(8, 14):
        block = new_block(config)
        ball = take(block, 1)[0]
        split(block, step_of(block, 0), ball, levels=2)
        record(block, ball, TAG | ZERO, n, 20000)
        made, action = twin.attach(block), array("H", [0])
        for _ in range(4):
            yield n, made.act(0, [0], action), made.observe(0, 30000, [0]), digest(block)


def many_cells(twin: Twin) -> Iterator[Any]:
    """Paper's mode: V has more cells below its nodes than there are units, for nodes are met again."""
    block = new_block(Config(horizon=1, paper=1))
    values(block, step_of(block, 0), 8)
    yield one_call(twin, block, 0), block[step_of(block, 0) + _spec.S_JOB_AT]


def long_chain(twin: Twin) -> Iterator[Any]:
    """Counts that go on in the list of free units are longer than the peak; only a full check sees more."""
    for free in (1, 2, 3, 9):
        block = new_block(Config(horizon=1, paper=1))
        leaf, counts, *rest = take(block, 2 + free)
        split(block, step_of(block, 0), leaf)
        record(block, leaf, TAG, counts=counts)
        fill(block, counts, rest[0], TAG | 1, 0, 0)
        for unit, following in zip(rest, [*rest[1:], 0], strict=True):
            block[4 * unit] = following
        block[_spec.H_FREE_HEAD], block[_spec.H_FREE_N] = rest[0], free
        block[_spec.H_USED_PEAK] -= free
        yield free, twin.check(block), slices(twin, block, 9)


def longest_chain(twin: Twin) -> Iterator[Any]:
    """Paper's mode: counts in a chain of all units that there are, those of the tree among them.

    Its last unit has the only free word, or the only entry of the cell, or is to be halved with the others.
    """
    other, same, many = TAG | 0x4005, TAG | 9, TAG | 0x3FFF
    config = Config(horizon=2, paper=1, freeze=1, thresholds=[1, *[_spec.THRESHOLD_NEVER] * 14])
    words = 4 * (new_block(config)[_spec.H_POOL_AT] + 18)
    for first, last in ((other, 0), (other, same), (many, other)):
        block = new_block(config, words)
        ball, end, *chain = take(block, 16)
        root, below = split(block, step_of(block, 0), ball)
        record(block, root, below, 1, 30000, other)
        record(block, ball, end, 1, 30000, chain[0])
        for unit, following in pairwise([*chain, root]):
            fill(block, unit, following, other, other, other)
        block[4 * chain[0] + 1] = first
        fill(block, end, 0, other, last, other)
        yield first, last, one_call(twin, block, 0)


def high_estimates(twin: Twin) -> Iterator[Any]:
    """Paper's mode: estimates and surpluses beyond what a word holds."""
    for n, more in product((1, 2), range(0, 1024, 128)):
        block = new_block(Config(horizon=31, paper=1, bonus=0), 12 * UNITS)
        ball = take(block, 1)[0]
        root, below = split(block, step_of(block, 0), ball)
        record(block, root, below, n, 0xFFFF)
        record(block, ball, 0xFFFF, 1, counts=TAG | 1)
        values(block, step_of(block, 1), 1)
        block[step_of(block, 1) + _spec.S_V_AUX] = _spec.VALUE_MAX
        block[4 * block[step_of(block, 1) + _spec.S_V_SLOT]] = TAG
        yield n, more, one_call(twin, block, 0, 30000 + more)
    block = new_block(Config(horizon=7, paper=1, bonus=_spec.BONUS_MAX))
    block[step_of(block, 1) + _spec.S_V_SLOT] = TAG
    yield one_call(twin, block, 0)


def header_as_record(twin: Twin) -> Iterator[Any]:
    """The link to the balls of the next step leads to unit 1, and from there to words of the header.

    An unvisited ball there is raised by what the one that is played earns more than the "record" above it.
    """
    for surplus in (0, 1000, 3000):
        block = new_block(Config(horizon=2))
        step, played = step_of(block, 1), take(block, 1)[0]
        record(block, played, TAG | ZERO, reward=0xFFFF)
        fill(block, block[_spec.H_BITS], played, TAG | ZERO + surplus, TAG, TAG)
        block[step + _spec.S_ROOT] = 1
        block[step + _spec.S_V_AUX] = LOW
        yield surplus, one_call(twin, block, 0)


def small_tables(twin: Twin) -> Iterator[Any]:
    """A sharing test that only damage began, in pools about as large as its table."""
    for more in range(-2, 3):
        config = Config(horizon=1)
        pool = new_block(config)[_spec.H_POOL_AT]
        block = new_block(config, 4 * (pool + _spec.SHARE_TABLE_UNITS + more))
        block[_spec.H_SHARE] = _spec.SHARE_TESTING
        yield more, [one_call(twin, block, 0, reward) for reward in (0, 65535, 30000)]


def lost_places(twin: Twin) -> Iterator[Any]:
    """Slices from places that there are not, where the first one of all finds damage: it is what stays."""
    block = new_block(Config(horizon=2))
    block[step_of(block, 0) + _spec.S_V_SLOT] = TAG | _spec.VALUE_MAX
    for place in ((0, 2, 0), (1 << 28, 0, 1), (5, 255, 1)):
        yield place, twin.scrub(block, place)


def handmade(twin: Twin, size: float) -> Iterator[Any]:
    for each in (
        near_cells, handed_out, without_samples, deep_nodes, few_samples, many_cells, long_chain,
        longest_chain, high_estimates, header_as_record, small_tables, lost_places,
    ):  # fmt: skip
        for found in each(twin):
            yield each.__name__, found
