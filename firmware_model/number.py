"""Integer arithmetic shared by the parts, and points as codes.

The ranges are those of SPEC 4.9. C divides by shifting and subtracting because a Cortex-M0 has no division;
the quotient is that of `//`. Codes are left-aligned and interleaved, of 16 bits: the first bits are the
coarsest cell.
"""

# isort: off
from ._scratch import C_FRACTION, C_HORIZON
from ._spec import DITHER_FACTOR, DITHER_MASK, INVERSE_ROOT, RECIPROCAL, VALUE_MAX
from ._spec import H_RNG

# isort: on


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


def dithered_mean(mean, value, n, salt):
    """A mean of n values after one more.

    The step is dithered so that the mean never freezes: what is cut averages out over successive values and
    salts.
    """
    salt = ((n + salt & DITHER_MASK) * DITHER_FACTOR & 0xFFFF) * n >> 16
    if value >= mean:
        return mean + (value - mean + salt) // n
    return mean - (mean - value + salt) // n


def moving_average(mean, value, shift, salt):
    """The same with 2^shift values, however many there were."""
    salt = ((salt & DITHER_MASK) * DITHER_FACTOR & 0xFFFF) >> 16 - shift
    if value >= mean:
        return mean + (value - mean + salt >> shift)
    return mean - (mean - value + salt >> shift)


def initial(t, h):
    """The most that can still be earned from step h on."""
    return (t[C_HORIZON] - h) << t[C_FRACTION]


def _spread2(x):
    """abcdefgh -> 0a0b0c0d0e0f0g0h"""
    x = (x | x << 4) & 0x0F0F
    x = (x | x << 2) & 0x3333
    return (x | x << 1) & 0x5555


def _gather2(x):
    x &= 0x5555
    x = (x | x >> 1) & 0x3333
    x = (x | x >> 2) & 0x0F0F
    return (x | x >> 4) & 0x00FF


def _spread3(x):
    """abcde -> 00a00b00c00d00e"""
    x = (x | x << 8) & 0x100F
    x = (x | x << 4) & 0x10C3
    return (x | x << 2) & 0x1249


def _gather3(x):
    x &= 0x1249
    x = (x | x >> 2) & 0x10C3
    x = (x | x >> 4) & 0x100F
    return (x | x >> 8) & 0x001F


def code_pack(coordinates, dims):
    if dims == 1:
        return coordinates[0]
    if dims == 2:
        return _spread2(coordinates[0] >> 8) << 1 | _spread2(coordinates[1] >> 8)
    code = _spread3(coordinates[0] >> 11) << 3 | _spread3(coordinates[1] >> 11) << 2
    return code | _spread3(coordinates[2] >> 11) << 1


def code_unpack(code, dims, coordinates):
    if dims == 1:
        coordinates[0] = code
    elif dims == 2:
        coordinates[0] = _gather2(code >> 1) << 8
        coordinates[1] = _gather2(code) << 8
    else:
        coordinates[0] = _gather3(code >> 3) << 11
        coordinates[1] = _gather3(code >> 2) << 11
        coordinates[2] = _gather3(code >> 1) << 11


def code_centre(code, bits, d_a):
    """Centre of the action cell whose first `bits` bits are those of `code`."""
    return code | ((1 << d_a) - 1) << (16 - bits - d_a)


def code_inside(fine, code_centre, d_a):
    """Is `fine` the centre of a smaller cell within the cell around `centre`?"""
    low = code_centre & -code_centre  # the last of the d_a ones
    return fine & (low - 1) != 0 and fine ^ code_centre < low << d_a


def code_division(d_s, d_a):
    """How many state and action bits each block of a level takes, four bits a block.

    A level consumes its d_s state bits, then its d_a action bits, two bits a block.
    """
    result = shift = 0
    while d_s + d_a > 0:
        state_n = min(2, d_s)
        action_n = min(2 - state_n, d_a)
        result |= (state_n | action_n << 2) << shift
        d_s -= state_n
        d_a -= action_n
        shift += 4
    return result
