"""What adapts by itself: the exploration bonus, sharing of steps, restart after a change."""

# isort: off
from ._scratch import C_CHUNKS, C_D_A, C_D_S, C_FRACTION, C_H, C_HELD, C_HORIZON, C_SHARED, C_STEP, C_TREE
from ._scratch import C_V_MAX, V_ACTION, V_LEVEL, V_REWARD, V_STATE
from ._spec import AUTO_BONUS_SHIFT, BONUS_SIDES, DETECT_ALARM, DETECT_FLOOR_SHIFT, DETECT_LEAST_SHIFT
from ._spec import DETECT_SLACK_SHIFT, DETECT_SPELL_SHIFT, DETECT_WARMUP, DETECT_WINDOW, EFFECT_BITS
from ._spec import EFFECT_MOST, EFFECT_NOISE, EFFECT_SHIFT, EFFECT_TOP, FADE_MOST, FADE_SHIFT
from ._spec import HELD_BONUS_SHIFT, HELD_ERRORS, HELD_FIRST, HELD_HORIZON, HELD_NOISE_SHIFT, HELD_NOISE_START
from ._spec import HELD_REWARD_SHIFT, HELD_TAUGHT, HELD_UNTIL, NOISE_LEAST, NOISE_SHIFT, NOISE_START, REWARD_FIRST
from ._spec import REWARD_SHIFT, REWARD_SHIFT_SHARED, SHARE_COUNT_MAX, SHARE_ENTRY_SHIFT, SHARE_HASH
from ._spec import SHARE_LOST_FEW, SHARE_LOST_MORE, SHARE_NEXT_FACTOR, SHARE_NEXT_MARGIN, SHARE_OFF, SHARE_ON
from ._spec import SHARE_PAIRS_MAX, SHARE_PAIRS_MIN, SHARE_REWARD_FACTOR, SHARE_REWARD_MARGIN, SHARE_SAME_MIN
from ._spec import SHARE_TABLE_UNITS, SHARE_TESTING, SPREAD_SCALE_SHIFT, TAG, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_AUTO_BONUS, FLAG_DETECT, FLAG_PAPER
from ._spec import H_BONUS, H_DIMS, H_DROP, H_EPISODES, H_EPISODES_HIGH, H_FLAGS, H_FREE_HEAD, H_FREE_N
from ._spec import H_FRESH, H_HELD, H_HELD_MEAN, H_HELD_N, H_OTHER_N, H_OTHER_TOTAL, H_POOL_AT, H_RESTARTS
from ._spec import H_RETURN_DEV, H_RETURN_SUM, H_RNG, H_SAME_N, H_SCALE, H_SEEN, H_SHARE, H_SINCE, H_SPLITS
from ._spec import H_STEPS_MEAN, H_STEPS_N, H_TABLE, H_UNITS
from ._spec import S_ACTION, S_EFFECT, S_JOB_AT, S_JOB_CELL, S_LAST, S_NOISE, S_REWARD_MEAN, S_REWARD_TOP
from ._spec import S_ROOT, S_SPREAD, S_STATE, S_V_AUX, S_V_SLOT

# isort: on
from .config import call_decode, call_step, pool_alloc, pool_free, saturating_inc
from .number import bonus as number_bonus
from .number import code_centre
from .number import dithered_mean as number_dithered_mean
from .number import moving_average as number_moving_average
from .number import random as number_random


def factor(w, t):
    """c in the value format: as configured, or half of what the best rewards are above the mean.

    In tracking with more than 1+1 dimensions it is halved a few times as episodes go by.
    """
    if not w[H_FLAGS] & FLAG_AUTO_BONUS:
        return w[H_BONUS]
    i = t[C_TREE]
    i = max(w[i + S_REWARD_TOP] - w[i + S_REWARD_MEAN], 0) << t[C_FRACTION] >> 16
    if t[C_HELD]:
        return i >> HELD_BONUS_SHIFT
    i >>= AUTO_BONUS_SHIFT
    if t[C_CHUNKS] == 1 or w[H_FLAGS] & FLAG_PAPER:
        return i
    return i >> min(w[H_SINCE] >> FADE_SHIFT, FADE_MOST)


def bonus(w, t, weight):
    """c/sqrt(N) for N in quarter samples; in tracking at most a few c/2^level.

    That is what rewards are taken to differ by inside a ball of its size.
    """
    most = factor(w, t)
    weight = number_bonus(most, weight)
    most = most * BONUS_SIDES >> t[V_LEVEL]
    return most if weight > most and not w[H_FLAGS] & FLAG_PAPER else weight


