"""Diagnosis: the self-check, the counters, and codes in words.

Nothing in the block is trusted before it has been compared. C counts and mixes the units it meets, because it
has no memory to mark them; here each has a bit. The check allocates, so it is for start-up and idle time, not
for the control loop. What says whether words are valid by themselves is for the walks of `guard`, too.
"""

# isort: off
from ._spec import BONUS_MAX, DETECT_WINDOW, DIM_MAX, FINEST_EXTRA, HELD_TAUGHT, HORIZON_MAX, LEVEL_MAX, N_MAX
from ._spec import SHARE_COUNT_MAX, SHARE_OFF, SHARE_TABLE_UNITS, SHARE_TESTING, TAG, THRESHOLD_MAX
from ._spec import UNITS_MAX, VALUE_MASK
from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_CONFIG, ERR_DEVICE, ERR_DIMENSIONS, ERR_EMPTY, ERR_MEMORY
from ._spec import ERR_ORDER
from ._spec import FLAG_AUTO_BONUS, FLAG_OWN, FLAG_PAPER, FLAG_RANDOM
from ._spec import H_BITS, H_BONUS, H_DIMS, H_EPISODES, H_EPISODES_HIGH, H_FLAGS, H_FREE_HEAD, H_FREE_N
from ._spec import H_FRESH, H_HELD, H_HELD_N, H_NO_ROOM, H_OTHER_N, H_POOL_AT, H_RECLAIMS, H_REFUSED
from ._spec import H_RESTARTS, H_RNG, H_SAME_N, H_SATURATIONS, H_SCALE, H_SHARE, H_SPLITS, H_STEPS_AT
from ._spec import H_STEPS_N, H_TABLE, H_UNITS, H_USED_PEAK, H_WORDS
from ._spec import S_ACTION, S_JOB_AT, S_JOB_CELL, S_LAST, S_ROOT, S_STATE, S_V_SLOT, S_WORDS
from ._spec import R_COUNTS, R_N

# isort: on
from .adapt import factor as adapt_factor
from .config import call_decode, fraction_bits, usable
from .config import scratch as config_scratch
from .number import code_division
from .value import mean as value_mean


def state_dims(w, h):
    """State dimensions of a step; the held one, the last, has none."""
    return w[H_DIMS] & 15 if h < w[H_DIMS] >> 8 else 0


def _entry_ok(word, bits):
    return not word & TAG or word & (1 << 15 - bits) - 1 != 0


def words_record(w, rec, bits):
    """Whether a record is valid by itself: it has a sample, no count is 0, and none where cells have no bits."""
    if w[rec + R_N] & TAG or w[rec + R_N] & N_MAX == 0:
        return False
    return _entry_ok(w[rec + R_COUNTS], bits) if bits else w[rec + R_COUNTS] == 0


def words_counts(w, unit, bits):
    """A unit of counts: entries or nothing, but for the link that the paper's mode has in front."""
    for i in range(unit, unit + 4):
        if not w[i] & TAG and w[i] and (i > unit or not w[H_FLAGS] & FLAG_PAPER):
            return False
        if not _entry_ok(w[i], bits):
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


def words_cell(w, slot, h):
    """A cell of V: no more than can be earned, and the centre of an action cell."""
    most = max((w[H_DIMS] >> 8) - h, 1) << (w[H_SCALE] & 0xFF)
    return w[slot] & VALUE_MASK <= most and _is_centre(w, w[slot + 2])


def _step_ok(w, i):
    """A job is inside its cell, a state of three coordinates even, an action a centre if not random."""
    words_cell = w[i + S_JOB_CELL]
    one = words_cell & -words_cell
    outside = (w[i + S_JOB_AT] ^ words_cell) & ~(2 * one - 1) if words_cell else w[i + S_JOB_AT]
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


def words_header(w):
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
        and w[H_POOL_AT] == (steps + (horizon + 1) * S_WORDS + 3) >> 2
        and _pool_ok(w, w[H_POOL_AT])
        and w[H_SHARE] <= SHARE_TESTING
        and w[H_RNG]
        and w[H_FLAGS] < 2 * FLAG_AUTO_BONUS
        and w[H_BONUS] <= BONUS_MAX >> 12 - fraction_bits(horizon)
        and w[H_SAME_N] <= SHARE_COUNT_MAX
        and w[H_OTHER_N] <= SHARE_COUNT_MAX
        and w[H_HELD] <= HELD_TAUGHT
        and w[H_HELD_N] <= DETECT_WINDOW
        and w[H_STEPS_N] <= DETECT_WINDOW
    ):
        return False
    finest = steps - 1  # the first threshold that may be "never"
    if d_s + d_a == 2 and not w[H_FLAGS] & (FLAG_PAPER | FLAG_OWN):
        finest -= FINEST_EXTRA
    for i in range(H_WORDS, steps):
        if w[i] < (w[i - 1] if i > H_WORDS else 1) or (i < finest and w[i] > THRESHOLD_MAX):
            return False
    for h in range(horizon + 1):  # noqa: SIM110
        if not _step_ok(w, steps + h * S_WORDS):
            return False
    return True


class _Bad(Exception):
    """Something does not agree."""


