"""The partition, and choosing among the balls of a state.

The partition is of records joined by blocks of up to four slots. A slot is a link, or a value that stands for
an unvisited ball. No Q is stored: a leaf keeps by how much its Q exceeded the expected value of its next state
when it was last visited (its surplus), and Q for any step is that surplus plus the current expectation. An
unvisited ball refers to its parent's next states.

Depth counts blocks from the root; a ball of level l is entered at depth l * chunks.
"""

# isort: off
from ._scratch import B_ACTION, B_LEVEL, B_Q, C_ACTION_MASK, C_ACTION_SHIFT, C_CHUNKS, C_DEEPEST, C_DIVISION
from ._scratch import C_D_A, C_FINEST, C_FRACTION, C_H, C_HELD, C_HORIZON, C_STATE_MASK, C_STATE_SHIFT
from ._scratch import C_TREE, C_V_MAX, T_ABOVE, T_BALLS, T_BLOCK, T_CODE, T_FIRST, T_FIRST_EXPECTED
from ._scratch import T_INHERITED, T_INHERITED_OF, T_KEY, T_MOST, T_OWNER, T_PART, T_Q, T_RANK_N, T_RANK_SUM
from ._scratch import T_SQUARES, T_WHERE, V_ACTION, V_LEVEL, V_PARENT, V_REC, V_SLOT, V_STATE
from ._spec import CREDIT_FULL, CREDIT_SHIFT, EFFECT_BITS, EFFECT_MOST, EFFECT_SCALE_SHIFT, EFFECT_SHIFT
from ._spec import EFFECT_TOP, N_MAX, RANK_MOST, RANK_SAMPLES, SCAN_BALLS, SCAN_BALLS_LAST, SCAN_BALLS_WIDE
from ._spec import SPREAD_SCALE_SHIFT, SURPLUS_ZERO, TAG, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_PAPER
from ._spec import H_FLAGS, H_POOL_AT, H_RNG, H_SPLITS, H_UNITS, H_WORDS
from ._spec import S_EFFECT, S_ROOT, S_SPREAD
from ._spec import R_N

# isort: on
from .config import pool_alloc, pool_free
from .number import code_centre, shifted
from .number import mean as number_mean
from .number import moving_average as number_moving_average
from .number import shift as number_shift
from .value import counts_expect, counts_free


def root(t):
    return t[C_TREE] + S_ROOT


def clip(t, q):
    """Between 0 and the most that can still be earned."""
    if q < 0:
        return 0
    return q if q < t[C_V_MAX] else t[C_V_MAX]


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
    chunk = t[C_DIVISION] >> 4 * chunk
    return 1 << (chunk & 3) + (chunk >> 2 & 3)


