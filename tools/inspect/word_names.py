"""Names of the words of a controller's block, for a person who looks for a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from adamb.firmware_model import _spec
from adamb.firmware_model.host.reader import BlockView, DamagedBlock, Use


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
    if index < steps_at + (horizon + 1) * _spec.S_WORDS:
        h, word = divmod(index - steps_at, _spec.S_WORDS)
        return f"{_step(h, horizon)} word {_names('step')[word]}"
    if index < 4 * block[_spec.H_POOL_AT]:
        return "padding before the pool"
    return unit_words(block).get(index, "word of a unit never used, or lost")


def unit_words(block: Sequence[int]) -> dict[int, str]:
    """Names of all words in units that can be reached; a damaged block gives what can be read of it."""
    try:
        units = BlockView(block, partial=True).all_units(partial=True)
    except DamagedBlock:
        return {}
    names: dict[int, str] = {}
    for unit, use in units.items():
        kind, words = _kind(use, block[_spec.H_DIMS] >> 8)
        names |= {4 * unit + i: f"{kind} (unit {unit}), {word}" for i, word in enumerate(words)}
    return names


def _step(h: int, horizon: int) -> str:
    return f"step {h}" if h < horizon else "held step"


def _kind(use: Use, horizon: int) -> tuple[str, Sequence[str]]:
    where = f"level {use.level}, {_step(use.h, horizon)}"
    return {
        "records": (f"record of {where}", _names("record")),
        "counts": (f"counts of {where}", ("entry or next", "entry", "entry", "entry")),
        "routing": (f"routing block {use.chunk} of {where}", ("slot 0", "slot 1", "slot 2", "slot 3")),
        "values": (f"V node of depth {use.level}, step {use.h}", ("slot 0", "slot 1", "aux 0", "aux 1")),
        "sharing test": ("table of the sharing test", ("cell", "outcome", "cell", "outcome")),
        "free": ("free unit", ("next", "empty", "empty", "empty")),
    }[use.kind]
