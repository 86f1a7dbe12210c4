"""How many flipped bits of a block in use are found: `python tests flips` prints it by the kind of word.

Every configuration learns for a while; then one bit of a copy flips, the block is checked, and a pass of the scrub
looks at it. That calls on a damaged block come back and stay inside is what the fuzzer and the proofs are for.
"""

from __future__ import annotations

import argparse
import random
from array import array
from collections.abc import Iterator
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.exact.model import HEADER_WORDS
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import make_config
from adamb.firmware_model.host.reader import BlockView
from support.used_blocks import play

# d_s, d_a, horizon, options, words above the smallest block, steps before the first flip.
CONFIGS: list[tuple[int, int, int, dict[str, Any], int, int]] = [
    (1, 1, 5, {}, 200, 6000),
    (1, 1, 5, {}, 4000, 3000),
    (1, 1, 5, {"share": "off"}, 300, 6000),
    (1, 1, 5, {"mode": "paper", "phi": 1}, 400, 4000),
    (1, 1, 1, {"share": "off", "gamma": 1}, 0, 2000),
    (2, 2, 5, {"share": "on"}, 900, 8000),
    (2, 2, 3, {"share": "off", "action": "random", "gamma": 1}, 9000, 5000),
    (2, 2, 3, {"mode": "paper", "phi": 1, "share": "on"}, 900, 2500),
    (3, 3, 4, {"share": "on", "when_full": "freeze", "gamma": 1}, 1200, 5000),
    (2, 1, 16, {"action": "random"}, 1000, 40),
]
SCRUBBED_UNITS = 4  # of the free list: FREE_UNITS of adamb_guard.c
SEALED, CONFIGURED, POOL, SUMS, LINKS = (
    "sealed header", "rest of the configuration", "pool words of the header", "sums and counters", "links"
)  # fmt: skip
NEXT_FREE, OTHER_FREE, MEANS, VALUES = "next free units", "other free units", "means of values", "values of states"
SURPLUSES, ACTIONS, COUNTS, REWARDS = "surpluses", "action codes", "counts", "mean rewards"
STEPS, TABLE, UNUSED = "step words", "table of the sharing test", "unused words"
IN_HEADER = (
    dict.fromkeys(("magic", "hash", "units", "dims", "scale", "pool_at"), SEALED)
    | dict.fromkeys(("bits", "flags", "steps_at", "bonus"), CONFIGURED)
    | dict.fromkeys(("rng", "free_head", "free_n", "fresh", "used_peak", "share", "table", "splits"), POOL)
)
KINDS = (
    SEALED, CONFIGURED, POOL, SUMS, LINKS, NEXT_FREE, OTHER_FREE, MEANS, VALUES, SURPLUSES, ACTIONS, COUNTS, REWARDS,
    STEPS, TABLE, UNUSED,
)  # fmt: skip


