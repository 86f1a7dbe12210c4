"""What adapts by itself: the exploration bonus, sharing of steps, restart after a change."""

# isort: off
from ._scratch import T_ACTION, T_CHUNKS, T_D_A, T_D_S, T_FRACTION, T_H, T_HORIZON, T_LEVEL, T_REWARD
from ._scratch import T_SHARED, T_STATE, T_TREE
from ._spec import AUTO_BONUS_SHIFT, BONUS_SIDES, DETECT_ALARM, DETECT_FLOOR_SHIFT, DETECT_LEAST_SHIFT
from ._spec import DETECT_SLACK_SHIFT, DETECT_SPELL_SHIFT, DETECT_WARMUP, DETECT_WINDOW, EFFECT_BITS
from ._spec import EFFECT_MOST, EFFECT_NOISE, EFFECT_SHIFT, FADE_MOST, FADE_SHIFT, NOISE_LEAST, NOISE_SHIFT
from ._spec import REWARD_FIRST, REWARD_SHIFT, REWARD_SHIFT_SHARED, SHARE_COUNT_MAX
from ._spec import SHARE_ENTRY_SHIFT, SHARE_HASH
from ._spec import SHARE_LOST_FEW, SHARE_LOST_MORE, SHARE_NEXT_FACTOR, SHARE_NEXT_MARGIN, SHARE_OFF, SHARE_ON
from ._spec import SHARE_PAIRS_MAX, SHARE_PAIRS_MIN, SHARE_REWARD_FACTOR, SHARE_REWARD_MARGIN, SHARE_SAME_MIN
from ._spec import SHARE_TABLE_UNITS, SHARE_TESTING, SPREAD_SCALE_SHIFT, VALUE_MAX
from ._spec import FLAG_AUTO_BONUS, FLAG_DETECT, FLAG_PAPER
from ._spec import H_BONUS, H_DIMS, H_DROP, H_EPISODES, H_EPISODES_HIGH, H_FLAGS, H_OTHER_N, H_OTHER_TOTAL
from ._spec import H_POOL_AT, H_RESTARTS, H_RETURN_DEV, H_RETURN_MEAN, H_RETURN_SUM, H_RNG, H_SAME_N, H_SEEN
from ._spec import H_SHARE, H_SINCE, H_TABLE, H_UNITS
from ._spec import S_NOISE, S_REWARD_MEAN, S_REWARD_TOP, S_SPREAD

# isort: on
from .call import restart as call_restart
from .number import bonus as number_bonus
from .number import drift as number_drift
from .number import follow as number_follow
from .pool import count_up
from .pool import free as pool_free


def factor(w, t):
    """c in the value format: as configured, or half of what the best rewards are above the mean.

    In tracking with more than 1+1 dimensions it is halved a few times as episodes go by.
    """
    if not w[H_FLAGS] & FLAG_AUTO_BONUS:
        return w[H_BONUS]
    i = t[T_TREE]
    i = max(w[i + S_REWARD_TOP] - w[i + S_REWARD_MEAN], 0) << t[T_FRACTION] >> 16 + AUTO_BONUS_SHIFT
    if t[T_CHUNKS] == 1 or w[H_FLAGS] & FLAG_PAPER:
        return i
    return i >> min(w[H_SINCE] >> FADE_SHIFT, FADE_MOST)


def bonus(w, t, weight):
    """c/sqrt(N) for N in quarter samples; in tracking at most a few c/2^level.

    That is what rewards are taken to differ by inside a ball of its size.
    """
    most = factor(w, t)
    weight = number_bonus(most, weight)
    most = most * BONUS_SIDES >> t[T_LEVEL]
    return most if weight > most and not w[H_FLAGS] & FLAG_PAPER else weight


def noise(w, t, far):
    """The median of how far samples are from what their balls predict, in 2^-15: a step towards each."""
    i = t[T_TREE] + S_NOISE
    to = w[i] >> NOISE_SHIFT
    to = w[i] + to if far << 15 - t[T_FRACTION] > w[i] else w[i] - to
    w[i] = max(NOISE_LEAST, min(to, VALUE_MAX))


def spread(w, t, far):
    """The mean square of how far the next value is from what the ball predicted."""
    i = t[T_TREE]
    far >>= t[T_FRACTION] - EFFECT_BITS
    far = min(far, EFFECT_MOST, w[i + S_NOISE] * EFFECT_NOISE >> 15 - EFFECT_BITS)
    i += S_SPREAD
    w[i] = number_drift(w[i], far * far >> SPREAD_SCALE_SHIFT, EFFECT_SHIFT, w[H_RNG])


def _count_pair(w, i, before, outcome):
    """Add the distance of two outcomes to the sums at word i: pairs, rewards, next states."""
    if w[i] == SHARE_COUNT_MAX:
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
    i = (w[H_POOL_AT] << 2) + 2 * (cell >> SHARE_ENTRY_SHIFT)
    cell = (cell & (1 << SHARE_ENTRY_SHIFT) - 1) << 16 - SHARE_ENTRY_SHIFT | t[T_H] + 1
    if w[i] and (w[i] ^ cell) >> 16 - SHARE_ENTRY_SHIFT == 0:
        _count_pair(w, H_SAME_N if w[i] == cell else H_OTHER_N, w[i + 1], outcome)
    w[i] = cell
    w[i + 1] = outcome


def _coarse_mean(t, state):
    """Mean coordinate of a point, 8 bits."""
    total = 0
    for i in range(t[T_D_S]):
        total += state[i]
    return total // t[T_D_S] >> 8


