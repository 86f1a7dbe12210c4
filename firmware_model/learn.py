"""Learning from a sample: the data of a ball, its estimate, when it is divided, which cells of V follow."""

# isort: off
from ._scratch import C_CHUNKS, C_D_A, C_D_S, C_FINEST, C_FRACTION, C_H, C_HELD, C_HORIZON, C_SHARED, C_STEP
from ._scratch import C_TAUGHT, C_TREE, T_CELL, V_ACTION, V_EXPECTED, V_INHERITED_N, V_LEVEL, V_NEXT, V_NEXT_SLOT
from ._scratch import V_PARENT, V_REC, V_REWARD, V_SLOT, V_STATE, V_VALUE, V_WEIGHT
from ._spec import EARLY_ERROR_SHIFT, EARLY_MASK, LATE_ERROR_SHIFT, LATE_LEVEL, MEMORY_MARGIN, MEMORY_NOISE
from ._spec import MEMORY_SHIFT, NEXT_MASK, NOISE_SAMPLES, N_MAX, PARENT_MOST, PARENT_UNTIL, SAMPLE_WEIGHT
from ._spec import SPLIT_ROOM, SURPLUS_ZERO, THRESHOLD_MAX, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_OWN, FLAG_PAPER
from ._spec import H_EPISODES, H_FLAGS, H_NO_ROOM, H_REFUSED, H_UNITS, H_WORDS
from ._spec import S_JOB_AT, S_JOB_CELL, S_NOISE, S_WORDS
from ._spec import R_N, R_REWARD

# isort: on
from .adapt import bonus as adapt_bonus
from .adapt import factor as adapt_factor
from .adapt import noise as adapt_noise
from .adapt import spread as adapt_spread
from .config import call_decode, pool_room, saturating_inc
from .number import blend as number_blend
from .number import bonus as number_bonus
from .number import code_centre, code_inside, shifted
from .number import dithered_mean as number_dithered_mean
from .number import mean as number_mean
from .number import moving_average as number_moving_average
from .number import random as number_random
from .number import shift as number_shift
from .tree import clip as tree_clip
from .tree import descend as tree_descend
from .tree import place as tree_place
from .tree import q as tree_q
from .tree import root as tree_root
from .tree import scan as tree_scan
from .tree import split as tree_split
from .tree import surplus as tree_surplus
from .value import counts_add, counts_expect
from .value import find as value_find
from .value import holds as value_holds
from .value import keep as value_keep
from .value import set as value_set


def _own_value(w, t, rec, level):
    """The record's own estimate: reward plus expected next value (which stays in `t`)."""
    level = counts_expect(w, t, rec, level)
    t[V_EXPECTED] = level
    shift = 16 - t[C_FRACTION]
    level += (w[(rec << 2) + R_REWARD] + (1 << shift - 1)) >> shift
    return level if level < VALUE_MAX else VALUE_MAX


def _below(w, t, rec, level):
    """The slot for the point in the blocks between a record and the balls of this level.

    A damaged list of free units can have made one of the way a new one: then the way ends early.
    """
    slot = rec << 2
    level = (level - 1) * t[C_CHUNKS]
    while w[slot] < w[H_UNITS]:
        level += 1
        slot = tree_place(t, w[slot], level)
        if level % t[C_CHUNKS] == 0:
            break
    return slot


def _model_gather_above(w, t):
    """Paper: gather the samples of the records above the ball."""
    slot = tree_root(t)
    t[V_WEIGHT] = t[V_VALUE] = t[V_INHERITED_N] = t[V_EXPECTED] = 0
    level = 0
    while level < t[V_LEVEL] and w[slot] < w[H_UNITS]:
        rec = w[slot]
        _model_gather_all(w, t, rec, level)
        t[V_INHERITED_N] += w[(rec << 2) + R_N] & N_MAX
        level += 1
        if level < t[V_LEVEL]:
            slot = _below(w, t, rec, level)


def _model_ball_value(w, t):
    return _own_value(w, t, t[V_REC], t[V_LEVEL])


def _model_parent_value(w, t):
    return _own_value(w, t, t[V_PARENT], t[V_LEVEL] - 1)


def _model_gather_all(w, t, rec, level):
    """Paper: every ancestor's samples count in full; a running mean, since any number of them can follow."""
    weight = (w[(rec << 2) + R_N] & N_MAX) * SAMPLE_WEIGHT
    if weight:
        level = _own_value(w, t, rec, level)
        t[V_WEIGHT] = min(t[V_WEIGHT], SAMPLE_WEIGHT * N_MAX) + weight
        t[V_VALUE] = number_blend(t[V_VALUE], level, weight, t[V_WEIGHT])


def _parent_weight(w, t, own):
    """Of the parent: a few of its samples count a quarter each, until the ball has enough of its own."""
    if t[V_PARENT] == 0 or own >= PARENT_UNTIL:
        return 0
    return min(w[(t[V_PARENT] << 2) + R_N] & N_MAX, PARENT_MOST)


