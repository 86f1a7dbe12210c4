"""The partition: records joined by blocks of up to four slots.

A slot is a link, or a value that stands for an unvisited ball. No Q is stored: a leaf keeps by how much its Q
exceeded the value of its typical next state when it was last visited (its surplus), and Q for any step is
that surplus plus today's value of that next state. An unvisited ball refers to its parent's next states.

Depth counts blocks from the root; a ball of level l is entered at depth l * chunks.
"""

from ._scratch import (
    T_ABOVE,
    T_ACTION_MASK,
    T_ACTION_SHIFT,
    T_BEST,
    T_BEST_ACTION,
    T_BEST_LEVEL,
    T_BEST_Q,
    T_BLOCK,
    T_CHUNKS,
    T_CODE,
    T_D_A,
    T_DEEPEST,
    T_DIVISION,
    T_FINEST,
    T_FIRST,
    T_INHERITED,
    T_INHERITED_OF,
    T_MOST,
    T_OWNER,
    T_SHARED,
    T_STATE_MASK,
    T_STATE_SHIFT,
    T_STEP,
)
from ._spec import (
    H_SPLITS,
    H_UNITS,
    H_WORDS,
    N_MAX,
    R_N,
    S_ROOT,
    SURPLUS_ZERO,
    TAG,
    VALUE_MASK,
    VALUE_MAX,
)
from .code import centre as code_centre
from .counts import expect as counts_expect
from .counts import free as counts_free
from .pool import alloc as pool_alloc
from .pool import free as pool_free


def root(w, t):
    return (H_WORDS + 1 + t[T_FINEST] if t[T_SHARED] else t[T_STEP]) + S_ROOT


def clip(t, q):
    """Between nothing and the most that can still be earned."""
    if q < 0:
        return 0
    return q if q < t[T_MOST] else t[T_MOST]


def q(w, t, word, rec, level):
    """Q from a surplus word and the record (at `level`) whose next states it refers to."""
    if rec == 0:
        return clip(t, VALUE_MAX)
    level = counts_expect(w, t, rec, level)
    return clip(t, (word & VALUE_MASK) - SURPLUS_ZERO + level)


def surplus(value):
    """A surplus as it is stored."""
    if value < 0:
        return TAG
    return TAG | (value if value < VALUE_MAX else VALUE_MAX)


def create(w, slot):
    """Turn the unvisited ball in `slot` into a record; 0 when there is no room."""
    rec = pool_alloc(w)
    if rec:
        w[rec << 2] = w[slot]
        w[slot] = rec
    return rec


def free(w, t, rec):
    """Return a leaf record and its counts to the pool."""
    counts_free(w, t, rec)
    pool_free(w, rec)


def slots(t, chunk):
    """How many slots the chunk-th block of a level has."""
    chunk = t[T_DIVISION] >> 4 * chunk
    return 1 << (chunk & 3) + (chunk >> 2 & 3)


def split(w, t, rec):
    """Give a leaf its children, all unvisited; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        i = unit << 2
        for slot in range(i, i + slots(t, 0)):
            w[slot] = w[rec << 2]
        w[rec << 2] = unit
        w[H_SPLITS] = w[H_SPLITS] + 1 & 0xFFFF
    return unit


def unsplit(w, rec, level, best):
    """Make a record whose children are all unvisited a leaf again; `best` is the word of the best of them.

    It keeps half a threshold of samples at most, so that it must earn its next split.
    """
    i = rec << 2
    most = (w[H_WORDS + level] + 1) >> 1
    n = w[i + R_N] & N_MAX
    if n > most:
        n = most
    pool_free(w, w[i])
    w[i] = best
    w[i + R_N] = w[i + R_N] & ~N_MAX | n
    w[H_SPLITS] = w[H_SPLITS] - 1 & 0xFFFF


def _visit(w, t, slot, depth):
    """Surplus word plus expectation of the ball in a slot; -1 when it leads on, to the block left in `t`."""
    slot = w[slot]
    if slot >= w[H_UNITS]:  # values are above all links
        if t[T_ABOVE] != t[T_INHERITED_OF]:
            t[T_INHERITED_OF] = t[T_ABOVE]
            depth = (depth - 1) // t[T_CHUNKS]
            t[T_INHERITED] = counts_expect(w, t, t[T_ABOVE], depth)
        return (slot & VALUE_MASK) + t[T_INHERITED]
    if depth % t[T_CHUNKS] == 0:
        link = w[slot << 2]
        if link >= w[H_UNITS]:
            depth //= t[T_CHUNKS]
            return (link & VALUE_MASK) + counts_expect(w, t, slot, depth)
        t[T_ABOVE] = slot
        slot = link
    t[T_BLOCK] = slot
    return -1


def _compare(t, value, action, depth):
    """Note a ball that is better or finer than those before."""
    depth = (depth + t[T_CHUNKS] - 1) // t[T_CHUNKS]  # its level
    if value > t[T_BEST]:
        t[T_BEST] = value
        t[T_BEST_ACTION] = code_centre(action, depth * t[T_D_A], t[T_D_A])
    if depth > t[T_BEST_LEVEL]:
        t[T_BEST_LEVEL] = depth


def _begin(t, code):
    t[T_CODE] = code
    t[T_BEST] = -1
    t[T_INHERITED] = 2 * VALUE_MAX  # above the root there is only hope
    t[T_ABOVE] = t[T_INHERITED_OF] = t[T_BEST_LEVEL] = 0
    t[T_BEST_ACTION] = 0xE000  # should damage end the scan before the first ball


def scan(w, t, slot):
    """Best and finest of the balls whose state side contains the point of the given code.

    The walk follows the state bits and takes every action branch, lowest code first. Ties go to the first.
    """
    _begin(t, slot)
    slot = root(w, t)
    action = depth = 0
    while True:
        value = _visit(w, t, slot, depth)
        if value >= 0:
            _compare(t, value, action, depth)
            # Back to the nearest block with an action branch left.
            while depth and action & t[T_ACTION_MASK + depth] == t[T_ACTION_MASK + depth]:
                action ^= t[T_ACTION_MASK + depth]
                depth -= 1
            if depth == 0:
                break
            action += 1 << t[T_ACTION_SHIFT + depth]
            t[T_ABOVE] = t[T_OWNER + depth]
        else:
            depth += 1
            if depth > t[T_DEEPEST]:  # only damage leads there, perhaps in a circle
                break
            value = t[T_CODE] >> t[T_STATE_SHIFT + depth] & t[T_STATE_MASK + depth]
            t[T_FIRST + depth] = (t[T_BLOCK] << 2) + value
            t[T_OWNER + depth] = t[T_ABOVE]
        slot = t[T_FIRST + depth] + ((action & t[T_ACTION_MASK + depth]) >> t[T_ACTION_SHIFT + depth])
    t[T_BEST_Q] = clip(t, t[T_BEST] - SURPLUS_ZERO)
