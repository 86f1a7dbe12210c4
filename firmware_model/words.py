"""Whether a header, a step, a record or a cell is valid by itself; for the walks of `check` and `guard`."""

# isort: off
from ._spec import BONUS_MAX, DIM_MAX, FINEST_EXTRA, HORIZON_MAX, LEVEL_MAX, N_MAX, SHARE_COUNT_MAX
from ._spec import SHARE_TESTING, TAG, THRESHOLD_MAX, UNITS_MAX, VALUE_MASK
from ._spec import FLAG_AUTO_BONUS, FLAG_OWN, FLAG_PAPER, FLAG_RANDOM
from ._spec import H_BITS, H_BONUS, H_DIMS, H_FLAGS, H_FREE_N, H_FRESH, H_OTHER_N, H_POOL_AT, H_RNG, H_SAME_N
from ._spec import H_SCALE, H_SHARE, H_STEPS_AT, H_TABLE, H_UNITS, H_USED_PEAK, H_WORDS
from ._spec import S_ACTION, S_JOB_AT, S_JOB_CELL, S_LAST, S_STATE, S_WORDS
from ._spec import R_COUNTS, R_N

# isort: on
from .code import division as code_division
from .config import fraction_bits, usable


def _entry_ok(w, word, level):
    return not word & TAG or word & (1 << 15 - (w[H_DIMS] & 15) * level) - 1 != 0


def record(w, rec, level):
    """Whether a record is valid by itself: it has a sample, no count is 0, level 0 has no counts."""
    if w[rec + R_N] & TAG or w[rec + R_N] & N_MAX == 0:
        return False
    return _entry_ok(w, w[rec + R_COUNTS], level) if level else w[rec + R_COUNTS] == 0


def counts(w, unit, level):
    """A unit of counts: entries or nothing, but for the link that the paper's mode has in front."""
    for i in range(unit, unit + 4):
        if not w[i] & TAG and w[i] and (i > unit or not w[H_FLAGS] & FLAG_PAPER):
            return False
        if not _entry_ok(w, w[i], level):
            return False
    return True


def _is_centre(w, action):
    """The centre of an action cell of a level that there is."""
    d_a = w[H_DIMS] >> 4 & 15
    low = action & -action
    ones = (low << d_a) - low
    return action & ones == ones and low >> 16 - d_a * ((w[H_SCALE] >> 8) + 1) != 0


def _action_ok(w, action):
    return action == 0 or _is_centre(w, action)


def cell(w, slot, h):
    """A cell of V: no more than can be earned, and the centre of an action cell."""
    most = ((w[H_DIMS] >> 8) - h) << (w[H_SCALE] & 0xFF)
    return w[slot] & VALUE_MASK <= most and _is_centre(w, w[slot + 2])


def _step_ok(w, i):
    """A job is inside its cell, a state of three coordinates even, an action a centre if not random."""
    cell = w[i + S_JOB_CELL]
    one = cell & -cell
    outside = (w[i + S_JOB_AT] ^ cell) & ~(2 * one - 1) if cell else w[i + S_JOB_AT]
    if outside or (w[H_DIMS] & 15 == 3 and w[i + S_STATE] & 1):
        return False
    return w[H_FLAGS] & FLAG_RANDOM or (_action_ok(w, w[i + S_ACTION]) and _action_ok(w, w[i + S_LAST]))


def _pool_ok(w, pool):
    used = w[H_FRESH] - pool - w[H_FREE_N]
    return (
        pool <= w[H_FRESH] <= w[H_UNITS] <= UNITS_MAX
        and w[H_UNITS] <= len(w) // 4
        and 0 <= used <= w[H_USED_PEAK] <= w[H_UNITS] - pool
        and w[H_TABLE] == (pool if w[H_SHARE] == SHARE_TESTING else 0)
    )


def header(w):
    """Whether header and steps are valid by themselves."""
    d_s = w[H_DIMS] & 15
    d_a = w[H_DIMS] >> 4 & 15
    horizon = w[H_DIMS] >> 8
    finest = w[H_SCALE] >> 8
    if not usable(w):
        return False
    if not (1 <= d_s <= DIM_MAX and 1 <= d_a <= DIM_MAX and 1 <= horizon <= HORIZON_MAX):
        return False
    if finest * d_s > LEVEL_MAX or (finest + 1) * d_a > 16 or w[H_SCALE] & 0xFF != fraction_bits(horizon):
        return False
    steps = H_WORDS + finest + 1
    if not (
        w[H_BITS] == code_division(d_s, d_a)
        and w[H_STEPS_AT] == steps
        and w[H_POOL_AT] == (steps + horizon * S_WORDS + 3) >> 2
        and _pool_ok(w, w[H_POOL_AT])
        and w[H_SHARE] <= SHARE_TESTING
        and w[H_RNG]
        and w[H_FLAGS] < 2 * FLAG_AUTO_BONUS
        and w[H_BONUS] <= BONUS_MAX >> 12 - fraction_bits(horizon)
        and w[H_SAME_N] <= SHARE_COUNT_MAX
        and w[H_OTHER_N] <= SHARE_COUNT_MAX
    ):
        return False
    finest = steps - 1  # the first threshold that may be "never"
    if d_s + d_a == 2 and not w[H_FLAGS] & (FLAG_PAPER | FLAG_OWN):
        finest -= FINEST_EXTRA
    for i in range(H_WORDS, steps):
        if w[i] < (w[i - 1] if i > H_WORDS else 1) or (i < finest and w[i] > THRESHOLD_MAX):
            return False
    for h in range(horizon):  # noqa: SIM110
        if not _step_ok(w, steps + h * S_WORDS):
            return False
    return True
