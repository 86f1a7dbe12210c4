"""Getting nodes of a V tree back. Apart from the rest of `value`, because it scans the partition."""

from ._scratch import (
    T_BEST_ACTION,
    T_BEST_LEVEL,
    T_BEST_Q,
    T_D_S,
    T_DEPTH,
    T_PATH,
    T_STEP,
)
from ._spec import FLAG_PAPER, H_FLAGS, H_POOL_AT, H_UNITS, LEVEL_MAX, S_V_SLOT, TAG
from .number import random as number_random
from .pool import free as pool_free
from .tree import scan as tree_scan
from .value import refresh_means
from .value import slot as value_slot


def _walk(w, t):
    """Code of a random node whose two slots are values; leaves its depth in `t`, its own unit in the path."""
    way = number_random(w)
    i = t[T_STEP] + S_V_SLOT
    code = depth = 0
    while True:
        t[T_PATH + depth] = w[i]
        i = (w[i] << 2) + (way >> depth & 1)
        if not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            i ^= 1
        if depth == LEVEL_MAX - 1 or not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            t[T_DEPTH] = depth
            return code
        code |= (i & 1) << (15 - depth)
        depth += 1


def reclaim(w, t):
    """Join the two values of a random node when no ball needs both; returns 1 when a unit came back."""
    if not w[H_POOL_AT] <= w[t[T_STEP] + S_V_SLOT] < w[H_UNITS]:
        number_random(w)
        return 0
    code = _walk(w, t)
    tree_scan(w, t, code)  # speaks for both halves: down to this depth they share the cell of every level
    if t[T_D_S] * t[T_BEST_LEVEL] > t[T_DEPTH]:
        return 0
    i = value_slot(t, t[T_DEPTH], code)
    if w[H_FLAGS] & FLAG_PAPER and w[i + 2] < t[T_BEST_Q]:
        t[T_BEST_Q] = w[i + 2]
    pool_free(w, w[i])
    w[i] = TAG | t[T_BEST_Q]
    w[i + 2] = t[T_BEST_ACTION]
    refresh_means(w, t, t[T_DEPTH], code)
    return 1
