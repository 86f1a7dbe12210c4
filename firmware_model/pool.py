"""Units of four words: a list of returned units, and the never used rest behind `fresh`."""

from ._spec import H_FREE_HEAD, H_FREE_N, H_FRESH, H_POOL_AT, H_UNITS, H_USED_PEAK


def room(w):
    return (w[H_FREE_N] + w[H_UNITS] - w[H_FRESH]) & 0xFFFF


def alloc(w):
    """A cleared unit, 0 when there is none."""
    unit = w[H_FREE_HEAD]
    if w[H_POOL_AT] <= unit < w[H_UNITS]:
        w[H_FREE_HEAD] = w[unit << 2]
        w[H_FREE_N] = w[H_FREE_N] - 1 & 0xFFFF
    elif w[H_POOL_AT] <= w[H_FRESH] < w[H_UNITS]:
        unit = w[H_FRESH]
        w[H_FRESH] = unit + 1
    else:
        return 0
    i = unit << 2
    w[i] = w[i + 1] = w[i + 2] = w[i + 3] = 0
    used = w[H_FRESH] - w[H_POOL_AT] - w[H_FREE_N] & 0xFFFF
    if used > w[H_USED_PEAK]:
        w[H_USED_PEAK] = used
    return unit


def free(w, unit):
    if not w[H_POOL_AT] <= unit < w[H_UNITS]:
        return
    i = unit << 2
    w[i] = w[H_FREE_HEAD]
    w[i + 1] = w[i + 2] = w[i + 3] = 0  # a dump then shows freed units as such, and twins compare equal
    w[H_FREE_HEAD] = unit
    w[H_FREE_N] = w[H_FREE_N] + 1 & 0xFFFF


def count_up(w, index):
    """Saturating increment of a counter word."""
    if w[index] != 0xFFFF:
        w[index] += 1
