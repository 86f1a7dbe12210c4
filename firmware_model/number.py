"""Integer arithmetic shared by the parts; the ranges are those of SPEC 4.9.

C divides by shifting and subtracting because a Cortex-M0 has no division; the quotient is that of `//`.
"""

from ._scratch import T_FRACTION, T_HORIZON
from ._spec import DITHER_FACTOR, DITHER_MASK, H_RNG, INVERSE_ROOT, RECIPROCAL, VALUE_MAX


def random(w):
    x = w[H_RNG]
    x = (x ^ (x << 7)) & 0xFFFF
    x ^= x >> 9
    x = (x ^ (x << 8)) & 0xFFFF
    w[H_RNG] = x
    return x


def shift(total):
    """How far left (or, below zero, right) weights with this total must go for a total of 128 to 255."""
    left = 0
    while total < 128:
        total <<= 1
        left += 1
    while total > 255:
        total >>= 1
        left -= 1
    return left


def shifted(x, left):
    return x << left if left >= 0 else x >> -left


def mean(total, weight):
    """total / weight, the mean of 15-bit values whose weights sum to 124..255."""
    i = (weight - 124) << 1
    return (total >> 8) * (RECIPROCAL[i] | RECIPROCAL[i + 1] << 8) >> 14


def bonus(factor, weight):
    """factor / sqrt(weight / 4), at most 3.1 % too large: the weight is cut to its first bits.

    The most there is without a weight.
    """
    if weight == 0:
        return VALUE_MAX
    right = 15
    while weight < 16:
        weight <<= 2
        right -= 1
    while weight > 63:
        weight >>= 2
        right += 1
    weight = (weight - 16) << 1
    return factor * (INVERSE_ROOT[weight] | INVERSE_ROOT[weight + 1] << 8) >> right


def blend(start, end, part, whole):
    """The point `part/whole` of the way from one value to another; the step is cut towards `start`."""
    if end >= start:
        return start + (end - start) * part // whole
    return start - (start - end) * part // whole


def follow(mean, value, n, salt):
    """A mean of n values after one more.

    The step is dithered so that the mean never freezes: what is cut averages out over successive values and
    salts.
    """
    salt = ((n + salt & DITHER_MASK) * DITHER_FACTOR & 0xFFFF) * n >> 16
    if value >= mean:
        return mean + (value - mean + salt) // n
    return mean - (mean - value + salt) // n


def drift(mean, value, shift, salt):
    """The same with 2^shift values, however many there were."""
    salt = ((salt & DITHER_MASK) * DITHER_FACTOR & 0xFFFF) >> 16 - shift
    if value >= mean:
        return mean + (value - mean + salt >> shift)
    return mean - (mean - value + salt >> shift)


def initial(t, h):
    """The most that can still be earned from step h on."""
    return (t[T_HORIZON] - h) << t[T_FRACTION]
