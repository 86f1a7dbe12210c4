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
T_SHARED = const(8)
T_MOST = const(9)  # the most that can still be earned
# The sample.
T_STATE = const(10)
T_ACTION = const(11)
T_REWARD = const(12)
T_NEXT = const(13)
# Descent.
T_SLOT = const(14)
T_REC = const(15)
T_PARENT = const(16)
T_LEVEL = const(17)
T_WEIGHT = const(18)
T_VALUE = const(19)
T_EXPECTED = const(20)
T_INHERITED_N = const(21)
# Scan.
T_CODE = const(22)
T_BEST = const(23)
T_BEST_Q = const(24)
T_BEST_ACTION = const(25)
T_BEST_LEVEL = const(26)
T_BLOCK = const(27)
T_ABOVE = const(28)  # nearest record above
T_INHERITED = const(29)  # the expectation at hand, and the record it is of
T_INHERITED_OF = const(30)
# Counts.
T_BITS = const(31)  # of a count
T_CELL = const(32)
T_EMPTY = const(33)
T_NEAR = const(34)
T_NEAREST = const(35)
T_SUM = const(36)
T_TOTAL = const(37)
T_TO = const(38)  # fold: the record that takes the counts, and its level
T_TO_LEVEL = const(39)
# Reclaiming a V node: where it lies.
T_DEPTH = const(40)
# Chains of counts: units that may still follow.
T_LEFT = const(41)
T_FOLD_LEFT = const(42)
# Reclaiming in a partition: the record at hand had no credit left.
T_SPENT = const(44)
# By depth; blocks are numbered from 1.
T_PATH = const(45)  # V nodes from the root down
T_FIRST = const(59)  # scan: first slot for the state in the block at this depth
T_OWNER = const(74)  # scan: the record that block belongs to
# Tables by depth: where a block's bits are in the state code and in the action code.
T_STATE_SHIFT = const(89)
T_STATE_MASK = const(104)
T_ACTION_SHIFT = const(119)
T_ACTION_MASK = const(134)
# More of the configuration.
T_DEEPEST = const(149)  # blocks on the longest path
T_DIVISION = const(150)  # how the bits of a level are divided into blocks
T_WORDS = const(151)
