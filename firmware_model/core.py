"""The public functions: configuration, act, observe, end of an episode; and reclaiming, a part of observe.

    block = array("H", bytes(4096))
    controller = init(Config(d_s=1, d_a=1, horizon=5), block)    # an int means an ERR_ code
    controller.act(h, state, action)    # state: ints 0..65535; action: array("H"), written in place
    controller.observe(h, reward, next_state)
    controller.end_episode()

The block is the whole controller: copy it, store it, `attach` it elsewhere. Everything below act, observe and
end_episode runs without the heap on MicroPython: integers stay within 31 bits, frames within 11 words (of all
functions only Config() needs more).

Reclaiming frees units when few are left: one bounded walk a step, like the clock algorithm of page replacement.
Every record on the path of a sample gets all its clock bits; every walk takes one from the records it passes.
A leaf without clock bits is folded into its parent and leaves its surplus in its slot; a block whose balls are
all unvisited is removed. Pruning joins two cells of V that no ball distinguishes. So what was not used for long
is removed in small pieces.
"""

# isort: off
from ._scratch import B_ACTION, B_LEVEL, B_Q, C_CHUNKS, C_D_A, C_D_S, C_FINEST, C_FRACTION, C_H, C_HORIZON
from ._scratch import C_SHARED, C_STEP, C_TAUGHT, T_DEPTH, T_PATH, T_SPENT, T_TO, T_TO_LEVEL, V_ACTION, V_LEVEL, V_NEXT
from ._scratch import V_NEXT_SLOT, V_PARENT, V_REC, V_REWARD, V_SLOT, V_STATE
from ._spec import CREDIT_SHIFT, HELD_TAUGHT, LEVEL_MAX, N_MAX, RECLAIM_MASK, RECLAIM_ROOM, RECLAIM_ROOM_SHIFT
from ._spec import RECLAIM_VALUE_MASK, SHARE_OFF, TAG, VALUE_MASK
from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_MEMORY, ERR_ORDER
from ._spec import FLAG_FREEZE, FLAG_PAPER, FLAG_RANDOM
from ._spec import H_DIMS, H_FLAGS, H_HELD, H_POOL_AT, H_RECLAIMS, H_SEEN, H_SHARE, H_UNITS, H_WORDS
from ._spec import S_ACTION, S_JOB_CELL, S_LAST, S_STATE, S_V_AUX, S_V_SLOT, S_WORDS
from ._spec import R_N, R_REWARD

# isort: on
from .adapt import earned as adapt_earned
from .adapt import episode as adapt_episode
from .adapt import restart as adapt_restart
from .adapt import rewards as adapt_rewards
from .adapt import step as adapt_step
from .config import (
    Config,
    call_decode,
    call_step,
    pool_free,
    pool_room,
    required_words,
    saturating_inc,
    thresholds,
    usable,
    write_header,
)
from .config import scratch as config_scratch
from .learn import follow as learn_follow
from .learn import jobs as learn_jobs
from .learn import refresh_next
from .learn import sample as learn_sample
from .number import blend as number_blend
from .number import code_centre, code_pack, code_unpack
from .number import random as number_random
from .tree import free as tree_free
from .tree import root as tree_root
from .tree import scan as tree_scan
from .tree import slots as tree_slots
from .tree import surplus as tree_surplus
from .tree import unsplit as tree_unsplit
from .value import counts_expect, counts_fold
from .value import find as value_find
from .value import refresh_means as value_refresh_means
from .value import set as value_set
from .value import slot as value_slot

__all__ = ["Config", "Controller", "attach", "init", "required_words", "thresholds"]


def _prune_pick(w, t):
    """Code of a random node of the step whose two slots are values; -1 without a node.

    Leaves the depth of the node in `t`, and the units down to it in the path.
    """
    way = number_random(w)
    i = t[C_STEP] + S_V_SLOT
    if not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
        return -1
    code = depth = 0
    while True:
        t[T_PATH + depth] = w[i]
        i = (w[i] << 2) + (way >> depth & 1)
        if not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            i ^= 1
        if depth == LEVEL_MAX - 1 or not w[H_POOL_AT] <= w[i] < w[H_UNITS]:
            t[T_DEPTH] = depth
            return code
        code |= (i & 1) << (15 - depth)
        depth += 1


