"""Choosing among the balls of a state: what a scan concludes from those it meets."""

# isort: off
from ._scratch import T_ABOVE, T_ACTION_MASK, T_ACTION_SHIFT, T_BALLS, T_BEST_ACTION, T_BEST_Q, T_CHUNKS
from ._scratch import T_CODE, T_D_A, T_FINEST, T_FIRST_EXPECTED, T_FRACTION, T_H, T_HORIZON, T_INHERITED
from ._scratch import T_INHERITED_OF, T_KEY, T_PART, T_Q, T_RANK_N, T_RANK_SUM, T_REWARD_ABOVE, T_SQUARES
from ._scratch import T_STATE_MASK, T_STATE_SHIFT, T_STEP, T_TOP, T_TREE, T_WHERE
from ._spec import EFFECT_BITS, EFFECT_MOST, EFFECT_SCALE_SHIFT, EFFECT_SHIFT, EFFECT_TOP, LEVEL_MAX, N_MAX
from ._spec import RANK_LIFT, RANK_LIFT_SHIFT, RANK_MOST, RANK_SAMPLES, SPREAD_SCALE_SHIFT, SURPLUS_ZERO
from ._spec import VALUE_MASK, VALUE_MAX
from ._spec import FLAG_PAPER
from ._spec import H_FLAGS, H_RNG, H_UNITS
from ._spec import S_EFFECT, S_ROOT, S_SPREAD
from ._spec import R_N, R_REWARD

# isort: on
from .code import centre as code_centre
from .counts import expect as counts_expect
from .number import drift as number_drift
from .number import mean as number_mean
from .number import shift as number_shift
from .number import shifted
from .value import find as value_find


def _one_down(w, t, word, level):
    """From the link of a record to the word of the ball of this level below it, on the way that is played."""
    depth = (level - 1) * t[T_CHUNKS]
    level *= t[T_CHUNKS]
    while depth != level and word < w[H_UNITS]:
        depth += 1
        word <<= 2
        word += t[T_CODE] >> t[T_STATE_SHIFT + depth] & t[T_STATE_MASK + depth]
        word += (t[T_BEST_ACTION] & t[T_ACTION_MASK + depth]) >> t[T_ACTION_SHIFT + depth]
        word = w[word]
    return word


def _follow_played(w, t):
    """The mean rewards on the way to the ball that the state plays so far."""
    word = value_find(w, t[T_STEP], t[T_CODE], 16)
    t[T_BEST_ACTION] = w[word + 2]
    word = w[t[T_TREE] + S_ROOT]
    level = 0
    while word < w[H_UNITS]:
        word <<= 2
        t[T_TOP] = w[word + R_REWARD] >> 16 - t[T_FRACTION]
        level += 1
        t[T_REWARD_ABOVE + level] = t[T_TOP]
        if level > t[T_FINEST]:  # only damage leads further
            break
        word = _one_down(w, t, w[word], level)
    while level <= LEVEL_MAX:
        level += 1
        t[T_REWARD_ABOVE + level] = t[T_TOP]


def start(w, t):
    t[T_PART] = 256
    if t[T_H] + 1 < t[T_HORIZON] and not w[H_FLAGS] & FLAG_PAPER:
        spread = w[t[T_TREE] + S_SPREAD]
        effect = w[t[T_TREE] + S_EFFECT] << EFFECT_SCALE_SHIFT - SPREAD_SCALE_SHIFT  # as the spread is
        t[T_PART] = 256 - (spread << 8) // effect if effect > spread else 0
    t[T_KEY] = -1
    t[T_INHERITED] = 2 * VALUE_MAX  # no record above: start at the optimistic maximum
    t[T_ABOVE] = t[T_INHERITED_OF] = t[T_RANK_N] = t[T_BALLS] = 0
    t[T_RANK_SUM] = t[T_SQUARES] = t[T_TOP] = 0
    if not w[H_FLAGS] & FLAG_PAPER:
        _follow_played(w, t)


