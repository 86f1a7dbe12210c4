"""Pruning the tree of V: two cells that no ball distinguishes become one."""

from ._scratch import T_BEST_ACTION, T_BEST_LEVEL, T_BEST_Q, T_D_S, T_DEPTH, T_PATH, T_STEP
from ._spec import FLAG_PAPER, H_FLAGS, H_POOL_AT, H_UNITS, LEVEL_MAX, S_V_SLOT, TAG
from .number import random as number_random
from .pool import free as pool_free
from .value import alike as value_alike
from .value import refresh_means
from .value import slot as value_slot


def pick(w, t):
    """Code of a random node of the step whose two slots are values; -1 without a node.

    Leaves the depth of the node in `t`, and the units down to it in the path.
    """
    way = number_random(w)
    i = t[T_STEP] + S_V_SLOT
    if not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
        return -1
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


def join(w, t, code):
    """Join the two slots of such a node when, by the last scan, no ball needs both; 1 when a unit was freed.

    Down to their depth they lie in the same cell of every level, so one scan is valid for both. Where V is
    not to take units it can do without, also when both play the same action for about the same value.
    """
    i = value_slot(t, t[T_DEPTH], code)
    if t[T_D_S] * t[T_BEST_LEVEL] > t[T_DEPTH]:
        node = w[i] << 2
        if w[node + 2] != w[node + 3] or not value_alike(w[node] - w[node + 1], w, t):
            return 0
    if w[H_FLAGS] & FLAG_PAPER:
        t[T_BEST_Q] = min(t[T_BEST_Q], w[i + 2])
    node = w[i]
    w[i + 2] = t[T_BEST_ACTION]  # the cell has its action before it is one
    w[i] = TAG | t[T_BEST_Q]
    refresh_means(w, t, t[T_DEPTH], code)
    pool_free(w, node)  # no walk meets it any more
    return 1