def _prune_join(w, t, code):
    """Join the two slots of such a node when, by the last scan, no ball needs both; 1 when a unit was freed.

    Down to their depth they lie in the same cell of every level, so one scan is valid for both.
    """
    i = value_slot(t, t[T_DEPTH], code)
    if t[C_D_S] * t[B_LEVEL] > t[T_DEPTH]:
        return 0
    if w[H_FLAGS] & FLAG_PAPER:
        t[B_Q] = min(t[B_Q], w[i + 2])
    node = w[i]
    w[i + 2] = t[B_ACTION]  # the cell has its action before it is one
    w[i] = TAG | t[B_Q]
    value_refresh_means(w, t, t[T_DEPTH], code)
    pool_free(w, node)  # no walk meets it any more
    return 1


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
    rec = w[t[V_SLOT]]
    level = t[V_LEVEL]
    t[T_TO] = t[V_PARENT]
    t[T_TO_LEVEL] = level - 1
    _join(w, rec << 2, t[T_TO] << 2)
    level = counts_expect(w, t, rec, level)
    counts_fold(w, t, rec)
    level -= counts_expect(w, t, t[T_TO], t[T_TO_LEVEL])
    if level > 0 and t[C_SHARED]:
        level = 0
    w[t[V_SLOT]] = tree_surplus((w[rec << 2] & VALUE_MASK) + level)
    tree_free(w, t, rec)


def _pick(w, block, slots):
    """A linked slot of the block, the first from a random one on; -1 when all are values."""
    slots -= 1
    i = number_random(w) & slots
    end = i + slots
    block <<= 2
    while i <= end:
        slot = block + (i & slots)
        if w[H_POOL_AT] <= w[slot] < w[H_UNITS]:
            return slot
        i += 1
    return -1


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
        tree_unsplit(w, t, t[V_REC], best)
    else:
        pool_free(w, block)
        w[t[V_SLOT]] = best
    saturating_inc(w, H_RECLAIMS)


def _walk_level(w, t):
    """From the record to one a level below; 0 when the walk ended in a block without records."""
    block = w[t[V_REC] << 2]
    chunk = 0
    while True:
        slot = _pick(w, block, tree_slots(t, chunk))
        if slot < 0:
            if t[T_SPENT]:
                _remove(w, t, block, chunk)
            return 0
        t[V_SLOT] = slot
        chunk += 1
        if chunk == t[C_CHUNKS]:
            return 1
        block = w[slot]


def _reclaim_tree(w, t):
    """One walk through a tree: folds one leaf or removes one block, or only takes credit."""
    t[V_SLOT] = tree_root(t)
    t[V_PARENT] = t[V_LEVEL] = 0
    if not w[H_POOL_AT] <= w[t[V_SLOT]] < w[H_UNITS]:
        return
    while True:
        rec = w[t[V_SLOT]]
        t[V_REC] = rec
        i = (rec << 2) + R_N
        t[T_SPENT] = w[i] >> CREDIT_SHIFT == 0
        if not t[T_SPENT]:
            w[i] -= 1 << CREDIT_SHIFT
        if t[V_LEVEL] == t[C_FINEST] or not w[H_POOL_AT] <= w[rec << 2] < w[H_UNITS]:
            if t[T_SPENT] and t[V_PARENT]:
                _fold(w, t)
                saturating_inc(w, H_RECLAIMS)
            return
        if not _walk_level(w, t):
            return
        t[V_PARENT] = rec
        t[V_LEVEL] += 1


def _reclaim(w, t):
    """Free at most a few units when few are left."""
    if w[H_FLAGS] & FLAG_FREEZE or pool_room(w) >= RECLAIM_ROOM + (w[H_UNITS] >> RECLAIM_ROOM_SHIFT):
        return
    random = number_random(w)
    if random & RECLAIM_MASK:
        return
    h = random * ((w[H_DIMS] >> 8) + 1) >> 16
    if random & RECLAIM_VALUE_MASK:
        call_decode(w, t, 0 if w[H_SHARE] != SHARE_OFF and h != w[H_DIMS] >> 8 else h)
        _reclaim_tree(w, t)
        return
    call_decode(w, t, h)
    random = _prune_pick(w, t)
    if random >= 0:
        tree_scan(w, t, random)
        if _prune_join(w, t, random):
            saturating_inc(w, H_RECLAIMS)


