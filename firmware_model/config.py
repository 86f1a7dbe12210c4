"""What a block begins with: its configuration, what a call decodes of it, and the pool of units.

A call decodes into the scratch array `t` (C: `adamb_call`). The pool has units of four words: a list of
returned ones, and the never used rest from `fresh` on.
"""

from array import array

# isort: off
from ._scratch import C_ACTION_MASK, C_ACTION_SHIFT, C_CHUNKS, C_DEEPEST, C_DIVISION, C_D_A, C_D_S, C_FINEST
from ._scratch import C_FRACTION, C_H, C_HELD, C_HORIZON, C_SHARED, C_STATE_MASK, C_STATE_SHIFT, C_STEP
from ._scratch import C_TAUGHT, C_TREE, C_V_MAX, T_FIRST, T_OWNER, T_WORDS
from ._spec import BONUS_MAX, DEFAULT_GAMMA, DEFAULT_PHI, DIM_MAX, FINEST_EXTRA, HELD_TAUGHT, HORIZON_MAX
from ._spec import LEVEL_MAX, MAGIC
from ._spec import POOL_SPARE, SEED_ZERO, SHARE_OFF, SHARE_TABLE_UNITS, SHARE_TESTING, SPEC_HASH
from ._spec import THRESHOLD_MAX, THRESHOLD_NEVER, TREE_UNITS, UNITS_MAX, UNIT_WORDS, VALUE_UNITS
from ._spec import ERR_CONFIG
from ._spec import FLAG_AUTO_BONUS, FLAG_DETECT, FLAG_FREEZE, FLAG_OWN, FLAG_PAPER, FLAG_RANDOM
from ._spec import H_BITS, H_BONUS, H_DIMS, H_FLAGS, H_FREE_HEAD, H_FREE_N, H_FRESH, H_HASH, H_MAGIC
from ._spec import H_HELD, H_POOL_AT, H_RNG, H_SCALE, H_SHARE, H_STEPS_AT, H_UNITS, H_USED_PEAK, H_WORDS
from ._spec import S_WORDS

# isort: on
from .number import code_division
from .number import initial as number_initial


def _threshold(gamma_level, phi_num, phi_den):
    if phi_den == 0:
        return 0  # refused by init
    if gamma_level >= 14:
        return THRESHOLD_NEVER
    value = ((phi_num << gamma_level) + phi_den - 1) // phi_den
    return value if value <= THRESHOLD_MAX else THRESHOLD_NEVER


def thresholds(gamma, phi_num, phi_den):
    """Samples at which a ball of each level splits: phi_num / phi_den * 2^(gamma * level), rounded up.

    >>> list(thresholds(2, 1, 1))[:8]
    [1, 4, 16, 64, 256, 1024, 4096, 65535]
    """
    table = array("H", bytes(2 * (LEVEL_MAX + 1)))
    for level in range(LEVEL_MAX + 1):
        table[level] = _threshold(gamma * level, phi_num, phi_den)
    return table


class Config:
    """The fields of C's adamb_config with their defaults; what they mean is in adamb.h.

    >>> config = Config(d_s=2, horizon=3, bonus=4096, auto_bonus=0)
    >>> config.d_s, config.d_a, config.share
    (2, 1, 2)
    """

    d_s = 1
    d_a = 1
    horizon = 5
    mode = 0
    split_counts = 0
    share = SHARE_TESTING
    when_full = 0
    random_action = 0
    detect = 1
    auto_bonus = 1
    bonus = 0  # c * 4096
    seed = 1

    def __init__(self, **fields):
        self.thresholds = thresholds(DEFAULT_GAMMA, DEFAULT_PHI, 1)
        for name in fields:
            getattr(self, name)  # a name that does not exist is an error
            setattr(self, name, fields[name])


def dims(config):
    """Dimensions and horizon as the header holds them: how long the caller's arrays are. 0 for too many."""
    if (config.d_s | config.d_a) > 15:
        return 0
    return config.d_s | config.d_a << 4 | config.horizon << 8


