"""What adapts by itself: the exploration bonus, sharing of steps, restart after a change."""

from ._scratch import T_ACTION, T_D_S, T_FRACTION, T_H, T_REWARD, T_STATE
from ._spec import (
    DETECT_WARMUP,
    FLAG_AUTO_BONUS,
    FLAG_DETECT,
    H_BONUS,
    H_DROP,
    H_EPISODES,
    H_EPISODES_HIGH,
    H_FLAGS,
    H_MEAN_REWARD,
    H_OTHER_N,
    H_OTHER_TOTAL,
    H_POOL_AT,
    H_RESTARTS,
    H_RETURN_DEV,
    H_RETURN_MEAN,
    H_RETURN_SUM,
    H_SAME_N,
    H_SHARE,
    H_SINCE,
    H_TABLE,
    H_UNITS,
    SHARE_NEXT_MARGIN,
    SHARE_OFF,
    SHARE_ON,
    SHARE_PAIRS_MAX,
    SHARE_PAIRS_MIN,
    SHARE_REWARD_MARGIN,
    SHARE_TABLE_UNITS,
    SHARE_TESTING,
    VALUE_MAX,
)
from .call import restart as call_restart
from .number import blend as number_blend
from .number import bonus as number_bonus
from .pool import count_up
from .pool import free as pool_free


def factor(w, t):
    """c in the value format: as configured, or 0.5 (1 - mean reward)."""
    if w[H_FLAGS] & FLAG_AUTO_BONUS:
        return (0x10000 - w[H_MEAN_REWARD]) << t[T_FRACTION] >> 17
    return w[H_BONUS]


def bonus(w, t, weight):
    """c/sqrt(N) for N in quarter samples."""
    return number_bonus(factor(w, t), weight) if weight else VALUE_MAX


def _count_pair(w, i, before, outcome):
    """Add the distance of two outcomes to the sums at word i: pairs, rewards, next states."""
    if w[i] == 255:
        w[i] >>= 1
        w[i + 1] >>= 1
        w[i + 2] >>= 1
    w[i] = w[i] + 1 & 0xFFFF
    w[i + 1] = w[i + 1] + abs((before >> 8) - (outcome >> 8)) & 0xFFFF
    w[i + 2] = w[i + 2] + abs((before & 255) - (outcome & 255)) & 0xFFFF
    if i == H_OTHER_N:
        w[H_OTHER_TOTAL] = w[H_OTHER_TOTAL] + 1 & 0xFFFF


def _compare(w, t, cell, outcome):
    """Compare the sample with the last one in the same small cell: does the step number matter?

    An entry is {cell and step + 1, reward and next state}.
    """
    i = (w[H_POOL_AT] << 2) + 2 * ((cell ^ cell >> 5) & 31)
    if w[i] and w[i] >> 5 == cell:
        _count_pair(w, H_SAME_N if w[i] & 31 == t[T_H] + 1 else H_OTHER_N, w[i + 1], outcome)
    w[i] = cell << 5 | t[T_H] + 1
    w[i + 1] = outcome


def _coarse_mean(t, state):
    """Mean coordinate of a point, 8 bits."""
    if t[T_D_S] == 1:
        return state[0] >> 8
    if t[T_D_S] == 2:
        return state[0] + state[1] >> 9
    return (state[0] + state[1] + state[2]) // 3 >> 8


def step(w, t, next_state):
    """The step's share of what adapts: mean reward, return, and the sharing test while it runs."""
    reward = t[T_REWARD]
    mean = w[H_MEAN_REWARD]
    if reward > mean:
        w[H_MEAN_REWARD] = mean + (reward - mean >> 8)
    else:
        w[H_MEAN_REWARD] = mean - (mean - reward >> 8)
    w[H_RETURN_SUM] = min(w[H_RETURN_SUM] + (reward >> 16 - t[T_FRACTION]), 0xFFFF)
    if w[H_SHARE] == SHARE_TESTING and w[H_UNITS] - w[H_POOL_AT] >= SHARE_TABLE_UNITS:
        reward = reward & 0xFF00 | _coarse_mean(t, next_state)
        _compare(w, t, t[T_STATE] >> 11 << 5 | t[T_ACTION] >> 11, reward)


def _differs(w, word, factor, margin):
    """Mean over different steps clearly above the mean over the same step: factor * same + margin/256."""
    same_n = w[H_SAME_N] & 0xFF
    same = (factor * w[H_SAME_N + word] + margin * same_n) * (w[H_OTHER_N] & 0xFF)
    return w[H_OTHER_N + word] * same_n > same


def _judge_sharing(w):
    """Ends the sharing test when it has seen enough. Returns True when steps turned out to differ."""
    if (
        w[H_SAME_N] >= 8
        and w[H_OTHER_N] >= SHARE_PAIRS_MIN
        and (_differs(w, 1, 3, SHARE_REWARD_MARGIN) or _differs(w, 2, 2, SHARE_NEXT_MARGIN))
    ):
        w[H_SHARE] = SHARE_OFF
        return True
    if w[H_OTHER_TOTAL] >= SHARE_PAIRS_MAX:
        w[H_SHARE] = SHARE_ON
        for unit in range(w[H_POOL_AT], w[H_POOL_AT] + SHARE_TABLE_UNITS):
            pool_free(w, unit)
        w[H_TABLE] = 0
    return False


def _judge_drop(w, t, drop):
    """Cumulative sum of how far returns fall below their mean. Returns True on an alarm."""
    dev = w[H_RETURN_DEV]
    drop += w[H_DROP] - (dev >> 1)
    drop = 0 if drop < 0 else min(drop, 0xFFFF)
    w[H_DROP] = drop
    return w[H_SINCE] > DETECT_WARMUP and drop > 15 * dev + (1 << t[T_FRACTION] >> 1)


def _judge_return(w, t):
    """Follow the returns: their mean, their deviation, and whether they fell."""
    value = w[H_RETURN_SUM]
    mean = w[H_RETURN_MEAN]
    count_up(w, H_SINCE)
    window = min(w[H_SINCE], 32)
    alarm = _judge_drop(w, t, mean - value)
    w[H_RETURN_DEV] = number_blend(w[H_RETURN_DEV], abs(value - mean), 1, window)
    w[H_RETURN_MEAN] = number_blend(mean, value, 1, window)
    return alarm


def episode(w, t):
    alarm = _judge_return(w, t) and w[H_FLAGS] & FLAG_DETECT
    w[H_RETURN_SUM] = 0
    w[H_EPISODES] = w[H_EPISODES] + 1 & 0xFFFF
    if w[H_EPISODES] == 0:
        count_up(w, H_EPISODES_HIGH)
    if alarm:
        count_up(w, H_RESTARTS)
    if (w[H_SHARE] == SHARE_TESTING and _judge_sharing(w)) or alarm:
        call_restart(w, t)
