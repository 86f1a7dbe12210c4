"""Freeing units when few are left: one bounded walk a step, like the clock algorithm of page replacement.

Every record on the path of a sample gets full credit; every walk takes one credit from the records it passes.
A leaf without credit is folded into its parent and leaves its surplus in its slot, more often when no state
plays it; a block whose balls are all unvisited is removed. So what was not used for long is removed in small
pieces.
"""

# isort: off
from ._scratch import T_ACTION, T_ACTION_MASK, T_ACTION_SHIFT, T_CHUNKS, T_D_A, T_D_S, T_FINEST, T_HORIZON
from ._scratch import T_LEVEL, T_PARENT, T_REC, T_SHARED, T_SLOT, T_SPENT, T_STATE, T_STATE_MASK
from ._scratch import T_STATE_SHIFT, T_TO, T_TO_LEVEL, T_TREE
from ._spec import CREDIT_SHIFT, N_MAX, PLAYED_MASK, RECLAIM_MASK, RECLAIM_ROOM, RECLAIM_ROOM_SHIFT
from ._spec import RECLAIM_VALUE_MASK, VALUE_MASK
from ._spec import FLAG_FREEZE
from ._spec import H_FLAGS, H_POOL_AT, H_RECLAIMS, H_UNITS
from ._spec import S_WORDS
from ._spec import R_N, R_REWARD

# isort: on
from .call import decode as call_decode
from .counts import expect as counts_expect
from .counts import fold as counts_fold
from .number import blend as number_blend
from .number import random as number_random
from .pool import count_up
from .pool import free as pool_free
from .pool import room as pool_room
from .prune import join as prune_join
from .prune import pick as prune_pick
from .tree import free as tree_free
from .tree import root as tree_root
from .tree import scan as tree_scan
from .tree import slots as tree_slots
from .tree import surplus as tree_surplus
from .tree import unsplit as tree_unsplit
from .value import find as value_find


def _join(w, rec, parent):
    """Add the samples and the mean reward of a leaf to those of its parent (both as word indices)."""
    n = w[rec + R_N] & N_MAX
    parent_n = w[parent + R_N] & N_MAX
    if n:
        w[parent + R_REWARD] = number_blend(w[parent + R_REWARD], w[rec + R_REWARD], n, n + parent_n)
    n += parent_n
    w[parent + R_N] = w[parent + R_N] & ~N_MAX | (n if n < N_MAX else N_MAX)


def _fold(w, t):
    """Fold the leaf in the slot into its parent.

    The slot keeps the Q of this step. When steps share the tree, Q of no step may rise by the fold, so a
    positive difference of the expectations is not added.
    """
    rec = w[t[T_SLOT]]
    level = t[T_LEVEL]
    t[T_TO] = t[T_PARENT]
    t[T_TO_LEVEL] = level - 1
    _join(w, rec << 2, t[T_TO] << 2)
    level = counts_expect(w, t, rec, level)
    counts_fold(w, t, rec)
    level -= counts_expect(w, t, t[T_TO], t[T_TO_LEVEL])
    if level > 0 and t[T_SHARED]:
        level = 0
    w[t[T_SLOT]] = tree_surplus((w[rec << 2] & VALUE_MASK) + level)
    tree_free(w, t, rec)


def _pick(w, block, slots, records):
    """A linked slot of the block, from a random one on, preferably without credit; -1 when all are values."""
    slots -= 1
    i = number_random(w) & slots
    end = i + slots
    found = -1
    block <<= 2
    while i <= end:
        slot = block + (i & slots)
        if w[H_POOL_AT] <= w[slot] < w[H_UNITS]:
            if not records or w[(w[slot] << 2) + R_N] >> CREDIT_SHIFT == 0:
                return slot
            if found < 0:
                found = slot
        i += 1
    return found


def _best_slot(w, block, slots):
    """The word that stands for all balls of a block of unvisited ones: the best of them."""
    block <<= 2
    best = w[block]
    for i in range(block + 1, block + slots):
        if w[i] > best:
            best = w[i]
    return best