def fraction_bits(horizon):
    return 12 if horizon <= 7 else 11 if horizon <= 15 else 10


def _finest_level(config):
    """The finest level: where codes or counts end, or where no ball splits any more but by early division."""
    most = LEVEL_MAX // max(config.d_s, config.d_a)
    level = 0
    while level < most and config.thresholds[level] <= THRESHOLD_MAX:
        level += 1
    if config.d_s + config.d_a == 2 and not config.mode | config.split_counts:
        level = min(level + FINEST_EXTRA, most)
    return level


def _valid(c):
    if not 0 <= c.mode | c.split_counts | c.when_full | c.random_action | c.detect | c.auto_bonus <= 1:
        return False
    least = 1
    for level in range(LEVEL_MAX + 1):
        if not least <= c.thresholds[level] <= 0xFFFF:
            return False
        least = c.thresholds[level]
    if not (0 <= c.share <= SHARE_TESTING and 0 <= c.bonus <= BONUS_MAX and 0 <= c.seed <= 0xFFFF):
        return False
    return 1 <= c.d_s <= DIM_MAX and 1 <= c.d_a <= DIM_MAX and 1 <= c.horizon <= HORIZON_MAX


def _header_units(config):
    return (H_WORDS + _finest_level(config) + 1 + (config.horizon + 1) * S_WORDS + 3) >> 2


def required_words(config):
    """The smallest block that `init` accepts in words, or ERR_CONFIG.

    >>> required_words(Config()), required_words(Config(horizon=99))
    (280, -2)
    """
    if not _valid(config):
        return ERR_CONFIG
    trees = TREE_UNITS * config.horizon
    if config.share != SHARE_OFF:
        trees = max(trees, SHARE_TABLE_UNITS + TREE_UNITS)
    trees += VALUE_UNITS * config.horizon
    return (_header_units(config) + POOL_SPARE + trees) * UNIT_WORDS


def _flags(config):
    return (
        (FLAG_PAPER if config.mode else 0)
        | (FLAG_OWN if config.split_counts else 0)
        | (FLAG_FREEZE if config.when_full else 0)
        | (FLAG_RANDOM if config.random_action else 0)
        | (FLAG_DETECT if config.detect else 0)
        | (FLAG_AUTO_BONUS if config.auto_bonus else 0)
    )


def _seal(w):
    """Checksum of the words that memory safety depends on; it shows when a bit of them flipped."""
    mix = (w[H_UNITS] * 11 + w[H_DIMS]) * 11 + w[H_SCALE]
    mix = (mix * 11 + w[H_POOL_AT]) * 11
    return (mix ^ mix >> 13) & 0xFFFF


def usable(w):
    """A block of this version, and one whose sealed words are those that `init` wrote."""
    return w[H_MAGIC] == MAGIC and w[H_HASH] == SPEC_HASH ^ _seal(w)


