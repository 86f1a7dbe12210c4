"""V of one step: a binary tree over the bits of the state code.

A node is {slot 0, slot 1, aux 0, aux 1}. A slot is either a value (then aux is the best action code of that
cell) or a link (then aux is the mean of everything below), so `act` and an expectation are one descent.
"""

# isort: off
from ._scratch import T_ACTION, T_BEST_ACTION, T_BEST_LEVEL, T_BEST_Q, T_CHUNKS, T_D_A, T_D_S, T_LEVEL, T_PATH
from ._scratch import T_STEP
from ._spec import LEVEL_MAX, SCAN_TOLERANCE, TAG, VALUE_MASK, VALUE_NEAR_SHIFT
from ._spec import FLAG_PAPER
from ._spec import H_FLAGS, H_POOL_AT, H_UNITS
from ._spec import S_V_SLOT

# isort: on
from .code import inside as code_inside
from .pool import alloc as pool_alloc


def find(w, step, code, bits):
    """Word index of the slot that the first `bits` bits of the code lead to; a value ends the walk early."""
    step += S_V_SLOT
    units = w[H_UNITS]  # values are above all links
    end = 16 - bits
    bits = 16
    while bits != end and w[step] < units:
        bits -= 1
        step = (w[step] << 2) + (code >> bits & 1)
    return step


def _slot_value(w, i):
    return (w[i] if w[i] & TAG else w[i + 2]) & VALUE_MASK


def at(w, step, code, bits):
    """Mean value of the cell of the first `bits` bits of the code."""
    return _slot_value(w, find(w, step, code, bits))


def mean(w, node):
    """Mean of everything below a node."""
    return (_slot_value(w, node) + _slot_value(w, node + 1) + 1) >> 1


def slot(t, depth, code):
    """Word index of the slot at a depth of the path."""
    if depth == 0:
        return t[T_STEP] + S_V_SLOT
    return (t[T_PATH + depth - 1] << 2) + (code >> 16 - depth & 1)


def refresh_means(w, t, depth, code):
    """Refresh the means above a cell that now has the value T_BEST_Q, nearest first."""
    value = t[T_BEST_Q]
    while depth:
        depth -= 1
        i = (t[T_PATH + depth] << 2) + (code >> 15 - depth & 1 ^ 1)  # the other side
        value = (value + _slot_value(w, i) + 1) >> 1
        i = slot(t, depth, code) + 2
        w[i] = value


def _refine(w, i):
    """Divide the cell of a value slot; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        node = unit << 2
        w[node] = w[node + 1] = w[i]
        w[node + 2] = w[node + 3] = w[i + 2]
        w[i] = unit
    return unit


def alike(difference, w, t):
    """Are two values as good as equal where V is not to take units it can do without?

    This is in tracking with more than 1+1 dimensions: there it takes most of a small block.
    """
    if t[T_CHUNKS] == 1 or w[H_FLAGS] & FLAG_PAPER:
        return False
    return (difference + (1 << VALUE_NEAR_SHIFT)) >> (VALUE_NEAR_SHIFT + 1) == 0


def _agrees(w, t, i):
    """Does a cell play the best action, or a finer one within its ball, for about its value?"""
    if w[i + 2] == t[T_BEST_ACTION] or code_inside(w[i + 2], t[T_BEST_ACTION], t[T_D_A]):
        return alike(w[i] - (TAG | t[T_BEST_Q]), w, t)


def set(w, t, code):
    """Store the result of the last scan in the cell of `code`; returns the depth of the cell in bits.

    The tree is refined to the scan's level where there is room and the cell does not agree with the scan.
    """
    i = t[T_STEP] + S_V_SLOT
    depth = 0
    while True:
        if (depth == LEVEL_MAX or not w[H_POOL_AT] <= w[i] < w[H_UNITS]) and (
            depth >= t[T_D_S] * t[T_BEST_LEVEL] or _agrees(w, t, i) or not _refine(w, i)
        ):
            break
        t[T_PATH + depth] = w[i]
        i = (w[i] << 2) + (code >> (15 - depth) & 1)
        depth += 1
    if w[H_FLAGS] & FLAG_PAPER:
        t[T_BEST_Q] = min(t[T_BEST_Q], w[i] & VALUE_MASK)
    w[i] = TAG | t[T_BEST_Q]
    if w[H_FLAGS] & FLAG_PAPER or not code_inside(w[i + 2], t[T_BEST_ACTION], t[T_D_A]):
        w[i + 2] = t[T_BEST_ACTION]  # a finer action within the best ball stays
    refresh_means(w, t, depth, code)
    return depth


def holds(w, t, code, q):
    """Is the cell of `code` up to date although the Q of its best action is now `q`?

    Small moves are not worth a scan; the value is left alone, so that small moves add up. A best action that
    has become better still is the best: then the value is set without a scan.
    """
    i = t[T_STEP] + S_V_SLOT
    depth = 0
    while depth < LEVEL_MAX and w[i] < w[H_UNITS]:
        i = (w[i] << 2) + (code >> (15 - depth) & 1)
        depth += 1
    if w[i + 2] != t[T_ACTION] or depth < t[T_D_S] * t[T_LEVEL]:
        return False
    depth = q - (w[i] & VALUE_MASK)  # how far it moved
    if depth >= SCAN_TOLERANCE:
        t[T_BEST_Q] = q
        t[T_BEST_ACTION] = t[T_ACTION]
        t[T_BEST_LEVEL] = t[T_LEVEL]
        set(w, t, code)
    return depth > -SCAN_TOLERANCE