def _rate(w, t, slow):
    """The shift by which the mean follows: in tracking at first about that of the mean of all rewards."""
    n = w[H_SINCE] * t[T_HORIZON] + 1 if t[T_SHARED] else w[H_SINCE] + REWARD_FIRST
    while n >> slow == 0 and not w[H_FLAGS] & FLAG_PAPER:
        slow -= 1
    return slow


def _follow_rewards(w, t, reward):
    """The mean of the rewards, in tracking at first about that of all, and their top.

    That is the best one, decaying slowly. It starts at the maximum, 1.
    """
    i = t[T_TREE]
    mean = w[i + S_REWARD_MEAN]
    top = w[i + S_REWARD_TOP]
    slow = REWARD_SHIFT_SHARED if t[T_SHARED] else REWARD_SHIFT
    if top > mean:
        top -= top - mean >> slow
    w[i + S_REWARD_TOP] = max(reward, top)
    slow = _rate(w, t, slow)
    w[i + S_REWARD_MEAN] = mean + (reward - mean >> slow) if reward > mean else mean - (mean - reward >> slow)


def step(w, t, next_state):
    """The step's share of what adapts: rewards, return, and the sharing test while it runs."""
    reward = t[T_REWARD]
    _follow_rewards(w, t, reward)
    count_up(w, H_SEEN)
    w[H_RETURN_SUM] = min(w[H_RETURN_SUM] + (reward >> 16 - t[T_FRACTION]), 0xFFFF)
    if w[H_SHARE] == SHARE_TESTING and w[H_UNITS] - w[H_POOL_AT] >= SHARE_TABLE_UNITS:
        reward = reward & 0xFF00 | _coarse_mean(t, next_state)
        # Small cells, in which rewards hardly change.
        lost = SHARE_LOST_MORE if t[T_D_S] + t[T_D_A] > 3 else SHARE_LOST_FEW
        _compare(w, t, (t[T_STATE] >> lost << 8 | t[T_ACTION] >> lost) * SHARE_HASH & 0xFFFF, reward)


def _differs(w, word, factor, margin):
    """Mean over different steps clearly above the mean over the same step: factor * same + margin/256."""
    same_n = w[H_SAME_N] & 0xFF
    same = (factor * w[H_SAME_N + word] + margin * same_n) * (w[H_OTHER_N] & 0xFF)
    return w[H_OTHER_N + word] * same_n > same


def _judge_sharing(w):
    """Ends the sharing test when it has seen enough. Returns True when steps turned out to differ."""
    if (
        w[H_SAME_N] >= SHARE_SAME_MIN
        and w[H_OTHER_N] >= SHARE_PAIRS_MIN
        and (
            _differs(w, 1, SHARE_REWARD_FACTOR, SHARE_REWARD_MARGIN)
            or _differs(w, 2, SHARE_NEXT_FACTOR, SHARE_NEXT_MARGIN)
        )
    ):
        w[H_SHARE] = SHARE_OFF
        return True
    if w[H_OTHER_TOTAL] >= SHARE_PAIRS_MAX:
        w[H_SHARE] = SHARE_ON
        for unit in range(w[H_POOL_AT], w[H_POOL_AT] + SHARE_TABLE_UNITS):
            pool_free(w, unit)
        w[H_TABLE] = 0
    return False


def _return(w):
    """What the episode earned; steps that were left out count as the others' mean."""
    return min(w[H_RETURN_SUM] * (w[H_DIMS] >> 8) // w[H_SEEN], 0xFFFF)


def _judge_drop(w, t, drop):
    """Cumulative sum of how far returns fall below their mean. Returns True on an alarm.

    No single episode brings more than a part of an alarm, so that only a fall that lasts raises one, and a
    deviation is at least a small part of the mean, so that the sum drains after a fall that did not last.
    """
    unit = max(w[H_RETURN_DEV], w[H_RETURN_MEAN] >> DETECT_LEAST_SHIFT)
    most = DETECT_ALARM * unit + (1 << t[T_FRACTION] >> DETECT_FLOOR_SHIFT) >> DETECT_SPELL_SHIFT
    drop -= unit >> DETECT_SLACK_SHIFT
    drop = w[H_DROP] + min(drop, most)
    drop = max(0, min(drop, 0xFFFF))
    w[H_DROP] = drop
    return w[H_SINCE] > DETECT_WARMUP and drop >= most << DETECT_SPELL_SHIFT


def _follow(w, i, value):
    """The mean in word i after one more value."""
    w[i] = number_follow(w[i], value, min(w[H_SINCE], DETECT_WINDOW), w[H_EPISODES])


def _judge_return(w, t):
    """Follow the returns: their mean, their deviation, and whether they fell."""
    if w[H_SEEN] == 0:
        return False
    value = _return(w)
    mean = w[H_RETURN_MEAN]
    count_up(w, H_SINCE)
    alarm = _judge_drop(w, t, mean - value)
    _follow(w, H_RETURN_DEV, abs(value - mean))
    _follow(w, H_RETURN_MEAN, value)
    return alarm


def episode(w, t):
    alarm = _judge_return(w, t) and w[H_FLAGS] & FLAG_DETECT
    w[H_RETURN_SUM] = w[H_SEEN] = 0
    if w[H_EPISODES] != 0xFFFF:
        w[H_EPISODES] += 1
    elif w[H_EPISODES_HIGH] != 0xFFFF:  # both full: the count stops as a whole
        w[H_EPISODES] = 0
        w[H_EPISODES_HIGH] += 1
    if alarm:
        count_up(w, H_RESTARTS)
    if (w[H_SHARE] == SHARE_TESTING and _judge_sharing(w)) or alarm:
        call_restart(w, t)
