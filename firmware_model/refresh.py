"""V and the best action of cells other than the visited one, so that they use what was learnt elsewhere."""

from ._scratch import T_BEST_LEVEL, T_CHUNKS, T_H, T_HORIZON, T_NEXT
from ._spec import H_SINCE, LATER_FIRST_MASK, NEXT_ALWAYS, NEXT_MASK
from .call import decode as call_decode
from .number import random as number_random
from .tree import scan as tree_scan
from .value import set as value_set


def next(w, t):
    """Refresh the cell that will be played next, so that it uses what was learnt at other states and steps.

    With 1+1 dimensions it takes the place of other work, and after the first episodes, when it matters less,
    it is done in one observe of sixteen only: returns 1 then.
    """
    h = t[T_H]
    if h + 1 == t[T_HORIZON]:
        return 0
    if t[T_CHUNKS] == 1 and w[H_SINCE] >= NEXT_ALWAYS and number_random(w) & NEXT_MASK:
        return 0
    call_decode(w, t, h + 1)
    tree_scan(w, t, t[T_NEXT])
    value_set(w, t, t[T_NEXT])
    call_decode(w, t, h)
    return t[T_CHUNKS] == 1


def any(w, t):
    """Refresh a random cell of this step, or of the first, which no look-ahead reaches.

    With more than 1+1 dimensions most cells are seldom visited.
    """
    code = number_random(w)
    call_decode(w, t, 0 if code & LATER_FIRST_MASK else t[T_H])
    tree_scan(w, t, code)
    t[T_BEST_LEVEL] = 0  # V is not divided for a cell that may never be visited
    value_set(w, t, code)