def _remove(w, t, block, chunk):
    """Remove a block whose balls are all unvisited."""
    best = _best_slot(w, block, tree_slots(t, chunk))
    if chunk == 0:
        tree_unsplit(w, t[T_REC], t[T_LEVEL], best)
    else:
        pool_free(w, block)
        w[t[T_SLOT]] = best
    count_up(w, H_RECLAIMS)


def _plays(w, t, step, code):
    """Does this step play the ball in T_ACTION at the state of this code?"""
    step = w[value_find(w, step, code, 16) + 2]
    return (step ^ t[T_ACTION]) >> 16 - t[T_D_A] * t[T_LEVEL] == 0


def _played(w, t):
    """Does any step of this tree play the ball, whose first codes are in `t`, at a random state of it?"""
    code = t[T_STATE] | number_random(w) >> t[T_D_S] * t[T_LEVEL]
    step = t[T_TREE]
    left = t[T_HORIZON] if t[T_SHARED] else 1
    while left:
        if _plays(w, t, step, code):
            return True
        step += S_WORDS
        left -= 1
    return False


def _note_slot(t, depth, slot):
    """Add the bits of a slot to the first codes of the ball that the walk leads to."""
    slot &= 3
    t[T_STATE] |= (slot & t[T_STATE_MASK + depth]) << t[T_STATE_SHIFT + depth]
    t[T_ACTION] |= slot << t[T_ACTION_SHIFT + depth] & t[T_ACTION_MASK + depth]


def _walk_level(w, t):
    """From the record to one a level below; 0 when the walk ended in a block without records."""
    block = w[t[T_REC] << 2]
    chunk = 0
    while True:
        slot = tree_slots(t, chunk)
        chunk += 1
        last = chunk == t[T_CHUNKS]
        slot = _pick(w, block, slot, last)
        if slot < 0:
            chunk -= 1
            if t[T_SPENT]:
                _remove(w, t, block, chunk)
            return 0
        t[T_SLOT] = slot
        _note_slot(t, t[T_LEVEL] * t[T_CHUNKS] + chunk, slot)
        if last:
            return 1
        block = w[slot]


def tree(w, t):
    """One walk through a tree: folds one leaf or removes one block, or only takes credit."""
    t[T_SLOT] = tree_root(t)
    t[T_PARENT] = t[T_LEVEL] = t[T_STATE] = t[T_ACTION] = 0
    if not w[H_POOL_AT] <= w[t[T_SLOT]] < w[H_UNITS]:
        return
    while True:
        rec = w[t[T_SLOT]]
        t[T_REC] = rec
        i = (rec << 2) + R_N
        t[T_SPENT] = w[i] >> CREDIT_SHIFT == 0
        if not t[T_SPENT]:
            w[i] -= 1 << CREDIT_SHIFT
        if t[T_LEVEL] == t[T_FINEST] or not w[H_POOL_AT] <= w[rec << 2] < w[H_UNITS]:
            if t[T_SPENT] and t[T_PARENT] and (not _played(w, t) or number_random(w) & PLAYED_MASK == 0):
                _fold(w, t)
                count_up(w, H_RECLAIMS)
            return
        if not _walk_level(w, t):
            return
        t[T_PARENT] = rec
        t[T_LEVEL] += 1


def some(w, t):
    """Free at most a few units when few are left."""
    if w[H_FLAGS] & FLAG_FREEZE or pool_room(w) >= RECLAIM_ROOM + (w[H_UNITS] >> RECLAIM_ROOM_SHIFT):
        return
    random = number_random(w)
    if random & RECLAIM_MASK:
        return
    if random & RECLAIM_VALUE_MASK:
        call_decode(w, t, 0 if t[T_SHARED] else random * t[T_HORIZON] >> 16)
        tree(w, t)
        return
    call_decode(w, t, random * t[T_HORIZON] >> 16)
    random = prune_pick(w, t)
    if random >= 0:
        tree_scan(w, t, random)
        if prune_join(w, t, random):
            count_up(w, H_RECLAIMS)
