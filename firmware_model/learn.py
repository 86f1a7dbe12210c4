"""One sample: find its ball, update its model and Q, split it, refresh V."""

from ._scratch import (
    T_ACTION,
    T_ACTION_MASK,
    T_ACTION_SHIFT,
    T_CHUNKS,
    T_D_S,
    T_EXPECTED,
    T_FINEST,
    T_HORIZON,
    T_INHERITED_N,
    T_LEVEL,
    T_PARENT,
    T_REC,
    T_SHARED,
    T_SLOT,
    T_STATE,
    T_STATE_MASK,
    T_STATE_SHIFT,
    T_STEP,
    T_VALUE,
    T_WEIGHT,
)
from ._spec import (
    CREDIT_FULL,
    CREDIT_SHIFT,
    FLAG_OWN,
    FLAG_PAPER,
    H_FLAGS,
    H_NO_ROOM,
    H_POOL_AT,
    H_REFUSED,
    H_UNITS,
    H_WORDS,
    N_MAX,
    R_N,
    S_JOB_AT,
    S_JOB_CELL,
    SPLIT_ROOM,
    SURPLUS_ZERO,
    VALUE_MAX,
)
from .adapt import bonus as adapt_bonus
from .call import step as call_step
from .learn_model import add_sample, ball_value, gather_all, gather_near, parent_value
from .pool import alloc as pool_alloc
from .pool import count_up
from .pool import room as pool_room
from .tree import clip as tree_clip
from .tree import create as tree_create
from .tree import q as tree_q
from .tree import root as tree_root
from .tree import scan as tree_scan
from .tree import split as tree_split
from .tree import surplus as tree_surplus
from .value import holds as value_holds
from .value import set as value_set


def _divide(w, slot):
    """Put a block in place of a value inside a level; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        i = unit << 2
        w[i] = w[i + 1] = w[i + 2] = w[i + 3] = w[slot]
        w[slot] = unit
    return unit


def _route(w, t, block):
    """From a block to the slot of a ball below it, making the blocks in between. 0 when there is no room."""
    depth = (t[T_LEVEL] - 1) * t[T_CHUNKS] + 1
    while True:
        slot = (block << 2) + (t[T_STATE] >> t[T_STATE_SHIFT + depth] & t[T_STATE_MASK + depth])
        slot += (t[T_ACTION] & t[T_ACTION_MASK + depth]) >> t[T_ACTION_SHIFT + depth]
        t[T_SLOT] = slot
        if depth % t[T_CHUNKS] == 0:
            return 1
        block = w[slot]
        if not w[H_POOL_AT] <= block < w[H_UNITS]:
            block = _divide(w, slot)
            if block == 0:
                return 0
        depth += 1


def _descend(w, t):
    """Walk down by state and action code to the ball, creating its record where there is room."""
    t[T_SLOT] = tree_root(w, t)
    t[T_PARENT] = t[T_LEVEL] = 0
    t[T_WEIGHT] = t[T_VALUE] = t[T_INHERITED_N] = t[T_EXPECTED] = 0
    while True:
        rec = w[t[T_SLOT]]
        if not w[H_POOL_AT] <= rec < w[H_UNITS]:
            rec = tree_create(w, t[T_SLOT])
        t[T_REC] = rec
        if rec == 0:
            return
        i = rec << 2
        w[i + R_N] |= CREDIT_FULL << CREDIT_SHIFT
        if t[T_LEVEL] == t[T_FINEST] or not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            return
        if w[H_FLAGS] & FLAG_PAPER:
            gather_all(w, t, rec, t[T_LEVEL])
        t[T_INHERITED_N] += w[i + R_N] & N_MAX
        t[T_PARENT] = rec
        t[T_LEVEL] += 1
        if not _route(w, t, w[i]):
            t[T_REC] = 0
            return


def _leads(w, t):
    """Does the ball earn more than its parent did, by three times its bonus? Then it is divided early.

    Only while a quarter of the block is free, and asked when its samples, a power of two, are at least a
    quarter of the threshold.
    """
    n = w[(t[T_REC] << 2) + R_N] & N_MAX
    if t[T_PARENT] == 0 or n & n - 1 or 4 * n < w[H_WORDS + t[T_LEVEL]] or pool_room(w) < w[H_UNITS] >> 2:
        return False
    n = 3 * adapt_bonus(w, t, 4 * n)
    n += parent_value(w, t)
    return ball_value(w, t) > n


def _wants_split(w, t):
    i = H_WORDS + t[T_LEVEL]  # the ball's threshold
    if t[T_LEVEL] >= t[T_FINEST]:
        return False
    n = w[(t[T_REC] << 2) + R_N] & N_MAX
    if w[H_FLAGS] & FLAG_OWN:
        return n + 1 >= w[i]
    if t[T_LEVEL]:
        n += min(t[T_INHERITED_N], w[i - 1])
    return n >= w[i] or (not w[H_FLAGS] & FLAG_PAPER and _leads(w, t))


def _request(w, t, step):
    """Ask for a refresh of all cells of one step under the ball's state side; joins a pending request."""
    one = 0x8000 >> t[T_D_S] * t[T_LEVEL]  # a cell is its first bits, then a one, then zeros
    cell = t[T_STATE] & ~(2 * one - 1) | one
    pending = w[step + S_JOB_CELL]
    if pending:
        one = max(one, pending & -pending)
        while (cell ^ pending) & ~(2 * one - 1):
            one <<= 1
        cell = cell & ~(2 * one - 1) | one
    w[step + S_JOB_CELL] = cell
    w[step + S_JOB_AT] = cell & ~(2 * one - 1)


