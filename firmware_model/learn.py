"""One sample: find its ball, update its model and Q, split it, refresh V."""

# isort: off
from ._scratch import T_ACTION, T_CHUNKS, T_D_A, T_D_S, T_EXPECTED, T_FINEST, T_FRACTION, T_HORIZON
from ._scratch import (
    T_INHERITED_N,
    T_LEVEL,
    T_PARENT,
    T_REC,
    T_SHARED,
    T_SLOT,
    T_STATE,
    T_STEP,
    T_TREE,
    T_VALUE,
    T_WEIGHT,
)
from ._spec import EARLY_ERROR_SHIFT, EARLY_MASK, EARLY_ROOM_SHIFT, LATE_ERROR_SHIFT, LATE_LEVEL, N_MAX
from ._spec import SAMPLE_WEIGHT, SPLIT_ROOM, SURPLUS_ZERO, THRESHOLD_MAX, VALUE_MAX
from ._spec import FLAG_OWN, FLAG_PAPER
from ._spec import H_FLAGS, H_NO_ROOM, H_REFUSED, H_UNITS, H_WORDS
from ._spec import S_JOB_AT, S_JOB_CELL, S_NOISE, S_WORDS
from ._spec import R_N

# isort: on
from .adapt import bonus as adapt_bonus
from .adapt import factor as adapt_factor
from .code import centre as code_centre
from .code import inside as code_inside
from .model import add_sample, gather_above, gather_all, gather_near, measure_noise
from .number import bonus as number_bonus
from .pool import count_up
from .pool import room as pool_room
from .tree import clip as tree_clip
from .tree import descend as tree_descend
from .tree import q as tree_q
from .tree import scan as tree_scan
from .tree import split as tree_split
from .tree import surplus as tree_surplus
from .value import find as value_find
from .value import holds as value_holds
from .value import set as value_set


def _known(w, t, shift):
    """Is the mean of the ball known to within a part of c * 2^-level? Then there is more to learn inside.

    That is what rewards are taken to differ by inside a ball of its size.
    """
    error = number_bonus(w[t[T_TREE] + S_NOISE], SAMPLE_WEIGHT * (w[(t[T_REC] << 2) + R_N] & N_MAX))
    return error << t[T_LEVEL] + shift <= adapt_factor(w, t) << 15 - t[T_FRACTION]


def _may_be_early(w, t, n):
    """Is a ball with n samples asked whether it may be divided early?"""
    return t[T_PARENT] != 0 and not n & EARLY_MASK and pool_room(w) >= w[H_UNITS] >> EARLY_ROOM_SHIFT


def _wants_split(w, t):
    """A ball is divided when it has its threshold of samples.

    In tracking one that is known well is divided early, while a part of the block is free; and small ones of
    many dimensions, of which there are many, only if they are known.
    """
    i = H_WORDS + t[T_LEVEL]  # the ball's threshold
    if t[T_LEVEL] >= t[T_FINEST]:
        return False
    n = w[(t[T_REC] << 2) + R_N] & N_MAX
    if w[H_FLAGS] & FLAG_OWN:
        return n + 1 >= w[i]
    if w[H_FLAGS] & FLAG_PAPER:
        return n + (min(t[T_INHERITED_N], w[i - 1]) if t[T_LEVEL] else 0) >= w[i]
    full = n
    if t[T_LEVEL]:  # the parent is taken to have had the samples that its level asks for
        full += w[i - 1]
    full = w[i] <= THRESHOLD_MAX and full >= w[i]
    if not full and not _may_be_early(w, t, n):
        return False
    if t[T_SHARED] and t[T_CHUNKS] > 1 and t[T_LEVEL] >= LATE_LEVEL:
        return _known(w, t, LATE_ERROR_SHIFT)
    return full or _known(w, t, EARLY_ERROR_SHIFT)


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
        return
    step = t[T_TREE]
    for _ in range(t[T_HORIZON] if t[T_SHARED] else 1):
        _request(w, t, step)
        step += S_WORDS


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


def _old_q(w, t, word):
    """Paper: Q before this sample; a ball without samples still refers to its parent's next states."""
    rec = t[T_REC]
    if rec == 0 or w[(rec << 2) + R_N] & N_MAX == 0:
        return tree_q(w, t, w[word], t[T_PARENT], t[T_LEVEL] - 1)
    return tree_q(w, t, w[word], rec, t[T_LEVEL])


def _take(w, t, rec, level):
    """Add the sample to a record, and estimate the value of the ball."""
    add_sample(w, t, rec, level)
    if not w[H_FLAGS] & FLAG_PAPER:
        gather_near(w, t)
        measure_noise(w, t)
    elif t[T_REC]:  # the parent was gathered before
        gather_all(w, t, rec, level)


def _update(w, t):
    """Update the model of the ball with one sample and its Q; returns the Q."""
    word = t[T_REC] << 2
    old = VALUE_MAX
    if word == 0:
        word = t[T_SLOT]
    if w[H_FLAGS] & FLAG_PAPER:
        old = _old_q(w, t, word)
    if t[T_REC]:
        _take(w, t, t[T_REC], t[T_LEVEL])
    else:  # without a record the ball borrows its parent's
        _take(w, t, t[T_PARENT], t[T_LEVEL] - 1)
    q = adapt_bonus(w, t, t[T_WEIGHT])
    q = tree_clip(t, t[T_VALUE] + q)
    if q > old:
        q = old
    w[word] = tree_surplus(q - t[T_EXPECTED] + SURPLUS_ZERO)
    return q


def _learn(w, t):
    """Descend, update, split; returns the new Q, or -1 when V must be refreshed in any case."""
    tree_descend(w, t)
    if w[H_FLAGS] & FLAG_PAPER:
        gather_above(w, t)
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
    """Learn from the state, action, reward and next state in `t`; True when V of the state needs a search."""
    q = _learn(w, t)
    if w[H_FLAGS] & FLAG_PAPER:
        _request(w, t, t[T_STEP])  # every state cell under the ball
    return q < 0 or not value_holds(w, t, t[T_STATE], q)


def _centre(t):
    """Centre of the action side of the ball."""
    bits = t[T_D_A] * t[T_LEVEL]
    inside = 16 - bits
    return code_centre(t[T_ACTION] >> inside << inside, bits, t[T_D_A])


def follow(w, t, finer):
    """A finer action within the ball is worth a try where the ball is still played."""
    if finer == t[T_ACTION] or not code_inside(finer, _centre(t), t[T_D_A]):
        return
    i = value_find(w, t[T_STEP], t[T_STATE], 16) + 2
    # A damaged link may lead into the header.
    if i > t[T_STEP] and (w[i] ^ t[T_ACTION]) >> 16 - t[T_D_A] * t[T_LEVEL] == 0:
        w[i] = finer
