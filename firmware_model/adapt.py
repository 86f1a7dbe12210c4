"""What adapts by itself: the exploration bonus, sharing of steps, restart after a change."""

from ._scratch import T_ACTION, T_D_A, T_D_S, T_FRACTION, T_H, T_REWARD, T_SHARED, T_STATE, T_STEP
from ._spec import (
    DETECT_ALARM,
    DETECT_WARMUP,
    DETECT_WINDOW,
    FLAG_AUTO_BONUS,
    FLAG_DETECT,
    H_BONUS,
    H_DROP,
    H_EPISODES,
    H_EPISODES_HIGH,
    H_FLAGS,
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
    S_REWARD_MEAN,
    S_REWARD_TOP,
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
from .call import step as call_step
from .number import bonus as number_bonus
from .number import follow as number_follow
from .pool import count_up
from .pool import free as pool_free


def _rewards(t):
    """First word of the step whose rewards are followed; steps that share a tree are followed together."""
    return call_step(t, 0) if t[T_SHARED] else t[T_STEP]


def factor(w, t):
    """c in the value format: as configured, or half of what the best rewards are above the mean."""
    if not w[H_FLAGS] & FLAG_AUTO_BONUS:
        return w[H_BONUS]
    i = _rewards(t)
    i = w[i + S_REWARD_TOP] - w[i + S_REWARD_MEAN]
    return i << t[T_FRACTION] >> 17 if i > 0 else 0


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
    """Compare the sample with the last one in the cell of this hash: does the step number matter?

    An entry is {rest of the cell's hash and step + 1, reward and next state}.
    """
    i = (w[H_POOL_AT] << 2) + 2 * (cell >> 11)
    cell &= 0x7FF
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


def _lost_bits(t, dims):
    """Bits that a code loses in the sharing test: small cells, in which rewards hardly change."""
    if dims == 1:
        return 11
    return 10 if t[T_D_S] + t[T_D_A] == 3 else 8


def _follow_rewards(w, t, reward):
    """The mean of the rewards, and their top: the best one, forgotten slowly. It starts at 1, with hope."""
    i = _rewards(t)
    mean = w[i + S_REWARD_MEAN]
    top = w[i + S_REWARD_TOP]
    slow = 8 if t[T_SHARED] else 6
    w[i + S_REWARD_MEAN] = mean + (reward - mean >> slow) if reward > mean else mean - (mean - reward >> slow)
    if top > mean:
        top -= top - mean >> (8 if t[T_SHARED] else 7)
    w[i + S_REWARD_TOP] = max(reward, top)


def step(w, t, next_state):
    """The step's share of what adapts: rewards, return, and the sharing test while it runs."""
    reward = t[T_REWARD]
    _follow_rewards(w, t, reward)
    w[H_RETURN_SUM] = min(w[H_RETURN_SUM] + (reward >> 16 - t[T_FRACTION]), 0xFFFF)
    if w[H_SHARE] == SHARE_TESTING and w[H_UNITS] - w[H_POOL_AT] >= SHARE_TABLE_UNITS:
        reward = reward & 0xFF00 | _coarse_mean(t, next_state)
        cell = t[T_STATE] >> _lost_bits(t, t[T_D_S]) << 8 | t[T_ACTION] >> _lost_bits(t, t[T_D_A])
        _compare(w, t, cell * 10125 & 0xFFFF, reward)  # odd: every cell has its own hash


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
    return w[H_SINCE] > DETECT_WARMUP and drop > DETECT_ALARM * dev + (1 << t[T_FRACTION] >> 1)


def _follow(w, i, value):
    """The mean in word i after one more value."""
    w[i] = number_follow(w[i], value, min(w[H_SINCE], DETECT_WINDOW), w[H_EPISODES])


def _judge_return(w, t):
    """Follow the returns: their mean, their deviation, and whether they fell."""
    value = w[H_RETURN_SUM]
    mean = w[H_RETURN_MEAN]
    count_up(w, H_SINCE)
    alarm = _judge_drop(w, t, mean - value)
    _follow(w, H_RETURN_DEV, abs(value - mean))
    _follow(w, H_RETURN_MEAN, value)
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
