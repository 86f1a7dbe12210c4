"""SPEC 2 and SPEC 4: codes, rounding and tables, on integers without a width.

Written from the text alone; the tables are computed from their formulas, not read from `_spec.py`, so that a
wrong generated table cannot hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from adamb.firmware_model import _spec as spec

CODE_BITS = 16
COORDINATE_BITS = {1: 16, 2: 8, 3: 5}

RECIPROCAL = [round(Fraction(1 << 22, total)) for total in range(124, 256)]
INVERSE_ROOT = [isqrt((1 << 32) // m) for m in range(16, 64)]


def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))


def encode(point: Sequence[int]) -> int:
    """A point as one left-aligned word, the coarsest bit of the first coordinate first."""
    depth = COORDINATE_BITS[len(point)]
    code = 0
    for i in range(depth):
        for x in point:
            code = (code << 1) | ((x >> (15 - i)) & 1)
    return code << (CODE_BITS - depth * len(point))


def decode(code: int, d: int) -> list[int]:
    """The lowest point with this code."""
    point = [0] * d
    for i in range(COORDINATE_BITS[d]):
        for j in range(d):
            point[j] |= ((code >> (15 - i * d - j)) & 1) << (15 - i)
    return point


def field(code: int, start: int, width: int) -> int:
    """`width` bits of a code from bit `start` on, counted from the coarsest."""
    return (code >> (CODE_BITS - start - width)) & ((1 << width) - 1)


def first_code(cell: int, depth: int) -> int:
    return cell << (CODE_BITS - depth)


def centre(cell: int, bits: int, d_a: int) -> int:
    """The code in the middle of the action cell given by its first bits."""
    return first_code(cell, bits) | (((1 << d_a) - 1) << (CODE_BITS - bits - d_a))


def xorshift(x: int) -> int:
    x ^= (x << 7) & 0xFFFF
    x ^= x >> 9
    return x ^ ((x << 8) & 0xFFFF)


def toward(start: int, to: int, distance: int) -> int:
    return start + distance if to > start else start - distance


def blend(start: int, to: int, part: int, whole: int) -> int:
    return toward(start, to, (abs(to - start) * part) // whole)


def dithered_mean(mean: int, value: int, n: int, salt: int) -> int:
    """A mean of n values after one more; dithered, so that it never freezes."""
    dither = ((((n + salt) & spec.DITHER_MASK) * spec.DITHER_FACTOR) & 65535) * n >> 16
    return toward(mean, value, (abs(value - mean) + dither) // n)


def moving_average(mean: int, value: int, s: int, salt: int) -> int:
    """A mean of 2^s values after one more, however many there were."""
    dither = (((salt & spec.DITHER_MASK) * spec.DITHER_FACTOR) & 65535) >> (16 - s)
    return toward(mean, value, (abs(value - mean) + dither) >> s)


def finer(code: int, centre: int, d_a: int) -> bool:
    """Is the code that of a smaller cell within the action cell around the centre?"""
    low = centre & -centre
    return code & (low - 1) != 0 and code ^ centre < low << d_a


def shift(total: int) -> int:
    """The left shift (negative: right) that brings a positive weight into 128 … 255."""
    s = 0
    while total < 128:
        total, s = total * 2, s + 1
    while total > 255:
        total, s = total >> 1, s - 1
    return s


def shifted(x: int, s: int) -> int:
    return x << s if s >= 0 else x >> -s


def mean(total_value: int, total: int, table: Sequence[int] = RECIPROCAL) -> int:
    return ((total_value >> 8) * table[total - 124]) >> 14


def bonus(c: int, weight: int, table: Sequence[int] = INVERSE_ROOT) -> int:
    """c / sqrt(samples) for a weight in quarter samples."""
    if weight == 0:
        return spec.VALUE_MAX
    s = 15
    while weight < 16:
        weight, s = weight * 4, s - 1
    while weight > 63:
        weight, s = weight // 4, s + 1
    return (c * table[weight - 16]) >> s


def fraction_bits(horizon: int) -> int:
    return 12 if horizon <= 7 else 11 if horizon <= 15 else 10


def chunks(d_s: int, d_a: int) -> list[tuple[int, int]]:
    """(state bits, action bits) of each routing block of a level."""
    out = []
    for c in range((d_s + d_a + 1) // 2):
        s = clamp(d_s - 2 * c, 0, 2)
        out.append((s, min(2, d_s + d_a - 2 * c) - s))
    return out


def finest_level(thresholds: Sequence[int], d_s: int, d_a: int, early: bool) -> int:
    limit = spec.LEVEL_MAX // max(d_s, d_a)
    never = [level for level in range(limit) if thresholds[level] > spec.THRESHOLD_MAX]
    configured = min([limit, *never])
    return min(limit, configured + spec.FINEST_EXTRA) if early and d_s + d_a == 2 else configured