def _model_gather_near(w, t):
    """Tracking: the samples of the ball and of its parent."""
    own = t[V_REC]
    if own:
        own = (w[(own << 2) + R_N] & N_MAX) * SAMPLE_WEIGHT
    parent = _parent_weight(w, t, own)
    t[V_WEIGHT] = own + parent
    if parent == 0:
        t[V_VALUE] = _model_ball_value(w, t)
    elif own == 0:
        t[V_VALUE] = _model_parent_value(w, t)
    else:
        shift = number_shift(own + parent)
        own = shifted(own, shift)
        parent = shifted(parent, shift)
        value = parent * _model_parent_value(w, t)
        value += own * _model_ball_value(w, t)
        t[V_VALUE] = number_mean(value, own + parent)


def _near(w, t, mean):
    """The reward, but no further from the mean than the noise explains."""
    most = w[t[C_TREE] + S_NOISE] * MEMORY_NOISE + MEMORY_MARGIN
    return max(mean - most, min(t[V_REWARD], mean + most))


def _remember(w, t, mean, n):
    """A mean reward that looks back a few samples only, so that it follows what drifts.

    What is further off than the noise explains counts only as one of all samples: a bad one or two must not
    spoil what many have taught.
    """
    if n <= 1 << MEMORY_SHIFT or w[H_FLAGS] & FLAG_PAPER:
        return number_dithered_mean(mean, t[V_REWARD], n, w[H_EPISODES])
    near = _near(w, t, mean)
    mean = number_moving_average(mean, near, MEMORY_SHIFT, w[H_EPISODES] + n)
    if near == t[V_REWARD]:
        return mean
    return number_dithered_mean(mean, mean + t[V_REWARD] - near, n, w[H_EPISODES])


def _add_reward(w, t, i):
    """Count and mean reward after one more sample, for the record at word i."""
    n = w[i + R_N] & N_MAX
    if n < N_MAX:
        n += 1
        w[i + R_N] += 1
    w[i + R_REWARD] = _remember(w, t, w[i + R_REWARD], n)


def _model_add_sample(w, t, rec, level):
    """Count, mean reward and next states of a record after one more sample."""
    _add_reward(w, t, rec << 2)
    if level and not t[C_HELD]:
        t[T_CELL] = t[V_NEXT] >> 16 - t[C_D_S] * level
        counts_add(w, t, rec, level, 1)


def _model_measure_noise(w, t):
    """What the sample says about noise: how far it is from what its ball predicts."""
    i = t[V_REC] << 2
    if i == 0 or w[i + R_N] & N_MAX < NOISE_SAMPLES:
        return
    shift = 16 - t[C_FRACTION]
    far = (t[V_REWARD] >> shift) - (w[i + R_REWARD] >> shift)
    if t[V_NEXT_SLOT]:
        shift = (w[t[V_NEXT_SLOT]] & VALUE_MASK) - t[V_EXPECTED]
        adapt_spread(w, t, abs(shift))
        far += shift
    else:
        far -= t[V_EXPECTED]
    adapt_noise(w, t, abs(far))


def _known(w, t, shift):
    """Is the mean of the ball known to within a part of c * 2^-level? Then there is more to learn inside.

    That is what rewards are taken to differ by inside a ball of its size.
    """
    error = number_bonus(w[t[C_TREE] + S_NOISE], SAMPLE_WEIGHT * (w[(t[V_REC] << 2) + R_N] & N_MAX))
    return error << t[V_LEVEL] + shift <= adapt_factor(w, t) << 15 - t[C_FRACTION]


def _may_be_early(t, n):
    """Is a ball with n samples asked whether it may be divided early?"""
    return t[V_PARENT] != 0 and (t[C_HELD] or not n & EARLY_MASK)


def _wants_split(w, t):
    """A ball is divided when it has its threshold of samples.

    In tracking one that is known well is divided early; and small ones of many dimensions, of which there are
    many, only if they are known.
    """
    i = H_WORDS + t[V_LEVEL]  # the ball's threshold
    if t[V_LEVEL] >= t[C_FINEST]:
        return False
    n = w[(t[V_REC] << 2) + R_N] & N_MAX
    if w[H_FLAGS] & FLAG_OWN:
        return n + 1 >= w[i]
    if w[H_FLAGS] & FLAG_PAPER:
        return n + (min(t[V_INHERITED_N], w[i - 1]) if t[V_LEVEL] else 0) >= w[i]
    full = n
    if t[V_LEVEL]:  # the parent is taken to have had the samples that its level asks for
        full += w[i - 1]
    full = w[i] <= THRESHOLD_MAX and full >= w[i]
    if not full and not _may_be_early(t, n):
        return False
    if t[C_SHARED] and t[C_CHUNKS] > 1 and t[V_LEVEL] >= LATE_LEVEL:
        return _known(w, t, LATE_ERROR_SHIFT)
    return full or _known(w, t, 0 if t[C_HELD] else EARLY_ERROR_SHIFT)