def kinds_of(w: array) -> list[str]:
    """The kind of every word of a sound block."""
    found = [UNUSED] * len(w)
    first = w[_spec.H_STEPS_AT]
    found[: len(HEADER_WORDS)] = [IN_HEADER.get(name, SUMS) for name in HEADER_WORDS]
    found[len(HEADER_WORDS) : first] = [CONFIGURED] * (first - len(HEADER_WORDS))

    def slot(at: int, beside: int | None = None) -> None:
        """A slot of a partition; of V, with the word `beside` it that belongs to it."""
        tagged = w[at] & _spec.TAG
        if beside is None:
            found[at] = SURPLUSES if tagged else LINKS
        else:
            found[at], found[beside] = (VALUES, ACTIONS) if tagged else (LINKS, MEANS)

    view = BlockView(w)
    for h in range(view.horizon + 1):
        step = first + h * _spec.S_WORDS
        found[step : step + _spec.S_WORDS] = [STEPS] * _spec.S_WORDS
        slot(step + _spec.S_V_SLOT, step + _spec.S_V_AUX)
        if h in (0, view.horizon) or not view.shared:
            slot(step + _spec.S_ROOT)
    free, unit = [], w[_spec.H_FREE_HEAD]
    while unit:
        free.append(unit)
        unit = w[4 * unit]
    for unit, use in view.all_units().items():
        at = 4 * unit
        if use.kind == "records":
            found[at + 1 : at + 4] = COUNTS, REWARDS, COUNTS
            slot(at)
            if w[at + _spec.R_COUNTS] and not w[at + _spec.R_COUNTS] & _spec.TAG:
                found[at + _spec.R_COUNTS] = LINKS
        elif use.kind == "counts":
            found[at : at + 4] = [COUNTS] * 4
            if w[at] and not w[at] & _spec.TAG:
                found[at] = LINKS
        elif use.kind == "routing":
            bits = (view.d_s if use.h < view.horizon else 0) + view.d_a - 2 * (use.chunk - 1)
            for each in range(at, at + min(4, 1 << bits)):
                slot(each)
        elif use.kind == "values":
            slot(at, at + 2)
            slot(at + 1, at + 3)
        else:
            kind = TABLE if use.kind == "sharing test" else NEXT_FREE if unit in free[:SCRUBBED_UNITS] else OTHER_FREE
            found[at : at + 4] = [kind] * 4
    return found


def scrub_finds(pointer: Any, words: int) -> bool:
    """Whether a whole pass in slices, as they come between calls, finds damage."""
    place, code = binding.ffi.new("adamb_place *"), 0
    while code == 0:
        code = binding.lib.adamb_scrub(pointer, words, place)
    return bool(code < 0)


def flipped(number: int, flips: int, seed: int) -> Iterator[tuple[str, bool, bool]]:
    """Kind of word, found by the check, found by the scrub: of so many flips in one configuration."""
    d_s, d_a, horizon, options, extra, steps = CONFIGS[number]
    given = binding.c_config(make_config(d_s, d_a, horizon, options, seed=seed))
    words = binding.lib.adamb_required_words(given) + extra
    block, rng = array("H", bytes(2 * words)), random.Random(f"{number} {seed}")
    pointer = binding.ffi.from_buffer("uint16_t[]", block)
    assert binding.lib.adamb_init(given, pointer, words) == 0
    for flip in range(flips):
        if flip % 500 == 0:  # flips shall meet different blocks
            play(pointer, given, 200 if flip else steps, seed=rng.randrange(1 << 30))
            assert binding.lib.adamb_check(pointer, words) == 0 and not scrub_finds(pointer, words)
            sound, kinds = block[:], kinds_of(block)
            used, head = 4 * block[_spec.H_FRESH], 4 * block[_spec.H_POOL_AT]
        word = rng.randrange(head if rng.random() < 0.25 else words if rng.random() < 0.06 else used)
        block[word] ^= 1 << rng.randrange(16)
        yield kinds[word], binding.lib.adamb_check(pointer, words) != 0, scrub_finds(pointer, words)
        block[word] = sound[word]


def shares(flips: int, seed: int) -> dict[str, tuple[int, int, int]]:
    """Of every kind of word the flips, and how many of them the check and a pass of the scrub found."""
    found = dict.fromkeys(KINDS, (0, 0, 0))
    for number in range(len(CONFIGS)):
        for kind, check, scrub in flipped(number, -(-flips // len(CONFIGS)), seed):
            made = found[kind]
            found[kind] = made[0] + 1, made[1] + check, made[2] + scrub
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| word | flips | found by the check | by a pass of the scrub |", "|---|---:|---:|---:|", sep="\n")
    for kind, (made, check, scrub) in shares(options.flips, options.seed).items():
        print(f"| {kind} | {made:,} | {100 * check / made:.1f} % | {100 * scrub / made:.1f} % |")
    print(f"\n{options.flips:,} flips, seed {options.seed}")
    return 0