def init(config, block):
    """A controller in this block, an array('H'); or ERR_CONFIG or ERR_MEMORY, and the block is unchanged.

    >>> from array import array
    >>> init(Config(), array("H", bytes(16)))
    -3
    >>> type(init(Config(), array("H", bytes(4096)))).__name__
    'Controller'
    """
    required = required_words(config)
    if required < 0:
        return required
    if len(block) < required:
        return ERR_MEMORY
    write_header(config, block)
    controller = Controller(block, config_scratch(block))
    adapt_restart(block, controller.t)
    return controller


def _is_point(point, dims):
    if len(point) < dims:
        return False
    for i in range(dims):  # noqa: SIM110  (a generator would allocate)
        if not 0 <= point[i] <= 0xFFFF:
            return False
    return True


def _random_action(w, centre, d_a):
    """A point of the cell around an action centre."""
    mask = ((centre & -centre) << d_a) - 1
    centre = centre & ~mask | number_random(w) & mask
    return centre | (2 if d_a == 3 else 1)  # never 0: that means no action


def attach(block):
    """A controller for a block that `init` prepared, here or elsewhere; ERR_BLOCK when it is not one.

    >>> from array import array
    >>> block = array("H", bytes(4096))
    >>> attach(block)
    -4
    >>> attach(init(Config(), block).w).end_episode()
    0
    """
    if len(block) <= H_WORDS or _call_error(block, 0) or len(block) < block[H_UNITS] << 2:
        return ERR_BLOCK
    return Controller(block, config_scratch(block))


def _call_error(w, h):
    if not usable(w):
        return ERR_BLOCK
    return 0 if 0 <= h < w[H_DIMS] >> 8 else ERR_ARGUMENT


def _choose(w, t, h, state):
    """Code of the best action for the state; both are noted for `observe`."""
    h = call_step(t, h)
    code = code_pack(state, w[H_DIMS] & 15)
    w[h + S_STATE] = code
    if w[H_HELD] == 1:
        code = w[call_step(t, w[H_DIMS] >> 8) + S_V_AUX]
    else:
        code = w[value_find(w, h, code, 16) + 2]
        if w[H_FLAGS] & FLAG_RANDOM:
            code = _random_action(w, code, t[C_D_A])
    w[h + S_ACTION] = code
    return code


def _teach(w, t, step, state, action):
    """Note what somebody else plays, cut to the finest level, for `observe`."""
    w[step + S_STATE] = code_pack(state, w[H_DIMS] & 15)
    action = code_pack(action, t[C_D_A])
    state = t[C_D_A] * t[C_FINEST]  # bits of a cell
    action = code_centre(action >> 16 - state << 16 - state, state, t[C_D_A])
    w[step + S_ACTION] = action
    w[H_HELD] = HELD_TAUGHT


def _learn_paper(w, t):
    """The paper refreshes every state cell under the ball, at once."""
    learn_sample(w, t)
    i = t[C_STEP] + S_JOB_CELL
    cells = w[H_UNITS] - w[H_POOL_AT]
    while cells and w[i]:
        learn_jobs(w, t)
        cells -= 1


def _finer(w, t):
    """The action that the state could try: that of the next state or, where steps have trees of their own,
    that of this step the last time. Leaves the slot of V of the next state in `t`."""
    t[V_NEXT_SLOT] = 0
    if t[C_H] + 1 < t[C_HORIZON]:
        t[V_NEXT_SLOT] = value_find(w, t[C_STEP] + S_WORDS, t[V_NEXT], 16)
    if not t[C_SHARED]:
        return w[t[C_STEP] + S_LAST]
    return w[t[V_NEXT_SLOT] + 2] if t[V_NEXT_SLOT] else 0


