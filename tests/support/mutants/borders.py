"""Scenarios of ends: refused configurations and calls, counters, sealed words, units, texts."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator
from random import Random
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.exact.model import Config
from support.mutants.scenarios import KINDS, Twin, digest, slices, used_block
from support.planted import BALANCED, SEALED, balanced_block, deep_balls, deep_values, seal
from support.twins import CTwin

FIELDS = vars(Config())


def refusals(twin: Twin, size: float) -> Iterator[Any]:
    """Fields one beyond their limits, thresholds, sizes, arguments: codes, and what the block holds then."""
    values = {"d_s": (0, 1, 3, 4), "d_a": (0, 3, 4), "horizon": (0, 1, 7, 8, 15, 16, 31, 32), "share": (0, 2, 3)}
    values |= dict.fromkeys(("mode", "split_counts", "when_full", "random_action", "detect", "auto_bonus"), (0, 1, 2))
    values |= {"bonus": (0, 32767, 32768), "seed": (0, 65535)}
    table = list(FIELDS["thresholds"])
    values["thresholds"] = (
        [0, *table[1:]], [1] * 15, [2, 1, *[9] * 13], [9] * 14 + [8], [8190] * 15, [8191] * 15, [65535] * 15,
        [1, 2, 3] + [8190] * 2 + [8191] * 10, [*range(1, 15), 65535],
    )  # fmt: skip
    for name, tried in values.items():
        for value in tried:
            fields = FIELDS | {name: value}
            config = twin.config(fields)
            required = twin.required_words(config)
            yield name, value, required
            for words in (required - 1, required, required + 7, 131_068, 131_080):
                block = array("H", [0x1234] * max(words, 0))
                made = twin.init(config, block)
                yield words, made if isinstance(made, int) else 0, digest(block)
                if words >= required and (required < 0 or name != "horizon" or size < 0.5):
                    break
    for extra in range(0, 4 * _spec.SHARE_TABLE_UNITS + 16, 2):  # with and without room for the sharing test
        config = twin.config(FIELDS | {"share": 2})
        block = array("H", bytes(2 * (twin.required_words(config) + extra)))
        twin.init(config, block)
        yield extra, digest(block)
    for gamma, numerator, denominator in [(1, 1, 1), (2, 5, 1), (3, 7, 3), (14, 1, 2), (1, 65535, 1), (5, 8190, 1)]:
        yield twin.thresholds(gamma, numerator, denominator)
    yield from arguments(twin)


def of_python(twin: Twin) -> Iterator[Any]:
    """What C leaves to its caller: a configuration without fields, and how long a block is."""
    python = None if isinstance(twin, CTwin) else twin.module("core")
    yield (list(python.Config().thresholds) if python else twin.thresholds(_spec.DEFAULT_GAMMA, _spec.DEFAULT_PHI, 1))
    block = array("H", used_block("1+1")[1])
    for words in (0, _spec.H_WORDS, 4 * block[_spec.H_UNITS] - 1):
        yield python.attach(block[:words]) if python else _spec.ERR_BLOCK
    for words in (_spec.H_WORDS, _spec.H_WORDS + 1):  # as short as the header says that they are
        short = block[:words]
        short[_spec.H_UNITS] = words // 4
        seal(short)
        yield python.attach(short) == _spec.ERR_BLOCK if python else words == _spec.H_WORDS
    one = array("H", used_block("1+1 smallest")[1])  # it has one step
    for flipped in (0, 1):
        one[_spec.H_MAGIC] ^= flipped
        yield python.attach(one) == _spec.ERR_BLOCK if python else bool(flipped)


def arguments(twin: Twin) -> Iterator[Any]:
    yield from of_python(twin)
    fields, sound = used_block("2+1 testing")
    block, action = array("H", sound), array("H", [7])
    made = twin.attach(block)
    for h in (-1, 0, fields["horizon"] - 1, fields["horizon"], 255, 2**31 - 1):
        yield h, made.act(h, [1, 2], action), made.observe(h, 5, [3, 4]), made.observe(h, 5, [3, 4])
        yield list(action), digest(block)
    yield twin.wrong_points(array("H", sound)), digest(block)
    for words in (0, 1, _spec.H_WORDS - 1, _spec.H_WORDS, _spec.H_WORDS + 1, len(block) // 2):
        yield words, twin.check(block[:words]), twin.scrub(block[:words], (0, 0, 0))[0]


def counters(twin: Twin, size: float) -> Iterator[Any]:
    """Calls with every counter near its end."""
    named = (
        "REFUSED",
        "NO_ROOM",
        "RECLAIMS",
        "SATURATIONS",
        "RESTARTS",
        "SEEN",
        "SINCE",
        "OTHER_TOTAL",
        "EPISODES",
        "RETURN_SUM",
    )
    for name, (d_s, d_a, horizon, *_) in KINDS.items():
        block, rng = array("H", used_block(name)[1]), Random(name)
        for word in named:
            block[getattr(_spec, f"H_{word}")] = 0xFFFE
        block[_spec.H_EPISODES_HIGH] = 0xFFFF
        made, action = twin.attach(block), array("H", [0] * d_a)
        for step in range(int(120 * size) + 20):
            h, point = step % horizon, [rng.randrange(65536) for _ in range(d_s)]
            yield made.act(h, point, action), made.observe(h, rng.choice((0, 65535)), point)
            if h + 1 == horizon:
                yield made.end_episode(), digest(block), twin.stats(block)


def sealed(twin: Twin, size: float) -> Iterator[Any]:
    """Headers that no init writes, with the seal that they would have."""
    for name in KINDS:
        sound = array("H", used_block(name)[1])
        for word, change in itertools.product(SEALED, (-0x100, -0x10, -1, 1, 0x10, 0x100, 0x700, 0x1F00)):
            block = array("H", sound)
            block[word] = block[word] + change & 0xFFFF
            seal(block)
            said = twin.check(block), twin.scrub(block, (0, 0, 0))
            inside = 4 * block[_spec.H_UNITS] <= len(block)  # only Python knows how long an array is
            yield word, change, said, twin.snapshot_bytes(block) if inside else None


def planted(twin: Twin, size: float) -> Iterator[Any]:
    """Damage that only one comparison of the check sees."""
    for beyond in (-1, 0, 1, 2):
        blocks = [deep_balls(beyond), *(deep_values(beyond, side) for side in (0, 1))]
        yield beyond, [(twin.check(block), slices(twin, block, 99)) for block in blocks]
    for name in BALANCED:
        yield name, [twin.check(block) for block in balanced_block(name)]


def judgements(twin: Twin, size: float) -> Iterator[Any]:
    """Ends of episodes whose sums are at, and one beside, what the sharing test and the detector compare."""
    rng = Random("judgements")
    for name, steps in (("1+1", 700), ("2+1 testing", 60), ("1+1 per step", 700)):
        sound = used_block(name, steps)[1]
        for _ in range(int(500 * size)):
            block, words = array("H", sound), _judged_words(rng)
            for word, value in words.items():
                block[getattr(_spec, f"H_{word}")] = value
            yield twin.attach(block).end_episode(), digest(block), words


def _judged_words(rng: Random) -> dict[str, int]:
    """Header words that an end of an episode looks at."""
    least, pairs, most = _spec.SHARE_SAME_MIN, _spec.SHARE_PAIRS_MIN, _spec.SHARE_PAIRS_MAX
    same_n = rng.choice((0, least - 1, least, least + 1, 20, 255))
    other_n = rng.choice((0, pairs - 1, pairs, pairs + 1, 200, 255))
    words = {"SAME_N": same_n, "OTHER_N": other_n, "OTHER_TOTAL": rng.choice((0, most - 1, most, most + 1))}
    for kind in ("REWARD", "NEXT"):
        factor, margin = (getattr(_spec, f"SHARE_{kind}_{name}") for name in ("FACTOR", "MARGIN"))
        words[f"SAME_{kind}"] = same = rng.randrange(same_n * 9 + 1)
        border = (factor * same + margin * same_n) * other_n // max(1, same_n)
        words[f"OTHER_{kind}"] = min(max(border + rng.choice((-5, -1, 0, 1, 2, 30)), 0), 65535)
    mean, dev = rng.choice((0, 63, 64, 4000, 20000, 65535)), rng.choice((0, 1, 40, 300, 2000, 65535))
    alarm = _spec.DETECT_ALARM * max(dev, mean >> _spec.DETECT_LEAST_SHIFT)
    drop = min(max(alarm + rng.choice((-400, -1, 0, 1, 200)), 0), 65535)
    words |= {
        "HELD": rng.choice((0, 1)),
        "HELD_MEAN": mean,
        "STEPS_MEAN": mean,
        "RETURN_DEV": dev,
        "HELD_N": rng.choice((0, 1, 2, 3, 255, 256)),
        "STEPS_N": rng.choice((0, 1, 2, 3, 255, 256)),
        "DROP": drop,
        "SEEN": rng.choice((0, 1, 5, 6, 400)),
    }
    warm = _spec.DETECT_WARMUP
    words["SINCE"] = rng.choice((0, warm - 1, warm, warm + 1, 255, 256, 65535))
    words["RETURN_SUM"] = min(mean + rng.randrange(3), 65535) if rng.random() < 0.5 else 9
    return words


def units(twin: Twin, size: float) -> Iterator[Any]:
    for zero, full in [(5, 5), (0, 65536), (65535, -1), (-(2**31), 2**31 - 1), (0, 65535), (65535, 0), (-7, 993)]:
        made = twin.unit(zero, full)
        if isinstance(made, int):
            yield zero, full, made
            continue
        ends = [zero - 1, zero, zero + 1, full - 1, full, full + 1, (zero + full) // 2, -(2**29), 2**29]
        yield [(made.code(value), made.outside) for value in ends], made.out_of_range
        yield ([made.value(code) for code in range(0, 65536, 97)], [made.value(code) for code in (1, 65534, 65535)])
        made.out_of_range = 2**30 - 2
        yield [(made.code(zero - 5), made.code(full + 5), made.out_of_range) for _ in range(2)]


def texts(twin: Twin, size: float) -> Iterator[Any]:
    for code in range(-10, 3):
        if twin.name == "python":
            yield twin.module("check").error_text(code)  # type: ignore[union-attr]
        else:
            binding = twin.binding  # type: ignore[union-attr]
            yield binding.ffi.string(binding.lib.adamb_error_text(code)).decode()