def write_header(config, block):
    """Clear the block and write its configuration, all but what a restart sets."""
    finest = _finest_level(config)
    fraction = fraction_bits(config.horizon)
    for i in range(len(block)):
        block[i] = 0
    block[H_MAGIC] = MAGIC
    block[H_UNITS] = min(len(block) // UNIT_WORDS, UNITS_MAX)
    block[H_DIMS] = dims(config)
    block[H_BITS] = code_division(config.d_s, config.d_a)
    block[H_FLAGS] = _flags(config)
    block[H_SCALE] = fraction | finest << 8
    block[H_STEPS_AT] = H_WORDS + finest + 1
    block[H_POOL_AT] = _header_units(config)
    block[H_HASH] = SPEC_HASH ^ _seal(block)
    block[H_BONUS] = config.bonus >> 12 - fraction
    block[H_RNG] = config.seed or SEED_ZERO
    block[H_SHARE] = config.share
    for i in range(finest + 1):
        block[H_WORDS + i] = config.thresholds[i]


def _fill_row(t, depth, chunk):
    """Where the block at this depth finds its bits; T_FIRST and T_OWNER hold the bits of the codes left."""
    state_n = chunk & 3
    action_n = chunk >> 2 & 3
    t[T_FIRST] -= state_n
    t[T_OWNER] -= action_n
    # In a slot number the state bits stand left of the action bits.
    t[C_STATE_SHIFT + depth] = t[T_FIRST] - action_n
    t[C_STATE_MASK + depth] = ((1 << state_n) - 1) << action_n
    t[C_ACTION_SHIFT + depth] = t[T_OWNER]
    t[C_ACTION_MASK + depth] = ((1 << action_n) - 1) << t[T_OWNER]


def _shape(w, t, held):
    """Dimensions, horizon and tables of the held step, or of all others."""
    t[C_HELD] = held
    t[C_D_S] = 0 if held else w[H_DIMS] & 15
    t[C_HORIZON] = (w[H_DIMS] >> 8) + held
    t[C_CHUNKS] = (t[C_D_S] + t[C_D_A] + 1) >> 1
    t[T_FIRST] = t[T_OWNER] = 16
    t[C_DEEPEST] = t[C_FINEST] * t[C_CHUNKS]
    t[C_DIVISION] = code_division(t[C_D_S], t[C_D_A])
    for depth in range(t[C_DEEPEST]):
        held = t[C_DIVISION] >> 4 * (depth % t[C_CHUNKS])
        _fill_row(t, depth + 1, held)


def scratch(w):
    """A scratch array for the block, with its configuration and tables."""
    t = array("i", bytes(4 * T_WORDS))
    t[C_D_A] = w[H_DIMS] >> 4 & 15
    t[C_FRACTION] = w[H_SCALE] & 0xFF
    t[C_FINEST] = w[H_SCALE] >> 8
    _shape(w, t, 0)
    return t


def call_step(t, h):
    """First word of a step."""
    return H_WORDS + 1 + t[C_FINEST] + h * S_WORDS


def call_decode(w, t, h):
    """Make step h the step of the call."""
    if (h == w[H_DIMS] >> 8) != t[C_HELD]:
        _shape(w, t, 1 - t[C_HELD])
    t[C_H] = h
    t[C_STEP] = call_step(t, h)
    t[C_SHARED] = w[H_SHARE] != SHARE_OFF and not t[C_HELD]
    t[C_TAUGHT] = w[H_HELD] == HELD_TAUGHT and not w[H_FLAGS] & (FLAG_PAPER | FLAG_RANDOM) and not t[C_HELD]
    t[C_TREE] = call_step(t, 0) if t[C_SHARED] else t[C_STEP]
    t[C_V_MAX] = number_initial(t, h)


def pool_room(w):
    return (w[H_FREE_N] + w[H_UNITS] - w[H_FRESH]) & 0xFFFF


def pool_alloc(w):
    """A cleared unit, 0 when there is none."""
    unit = w[H_FREE_HEAD]
    if w[H_POOL_AT] <= unit < w[H_UNITS]:
        w[H_FREE_HEAD] = w[unit << 2]
        w[H_FREE_N] = w[H_FREE_N] - 1 & 0xFFFF
    elif w[H_POOL_AT] <= w[H_FRESH] < w[H_UNITS]:
        unit = w[H_FRESH]
        w[H_FRESH] = unit + 1
    else:
        return 0
    i = unit << 2
    w[i] = w[i + 1] = w[i + 2] = w[i + 3] = 0
    used = w[H_FRESH] - w[H_POOL_AT] - w[H_FREE_N] & 0xFFFF
    if used > w[H_USED_PEAK]:
        w[H_USED_PEAK] = used
    return unit


def pool_free(w, unit):
    if not w[H_POOL_AT] <= unit < w[H_UNITS]:
        return
    i = unit << 2
    w[i] = w[H_FREE_HEAD]
    w[i + 1] = w[i + 2] = w[i + 3] = 0  # a dump then shows freed units as such, and twins compare equal
    w[H_FREE_HEAD] = unit
    w[H_FREE_N] = w[H_FREE_N] + 1 & 0xFFFF


def saturating_inc(w, index):
    """Saturating increment of a counter word."""
    if w[index] != 0xFFFF:
        w[index] += 1
