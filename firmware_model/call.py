"""What a call needs to know, decoded from the block into the scratch array (C: `adamb_call`); the restart."""

from array import array

# isort: off
from ._scratch import T_ACTION, T_ACTION_MASK, T_ACTION_SHIFT, T_CHUNKS, T_D_A, T_D_S, T_DEEPEST, T_DIVISION
from ._scratch import T_FINEST, T_FRACTION, T_H, T_HORIZON, T_MOST, T_SHARED, T_STATE, T_STATE_MASK
from ._scratch import T_STATE_SHIFT, T_STEP, T_TREE, T_WORDS
from ._spec import EFFECT_TOP, NOISE_START, SHARE_OFF, SHARE_TABLE_UNITS, SHARE_TESTING, TAG
from ._spec import H_DIMS, H_FREE_HEAD, H_FREE_N, H_FRESH, H_POOL_AT, H_SCALE, H_SHARE, H_SINCE, H_SPLITS
from ._spec import H_TABLE, H_WORDS
from ._spec import S_ACTION, S_EFFECT, S_JOB_AT, S_JOB_CELL, S_LAST, S_NOISE, S_REWARD_MEAN, S_REWARD_TOP
from ._spec import S_ROOT, S_SPREAD, S_STATE, S_V_AUX, S_V_SLOT, S_WORDS

# isort: on
from .code import centre as code_centre
from .code import division as code_division
from .number import initial as number_initial
from .pool import alloc as pool_alloc


def _fill_row(t, depth, chunk):
    """Where the block at this depth finds its bits; T_STATE and T_ACTION hold the bits of the codes left."""
    state_n = chunk & 3
    action_n = chunk >> 2 & 3
    t[T_STATE] -= state_n
    t[T_ACTION] -= action_n
    # In a slot number the state bits stand left of the action bits.
    t[T_STATE_SHIFT + depth] = t[T_STATE] - action_n
    t[T_STATE_MASK + depth] = ((1 << state_n) - 1) << action_n
    t[T_ACTION_SHIFT + depth] = t[T_ACTION]
    t[T_ACTION_MASK + depth] = ((1 << action_n) - 1) << t[T_ACTION]


def scratch(w):
    """A scratch array for the block, with its configuration and tables."""
    t = array("i", bytes(4 * T_WORDS))
    dims = w[H_DIMS]
    t[T_D_S] = dims & 15
    t[T_D_A] = dims >> 4 & 15
    t[T_HORIZON] = dims >> 8
    t[T_CHUNKS] = (t[T_D_S] + t[T_D_A] + 1) >> 1
    t[T_FRACTION] = w[H_SCALE] & 0xFF
    t[T_FINEST] = w[H_SCALE] >> 8
    t[T_STATE] = t[T_ACTION] = 16
    t[T_DEEPEST] = t[T_FINEST] * t[T_CHUNKS]
    t[T_DIVISION] = code_division(t[T_D_S], t[T_D_A])
    for depth in range(t[T_DEEPEST]):
        dims = t[T_DIVISION] >> 4 * (depth % t[T_CHUNKS])
        _fill_row(t, depth + 1, dims)
    return t


def step(t, h):
    """First word of a step."""
    return H_WORDS + 1 + t[T_FINEST] + h * S_WORDS


def decode(w, t, h):
    """Make step h the step of the call."""
    t[T_H] = h
    t[T_STEP] = step(t, h)
    t[T_SHARED] = w[H_SHARE] != SHARE_OFF
    t[T_TREE] = step(t, 0) if t[T_SHARED] else t[T_STEP]
    t[T_MOST] = number_initial(t, h)


def _restart_step(w, t, h):
    decode(w, t, h)
    i = t[T_STEP]
    w[i + S_V_AUX] = code_centre(0, 0, t[T_D_A])
    w[i + S_V_SLOT] = TAG | t[T_MOST]
    w[i + S_ROOT] = TAG
    w[i + S_STATE] = w[i + S_ACTION] = w[i + S_JOB_CELL] = w[i + S_JOB_AT] = w[i + S_REWARD_MEAN] = 0
    w[i + S_SPREAD] = w[i + S_LAST] = 0
    w[i + S_NOISE] = NOISE_START
    w[i + S_EFFECT] = EFFECT_TOP
    w[i + S_REWARD_TOP] = 0xFFFF


def restart(w, t):
    """Discard everything learnt; configuration, counters and the result of the sharing test stay.

    V first, and its action before its value: a walk in between finds the old tree, whole, or the new one.
    """
    for h in range(t[T_HORIZON]):
        _restart_step(w, t, h)
    w[H_FREE_HEAD] = w[H_FREE_N] = w[H_SPLITS] = 0
    w[H_FRESH] = w[H_POOL_AT]
    for i in range(H_TABLE, H_SINCE + 1):
        w[i] = 0
    if w[H_SHARE] == SHARE_TESTING:
        w[H_TABLE] = w[H_POOL_AT]
        for _ in range(SHARE_TABLE_UNITS):
            pool_alloc(w)
