"""What each word of a controller's block is, in words a person can use to find a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec

_V_WORDS = ("slot 0", "slot 1", "aux 0", "aux 1")
_BLOCK_WORDS = ("slot 0", "slot 1", "slot 2", "slot 3")


@cache
def _names(section: str) -> tuple[str, ...]:
    path = Path(str(_spec.__file__)).resolve().parent / "spec.toml"
    return tuple(tomllib.loads(path.read_text(encoding="utf-8"))[section]["words"])


def word_name(block: Sequence[int], index: int) -> str:
    """The name of one word: its header field, threshold, step word, or the kind of unit it belongs to."""
    if index < _spec.H_WORDS:
        return f"header word {_names('header')[index]}"
    steps_at, horizon = block[_spec.H_STEPS_AT], block[_spec.H_DIMS] >> 8
    if index < steps_at:
        return f"threshold of level {index - _spec.H_WORDS}"
    if index < steps_at + horizon * _spec.S_WORDS:
        h, word = divmod(index - steps_at, _spec.S_WORDS)
        return f"step {h} word {_names('step')[word]}"
    if index < 4 * block[_spec.H_POOL_AT]:
        return "padding before the pool"
    return unit_words(block).get(index, "word of a unit never used, or lost")


def unit_words(block: Sequence[int]) -> dict[int, str]:
    """Names of all words in units that can be reached; a damaged block gives what can be read of it."""
    names: dict[int, str] = {}
    for unit, kind, words in _units(block):
        for i, word in enumerate(words):
            names.setdefault(4 * unit + i, f"{kind} (unit {unit}), {word}")
    return names


def _units(block: Sequence[int]) -> Iterator[tuple[int, str, Sequence[str]]]:
    horizon = block[_spec.H_DIMS] >> 8
    seen: set[int] = set()
    for h in range(horizon):
        step = block[_spec.H_STEPS_AT] + h * _spec.S_WORDS
        yield from _partition(block, block[step + _spec.S_ROOT], f"step {h}", seen)
        yield from _values(block, block[step + _spec.S_V_SLOT], f"step {h}", seen)
    table = block[_spec.H_TABLE]
    for i in range(_spec.SHARE_TABLE_UNITS if table else 0):
        yield table + i, "table of the sharing test", ("cell", "outcome", "cell", "outcome")
    unit = block[_spec.H_FREE_HEAD]
    while _new(block, unit, seen):
        yield unit, "free unit", ("next", "empty", "empty", "empty")
        unit = block[4 * unit]


def _new(block: Sequence[int], unit: int, seen: set[int]) -> bool:
    """A link to a unit of the pool that was not met yet."""
    if unit in seen or not block[_spec.H_POOL_AT] <= unit < block[_spec.H_UNITS]:
        return False
    seen.add(unit)
    return True


def _partition(block: Sequence[int], root: int, where: str, seen: set[int]) -> Iterator[Any]:
    dims = block[_spec.H_DIMS]
    chunks = ((dims & 15) + (dims >> 4 & 15) + 1) // 2
    waiting = [(root, 0, 0)]
    while waiting:
        unit, level, chunk = waiting.pop()
        if not _new(block, unit, seen):
            continue
        if chunk == 0:
            yield unit, f"record of level {level}, {where}", _names("record")
            yield from _counts(block, block[4 * unit + _spec.R_COUNTS], f"level {level}, {where}", seen)
            # The first block of a level is below the record; its number is where its bits begin.
            waiting.append((block[4 * unit], level, 1))
            continue
        yield unit, f"routing block {chunk} of level {level}, {where}", _BLOCK_WORDS
        below = (level + 1, 0) if chunk == chunks else (level, chunk + 1)
        waiting += [(block[4 * unit + i], *below) for i in range(4)]


def _counts(block: Sequence[int], head: int, where: str, seen: set[int]) -> Iterator[Any]:
    while _new(block, head, seen):
        yield head, f"counts of {where}", ("entry or next", "entry", "entry", "entry")
        head = block[4 * head]


def _values(block: Sequence[int], root: int, where: str, seen: set[int]) -> Iterator[Any]:
    waiting = [(root, 0)]
    while waiting:
        unit, depth = waiting.pop()
        if _new(block, unit, seen):
            yield unit, f"V node of depth {depth}, {where}", _V_WORDS
            waiting += [(block[4 * unit + side], depth + 1) for side in (0, 1)]
