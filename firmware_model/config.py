"""Configuration of a controller: fields, limits, the words it needs, and the words it becomes."""

from array import array

# isort: off
from ._spec import BONUS_MAX, DEFAULT_GAMMA, DEFAULT_PHI, DIM_MAX, FINEST_EXTRA, HORIZON_MAX, LEVEL_MAX, MAGIC
from ._spec import POOL_SPARE, SEED_ZERO, SHARE_OFF, SHARE_TABLE_UNITS, SHARE_TESTING, SPEC_HASH
from ._spec import THRESHOLD_MAX, THRESHOLD_NEVER, TREE_UNITS, UNIT_WORDS, UNITS_MAX, VALUE_UNITS
from ._spec import ERR_CONFIG
from ._spec import FLAG_AUTO_BONUS, FLAG_DETECT, FLAG_FREEZE, FLAG_OWN, FLAG_PAPER, FLAG_RANDOM
from ._spec import H_BITS, H_BONUS, H_DIMS, H_FLAGS, H_HASH, H_MAGIC, H_POOL_AT, H_RNG, H_SCALE, H_SHARE
from ._spec import H_STEPS_AT, H_UNITS, H_WORDS
from ._spec import S_WORDS

# isort: on
from .code import division as code_division


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
    paper = 0
    own = 0
    share = SHARE_TESTING
    freeze = 0
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
    if config.d_s + config.d_a == 2 and not config.paper | config.own:
        level = min(level + FINEST_EXTRA, most)
    return level


def _valid(c):
    if not 0 <= c.paper | c.own | c.freeze | c.random_action | c.detect | c.auto_bonus <= 1:
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
    return (H_WORDS + _finest_level(config) + 1 + config.horizon * S_WORDS + 3) >> 2


def required_words(config):
    """The smallest block that `init` accepts in words, or ERR_CONFIG.

    >>> required_words(Config()), required_words(Config(horizon=99))
    (264, -2)
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
        (FLAG_PAPER if config.paper else 0)
        | (FLAG_OWN if config.own else 0)
        | (FLAG_FREEZE if config.freeze else 0)
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
