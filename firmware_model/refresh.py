"""V and the best action of cells other than the visited one: this is how news from elsewhere reaches them."""

from ._scratch import T_CHUNKS, T_H, T_HORIZON, T_NEXT, T_STEP
from ._spec import NEXT_MASK, S_JOB_CELL
from .call import decode as call_decode
from .learn import jobs as learn_jobs
from .number import random as number_random
from .tree import scan as tree_scan
from .value import set as value_set


def _refresh(w, t, h, code):
    """V and the best action of one cell, by a search."""
    call_decode(w, t, h)
    tree_scan(w, t, code)
    value_set(w, t, code)


def refresh_next(w, t):
    """What was learnt at other states and steps is news to the cell that will be played next: refresh it.

    Always, but in problems of 1+1 dimensions, where it matters less, in one observe of eight and in the place
    of other work: returns 1 then.
    """
    h = t[T_H]
    if h + 1 == t[T_HORIZON] or (t[T_CHUNKS] == 1 and number_random(w) & NEXT_MASK):
        return 0
    _refresh(w, t, h + 1, t[T_NEXT])
    call_decode(w, t, h)
    return t[T_CHUNKS] == 1


def refresh_later(w, t):
    """Refresh the next cell of a pending job; returns 1 when that took the turn of other work.

    With more than 1+1 dimensions, where most cells are seldom visited, any cell as well, of this step or of
    the first, which nothing looks ahead to.
    """
    pending = w[t[T_STEP] + S_JOB_CELL]
    if pending:
        learn_jobs(w, t)
    if t[T_CHUNKS] > 1:
        pending = number_random(w)
        _refresh(w, t, 0 if pending & 1 else t[T_H], pending)
        return 0
    return pending