class _Walk:
    """Marks every unit met, once."""

    def __init__(self, w):
        self.w = w
        self.seen = bytearray(w[H_FRESH])
        self.met = 0
        self.splits = 0

    def need(self, condition):
        if not condition:
            raise _Bad

    def meet(self, unit):
        self.need(self.w[H_POOL_AT] <= unit < self.w[H_FRESH] and not self.seen[unit])
        self.seen[unit] = 1
        self.met += 1
        return unit << 2

    def counts(self, rec, bits):
        w = self.w
        self.need(words_record(w, rec, bits))
        unit = w[rec + R_COUNTS]
        while unit and not unit & TAG:
            i = self.meet(unit)
            self.need(words_counts(w, i, bits))
            unit = w[i]

    def tree(self, root, d_s):
        """Every slot below a root; pending slots with their depth wait in a list."""
        w = self.w
        d_a = w[H_DIMS] >> 4 & 15
        bits = code_division(d_s, d_a)
        chunks = (d_s + d_a + 1) >> 1
        pending = [(root, 0)]
        while pending:
            slot, depth = pending.pop()
            word = w[slot]
            if word & TAG:
                continue
            below = self.meet(word)
            if depth % chunks == 0:
                self.counts(below, d_s * (depth // chunks))
                word = w[below]
                if word & TAG:
                    continue
                self.need(depth < (w[H_SCALE] >> 8) * chunks)
                self.splits += d_s != 0
                below = self.meet(word)
            nibble = bits >> 4 * (depth % chunks)
            for i in range(1 << ((nibble & 3) + (nibble >> 2 & 3))):
                pending.append((below + i, depth + 1))

    def value(self, slot, h, d_s):
        """Every cell of a value tree; a mean must be that of its two sides."""
        w = self.w
        most = d_s * (w[H_SCALE] >> 8)
        pending = [(slot, 0)]
        while pending:
            slot, depth = pending.pop()
            if w[slot] & TAG:
                self.need(words_cell(w, slot, h))
                continue
            self.need(depth < most)
            node = self.meet(w[slot])
            self.need(w[slot + 2] == value_mean(w, node))
            pending.append((node, depth + 1))
            pending.append((node + 1, depth + 1))


def check(w):
    """0 when everything in the block agrees; ERR_BLOCK when it does not, ERR_ARGUMENT when it is no block."""
    if len(w) < H_WORDS:
        return ERR_ARGUMENT
    if not words_header(w):
        return ERR_BLOCK
    walk = _Walk(w)
    free_n = 0
    try:
        for h in range((w[H_DIMS] >> 8) + 1):
            step = w[H_STEPS_AT] + h * S_WORDS
            d_s = state_dims(w, h)
            walk.value(step + S_V_SLOT, h, d_s)
            if h == 0 or w[H_SHARE] == SHARE_OFF or d_s == 0:
                walk.tree(step + S_ROOT, d_s)
        if w[H_SHARE] == SHARE_TESTING:
            for i in range(SHARE_TABLE_UNITS):
                walk.meet(w[H_TABLE] + i)
        unit = w[H_FREE_HEAD]
        while unit:
            i = walk.meet(unit)
            walk.need(w[i + 1] == w[i + 2] == w[i + 3] == 0)
            unit = w[i]
            free_n += 1
    except _Bad:
        return ERR_BLOCK
    agrees = walk.met == w[H_FRESH] - w[H_POOL_AT] and free_n == w[H_FREE_N] and walk.splits == w[H_SPLITS]
    return 0 if agrees else ERR_BLOCK


def stats(w):
    """The counters by name, as C's adamb_stats gives them; an empty dict when it is no block.

    >>> from array import array
    >>> from adamb.firmware_model import Config, init
    >>> stats(init(Config(), array("H", bytes(4096))).w)["units"]
    512
    """
    if len(w) < H_WORDS or not usable(w):
        return {}
    t = config_scratch(w)
    call_decode(w, t, 0)
    return {
        "episodes": w[H_EPISODES_HIGH] << 16 | w[H_EPISODES],
        "units": w[H_UNITS],
        "units_used": w[H_FRESH] - w[H_POOL_AT] - w[H_FREE_N] & 0xFFFF,
        "units_peak": w[H_USED_PEAK],
        "units_header": w[H_POOL_AT],
        "splits": w[H_SPLITS],
        "trees": w[H_DIMS] >> 8 if w[H_SHARE] == SHARE_OFF else 1,
        "finest": w[H_SCALE] >> 8,
        "share": w[H_SHARE],
        "bonus": adapt_factor(w, t) << 12 - (w[H_SCALE] & 0xFF) & 0xFFFF,
        "refused": w[H_REFUSED],
        "no_room": w[H_NO_ROOM],
        "reclaims": w[H_RECLAIMS],
        "saturations": w[H_SATURATIONS],
        "restarts": w[H_RESTARTS],
    }


def error_text(code):
    """The meaning of a code in a few words, for any number.

    >>> error_text(ERR_ORDER)
    'observe without act'
    """
    return {
        0: "no error",
        ERR_ARGUMENT: "null pointer, or step outside the horizon",
        ERR_CONFIG: "configuration outside its limits",
        ERR_MEMORY: "not enough memory",
        ERR_BLOCK: "not a block of this version, or damaged",
        ERR_ORDER: "observe without act",
        ERR_EMPTY: "no completed save in the store",
        ERR_DEVICE: "the storage failed",
        ERR_DIMENSIONS: "a save of other dimensions or another horizon",
    }.get(code, "not an error code")
