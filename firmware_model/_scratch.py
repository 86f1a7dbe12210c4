"""Words of the scratch array `t`: what the C core keeps on its stack, here made once per controller.

C_ is what one call decodes, V_ a sample and the visit to its ball, B_ the best ball, which a scan chooses; T_ are
arguments and results of functions that would otherwise need a larger frame. Only the configuration and its tables
outlive a call; both follow from the block.
"""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


# What is decoded of the block (C: `adamb_call`): the configuration, and the step of the call.
C_D_S = const(0)
C_D_A = const(1)
C_HORIZON = const(2)
C_CHUNKS = const(3)  # routing blocks per level
C_FRACTION = const(4)
C_FINEST = const(5)
C_DEEPEST = const(6)  # blocks on the longest path
C_DIVISION = const(7)  # how the bits of a level are divided into blocks
C_H = const(8)
C_STEP = const(9)  # first word of the step's words
C_TREE = const(10)  # first word of the step that owns the tree: the first when steps share one
C_SHARED = const(11)
C_HELD = const(12)  # the step that stands for a held episode, without a state and the last one
C_V_MAX = const(13)  # the most that can still be earned
# A sample, the visit of the descent to its ball (C: `adamb_visit`), and what the estimate of the ball is made of.
V_STATE = const(14)
V_ACTION = const(15)
V_REWARD = const(16)
V_NEXT = const(17)
V_NEXT_SLOT = const(18)  # slot of V of the next state, 0 behind the last step
V_SLOT = const(19)
V_REC = const(20)
V_PARENT = const(21)
V_LEVEL = const(22)
V_WEIGHT = const(23)
V_VALUE = const(24)
V_EXPECTED = const(25)
V_INHERITED_N = const(26)  # paper: samples of the ancestors
# The choice of a scan (C: `adamb_choice`).
B_Q = const(27)
B_ACTION = const(28)
B_LEVEL = const(29)
# A scan under way.
T_CODE = const(30)
T_BLOCK = const(31)
T_ABOVE = const(32)  # nearest record above
# Its ranking (C: `adamb_ranking`).
T_PART = const(33)  # of what follows an action, in 1/256
T_KEY = const(34)  # the highest, -1 without a ball
T_Q = const(35)  # of that ball, shifted like a surplus
T_WHERE = const(36)  # its action code | level << 16
T_INHERITED = const(37)  # what the record T_INHERITED_OF expects
T_INHERITED_OF = const(38)
T_RANK_N = const(39)  # visited balls: their samples, a few of each, and how many they are
T_BALLS = const(40)
T_FIRST_EXPECTED = const(41)  # the first expectation, and the others less this one
T_RANK_SUM = const(42)
T_SQUARES = const(43)
# Counts.
T_BITS = const(44)  # of a count
T_CELL = const(45)
T_ENTRY = const(46)
T_EMPTY = const(47)
T_NEAR = const(48)
T_NEAREST = const(49)
T_SUM = const(50)
T_TOTAL = const(51)
T_TO = const(52)  # fold: the record that takes the counts, and its level
T_TO_LEVEL = const(53)
T_LEFT = const(54)  # units of a chain that may still follow
T_FOLD_LEFT = const(55)
# Reclaiming: where a V node lies; in a partition, whether the record at hand had no clock bits left.
T_DEPTH = const(56)
T_SPENT = const(57)
# By depth; blocks are numbered from 1.
T_PATH = const(58)  # V nodes from the root down
T_FIRST = const(72)  # scan: first slot for the state in the block at this depth
T_OWNER = const(87)  # scan: the record that block belongs to
# Tables by depth: where the bits of a block are in the state code and in the action code.
C_STATE_SHIFT = const(102)
C_STATE_MASK = const(117)
C_ACTION_SHIFT = const(132)
C_ACTION_MASK = const(147)
C_TAUGHT = const(162)  # tracking, in an episode with actions of somebody else
T_MOST = const(163)  # scan: balls that it may still visit
T_WORDS = const(164)