def _request(w, t, step):
    """Ask for a refresh of all cells of one step under the ball's state side; joins a pending request."""
    one = 0x8000 >> t[C_D_S] * t[V_LEVEL]  # a cell is its first bits, then a one, then zeros
    cell = t[V_STATE] & ~(2 * one - 1) | one
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
    if pool_room(w) < SPLIT_ROOM or not tree_split(w, t, t[V_REC]):
        saturating_inc(w, H_REFUSED)
        return
    step = t[C_TREE]
    if t[C_TAUGHT]:
        return
    for _ in range(t[C_HORIZON] if t[C_SHARED] else 1):
        _request(w, t, step)
        step += S_WORDS


def jobs(w, t):
    """Refresh the next cell of the pending request of this step."""
    i = t[C_STEP]
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
    rec = t[V_REC]
    if rec == 0 or w[(rec << 2) + R_N] & N_MAX == 0:
        return tree_q(w, t, w[word], t[V_PARENT], t[V_LEVEL] - 1)
    return tree_q(w, t, w[word], rec, t[V_LEVEL])


def _take(w, t, rec, level):
    """Add the sample to a record, and estimate the value of the ball."""
    _model_add_sample(w, t, rec, level)
    if not w[H_FLAGS] & FLAG_PAPER:
        _model_gather_near(w, t)
        _model_measure_noise(w, t)
    elif t[V_REC]:  # the parent was gathered before
        _model_gather_all(w, t, rec, level)


def _update(w, t):
    """Update the model of the ball with one sample and its Q; returns the Q."""
    word = t[V_REC] << 2
    old = VALUE_MAX
    if word == 0:
        word = t[V_SLOT]
    if w[H_FLAGS] & FLAG_PAPER:
        old = _old_q(w, t, word)
    if t[V_REC]:
        _take(w, t, t[V_REC], t[V_LEVEL])
    else:  # without a record the ball borrows its parent's
        _take(w, t, t[V_PARENT], t[V_LEVEL] - 1)
    q = 0
    if not t[C_TAUGHT]:  # else nothing invites to leave the teacher
        q = adapt_bonus(w, t, t[V_WEIGHT])
    q = tree_clip(t, t[V_VALUE] + q)
    if q > old:
        q = old
    w[word] = tree_surplus(q - t[V_EXPECTED] + SURPLUS_ZERO)
    return q


def _learn(w, t):
    """Descend, update, split; returns the new Q, or -1 when V must be refreshed in any case."""
    tree_descend(w, t)
    if w[H_FLAGS] & FLAG_PAPER:
        _model_gather_above(w, t)
    if t[V_REC] == 0:
        saturating_inc(w, H_NO_ROOM)
        if t[V_PARENT]:
            _update(w, t)
        return -1
    q = _update(w, t)
    if _wants_split(w, t):
        _split(w, t)
        if not t[C_TAUGHT]:
            return -1
    return q


def sample(w, t):
    """Learn from the state, action, reward and next state in `t`; True when V of the state needs a search."""
    q = _learn(w, t)
    if w[H_FLAGS] & FLAG_PAPER:
        _request(w, t, t[C_STEP])  # every state cell under the ball
    if q >= 0 and t[C_TAUGHT]:
        value_keep(w, t, t[V_STATE], q)  # what the teacher does, whatever else looks better
        return False
    return q < 0 or not value_holds(w, t, t[V_STATE], q)


def _centre(t):
    """Centre of the action side of the ball."""
    bits = t[C_D_A] * t[V_LEVEL]
    inside = 16 - bits
    return code_centre(t[V_ACTION] >> inside << inside, bits, t[C_D_A])


def follow(w, t, finer):
    """A finer action within the ball is worth a try where the ball is still played."""
    if finer == t[V_ACTION] or not code_inside(finer, _centre(t), t[C_D_A]):
        return
    i = value_find(w, t[C_STEP], t[V_STATE], 16) + 2
    # A damaged link may lead into the header.
    if i > t[C_STEP] and (w[i] ^ t[V_ACTION]) >> 16 - t[C_D_A] * t[V_LEVEL] == 0:
        w[i] = finer


def refresh_next(w, t):
    """Refresh the cell that will be played next, so that it uses what was learnt at other states and steps.

    With 1+1 dimensions it takes the place of other work, in one observe of sixteen: returns 1 then.
    """
    h = t[C_H]
    if h + 1 == t[C_HORIZON] or t[C_TAUGHT]:
        return 0
    if t[C_CHUNKS] == 1 and number_random(w) & NEXT_MASK:
        return 0
    call_decode(w, t, h + 1)
    tree_scan(w, t, t[V_NEXT])
    value_set(w, t, t[V_NEXT])
    call_decode(w, t, h)
    return t[C_CHUNKS] == 1
