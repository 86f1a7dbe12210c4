"""The data of a ball: adding a sample, and estimating from its samples and those of the balls above."""

# isort: off
from ._scratch import T_CELL, T_CHUNKS, T_D_S, T_EXPECTED, T_FRACTION, T_INHERITED_N, T_LEVEL, T_NEXT
from ._scratch import T_NEXT_SLOT, T_PARENT, T_REC, T_REWARD, T_TREE, T_VALUE, T_WEIGHT
from ._spec import MEMORY_MARGIN, MEMORY_NOISE, MEMORY_SHIFT, N_MAX, NOISE_SAMPLES, PARENT_MOST, PARENT_UNTIL
from ._spec import SAMPLE_WEIGHT, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_PAPER
from ._spec import H_EPISODES, H_FLAGS, H_UNITS
from ._spec import S_NOISE
from ._spec import R_N, R_REWARD

# isort: on
from .adapt import noise as adapt_noise
from .adapt import spread as adapt_spread
from .counts import add as counts_add
from .counts import expect as counts_expect
from .number import blend as number_blend
from .number import drift as number_drift
from .number import follow as number_follow
from .number import mean as number_mean
from .number import shift as number_shift
from .number import shifted
from .tree import place as tree_place
from .tree import root as tree_root


def _own_value(w, t, rec, level):
    """The record's own estimate: reward plus expected next value (which stays in `t`)."""
    level = counts_expect(w, t, rec, level)
    t[T_EXPECTED] = level
    shift = 16 - t[T_FRACTION]
    level += (w[(rec << 2) + R_REWARD] + (1 << shift - 1)) >> shift
    return level if level < VALUE_MAX else VALUE_MAX


def gather_all(w, t, rec, level):
    """Paper: every ancestor's samples count in full; a running mean, since any number of them can follow."""
    weight = (w[(rec << 2) + R_N] & N_MAX) * SAMPLE_WEIGHT
    if weight:
        level = _own_value(w, t, rec, level)
        t[T_WEIGHT] = min(t[T_WEIGHT], SAMPLE_WEIGHT * N_MAX) + weight
        t[T_VALUE] = number_blend(t[T_VALUE], level, weight, t[T_WEIGHT])


def _below(w, t, rec, level):
    """The slot for the point in the blocks between a record and the balls of this level.

    A damaged list of free units can have made one of the way a new one: then the way ends early.
    """
    slot = rec << 2
    level = (level - 1) * t[T_CHUNKS]
    while w[slot] < w[H_UNITS]:
        level += 1
        slot = tree_place(t, w[slot], level)
        if level % t[T_CHUNKS] == 0:
            break
    return slot


def gather_above(w, t):
    """Paper: gather the samples of the records above the ball."""
    slot = tree_root(t)
    t[T_WEIGHT] = t[T_VALUE] = t[T_INHERITED_N] = t[T_EXPECTED] = 0
    level = 0
    while level < t[T_LEVEL] and w[slot] < w[H_UNITS]:
        rec = w[slot]
        gather_all(w, t, rec, level)
        t[T_INHERITED_N] += w[(rec << 2) + R_N] & N_MAX
        level += 1
        if level < t[T_LEVEL]:
            slot = _below(w, t, rec, level)


def ball_value(w, t):
    return _own_value(w, t, t[T_REC], t[T_LEVEL])


def parent_value(w, t):
    return _own_value(w, t, t[T_PARENT], t[T_LEVEL] - 1)


def _parent_weight(w, t, own):
    """Of the parent: a few of its samples count a quarter each, until the ball has enough of its own."""
    if t[T_PARENT] == 0 or own >= PARENT_UNTIL:
        return 0
    return min(w[(t[T_PARENT] << 2) + R_N] & N_MAX, PARENT_MOST)


def gather_near(w, t):
    """Tracking: the samples of the ball and of its parent."""
    own = t[T_REC]
    if own:
        own = (w[(own << 2) + R_N] & N_MAX) * SAMPLE_WEIGHT
    parent = _parent_weight(w, t, own)
    t[T_WEIGHT] = own + parent
    if parent == 0:
        t[T_VALUE] = ball_value(w, t)
    elif own == 0:
        t[T_VALUE] = parent_value(w, t)
    else:
        shift = number_shift(own + parent)
        own = shifted(own, shift)
        parent = shifted(parent, shift)
        value = parent * parent_value(w, t)
        value += own * ball_value(w, t)
        t[T_VALUE] = number_mean(value, own + parent)


def _near(w, t, mean):
    """The reward, but no further from the mean than the noise explains."""
    most = w[t[T_TREE] + S_NOISE] * MEMORY_NOISE + MEMORY_MARGIN
    return max(mean - most, min(t[T_REWARD], mean + most))


def _remember(w, t, mean, n):
    """A mean reward that looks back a few samples only, so that it follows what drifts.

    What is further off than the noise explains counts only as one of all samples: a bad one or two must not
    spoil what many have taught.
    """
    if n <= 1 << MEMORY_SHIFT or w[H_FLAGS] & FLAG_PAPER:
        return number_follow(mean, t[T_REWARD], n, w[H_EPISODES])
    near = _near(w, t, mean)
    mean = number_drift(mean, near, MEMORY_SHIFT, w[H_EPISODES] + n)
    if near == t[T_REWARD]:
        return mean
    return number_follow(mean, mean + t[T_REWARD] - near, n, w[H_EPISODES])


def _add_reward(w, t, i):
    """Count and mean reward after one more sample, for the record at word i."""
    n = w[i + R_N] & N_MAX
    if n < N_MAX:
        n += 1
        w[i + R_N] += 1
    w[i + R_REWARD] = _remember(w, t, w[i + R_REWARD], n)


def add_sample(w, t, rec, level):
    """Count, mean reward and next states of a record after one more sample."""
    _add_reward(w, t, rec << 2)
    if level:
        t[T_CELL] = t[T_NEXT] >> 16 - t[T_D_S] * level
        counts_add(w, t, rec, level, 1)


def measure_noise(w, t):
    """What the sample says about noise: how far it is from what its ball predicts."""
    i = t[T_REC] << 2
    if i == 0 or w[i + R_N] & N_MAX < NOISE_SAMPLES:
        return
    shift = 16 - t[T_FRACTION]
    far = (t[T_REWARD] >> shift) - (w[i + R_REWARD] >> shift)
    if t[T_NEXT_SLOT]:
        shift = (w[t[T_NEXT_SLOT]] & VALUE_MASK) - t[T_EXPECTED]
        adapt_spread(w, t, abs(shift))
        far += shift
    else:
        far -= t[T_EXPECTED]
    adapt_noise(w, t, abs(far))
