"""What a ball knows: adding a sample, and estimating from its own evidence and that of the balls above."""

from ._scratch import (
    T_CELL,
    T_D_S,
    T_EXPECTED,
    T_FRACTION,
    T_LEVEL,
    T_NEXT,
    T_PARENT,
    T_REC,
    T_REWARD,
    T_VALUE,
    T_WEIGHT,
)
from ._spec import H_EPISODES, N_MAX, R_N, R_REWARD, VALUE_MAX
from .counts import add as counts_add
from .counts import expect as counts_expect
from .number import blend as number_blend
from .number import follow as number_follow
from .number import mean as number_mean
from .number import shift as number_shift
from .number import shifted


def _own_value(w, t, rec, level):
    """The record's own estimate: reward plus expected next value (which stays in `t`)."""
    level = counts_expect(w, t, rec, level)
    t[T_EXPECTED] = level
    shift = 16 - t[T_FRACTION]
    level += (w[(rec << 2) + R_REWARD] + (1 << shift - 1)) >> shift
    return level if level < VALUE_MAX else VALUE_MAX


def gather_all(w, t, rec, level):
    """Paper: every ancestor's samples count in full; a running mean, since any number of them can follow."""
    n4 = (w[(rec << 2) + R_N] & N_MAX) << 2
    if n4:
        level = _own_value(w, t, rec, level)
        t[T_WEIGHT] = min(t[T_WEIGHT], 4 * N_MAX) + n4
        t[T_VALUE] = number_blend(t[T_VALUE], level, n4, t[T_WEIGHT])


def _parent_weight(w, t, own):
    """The parent's samples count a quarter, at most 4^(level - 1) of them, until the ball has as many."""
    parent = t[T_PARENT]
    if parent:
        parent = w[(parent << 2) + R_N] & N_MAX
    if own > 4 * parent:
        return 0
    if t[T_LEVEL] < 7 and parent > 1 << 2 * t[T_LEVEL]:
        return 1 << 2 * t[T_LEVEL]
    return parent


def ball_value(w, t):
    return _own_value(w, t, t[T_REC], t[T_LEVEL])


def parent_value(w, t):
    return _own_value(w, t, t[T_PARENT], t[T_LEVEL] - 1)


def gather_near(w, t):
    """Tracking: the evidence of the ball and of its parent."""
    own = t[T_REC]
    if own:
        own = (w[(own << 2) + R_N] & N_MAX) << 2
    parent = _parent_weight(w, t, own)
    t[T_WEIGHT] = own + parent
    if own and parent:
        shift = number_shift(own + parent)
        own = shifted(own, shift)
        parent = shifted(parent, shift)
        value = parent * parent_value(w, t)
        value += own * ball_value(w, t)
        t[T_VALUE] = number_mean(value, own + parent)
    elif own:
        t[T_VALUE] = ball_value(w, t)
    elif parent:
        t[T_VALUE] = parent_value(w, t)


def _add_reward(w, t, i):
    """Mean reward and count after one more sample, for the record at word i."""
    n = w[i + R_N] & N_MAX
    if n < N_MAX:
        n += 1
        w[i + R_N] += 1
    w[i + R_REWARD] = number_follow(w[i + R_REWARD], t[T_REWARD], n, w[H_EPISODES])


def add_sample(w, t, rec, level):
    _add_reward(w, t, rec << 2)
    if level:
        t[T_CELL] = t[T_NEXT] >> 16 - t[T_D_S] * level
        counts_add(w, t, rec, level, 1)