def split(w, t, rec):
    """Give a leaf its children, all unvisited; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        i = unit << 2
        for slot in range(i, i + slots(t, 0)):
            w[slot] = w[rec << 2]
        w[rec << 2] = unit
        if not t[C_HELD]:
            w[H_SPLITS] = w[H_SPLITS] + 1 & 0xFFFF
    return unit


def unsplit(w, t, rec, best):
    """Make a record whose children are all unvisited a leaf again; `best` is the word of the best of them.

    It keeps at most its threshold of samples.
    """
    i = rec << 2
    n = min(w[i + R_N] & N_MAX, w[t[V_LEVEL] + H_WORDS])
    pool_free(w, w[i])
    w[i] = best
    w[i + R_N] = w[i + R_N] & ~N_MAX | n
    if not t[C_HELD]:
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
    block = (block << 2) + (t[V_STATE] >> t[C_STATE_SHIFT + depth] & t[C_STATE_MASK + depth])
    return block + ((t[V_ACTION] & t[C_ACTION_MASK + depth]) >> t[C_ACTION_SHIFT + depth])


def _route(w, t, block):
    """From a block to the slot of a ball below it, making the blocks in between. 0 when there is no room."""
    depth = (t[V_LEVEL] - 1) * t[C_CHUNKS] + 1
    while True:
        slot = place(t, block, depth)
        t[V_SLOT] = slot
        if depth % t[C_CHUNKS] == 0:
            return 1
        block = w[slot]
        if not w[H_POOL_AT] <= block < w[H_UNITS]:
            block = _widen(w, slot)
            if block == 0:
                return 0
        depth += 1


def descend(w, t):
    """Walk down to the ball of the point, creating its record where there is room."""
    t[V_SLOT] = root(t)
    t[V_PARENT] = t[V_LEVEL] = 0
    while True:
        rec = w[t[V_SLOT]]
        if not w[H_POOL_AT] <= rec < w[H_UNITS]:
            t[V_REC] = create(w, t[V_SLOT])
            return
        t[V_REC] = rec
        i = rec << 2
        w[i + R_N] |= CREDIT_FULL << CREDIT_SHIFT
        if t[V_LEVEL] == t[C_FINEST] or not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            return
        t[V_PARENT] = rec
        t[V_LEVEL] += 1
        if not _route(w, t, w[i]):
            t[V_REC] = 0
            return


def _rank_start(w, t):
    t[T_PART] = 256
    t[T_RANK_N] = RANK_MOST  # what follows is not compared
    if t[C_H] + 1 < t[C_HORIZON] and not w[H_FLAGS] & FLAG_PAPER:
        spread = w[t[C_TREE] + S_SPREAD]
        effect = w[t[C_TREE] + S_EFFECT] << EFFECT_SCALE_SHIFT - SPREAD_SCALE_SHIFT  # as the spread is
        t[T_PART] = 256 - (spread << 8) // effect if effect > spread else 0
        t[T_RANK_N] = 0
    t[T_KEY] = -1
    t[T_INHERITED] = 2 * VALUE_MAX  # no record above: start at the optimistic maximum
    t[T_ABOVE] = t[T_INHERITED_OF] = t[T_BALLS] = 0
    t[T_RANK_SUM] = t[T_SQUARES] = 0


def _weigh(w, t, rec, expected):
    """Add a visited ball to what is known of all of them together."""
    if t[T_RANK_N] >= RANK_MOST:
        return
    n = min(w[(rec << 2) + R_N] & N_MAX, RANK_SAMPLES)
    expected >>= t[C_FRACTION] - EFFECT_BITS
    if t[T_BALLS] == 0:
        t[T_FIRST_EXPECTED] = expected
    t[T_BALLS] += 1
    t[T_RANK_N] += n
    expected -= t[T_FIRST_EXPECTED]
    expected = max(-EFFECT_MOST, min(expected, EFFECT_MOST))
    n *= expected
    t[T_RANK_SUM] += n
    t[T_SQUARES] += n * expected


def _inherited(w, t, level):
    """What an unvisited ball expects: as the record above it, which is of this level."""
    if t[T_ABOVE] != t[T_INHERITED_OF]:
        t[T_INHERITED_OF] = t[T_ABOVE]
        t[T_INHERITED] = counts_expect(w, t, t[T_ABOVE], level)
    return t[T_INHERITED]


def _rank_ball(w, t, word, where):
    """The next ball: the word of its slot, and its action code | level << 16."""
    if word >= w[H_UNITS]:  # unvisited: values are above all links
        expected = _inherited(w, t, (where >> 16) - 1)
    else:
        expected = where >> 16  # the level
        expected = counts_expect(w, t, word, expected)
        _weigh(w, t, word, expected)
        word = w[word << 2]
    word &= VALUE_MASK  # the surplus
    key = word + (expected * t[T_PART] >> 8)
    if key > t[T_KEY]:
        t[T_KEY] = key
        t[T_Q] = word + expected
        t[T_WHERE] = where


def _between(t):
    """Sum of the squares of how far the expectations are from their mean, weighted by samples."""
    n = t[T_RANK_N]
    total = abs(t[T_RANK_SUM])
    shift = number_shift(n)
    mean = shifted(total, shift) << 6
    mean = number_mean(mean, shifted(n, shift)) >> 6
    return t[T_SQUARES] - mean * (2 * total - mean * n)


def _follow_effect(w, t):
    """Follows by how much the expectations of a state's balls differ: their variance."""
    others = t[T_BALLS] - 1
    between = min(_between(t) >> EFFECT_SCALE_SHIFT, others * EFFECT_TOP)
    shift = number_shift(others)
    between = number_mean(shifted(between, shift), shifted(others, shift))
    shift = t[C_TREE] + S_EFFECT
    w[shift] = number_moving_average(w[shift], between, EFFECT_SHIFT, w[H_RNG])


