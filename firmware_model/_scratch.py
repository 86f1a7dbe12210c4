"""Words of the scratch array `t`: what the C core keeps on its stack, here made once per controller.

`t` carries what one call decodes and finds (C: `adamb_call`), the arguments and results of functions that
would otherwise need a larger frame, the paths of the two kinds of tree, and tables by depth. Only the
configuration and the tables outlive a call; both follow from the block.
"""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


# The configuration.
T_D_S = const(0)
T_D_A = const(1)
T_HORIZON = const(2)
T_CHUNKS = const(3)  # routing blocks a level
T_FRACTION = const(4)
T_FINEST = const(5)
# The step of the call.
T_H = const(6)
T_STEP = const(7)  # first word of the step's words
T_TREE = const(8)  # first word of the step that owns the tree: the first when steps share one
T_SHARED = const(9)
T_MOST = const(10)  # the most that can still be earned
# The sample.
T_STATE = const(11)
T_ACTION = const(12)
T_REWARD = const(13)
T_NEXT = const(14)
T_NEXT_SLOT = const(15)  # slot of V of the next state, 0 behind the last step
# Descent.
T_SLOT = const(16)
T_REC = const(17)
T_PARENT = const(18)
T_LEVEL = const(19)
T_WEIGHT = const(20)
T_VALUE = const(21)
T_EXPECTED = const(22)
T_INHERITED_N = const(23)  # paper: samples of the ancestors
# Scan.
T_CODE = const(24)
T_BEST_Q = const(25)
T_BEST_ACTION = const(26)
T_BEST_LEVEL = const(27)
T_BLOCK = const(28)
T_ABOVE = const(29)  # nearest record above
# Ranking (C: `adamb_ranking`).
T_PART = const(30)  # of what follows an action, in 1/256
T_KEY = const(31)  # the highest, twice, + 1 if visited; -1 without a ball
T_Q = const(32)  # of that ball, shifted like a surplus
T_WHERE = const(33)  # its action code | level << 16
T_INHERITED = const(34)  # what the record T_INHERITED_OF expects
T_INHERITED_OF = const(35)
T_RANK_N = const(36)  # visited balls: their samples, a few of each, and how many they are
T_BALLS = const(37)
T_FIRST_EXPECTED = const(38)  # the first expectation, and the others less this one
T_RANK_SUM = const(39)
T_SQUARES = const(40)
T_TOP = const(41)  # mean reward of the ball that is played so far; by level, T_REWARD_ABOVE
# Counts.
T_BITS = const(42)  # of a count
T_CELL = const(43)
T_ENTRY = const(44)
T_EMPTY = const(45)
T_NEAR = const(46)
T_NEAREST = const(47)
T_SUM = const(48)
T_TOTAL = const(49)
T_TO = const(50)  # fold: the record that takes the counts, and its level
T_TO_LEVEL = const(51)
# Reclaiming a V node: where it lies.
T_DEPTH = const(52)
# Chains of counts: units that may still follow.
T_LEFT = const(53)
T_FOLD_LEFT = const(54)
# Reclaiming in a partition: the record at hand had no credit left.
T_SPENT = const(55)
# By depth; blocks are numbered from 1.
T_PATH = const(56)  # V nodes from the root down
T_FIRST = const(70)  # scan: first slot for the state in the block at this depth
T_OWNER = const(85)  # scan: the record that block belongs to
# Tables by depth: where a block's bits are in the state code and in the action code.
T_STATE_SHIFT = const(100)
T_STATE_MASK = const(115)
T_ACTION_SHIFT = const(130)
T_ACTION_MASK = const(145)
# More of the configuration.
T_DEEPEST = const(160)  # blocks on the longest path
T_DIVISION = const(161)  # how the bits of a level are divided into blocks
# By level: mean reward of the record above the ball that is played, that of the ball where there is none.
T_REWARD_ABOVE = const(162)
T_WORDS = const(178)
