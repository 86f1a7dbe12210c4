"""Generated from spec.toml by `make spec`; do not edit."""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


MAGIC = const(44449)
TAG = const(32768)
VALUE_MASK = const(32767)
VALUE_MAX = const(32767)
SURPLUS_ZERO = const(16384)
N_MAX = const(8191)
THRESHOLD_MAX = const(8190)
THRESHOLD_NEVER = const(65535)
CREDIT_SHIFT = const(13)
CREDIT_FULL = const(3)
UNIT_WORDS = const(4)
UNITS_MAX = const(32767)
HORIZON_MAX = const(31)
DIM_MAX = const(3)
LEVEL_MAX = const(14)
PATH_MAX = const(15)
BONUS_MAX = const(32767)
POOL_SPARE = const(8)
SHARE_TABLE_UNITS = const(16)
SHARE_PAIRS_MIN = const(40)
SHARE_PAIRS_MAX = const(256)
SHARE_REWARD_MARGIN = const(10)
SHARE_NEXT_MARGIN = const(5)
DETECT_WARMUP = const(64)
DETECT_WINDOW = const(256)
DETECT_ALARM = const(20)
SCAN_TOLERANCE = const(64)
SPLIT_ROOM = const(8)
RECLAIM_MASK = const(3)
PLAYED_MASK = const(7)
NEXT_MASK = const(7)
FLAG_PAPER = const(1)
FLAG_OWN = const(2)
FLAG_FREEZE = const(4)
FLAG_RANDOM = const(8)
FLAG_DETECT = const(16)
FLAG_AUTO_BONUS = const(32)
SHARE_OFF = const(0)
SHARE_ON = const(1)
SHARE_TESTING = const(2)
H_MAGIC = const(0)
H_HASH = const(1)
H_UNITS = const(2)
H_DIMS = const(3)
H_BITS = const(4)
H_FLAGS = const(5)
H_SCALE = const(6)
H_STEPS_AT = const(7)
H_POOL_AT = const(8)
H_BONUS = const(9)
H_RNG = const(10)
H_FREE_HEAD = const(11)
H_FREE_N = const(12)
H_FRESH = const(13)
H_USED_PEAK = const(14)
H_SHARE = const(15)
H_TABLE = const(16)
H_SAME_N = const(17)
H_SAME_REWARD = const(18)
H_SAME_NEXT = const(19)
H_OTHER_N = const(20)
H_OTHER_REWARD = const(21)
H_OTHER_NEXT = const(22)
H_OTHER_TOTAL = const(23)
H_RETURN_SUM = const(24)
H_RETURN_MEAN = const(25)
H_RETURN_DEV = const(26)
H_DROP = const(27)
H_SINCE = const(28)
H_EPISODES = const(29)
H_EPISODES_HIGH = const(30)
H_SPLITS = const(31)
H_REFUSED = const(32)
H_NO_ROOM = const(33)
H_RECLAIMS = const(34)
H_SATURATIONS = const(35)
H_RESTARTS = const(36)
H_WORDS = const(37)
S_ROOT = const(0)
S_V_SLOT = const(1)
S_STATE = const(2)
S_V_AUX = const(3)
S_ACTION = const(4)
S_JOB_CELL = const(5)
S_JOB_AT = const(6)
S_REWARD_MEAN = const(7)
S_REWARD_TOP = const(8)
S_WORDS = const(9)
R_LINK = const(0)
R_N = const(1)
R_REWARD = const(2)
R_COUNTS = const(3)
R_WORDS = const(4)
ERR_ARGUMENT = const(-1)
ERR_CONFIG = const(-2)
ERR_MEMORY = const(-3)
ERR_BLOCK = const(-4)
ERR_ORDER = const(-5)
FORMAT_VERSION = const(1)
SPEC_HASH = const(51473)
SNAPSHOT_MAGIC = const(44453)
SNAPSHOT_VERSION = const(1)
SNAPSHOT_HEAD_BYTES = const(16)
STORE_MAGIC = const(44454)
STORE_VERSION = const(1)
STORE_HEAD_BYTES = const(16)
ERR_EMPTY = const(-6)
ERR_DEVICE = const(-7)
RECIPROCAL = (
    b"\x21\x84\x12\x83\x08\x82\x02\x81\x00\x80\x02\x7f\x08\x7e\x12\x7d\x1f\x7c\x30\x7b\x45\x7a\x5d\x79"
    b"\x78\x78\x97\x77\xba\x76\xdf\x75\x07\x75\x33\x74\x61\x73\x93\x72\xc7\x71\xfe\x70\x38\x70\x75\x6f"
    b"\xb4\x6e\xf6\x6d\x3a\x6d\x81\x6c\xca\x6b\x16\x6b\x64\x6a\xb4\x69\x07\x69\x5b\x68\xb2\x67\x0b\x67"
    b"\x66\x66\xc4\x65\x23\x65\x84\x64\xe7\x63\x4c\x63\xb3\x62\x1c\x62\x86\x61\xf2\x60\x60\x60\xd0\x5f"
    b"\x41\x5f\xb5\x5e\x29\x5e\x9f\x5d\x17\x5d\x91\x5c\x0c\x5c\x88\x5b\x06\x5b\x85\x5a\x06\x5a\x88\x59"
    b"\x0b\x59\x90\x58\x16\x58\x9d\x57\x26\x57\xb0\x56\x3b\x56\xc8\x55\x55\x55\xe4\x54\x74\x54\x05\x54"
    b"\x98\x53\x2b\x53\xbf\x52\x55\x52\xec\x51\x83\x51\x1c\x51\xb6\x50\x50\x50\xec\x4f\x89\x4f\x26\x4f"
    b"\xc5\x4e\x64\x4e\x05\x4e\xa6\x4d\x48\x4d\xec\x4c\x90\x4c\x34\x4c\xda\x4b\x81\x4b\x28\x4b\xd0\x4a"
    b"\x79\x4a\x23\x4a\xcd\x49\x79\x49\x25\x49\xd1\x48\x7f\x48\x2d\x48\xdc\x47\x8c\x47\x3c\x47\xed\x46"
    b"\x9f\x46\x51\x46\x04\x46\xb8\x45\x6c\x45\x21\x45\xd7\x44\x8d\x44\x44\x44\xfc\x43\xb4\x43\x6d\x43"
    b"\x26\x43\xe0\x42\x9a\x42\x55\x42\x11\x42\xcd\x41\x89\x41\x46\x41\x04\x41\xc2\x40\x81\x40\x40\x40"
)
INVERSE_ROOT = (
    b"\x00\x40\x16\x3e\x56\x3c\xba\x3a\x3e\x39\xdd\x37\x94\x36\x61\x35\x41\x34\x33\x33\x34\x32\x44\x31"
    b"\x61\x30\x89\x2f\xbd\x2e\xfa\x2d\x41\x2d\x90\x2c\xe7\x2b\x45\x2b\xaa\x2a\x16\x2a\x87\x29\xfe\x28"
    b"\x7a\x28\xfb\x27\x80\x27\x0a\x27\x97\x26\x29\x26\xbe\x25\x57\x25\xf3\x24\x92\x24\x34\x24\xd8\x23"
    b"\x80\x23\x2a\x23\xd6\x22\x84\x22\x35\x22\xe8\x21\x9d\x21\x54\x21\x0c\x21\xc7\x20\x83\x20\x40\x20"
)
