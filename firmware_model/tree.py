"""The partition: records joined by blocks of up to four slots.

A slot is a link, or a value that stands for an unvisited ball. No Q is stored: a leaf keeps by how much its Q
exceeded the expected value of its next state when it was last visited (its surplus), and Q for any step is
that surplus plus the current expectation. An unvisited ball refers to its parent's next states.

Depth counts blocks from the root; a ball of level l is entered at depth l * chunks.
"""

# isort: off
from ._scratch import T_ABOVE, T_ACTION, T_ACTION_MASK, T_ACTION_SHIFT, T_BEST_LEVEL, T_BEST_Q, T_BLOCK
from ._scratch import T_CHUNKS, T_CODE, T_DEEPEST, T_DIVISION, T_FINEST, T_FIRST, T_LEVEL, T_MOST, T_OWNER
from ._scratch import T_PARENT, T_REC, T_SLOT, T_STATE, T_STATE_MASK, T_STATE_SHIFT, T_TREE
from ._spec import CREDIT_FULL, CREDIT_SHIFT, N_MAX, SURPLUS_ZERO, TAG, UNSPLIT_SHIFT, VALUE_MASK, VALUE_MAX
from ._spec import H_POOL_AT, H_SPLITS, H_UNITS, H_WORDS
from ._spec import S_ROOT
from ._spec import R_N

# isort: on
from .counts import expect as counts_expect
from .counts import free as counts_free
from .pool import alloc as pool_alloc
from .pool import free as pool_free
from .rank import ball as rank_ball
from .rank import end as rank_end
from .rank import start as rank_start


def root(t):
    return t[T_TREE] + S_ROOT


def clip(t, q):
    """Between 0 and the most that can still be earned."""
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
        w[(rec << 2) + R_N] = CREDIT_FULL << CREDIT_SHIFT
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

    It keeps at most a part of its threshold of samples, so that the next split needs new samples.
    """
    i = rec << 2
    most = (w[H_WORDS + level] + (1 << UNSPLIT_SHIFT) - 1) >> UNSPLIT_SHIFT
    n = w[i + R_N] & N_MAX
    if n > most:
        n = most
    pool_free(w, w[i])
    w[i] = best
    w[i + R_N] = w[i + R_N] & ~N_MAX | n
    w[H_SPLITS] = w[H_SPLITS] - 1 & 0xFFFF


def _widen(w, slot):
    """A value in front of further blocks becomes a block of copies; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        i = unit << 2
        w[i] = w[i + 1] = w[i + 2] = w[i + 3] = w[slot]
        w[slot] = unit
    return unit


def place(t, block, depth):
    """The slot for the point in a block of this depth."""
    block = (block << 2) + (t[T_STATE] >> t[T_STATE_SHIFT + depth] & t[T_STATE_MASK + depth])
    return block + ((t[T_ACTION] & t[T_ACTION_MASK + depth]) >> t[T_ACTION_SHIFT + depth])


def _route(w, t, block):
    """From a block to the slot of a ball below it, making the blocks in between. 0 when there is no room."""
    depth = (t[T_LEVEL] - 1) * t[T_CHUNKS] + 1
    while True:
        slot = place(t, block, depth)
        t[T_SLOT] = slot
        if depth % t[T_CHUNKS] == 0:
            return 1
        block = w[slot]
        if not w[H_POOL_AT] <= block < w[H_UNITS]:
            block = _widen(w, slot)
            if block == 0:
                return 0
        depth += 1


def descend(w, t):
    """Walk down to the ball of the point, creating its record where there is room."""
    t[T_SLOT] = root(t)
    t[T_PARENT] = t[T_LEVEL] = 0
    while True:
        rec = w[t[T_SLOT]]
        if not w[H_POOL_AT] <= rec < w[H_UNITS]:
            t[T_REC] = create(w, t[T_SLOT])
            return
        t[T_REC] = rec
        i = rec << 2
        w[i + R_N] |= CREDIT_FULL << CREDIT_SHIFT
        if t[T_LEVEL] == t[T_FINEST] or not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            return
        t[T_PARENT] = rec
        t[T_LEVEL] += 1
        if not _route(w, t, w[i]):
            t[T_REC] = 0
            return


def _leads_on(w, t, word, depth):
    """Does this word lead to a block? It is left in `t`, like the record it belongs to."""
    if word >= w[H_UNITS]:  # values are above all links
        return False
    if depth % t[T_CHUNKS] == 0:
        depth = w[word << 2]
        if depth >= w[H_UNITS]:
            return False
        t[T_ABOVE] = word
        word = depth
    t[T_BLOCK] = word
    return True


def _enter(t, depth):
    """Take up the block that the walk was led to; its first slot."""
    t[T_BEST_LEVEL] = max(t[T_BEST_LEVEL], depth)
    t[T_OWNER + depth] = t[T_ABOVE]
    slot = t[T_CODE] >> t[T_STATE_SHIFT + depth] & t[T_STATE_MASK + depth]
    slot += t[T_BLOCK] << 2
    t[T_FIRST + depth] = slot
    return slot


def _walk(w, t):
    """Rank the balls; leaves the greatest depth in T_BEST_LEVEL."""
    slot = root(t)
    action = depth = t[T_BEST_LEVEL] = 0
    while True:
        if _leads_on(w, t, w[slot], depth):
            depth += 1
            if depth > t[T_DEEPEST]:  # only damage leads there, perhaps in a circle
                return
            slot = _enter(t, depth)
            continue
        where = (depth + t[T_CHUNKS] - 1) // t[T_CHUNKS] << 16 | action
        rank_ball(w, t, w[slot], where)
        action += 1 << t[T_ACTION_SHIFT + depth]  # the carry counts on in the blocks above
        while depth and action & t[T_ACTION_MASK + depth] == 0:  # all of this block is done
            depth -= 1
        if depth == 0:
            return
        t[T_ABOVE] = t[T_OWNER + depth]
        slot = t[T_FIRST + depth] + ((action & t[T_ACTION_MASK + depth]) >> t[T_ACTION_SHIFT + depth])


def scan(w, t, code):
    """Best and finest of the balls whose state side contains the point of the given code.

    The walk follows the state bits and takes every action branch, lowest code first.
    """
    t[T_CODE] = code
    rank_start(w, t)
    _walk(w, t)
    t[T_BEST_LEVEL] = (t[T_BEST_LEVEL] + t[T_CHUNKS] - 1) // t[T_CHUNKS]
    rank_end(w, t)
    t[T_BEST_Q] = clip(t, t[T_BEST_Q])
