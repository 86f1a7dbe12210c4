"""What a mutant is put through: every scenario yields results in which two sound cores agree.

`size` scales the runs: Python is a hundred times slower than C.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.exact.model import Config, thresholds
from support.lockstep import CORNERS, Case
from support.replay import Mismatch, Replay, vector_files
from support.twins import CTwin, PythonTwin
from support.used_blocks import DAMAGED
from support.worlds import World

Twin = CTwin | PythonTwin
# Blocks that are damaged; with the longest horizon, header words are larger than most links.
KINDS = DAMAGED | {
    "1+1 long": (1, 1, 31, {"gamma": 1, "share": "off"}, 0),
    "2+1 per step": (2, 1, 2, {"gamma": 1, "share": "off"}, 2000),
}
LIVED = [*((name, 700) for name in KINDS), ("1+1 smallest", 100), ("1+1 smallest", 300), ("2+1 testing", 60)]
"""Blocks that scenarios begin with: kinds and steps."""


def digest(block: array) -> int:
    return zlib.crc32(block)


def fields_of(case: Case) -> dict[str, Any]:
    made = {name: getattr(case, name) for name in vars(Config()) if name != "thresholds"}
    return made | {"thresholds": thresholds(case.gamma, case.phi_num, case.phi_den)}


def recorded(twin: Twin, size: float) -> Iterator[Any]:
    """The streams of tests/vectors; the long ones for C alone."""
    for path in sorted(vector_files(), key=lambda path: path.name.startswith("long-")):
        if size < 0.5 and path.name.startswith("long-"):
            continue
        try:
            yield path.name, Replay(path, twin.name).play()
        except Mismatch as difference:
            yield str(difference).splitlines()[0]


def corners(twin: Twin, size: float) -> Iterator[Any]:
    for name, case in CORNERS.items():
        config = twin.config(fields_of(case))
        words = twin.required_words(config) + case.extra_words
        yield name, words
        block = array("H", [0x1234] * words)
        made = twin.init(config, block)
        yield digest(block)
        for step, codes in enumerate(_play(made, case)):
            if step >= case.steps * size:
                break
            if step % 50 == 0 or any(codes):
                yield step, codes, digest(block)
        yield digest(block), twin.check(block), twin.stats(block)


def _play(made: Any, case: Case) -> Iterator[tuple[int, ...]]:
    """Codes of the calls of one step after the other; wrong ones among them where the case says disorder."""
    world = World(case.world, case.world_seed, case.d_s, case.d_a, case.horizon)
    rng, state, action = Random(case.world_seed), world.start(), array("H", bytes(2 * case.d_a))
    while True:
        for h in range(case.horizon):
            codes = []
            if case.disorder and rng.random() < 0.1:
                wrong = rng.choice((-1, 0, case.horizon - 1, case.horizon, 255))
                codes = [made.observe(wrong, rng.randrange(65536), state), made.act(wrong, state, action)]
            codes.append(made.act(h, state, action))
            reward, state = world.step(h, state, list(action))
            codes.append(made.observe(h, reward, state))
            yield tuple(codes)
        made.end_episode()
        state = world.start() if rng.random() < 0.5 else state


@cache
def used_block(name: str, steps: int = 700) -> tuple[Any, bytes]:
    """A configuration and the words of a sound core after a run with it; made before anything is mutated."""
    from adamb.firmware_model.host import binding
    from adamb.firmware_model.host.options import make_config

    d_s, d_a, horizon, options, extra = KINDS[name]
    config = make_config(d_s, d_a, horizon, options)
    block = array("H", bytes(2 * (binding.required_words(config) + extra)))
    made = binding.init(config, block)
    rng, state, action = Random(name), [0x8000] * d_s, array("H", [0] * d_a)
    for step in range(steps):
        made.act(step % horizon, state, action)
        state = [(action[i % d_a] + rng.randrange(9000)) & 0xFFFF for i in range(d_s)]
        made.observe(step % horizon, rng.randrange(65536), state)
        if step % horizon == horizon - 1:
            made.end_episode()
    fields = {name: getattr(config, name) for name in vars(Config())}
    return fields | {"thresholds": list(config.thresholds)}, block.tobytes()


def slices(twin: Twin, block: array, most: int) -> list[Any]:
    """Verdicts of a pass of the scrub, or of its first slices."""
    place, found = (0, 0, 0), []
    for _ in range(most):
        code, place = twin.scrub(block, place)
        found.append((code, place))
        if code:
            break
    return found


def damaged_words(words: array, rng: Random, many: int) -> Iterator[tuple[int, int]]:
    """(word, new value): single bits all over the used part, values from elsewhere; the header more often."""
    pool, fresh, units = (words[i] for i in (_spec.H_POOL_AT, _spec.H_FRESH, _spec.H_UNITS))
    used, head = 4 * fresh, 4 * pool
    links = [i for i in range(head, used) if pool <= words[i] < fresh] or [head]
    ends = (pool - 1, pool, fresh - 1, fresh, units - 1, units, units + 1, 0x7FFF, 0)
    for i in range(many):
        at = (rng.randrange(head), rng.randrange(used), rng.choice(links))[i % 3]
        if i % 3 == 2:  # a link, to the first and last units that there are and beside them
            yield at, ends[i // 3 % len(ends)]
            continue
        other = (words[rng.randrange(used)], rng.randrange(used // 4), 0, 0xFFFF)[rng.randrange(4)]
        yield at, other if i % 4 == 3 else words[at] ^ 1 << rng.randrange(16)


def verdicts(twin: Twin, size: float) -> Iterator[Any]:
    """Check and scrub of damaged blocks, and of sound ones."""
    for name in KINDS:
        rng, sound = Random(name), array("H", used_block(name)[1])
        yield name, twin.check(sound), twin.stats(sound), slices(twin, sound, int(400 * size) + 20)
        for place in ((1 << 28, 0, 0), (5, 77, 1), (2**32 - 1, 255, 9), (1 << 31, 0, 1), (1 << 27, 0, 0)):
            yield twin.scrub(sound, place)
        lost = array("H", sound)
        lost[lost[_spec.H_STEPS_AT] + _spec.S_V_SLOT] = _spec.TAG | _spec.VALUE_MAX
        for at, word in roots(sound, _spec.TAG).items():
            lost[at] = word
        yield [twin.scrub(lost, place) for place in ((0, 2, 0), (1 << 28, 0, 1), (5, 255, 1))]
        for at in range(4 * sound[_spec.H_POOL_AT] if size > 0.5 else _spec.H_WORDS):
            for bit in range(16) if size > 0.5 and at < _spec.H_WORDS else (at % 16, 15):
                block = array("H", sound)
                block[at] ^= 1 << bit
                yield at, bit, twin.check(block)
        for at, value in damaged_words(sound, rng, int(400 * size)):
            block = array("H", sound)
            block[at] = value
            yield at, value, twin.check(block), twin.stats(block), slices(twin, block, int(40 * size) + 2)


def circle(words: array) -> dict[int, int]:
    """Damage after which all balls under the root are the root: a scan of it ends without a ball."""
    root = words[words[_spec.H_STEPS_AT] + _spec.S_ROOT]
    below = 4 * words[4 * root]
    return {below + i: root for i in range(4)} if words[4 * root] < words[_spec.H_UNITS] else {}


def roots(words: array, link: int) -> dict[int, int]:
    """Damage of the links of all steps to their trees."""
    first, horizon = words[_spec.H_STEPS_AT] + _spec.S_ROOT, words[_spec.H_DIMS] >> 8
    return {first + h * _spec.S_WORDS: link for h in range(horizon)}


def rings(words: array) -> dict[int, int]:
    """Damage after which all counts are behind themselves."""
    used = range(words[_spec.H_POOL_AT], words[_spec.H_FRESH])
    return {4 * unit: unit for unit in {words[4 * each + _spec.R_COUNTS] for each in used} & {*used}}


def poor(words: array, rng: Random) -> dict[int, int]:
    """Damage of most values and surpluses: the least that there is."""
    used = range(4 * words[_spec.H_POOL_AT], 4 * words[_spec.H_FRESH])
    return {i: _spec.TAG for i in used if words[i] & _spec.TAG and rng.random() < 0.7}


def calls(twin: Twin, size: float) -> Iterator[Any]:
    """Calls on damaged blocks: the same words."""
    for name in KINDS:
        fields, sound = used_block(name)
        rng = Random(f"calls {name}")
        words, action = array("H", sound), array("H", [0] * fields["d_a"])
        damages = [{at: value} for at, value in damaged_words(words, rng, int(40 * size) + 2)]
        units = words[_spec.H_UNITS]
        wide = [
            circle(words),
            rings(words),
            roots(words, units),
            roots(words, units + 1),
            poor(words, rng),
            poor(words, rng),
        ]
        for damage in [*wide, *damages]:
            block = array("H", sound)
            made = twin.attach(block)
            for at, value in damage.items():
                block[at] = value
            codes = []
            for step in range(int(30 * size) + 6):
                h, point = step % fields["horizon"], [rng.randrange(65536) for _ in range(fields["d_s"])]
                codes.append(made.act(h, point, action))
                codes.append(made.observe(h, rng.randrange(65536), point[::-1]))
                codes.append(made.end_episode() if h == 0 else action[0])
            yield codes, digest(block)