def _weigh(w, t, rec, expected):
    """Add a visited ball to what is known of all of them together."""
    if t[T_RANK_N] >= RANK_MOST:
        return
    n = min(w[(rec << 2) + R_N] & N_MAX, RANK_SAMPLES)
    expected >>= t[T_FRACTION] - EFFECT_BITS
    if t[T_BALLS] == 0:
        t[T_FIRST_EXPECTED] = expected
    t[T_BALLS] += 1
    t[T_RANK_N] += n
    expected -= t[T_FIRST_EXPECTED]
    expected = max(-EFFECT_MOST, min(expected, EFFECT_MOST))
    n *= expected
    t[T_RANK_SUM] += n
    t[T_SQUARES] += n * expected


def _inherited(w, t, level):
    """What an unvisited ball expects: as the record above it, which is of this level."""
    if t[T_ABOVE] != t[T_INHERITED_OF]:
        t[T_INHERITED_OF] = t[T_ABOVE]
        t[T_INHERITED] = counts_expect(w, t, t[T_ABOVE], level)
    return t[T_INHERITED]


def _lift(w, t, level):
    """What the surplus of an unvisited ball is raised by.

    It refers to its parent, whose samples come from more states than this one. So it is raised by a part of
    what the ball that is played here earns more than the record of the parent's size above it, whose samples
    come from the same states.
    """
    if t[T_ABOVE] == 0 or w[H_FLAGS] & FLAG_PAPER:
        return 0
    return max(0, t[T_TOP] - t[T_REWARD_ABOVE + level]) * RANK_LIFT >> RANK_LIFT_SHIFT


def ball(w, t, word, where):
    """The next ball: the word of its slot, and its action code | level << 16."""
    visited = 0
    if word >= w[H_UNITS]:  # unvisited: values are above all links
        expected = _lift(w, t, where >> 16)
        word = (word & VALUE_MASK) + expected
        expected = _inherited(w, t, (where >> 16) - 1)
    else:
        expected = where >> 16
        expected = counts_expect(w, t, word, expected)
        if not w[H_FLAGS] & FLAG_PAPER:
            visited = 1
            _weigh(w, t, word, expected)
        word = w[word << 2] & VALUE_MASK
    visited += word << 1  # the key, twice
    visited += expected * t[T_PART] >> 8 << 1
    if visited > t[T_KEY]:
        t[T_KEY] = visited
        t[T_Q] = word + expected
        t[T_WHERE] = where


def _between(t):
    """Sum of the squares of how far the expectations are from their mean, weighted by samples."""
    n = t[T_RANK_N]
    total = abs(t[T_RANK_SUM])
    shift = number_shift(n)
    mean = shifted(total, shift) << 6
    mean = number_mean(mean, shifted(n, shift)) >> 6
    return t[T_SQUARES] - mean * (2 * total - mean * n)


def _follow_effect(w, t):
    """Follows by how much the expectations of a state's balls differ: their variance."""
    others = t[T_BALLS] - 1
    between = min(_between(t) >> EFFECT_SCALE_SHIFT, others * EFFECT_TOP)
    shift = number_shift(others)
    between = number_mean(shifted(between, shift), shifted(others, shift))
    shift = t[T_TREE] + S_EFFECT
    w[shift] = number_drift(w[shift], between, EFFECT_SHIFT, w[H_RNG])


def end(w, t):
    """The best ball, its Q (not yet clipped) and the centre of its action side.

    Ties go to visited balls, then to the first.
    """
    # A damaged record may have no samples.
    if t[T_H] + 1 < t[T_HORIZON] and t[T_BALLS] > 1 and t[T_RANK_N] > 1:
        _follow_effect(w, t)
    t[T_BEST_ACTION] = 0xE000  # an action like any other, should damage have ended the scan too soon
    t[T_BEST_Q] = 0
    if t[T_KEY] >= 0:
        where = t[T_WHERE]
        t[T_BEST_ACTION] = code_centre(where & 0xFFFF, (where >> 16) * t[T_D_A], t[T_D_A])
        t[T_BEST_Q] = t[T_Q] - SURPLUS_ZERO