def noise(w, t, far):
    """The median of how far samples are from what their balls predict, in 2^-15: a step towards each."""
    i = t[C_TREE] + S_NOISE
    to = w[i] >> (HELD_NOISE_SHIFT if t[C_HELD] else NOISE_SHIFT)
    to = w[i] + to if far << 15 - t[C_FRACTION] > w[i] else w[i] - to
    w[i] = max(NOISE_LEAST, min(to, VALUE_MAX))


def spread(w, t, far):
    """The mean square of how far the next value is from what the ball predicted."""
    i = t[C_TREE]
    far >>= t[C_FRACTION] - EFFECT_BITS
    far = min(far, EFFECT_MOST, w[i + S_NOISE] * EFFECT_NOISE >> 15 - EFFECT_BITS)
    i += S_SPREAD
    w[i] = number_moving_average(w[i], far * far >> SPREAD_SCALE_SHIFT, EFFECT_SHIFT, w[H_RNG])


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
    cell = (cell & (1 << SHARE_ENTRY_SHIFT) - 1) << 16 - SHARE_ENTRY_SHIFT | t[C_H] + 1
    if w[i] and (w[i] ^ cell) >> 16 - SHARE_ENTRY_SHIFT == 0:
        _count_pair(w, H_SAME_N if w[i] == cell else H_OTHER_N, w[i + 1], outcome)
    w[i] = cell
    w[i + 1] = outcome


def _coarse_mean(t, state):
    """Mean coordinate of a point, 8 bits."""
    total = 0
    for i in range(t[C_D_S]):
        total += state[i]
    return total // t[C_D_S] >> 8


def _rate(w, t, slow):
    """The shift by which the mean follows: in tracking at first about that of the mean of all rewards."""
    n = w[H_SINCE] * t[C_HORIZON] + 1 if t[C_SHARED] else w[H_SINCE] + REWARD_FIRST
    while n >> slow == 0 and not w[H_FLAGS] & FLAG_PAPER:
        slow -= 1
    return slow


def rewards(w, t, reward):
    """The mean of the rewards, in tracking at first about that of all, and their top.

    That is the best one, decaying slowly. It starts at the maximum, 1.
    """
    i = t[C_TREE]
    mean = w[i + S_REWARD_MEAN]
    top = w[i + S_REWARD_TOP]
    slow = REWARD_SHIFT_SHARED if t[C_SHARED] else HELD_REWARD_SHIFT if t[C_HELD] else REWARD_SHIFT
    if top > mean:
        top -= top - mean >> slow
    w[i + S_REWARD_TOP] = max(reward, top)
    slow = _rate(w, t, slow)
    w[i + S_REWARD_MEAN] = mean + (reward - mean >> slow) if reward > mean else mean - (mean - reward >> slow)


def step(w, t, next_state):
    """The step's share of what adapts: return, rewards, and the sharing test while it runs.

    A held episode is no part of that test. Returns 0 when it teaches the steps nothing: only the first ones
    do, before any other episode.
    """
    reward = t[V_REWARD]
    saturating_inc(w, H_SEEN)
    w[H_RETURN_SUM] = min(w[H_RETURN_SUM] + (reward >> 16 - t[C_FRACTION]), 0xFFFF)
    if w[H_HELD] == 1 and w[H_STEPS_N]:
        return 0
    rewards(w, t, reward)
    if w[H_HELD] != 1 and w[H_SHARE] == SHARE_TESTING and w[H_UNITS] - w[H_POOL_AT] >= SHARE_TABLE_UNITS:
        reward = reward & 0xFF00 | _coarse_mean(t, next_state)
        # Small cells, in which rewards hardly change.
        lost = SHARE_LOST_MORE if t[C_D_S] + t[C_D_A] > 3 else SHARE_LOST_FEW
        _compare(w, t, (t[V_STATE] >> lost << 8 | t[V_ACTION] >> lost) * SHARE_HASH & 0xFFFF, reward)
    return 1


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


