"""Scenarios of damage that a random flip seldom hits: words at their ends, rings, full pools."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator
from random import Random
from typing import Any

from adamb.firmware_model import _spec
from support.mutants.scenarios import KINDS, Twin, digest, slices, used_block
from support.planted import deep_balls, seal

Damage = dict[int, int]
TAG, WORD_MAX = _spec.TAG, 0xFFFF


def trees(words: array) -> tuple[list[tuple[int, int]], list[int]]:
    """(unit, level) of every record of the trees of a sound block, and the words that are surpluses."""
    bits, found, surpluses, seen = words[_spec.H_BITS], [], [], set()
    chunks = 1 if bits < 16 else 2 if bits < 256 else 3
    pending = [(step + _spec.S_ROOT, 0) for step in steps(words)]
    while pending:
        at, depth = pending.pop()
        unit = words[at]
        if unit & TAG:
            surpluses.append(at)
        if unit & TAG or unit in seen:
            continue
        seen.add(unit)
        if depth % chunks == 0:
            found.append((unit, depth // chunks))
            at, unit = 4 * unit, words[4 * unit]
            if unit & TAG:
                surpluses.append(at)
                continue
        nibble = bits >> 4 * (depth % chunks)
        slots = 1 << ((nibble & 3) + (nibble >> 2 & 3))
        pending += [(4 * unit + slot, depth + 1) for slot in range(slots)]
    return found, surpluses


def records(words: array) -> list[tuple[int, int]]:
    return trees(words)[0]


def steps(words: array) -> list[int]:
    """The first word of every step."""
    first = words[_spec.H_STEPS_AT]
    return [first + h * _spec.S_WORDS for h in range(words[_spec.H_DIMS] >> 8)]


def in_steps(words: array, **values: int) -> Damage:
    """These values in every step."""
    return {
        step + getattr(_spec, f"S_{name}"): value for step in steps(words) for name, value in values.items()
    }


def of_samples(words: array, *numbers: int) -> Damage:
    """Numbers of samples of the records, in turn."""
    units = [unit for unit, _ in records(words)]
    return {4 * unit + _spec.R_N: numbers[i % len(numbers)] for i, unit in enumerate(units)}


def of_counts(words: array, first: int | None, behind: int | None) -> Damage:
    """The links of records to their counts, or those behind; -1 is a ring."""
    made = {}
    for unit, _ in records(words):
        at = 4 * unit + _spec.R_COUNTS
        if words[at] & TAG or words[at] == 0:
            continue
        if first is not None:
            made[at] = first
        elif behind is not None and not words[4 * words[at]] & TAG:
            made[4 * words[at]] = words[at] if behind < 0 else behind
    return made


def of_links(words: array, link: int) -> Damage:
    """The links of records to what is below them."""
    return {4 * unit: link for unit, _ in records(words) if not words[4 * unit] & TAG}


def of_entries(words: array) -> Damage:
    """Counts of a record with one entry: as many as fit, and one less."""
    made = {}
    for i, (unit, level) in enumerate(records(words)):
        at, most = 4 * unit + _spec.R_COUNTS, (1 << 15 - (words[_spec.H_DIMS] & 15) * level) - 1
        if words[at] & TAG:
            made[at] = (words[at] | most) - i % 2
    return made


def node_of_values(words: array, link: int | None = None) -> Damage:
    """V of all steps is one node whose two sides are this link, with actions that differ.

    Without a link they are the node itself, and all is to be done.
    """
    unit = words[_spec.H_FRESH] - 1
    side, jobs = (unit, 0x8000) if link is None else (link, 0)
    node = dict(zip(range(4 * unit, 4 * unit + 4), (side, side, 0x4000, 0xC000), strict=True))
    return in_steps(words, V_SLOT=unit, JOB_CELL=jobs, JOB_AT=0) | node


def wide(words: array) -> Iterator[Damage]:
    """Damages of many words at once."""
    pool, units, most = words[_spec.H_POOL_AT], words[_spec.H_UNITS], _spec.N_MAX
    full = {_spec.H_FRESH: units, _spec.H_FREE_HEAD: 0, _spec.H_FREE_N: 0}
    root = words[steps(words)[0] + _spec.S_ROOT]
    memory = 1 << _spec.MEMORY_SHIFT
    yield full
    yield full | of_samples(words, most, 1)
    yield full | of_samples(words, most)
    yield of_samples(words, 0, 0, 0, 1)
    yield of_samples(words, most, 1 << _spec.CREDIT_SHIFT | most)
    for n in (memory - 1, memory, memory + 1):
        yield of_samples(words, n) | in_steps(words, NOISE=0)
    yield {step + _spec.S_JOB_CELL: 0x6001 + 2 * i for i, step in enumerate(steps(words))}
    for effect, spread in ((0, 0), (0, 900), (1, WORD_MAX), (3, 7), (WORD_MAX, 1)):
        yield in_steps(words, EFFECT=effect, SPREAD=spread)
    levels = (words[_spec.H_SCALE] >> 8) + 1
    for first in (1, 2):
        high = [_spec.THRESHOLD_MAX + (level > first) for level in range(levels)]
        yield {_spec.H_WORDS + level: high[level] for level in range(first, levels)}
    for unit in (root, words[4 * root]):
        yield {_spec.H_FREE_HEAD: unit, _spec.H_FREE_N: 3}
    for link in (pool - 1, pool, units - 1, units):
        yield of_counts(words, link, None)
        yield of_counts(words, None, link)
        yield full | of_links(words, link)
    yield of_counts(words, None, -1)
    yield node_of_values(words)
    yield full | node_of_values(words)
    for draws in range(1, 9):  # some reclaim V before the calls mend it
        yield full | node_of_values(words, units) | {_spec.H_RNG: 0x1111 * draws}
    yield full | of_entries(words)
    tagged = [i for i in range(4 * pool, 4 * words[_spec.H_FRESH]) if words[i] & TAG]
    for value in (TAG, WORD_MAX):
        yield full | dict.fromkeys(tagged, value)
    rich = dict.fromkeys(tagged, WORD_MAX) | in_steps(words, V_SLOT=WORD_MAX)
    yield rich | dict.fromkeys(trees(words)[1], TAG)
    yield full | rich | dict.fromkeys(trees(words)[1], TAG)
    rng = Random("scattered")
    for effect in (0, 9, WORD_MAX):
        scattered = {i: TAG | rng.randrange(_spec.VALUE_MAX) for i in tagged if i not in trees(words)[1]}
        yield scattered | in_steps(words, EFFECT=effect, SPREAD=WORD_MAX)
        yield full | scattered | dict.fromkeys(trees(words)[1], TAG)
    for share in (_spec.SHARE_OFF, _spec.SHARE_ON, _spec.SHARE_TESTING):
        yield {_spec.H_SHARE: share, _spec.H_TABLE: pool}


def damaged_calls(twin: Twin, size: float) -> Iterator[Any]:
    """Verdicts on such blocks, and calls with rewards far from what they know."""
    for name in KINDS:
        fields, sound = used_block(name)
        words, rng = array("H", sound), Random(f"damaged {name}")
        action = array("H", [0] * fields["d_a"])
        for number, damage in enumerate(wide(words)):
            block = array("H", sound)
            made = twin.attach(block)
            for at, value in damage.items():
                block[at] = value
            yield name, number, twin.check(block), slices(twin, block, 12)
            codes = []
            for step in range(int(30 * size) + 8):
                h, point = step % fields["horizon"], [rng.randrange(65536) for _ in range(fields["d_s"])]
                codes.append(made.act(h, point, action))
                codes.append(made.observe(h, rng.choice((0, 30000, WORD_MAX)), point[::-1]))
                codes.append(made.end_episode() if h == 0 else action[0])
            yield codes, digest(block)


def headers(twin: Twin, size: float) -> Iterator[Any]:
    """Words of header, thresholds and steps at their ends; values at and above what can be earned."""
    for name in KINDS:
        sound = array("H", used_block(name)[1])
        for damage in _of_header(sound):
            block = array("H", sound)
            for at, value in damage.items():
                block[at] = value & WORD_MAX
            yield damage, twin.check(block), twin.scrub(block, (0, 0, 0))[0]
        for unit, level in records(sound)[:40]:
            for entry in (0, 1, TAG, TAG | 1, 1 << max(0, 15 - (sound[_spec.H_DIMS] & 15) * level) | TAG):
                block = array("H", sound)
                block[4 * unit + _spec.R_COUNTS] = entry & WORD_MAX
                yield level, entry, twin.check(block)
        yield from _of_values(twin, used_block(name)[0])
    yield from forged_dims(twin)
    yield twin.check(met_twice())


def _of_header(words: array) -> Iterator[Damage]:
    for at in range(_spec.H_WORDS):
        for value in (0, 1, words[at] - 1, words[at] + 1, WORD_MAX):
            yield {at: value}
    most_bonus = _spec.BONUS_MAX >> 12 - (words[_spec.H_SCALE] & 0xFF)
    ends = {"FLAGS": 2 * _spec.FLAG_AUTO_BONUS, "BONUS": most_bonus, "SHARE": _spec.SHARE_TESTING}
    ends |= dict.fromkeys(("SAME_N", "OTHER_N"), _spec.SHARE_COUNT_MAX)
    for name, end in ends.items():
        for value in (end - 1, end, end + 1):
            yield {getattr(_spec, f"H_{name}"): value}
    first, after = _spec.H_WORDS, words[_spec.H_STEPS_AT]
    for at in range(first, after):
        before = words[at - 1] if at > first else 1
        yield {at: before - 1}
        for value in (_spec.THRESHOLD_MAX, _spec.THRESHOLD_MAX + 1, WORD_MAX):
            yield dict.fromkeys(range(at, after), value)
    for step in steps(words):
        for word in (_spec.S_STATE, _spec.S_ACTION, _spec.S_LAST, _spec.S_JOB_AT, _spec.S_JOB_CELL):
            for value in (1, 2, words[step + word] ^ 1, 0x8000, WORD_MAX):
                yield {step + word: value}


def _of_values(twin: Twin, fields: dict[str, Any]) -> Iterator[Any]:
    """One cell of V in a new block, with all that can be earned from its step on, and with more."""
    config = twin.config(fields)
    block = array("H", bytes(2 * twin.required_words(config)))
    twin.init(config, block)
    for h, step in enumerate(steps(block)):
        slot, most = step + _spec.S_V_SLOT, (fields["horizon"] - h) << (block[_spec.H_SCALE] & 0xFF)
        before = block[slot]
        for value in (most - 1, most, most + 1, _spec.VALUE_MAX):
            block[slot] = TAG | value
            yield h, value, twin.check(block), slices(twin, block, 2)
        block[slot] = before


def forged_dims(twin: Twin) -> Iterator[Any]:
    """New blocks in which all fits dimensions, horizons and levels, those that there are not among them."""
    fields = used_block("1+1 smallest")[0]
    sound = array("H", bytes(2 * twin.required_words(twin.config(fields))))
    twin.init(twin.config(fields), sound)
    most, levels = _spec.HORIZON_MAX, (0, 1, 3, 4, 5, 7, 8, _spec.LEVEL_MAX, _spec.LEVEL_MAX + 1)
    for d_s, d_a in itertools.product(range(5), range(5)):
        for horizon, finest in itertools.product((0, 1, most, most + 1), levels):
            block = forged(sound, d_s, d_a, horizon, finest)
            yield d_s, d_a, horizon, finest, twin.check(block), twin.scrub(block, (0, 0, 0))[0]
    for units in (_spec.UNITS_MAX, _spec.UNITS_MAX + 1):
        yield units, twin.check(forged(sound, 1, 1, 1, 1, 4 * units))


def forged(sound: array, d_s: int, d_a: int, horizon: int, finest: int, words: int = 2040) -> array:
    """The words as init would write them, were it asked to; the rest of the header is of a sound block."""
    from adamb.firmware_model.code import division
    from adamb.firmware_model.config import fraction_bits

    block = array("H", sound[: _spec.H_WORDS]) + array("H", bytes(2 * (words - _spec.H_WORDS)))
    first = _spec.H_WORDS + finest + 1
    block[_spec.H_DIMS] = d_s | d_a << 4 | horizon << 8
    block[_spec.H_SCALE] = finest << 8 | fraction_bits(horizon)
    block[_spec.H_BITS] = division(d_s, d_a) & WORD_MAX
    block[_spec.H_STEPS_AT], block[_spec.H_UNITS] = first, len(block) // 4
    block[_spec.H_POOL_AT] = block[_spec.H_FRESH] = first + horizon * _spec.S_WORDS + 3 >> 2
    for level in range(finest + 1):
        block[_spec.H_WORDS + level] = 1
    for step in steps(block):
        block[step + _spec.S_ROOT] = block[step + _spec.S_V_SLOT] = TAG
        block[step + _spec.S_V_AUX] = (1 << d_a) - 1 << 16 - d_a & WORD_MAX
    seal(block)
    return block


def met_twice() -> array:
    """A ball of the finest level with a link to a block that is met already: all sums are right."""
    block = deep_balls(1)
    last = block[_spec.H_FRESH] - 2
    block[4 * last + _spec.R_LINK] = block[_spec.H_POOL_AT] + 1
    block[_spec.H_FRESH] -= 1
    block[_spec.H_USED_PEAK] -= 1
    return block