def _rank_end(w, t):
    """The best ball, its Q (not yet clipped) and the centre of its action side. Ties go to the first."""
    # A damaged record may have no samples.
    if t[T_BALLS] > 1 and t[T_RANK_N] > 1:
        _follow_effect(w, t)
    t[B_ACTION] = 0xE000  # an action like any other, should damage have ended the scan too soon
    t[B_Q] = 0
    if t[T_KEY] >= 0:
        where = t[T_WHERE]
        t[B_ACTION] = code_centre(where & 0xFFFF, (where >> 16) * t[C_D_A], t[C_D_A])
        t[B_Q] = t[T_Q] - SURPLUS_ZERO


def _leads_on(w, t, word, depth):
    """Does this word lead to a block? It is left in `t`, like the record it belongs to."""
    if word >= w[H_UNITS]:  # values are above all links
        return False
    if depth % t[C_CHUNKS] == 0:
        depth = w[word << 2]
        if depth >= w[H_UNITS]:
            return False
        t[T_ABOVE] = word
        word = depth
    t[T_BLOCK] = word
    return True


def _enter(t, depth):
    """Take up the block that the walk was led to; its first slot."""
    t[B_LEVEL] = max(t[B_LEVEL], depth)
    t[T_OWNER + depth] = t[T_ABOVE]
    slot = t[T_CODE] >> t[C_STATE_SHIFT + depth] & t[C_STATE_MASK + depth]
    slot += t[T_BLOCK] << 2
    t[T_FIRST + depth] = slot
    return slot


def _most(t):
    """Balls that a scan visits at most: what one call may cost has a bound, however fine the partition is."""
    if t[C_H] + 1 >= t[C_HORIZON]:
        return SCAN_BALLS_LAST
    return SCAN_BALLS_WIDE if t[C_CHUNKS] > 1 else SCAN_BALLS


def _walk(w, t):
    """Rank the balls; leaves the greatest depth in B_LEVEL."""
    slot = root(t)
    action = depth = t[B_LEVEL] = 0
    t[T_MOST] = _most(t)
    while True:
        if _leads_on(w, t, w[slot], depth):
            depth += 1
            if depth > t[C_DEEPEST]:  # only damage leads there, perhaps in a circle
                return
            slot = _enter(t, depth)
            continue
        where = (depth + t[C_CHUNKS] - 1) // t[C_CHUNKS] << 16 | action
        _rank_ball(w, t, w[slot], where)
        t[T_MOST] -= 1
        if t[T_MOST] == 0:
            return
        action += 1 << t[C_ACTION_SHIFT + depth]  # the carry counts on in the blocks above
        while depth and action & t[C_ACTION_MASK + depth] == 0:  # all of this block is done
            depth -= 1
        if depth == 0:
            return
        t[T_ABOVE] = t[T_OWNER + depth]
        slot = t[T_FIRST + depth] + ((action & t[C_ACTION_MASK + depth]) >> t[C_ACTION_SHIFT + depth])


def scan(w, t, code):
    """Best and finest of the balls whose state side contains the point of the given code.

    The walk follows the state bits and takes every action branch, lowest code first, up to a number of balls.
    """
    t[T_CODE] = code
    _rank_start(w, t)
    _walk(w, t)
    t[B_LEVEL] = (t[B_LEVEL] + t[C_CHUNKS] - 1) // t[C_CHUNKS]
    _rank_end(w, t)
    t[B_Q] = clip(t, t[B_Q])