def _split(w, t):
    # Children without room for their records would know less than their parent did.
    if pool_room(w) < SPLIT_ROOM or not tree_split(w, t, t[T_REC]):
        count_up(w, H_REFUSED)
    elif t[T_SHARED]:
        for h in range(t[T_HORIZON]):
            _request(w, t, call_step(t, h))
    else:
        _request(w, t, t[T_STEP])


def jobs(w, t):
    """Refresh the next cell of the pending request of this step."""
    i = t[T_STEP]
    cell = w[i + S_JOB_CELL]
    code = w[i + S_JOB_AT]
    tree_scan(w, t, code)
    code |= 0xFFFF >> value_set(w, t, code)
    if code >= cell | (cell & -cell) - 1:
        w[i + S_JOB_CELL] = w[i + S_JOB_AT] = 0
    else:
        w[i + S_JOB_AT] = code + 1


def _update(w, t):
    """Update the model of the ball with one sample and its Q; returns the Q."""
    rec = t[T_REC]
    level = t[T_LEVEL]
    word = rec << 2
    old = VALUE_MAX
    if rec == 0:  # without a record of its own the ball lends its parent's
        rec = t[T_PARENT]
        level -= 1
        word = t[T_SLOT]
    if w[H_FLAGS] & FLAG_PAPER:
        old = _old_q(w, t, word)
    add_sample(w, t, rec, level)
    if not w[H_FLAGS] & FLAG_PAPER:
        gather_near(w, t)
    elif t[T_REC]:  # a parent's evidence was gathered on the way down
        gather_all(w, t, rec, level)
    level = adapt_bonus(w, t, t[T_WEIGHT])
    level = tree_clip(t, t[T_VALUE] + level)
    if level < old:
        old = level
    w[word] = tree_surplus(old - t[T_EXPECTED] + SURPLUS_ZERO)
    return old


def _old_q(w, t, word):
    """Paper: Q before this sample; a ball without samples still refers to its parent's next states."""
    rec = t[T_REC]
    if rec == 0 or w[(rec << 2) + R_N] & N_MAX == 0:
        return tree_q(w, t, w[word], t[T_PARENT], t[T_LEVEL] - 1)
    return tree_q(w, t, w[word], rec, t[T_LEVEL])


def _learn(w, t):
    """Descend, update, split; returns the new Q, or -1 when V must be refreshed in any case."""
    _descend(w, t)
    if t[T_REC] == 0:
        count_up(w, H_NO_ROOM)
        if t[T_PARENT]:
            _update(w, t)
        return -1
    q = _update(w, t)
    if _wants_split(w, t):
        _split(w, t)
        return -1
    return q


def sample(w, t):
    """Learn from the state, action, reward and next state in `t`."""
    q = _learn(w, t)
    if w[H_FLAGS] & FLAG_PAPER:
        # The paper refreshes every state cell under the ball; so do we, at once.
        i = t[T_STEP] + S_JOB_CELL
        _request(w, t, t[T_STEP])
        cells = w[H_UNITS] - w[H_POOL_AT]
        while cells and w[i]:
            jobs(w, t)
            cells -= 1
        return
    if q < 0 or not value_holds(w, t, t[T_STATE], q):
        tree_scan(w, t, t[T_STATE])
        value_set(w, t, t[T_STATE])
