"""The public functions: configuration, act, observe, end of an episode.

    block = array("H", bytes(4096))
    controller = init(Config(d_s=1, d_a=1, horizon=5), block)    # an int means an ERR_ code
    controller.act(h, state, action)    # state: ints 0..65535; action: array("H"), written in place
    controller.observe(h, reward, next_state)
    controller.end_episode()

The block is the whole controller: copy it, store it, `attach` it elsewhere. Everything below act, observe and
end_episode runs without the heap on MicroPython: integers stay within 31 bits, frames within 11 words (of all
functions only Config() needs more).
"""

# isort: off
from ._scratch import T_ACTION, T_CHUNKS, T_D_A, T_D_S, T_H, T_HORIZON, T_NEXT, T_NEXT_SLOT, T_REWARD
from ._scratch import T_SHARED, T_STATE, T_STEP
from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_MEMORY, ERR_ORDER
from ._spec import FLAG_PAPER, FLAG_RANDOM
from ._spec import H_DIMS, H_FLAGS, H_POOL_AT, H_UNITS, H_WORDS
from ._spec import S_ACTION, S_JOB_CELL, S_LAST, S_STATE, S_WORDS

# isort: on
from .adapt import episode as adapt_episode
from .adapt import step as adapt_step
from .call import decode as call_decode
from .call import restart as call_restart
from .call import scratch as call_scratch
from .call import step as call_step
from .code import pack as code_pack
from .code import unpack as code_unpack
from .config import Config, required_words, thresholds, usable, write_header
from .learn import follow as learn_follow
from .learn import jobs as learn_jobs
from .learn import sample as learn_sample
from .number import random as number_random
from .reclaim import some as reclaim_some
from .refresh import any as refresh_any
from .refresh import next as refresh_next
from .tree import scan as tree_scan
from .value import find as value_find
from .value import set as value_set

__all__ = ["Config", "Controller", "attach", "init", "required_words", "thresholds"]


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
    controller = Controller(block, call_scratch(block))
    call_restart(block, controller.t)
    return controller


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
    return Controller(block, call_scratch(block))


def _call_error(w, h):
    if not usable(w):
        return ERR_BLOCK
    return 0 if 0 <= h < w[H_DIMS] >> 8 else ERR_ARGUMENT


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


def _choose(w, t, h, state):
    """Code of the best action for the state; both are noted for `observe`."""
    h = call_step(t, h)
    code = code_pack(state, t[T_D_S])
    w[h + S_STATE] = code
    code = w[value_find(w, h, code, 16) + 2]
    if w[H_FLAGS] & FLAG_RANDOM:
        code = _random_action(w, code, t[T_D_A])
    w[h + S_ACTION] = code
    return code


def _learn_paper(w, t):
    """The paper refreshes every state cell under the ball, at once."""
    learn_sample(w, t)
    i = t[T_STEP] + S_JOB_CELL
    cells = w[H_UNITS] - w[H_POOL_AT]
    while cells and w[i]:
        learn_jobs(w, t)
        cells -= 1


def _finer(w, t):
    """The action that the state could try: that of the next state or, where steps have trees of their own,
    that of this step the last time. Leaves the slot of V of the next state in `t`."""
    t[T_NEXT_SLOT] = 0
    if t[T_H] + 1 < t[T_HORIZON]:
        t[T_NEXT_SLOT] = value_find(w, t[T_STEP] + S_WORDS, t[T_NEXT], 16)
    if not t[T_SHARED]:
        return w[t[T_STEP] + S_LAST]
    return w[t[T_NEXT_SLOT] + 2] if t[T_NEXT_SLOT] else 0


def _learn_tracking(w, t):
    """Learns from the sample, and lets the state try a finer action that is played elsewhere.

    Returns 1 when it left no turn to other work.
    """
    busy = refresh_next(w, t)
    finer = _finer(w, t)
    if learn_sample(w, t):
        tree_scan(w, t, t[T_STATE])
        value_set(w, t, t[T_STATE])
    if not w[H_FLAGS] & FLAG_RANDOM:
        learn_follow(w, t, finer)
    w[t[T_STEP] + S_LAST] = t[T_ACTION]
    if busy:
        return 1
    busy = w[t[T_STEP] + S_JOB_CELL]
    if busy:
        learn_jobs(w, t)
    if t[T_CHUNKS] > 1:
        refresh_any(w, t)
        return 0
    return busy


def _learn(w, t):
    if w[H_FLAGS] & FLAG_PAPER:
        _learn_paper(w, t)
        reclaim_some(w, t)
    elif not _learn_tracking(w, t):
        reclaim_some(w, t)


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
        if len(action) < t[T_D_A] or not _is_point(state, t[T_D_S]):
            return ERR_ARGUMENT
        h = _choose(self.w, t, h, state)
        code_unpack(h, t[T_D_A], action)
        return 0

    def observe(self, h, reward, next_state):
        """Learn what followed the last act of step h. Returns 0, ERR_ARGUMENT, ERR_BLOCK or ERR_ORDER."""
        w = self.w
        t = self.t
        if _call_error(w, h):
            return _call_error(w, h)
        if not 0 <= reward <= 0xFFFF or not _is_point(next_state, t[T_D_S]):
            return ERR_ARGUMENT
        call_decode(w, t, h)
        h = t[T_STEP]
        if w[h + S_ACTION] == 0:
            return ERR_ORDER
        t[T_STATE] = w[h + S_STATE]
        t[T_ACTION] = w[h + S_ACTION]
        w[h + S_ACTION] = 0
        t[T_REWARD] = reward
        t[T_NEXT] = code_pack(next_state, t[T_D_S])
        adapt_step(w, t, next_state)
        _learn(w, t)
        return 0

    def end_episode(self):
        """Close the episode. Returns 0 or ERR_BLOCK."""
        if _call_error(self.w, 0):
            return _call_error(self.w, 0)
        adapt_episode(self.w, self.t)
        return 0