def earned(w):
    """What the episode earned; steps that were left out count as the others' mean."""
    return min(w[H_RETURN_SUM] * (w[H_DIMS] >> 8) // w[H_SEEN], 0xFFFF)


def _judge_drop(w, drop, mean):
    """Cumulative sum of how far returns fall below the mean of their kind. Returns True on an alarm.

    No single episode brings more than a part of an alarm, so that only a fall that lasts raises one, and a
    deviation is at least a small part of the mean, so that the sum drains after a fall that did not last.
    """
    unit = max(w[H_RETURN_DEV], mean >> DETECT_LEAST_SHIFT)
    most = DETECT_ALARM * unit + (1 << (w[H_SCALE] & 0xFF) >> DETECT_FLOOR_SHIFT) >> DETECT_SPELL_SHIFT
    drop -= unit >> DETECT_SLACK_SHIFT
    drop = w[H_DROP] + min(drop, most)
    drop = max(0, min(drop, 0xFFFF))
    w[H_DROP] = drop
    return w[H_SINCE] > DETECT_WARMUP and drop >= most << DETECT_SPELL_SHIFT


def _count_kind(w, kind):
    """Count the episode in its kind. The other kind's counts for less, so that it is followed faster later."""
    other = H_STEPS_MEAN + H_HELD_MEAN - kind + 1
    if w[other] > 2 and number_random(w) >> 8 < w[other]:
        w[other] -= 1
    w[kind + 1] = min(w[kind + 1] + 1, DETECT_WINDOW)


def _judge_return(w, value):
    """Follow the mean return of held or of stepwise episodes, their deviation, and whether they fell."""
    kind = H_HELD_MEAN if w[H_HELD] else H_STEPS_MEAN
    _count_kind(w, kind)
    mean = value if w[kind + 1] == 1 else w[kind]
    saturating_inc(w, H_SINCE)
    alarm = _judge_drop(w, mean - value, mean)
    w[H_RETURN_DEV] = number_dithered_mean(
        w[H_RETURN_DEV], abs(value - mean), min(w[H_SINCE], DETECT_WINDOW), w[H_EPISODES]
    )
    w[kind] = number_dithered_mean(mean, value, w[kind + 1], w[H_EPISODES])
    return alarm


def _may_hold(w):
    """Where steps differ, or are many, no action is good for all of them; the paper holds none."""
    return w[H_SHARE] != SHARE_OFF and not w[H_FLAGS] & FLAG_PAPER and w[H_DIMS] >> 8 <= HELD_HORIZON


def _choose(w, t):
    """Whether the next episode is held.

    The best action may earn what V of the held step says, the policy of the steps its mean return and the
    error of that. At first some are held, then some are not, to know both; where a teacher had those first ones,
    none is.
    """
    horizon = w[H_DIMS] >> 8
    error = number_bonus(w[H_RETURN_DEV] & VALUE_MASK, 4 * w[H_STEPS_N] + 1)
    best = (w[call_step(t, horizon) + S_V_SLOT] & VALUE_MASK) * horizon
    better = w[H_SINCE] >= HELD_UNTIL and w[H_HELD_N] and best > w[H_STEPS_MEAN] + HELD_ERRORS * error
    w[H_HELD] = 1 if _may_hold(w) and (w[H_SINCE] < HELD_FIRST or better) else 0


def _restart_step(w, t, h):
    call_decode(w, t, h)
    i = t[C_STEP]
    w[i + S_V_AUX] = code_centre(0, 0, t[C_D_A])
    w[i + S_V_SLOT] = TAG | t[C_V_MAX]
    w[i + S_ROOT] = TAG
    w[i + S_STATE] = w[i + S_ACTION] = w[i + S_JOB_CELL] = w[i + S_JOB_AT] = w[i + S_REWARD_MEAN] = 0
    w[i + S_SPREAD] = w[i + S_LAST] = 0
    w[i + S_NOISE] = HELD_NOISE_START if t[C_HELD] else NOISE_START
    w[i + S_EFFECT] = EFFECT_TOP
    w[i + S_REWARD_TOP] = 0xFFFF


def restart(w, t):
    """Discard everything learnt; configuration, counters and the result of the sharing test stay.

    V first, and its action before its value: a walk in between finds the old tree, whole, or the new one.
    """
    for h in range((w[H_DIMS] >> 8) + 1):
        _restart_step(w, t, h)
    w[H_FREE_HEAD] = w[H_FREE_N] = w[H_SPLITS] = 0
    w[H_FRESH] = w[H_POOL_AT]
    for i in range(H_TABLE, H_STEPS_N + 1):
        w[i] = 0
    w[H_HELD] = 1 if _may_hold(w) else 0
    if w[H_SHARE] == SHARE_TESTING:
        w[H_TABLE] = w[H_POOL_AT]
        for _ in range(SHARE_TABLE_UNITS):
            pool_alloc(w)


def episode(w, t, value):
    """The end of an episode with this return: what adapts, and a restart where it takes one."""
    alarm = False
    if w[H_HELD] == HELD_TAUGHT:
        saturating_inc(w, H_SINCE)
    elif w[H_SEEN]:
        alarm = _judge_return(w, value) and w[H_FLAGS] & FLAG_DETECT
    _choose(w, t)
    w[H_RETURN_SUM] = w[H_SEEN] = 0
    if w[H_EPISODES] != 0xFFFF:
        w[H_EPISODES] += 1
    elif w[H_EPISODES_HIGH] != 0xFFFF:  # both full: the count stops as a whole
        w[H_EPISODES] = 0
        w[H_EPISODES_HIGH] += 1
    if alarm:
        saturating_inc(w, H_RESTARTS)
    if (w[H_SHARE] == SHARE_TESTING and _judge_sharing(w)) or alarm:
        restart(w, t)