def _learn_tracking(w, t):
    """Learns from the sample, and lets the state try a finer action that is played elsewhere.

    Returns 1 when it left no turn to other work.
    """
    busy = refresh_next(w, t)
    finer = _finer(w, t)
    if learn_sample(w, t):
        tree_scan(w, t, t[V_STATE])
        value_set(w, t, t[V_STATE])
    if not (w[H_FLAGS] & FLAG_RANDOM or t[C_TAUGHT]):
        learn_follow(w, t, finer)
    w[t[C_STEP] + S_LAST] = t[V_ACTION]
    if busy:
        return 1
    busy = w[t[C_STEP] + S_JOB_CELL]
    if busy:
        learn_jobs(w, t)
    return busy


def _learn(w, t):
    if w[H_FLAGS] & FLAG_PAPER:
        _learn_paper(w, t)
        _reclaim(w, t)
    elif not _learn_tracking(w, t):
        _reclaim(w, t)


def _learn_held(w, t, value):
    """A held episode is one sample of the step that stands for it: its action, and the mean reward."""
    call_decode(w, t, w[H_DIMS] >> 8)
    t[V_REWARD] = min((value << 16 - t[C_FRACTION]) // (w[H_DIMS] >> 8), 0xFFFF)
    t[V_ACTION] = w[t[C_STEP] + S_V_AUX]
    t[V_STATE] = t[V_NEXT] = 0
    adapt_rewards(w, t, t[V_REWARD])
    if not _learn_tracking(w, t):
        _reclaim(w, t)


class Controller:
    """A controller in a block, with its scratch array; `init` and `attach` make them. One caller at a time.

    >>> from array import array
    >>> controller = init(Config(d_a=2, horizon=2), array("H", bytes(4096)))
    >>> action = array("H", [0, 0])
    >>> controller.act(0, [1000], action), list(action)
    (0, [32768, 32768])
    >>> controller.observe(0, 5000, [2000]), controller.observe(0, 5000, [2000])
    (0, -5)
    >>> controller.end_episode()
    0
    """

    def __init__(self, w, t):
        self.w = w
        self.t = t

    def act(self, h, state, action):
        """Write an action for this state to `action`. Returns 0, ERR_ARGUMENT or ERR_BLOCK."""
        t = self.t
        error = _call_error(self.w, h)
        if error:
            return error
        if len(action) < t[C_D_A] or not _is_point(state, self.w[H_DIMS] & 15):
            return ERR_ARGUMENT
        h = _choose(self.w, t, h, state)
        code_unpack(h, t[C_D_A], action)
        return 0

    def given(self, h, state, action):
        """In the place of act: an action that somebody else has chosen. Returns 0, ERR_ARGUMENT or ERR_BLOCK."""
        if _call_error(self.w, h):
            return _call_error(self.w, h)
        if not (_is_point(state, self.w[H_DIMS] & 15) and _is_point(action, self.t[C_D_A])):
            return ERR_ARGUMENT
        _teach(self.w, self.t, call_step(self.t, h), state, action)
        return 0

    def observe(self, h, reward, next_state):
        """Learn what followed the last act or given of step h. Returns 0, ERR_ARGUMENT, ERR_BLOCK or ERR_ORDER."""
        w = self.w
        t = self.t
        if _call_error(w, h):
            return _call_error(w, h)
        if not 0 <= reward <= 0xFFFF or not _is_point(next_state, w[H_DIMS] & 15):
            return ERR_ARGUMENT
        call_decode(w, t, h)
        h = t[C_STEP]
        if w[h + S_ACTION] == 0:
            return ERR_ORDER
        t[V_STATE] = w[h + S_STATE]
        t[V_ACTION] = w[h + S_ACTION]
        w[h + S_ACTION] = 0
        t[V_REWARD] = reward
        t[V_NEXT] = code_pack(next_state, t[C_D_S])
        if adapt_step(w, t, next_state):
            _learn(w, t)
        return 0

    def end_episode(self):
        """Close the episode. Returns 0 or ERR_BLOCK."""
        w = self.w
        if _call_error(w, 0):
            return _call_error(w, 0)
        value = 0
        if w[H_SEEN]:
            value = adapt_earned(w)
            if w[H_HELD] == 1:
                _learn_held(w, self.t, value)
        adapt_episode(w, self.t, value)
        return 0
