"""Points as left-aligned interleaved codes of 16 bits: the first bits are the coarsest cell."""


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


def pack(coordinates, dims):
    if dims == 1:
        return coordinates[0]
    if dims == 2:
        return _spread2(coordinates[0] >> 8) << 1 | _spread2(coordinates[1] >> 8)
    code = _spread3(coordinates[0] >> 11) << 3 | _spread3(coordinates[1] >> 11) << 2
    return code | _spread3(coordinates[2] >> 11) << 1


def unpack(code, dims, coordinates):
    if dims == 1:
        coordinates[0] = code
    elif dims == 2:
        coordinates[0] = _gather2(code >> 1) << 8
        coordinates[1] = _gather2(code) << 8
    else:
        coordinates[0] = _gather3(code >> 3) << 11
        coordinates[1] = _gather3(code >> 2) << 11
        coordinates[2] = _gather3(code >> 1) << 11


def division(d_s, d_a):
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


def centre(code, bits, d_a):
    """Centre of the action cell whose first `bits` bits are those of `code`."""
    return code | ((1 << d_a) - 1) << (16 - bits - d_a)


def inside(fine, centre, d_a):
    """Is `fine` the centre of a smaller cell within the cell around `centre`?"""
    low = centre & -centre  # the last of the d_a ones
    return fine & (low - 1) != 0 and fine ^ centre < low << d_a
