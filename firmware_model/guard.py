"""The check in slices, and how damage is handled; C's adamb_guard does the same.

    guard = open(config, block, store)             # restores or initialises; an int means an ERR_ code
    code = guard.handle(guard.controller.act(h, state, action))
    guard.tick()                                   # one slice, every control period
    guard.save()                                   # once in a while

After RESTORED or REINITIALISED `guard.controller` is another one. adamb_guard.h describes each function.
"""

# isort: off
from ._spec import SHARE_OFF, TAG
from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_EMPTY
from ._spec import H_DIMS, H_FREE_HEAD, H_FREE_N, H_FRESH, H_MAGIC, H_POOL_AT, H_SCALE, H_SHARE, H_WORDS
from ._spec import S_ACTION, S_ROOT, S_V_SLOT, S_WORDS
from ._spec import R_COUNTS

# isort: on
from .check import state_dims, words_cell, words_counts, words_header, words_record
from .config import dims
from .core import attach, init
from .number import code_division
from .value import mean as value_mean

RESTORED = 1
REINITIALISED = 2
_PATH_BITS = 28  # as many as a path can have: two bits a block, a path of at most 14
_FREE_UNITS = 4  # of the free list a slice looks at those that come next


class Place:
    """Position of the next slice."""

    def __init__(self):
        self.path = 0  # the branches to take, the first one in bit 27
        self.h = 0
        self.part = 0  # 0: the values of the step, 1: its partition


def _in_use(w, unit):
    return w[H_POOL_AT] <= unit < w[H_FRESH]


def _first(w, h):
    return H_WORDS + 1 + (w[H_SCALE] >> 8) + h * S_WORDS


def _scrub_value(w, h, path):
    """Bits of the path that lead to a cell of V, -1 for damage on the way."""
    slot = _first(w, h) + S_V_SLOT
    deepest = state_dims(w, h) * (w[H_SCALE] >> 8)
    depth = 0
    while not w[slot] & TAG:
        if depth == deepest or not _in_use(w, w[slot]):
            return -1
        node = w[slot] << 2
        if w[slot + 2] != value_mean(w, node):
            return -1
        slot = node + (path >> _PATH_BITS - 1 - depth & 1)
        depth += 1
    return depth if words_cell(w, slot, h) else -1


def _scrub_record(w, rec, bits):
    if not words_record(w, rec << 2, bits):
        return False
    unit = w[(rec << 2) + R_COUNTS]
    left = w[H_FRESH]
    while unit and not unit & TAG:
        if left == 0 or not _in_use(w, unit) or not words_counts(w, unit << 2, bits):
            return False
        unit = w[unit << 2]
        left -= 1
    return True


def _scrub_ball(w, h, path):
    """Bits of the path that lead to a ball, -1 for damage on the way."""
    d_s = state_dims(w, h)
    division = code_division(d_s, w[H_DIMS] >> 4 & 15)
    slot = _first(w, h if w[H_SHARE] == SHARE_OFF or d_s == 0 else 0) + S_ROOT
    used = level = 0
    while not w[slot] & TAG:
        block = w[slot]
        if not _in_use(w, block) or not _scrub_record(w, block, d_s * level):
            return -1
        block = w[block << 2]
        if block & TAG:
            break
        bits = division
        while bits:
            if level == w[H_SCALE] >> 8 or not _in_use(w, block):
                return -1
            n = (bits & 3) + (bits >> 2 & 3)
            used += n
            slot = (block << 2) + (path >> _PATH_BITS - used & (1 << n) - 1)
            block = w[slot]
            if block & TAG:
                break
            bits >>= 4
        level += 1
    return used


def _scrub_free(w):
    unit = w[H_FREE_HEAD]
    if (unit == 0) != (w[H_FREE_N] == 0):
        return False
    for _ in range(_FREE_UNITS):
        if unit == 0:
            break
        i = unit << 2
        if not _in_use(w, unit) or w[i + 1] or w[i + 2] or w[i + 3]:
            return False
        unit = w[i]
    return True


def _advance(w, place):
    """To the next tree; 1 when a pass is complete."""
    place.path = 0
    own = place.h == 0 or w[H_SHARE] == SHARE_OFF or place.h == w[H_DIMS] >> 8
    place.part = 1 if place.part == 0 and own else 0
    if place.part == 0:
        place.h += 1
    if place.h <= w[H_DIMS] >> 8:
        return 0
    place.h = 0
    return 1


def scrub(w, place):
    """Look at one path: 0, 1 when it was the last of a pass, ERR_BLOCK for damage, or ERR_ARGUMENT."""
    if len(w) < H_WORDS:
        return ERR_ARGUMENT
    if not words_header(w) or not _scrub_free(w):
        return ERR_BLOCK
    if place.h > w[H_DIMS] >> 8 or place.path >> _PATH_BITS:
        place.path = place.h = place.part = 0
    look = _scrub_ball if place.part else _scrub_value
    used = look(w, place.h, place.path)
    if used < 0:
        return ERR_BLOCK
    place.path = (place.path | (1 << _PATH_BITS) - 1 >> used) + 1
    return _advance(w, place) if place.path >> _PATH_BITS else 0


def open(config, block, store=None):
    """A guard whose controller was restored from the store or initialised; or an ERR_ code of `init`."""
    guard = Guard(config, block, store)
    code = guard._begin()
    return code if code < 0 else guard


class Guard:
    """A controller, the scrub over its block, and the handling of damage. `open` makes it."""

    def __init__(self, config, block, store):
        self.config = config
        self.block = block
        self.store = store
        self.controller = None
        self.place = Place()
        self.damages = self.restored = self.reinitialised = self.passes = 0

    def _begin(self):
        """Restore the newest save that fits the configuration, else initialise."""
        block = self.block
        self.place = Place()
        if self.store is not None and self.store.restore(self.config, block) == 0:
            made = attach(block)
            # The store may be one of the program's own, which may err.
            if not isinstance(made, int) and block[H_DIMS] == dims(self.config):
                for h in range(self.config.horizon):  # those that were pending when it was saved
                    block[_first(block, h) + S_ACTION] = 0
                self.controller = made
                return RESTORED
        made = init(self.config, block)
        if isinstance(made, int):
            if len(block):
                block[H_MAGIC] = 0  # whatever it held is not for this program: every call refuses it
            return made
        self.controller = made
        return REINITIALISED

    def handle(self, code):
        """Handle the result of any call: RESTORED or REINITIALISED on damage, else the code itself."""
        if code != ERR_BLOCK:
            return code
        self.damages = min(self.damages + 1, 0xFFFF)
        code = self._begin()
        if code == RESTORED:
            self.restored = min(self.restored + 1, 0xFFFF)
        elif code == REINITIALISED:
            self.reinitialised = min(self.reinitialised + 1, 0xFFFF)
        return code

    def tick(self):
        """One slice of the scrub: 0, RESTORED or REINITIALISED."""
        code = scrub(self.block, self.place)
        if code == 1:
            self.passes = min(self.passes + 1, 0xFFFF)
            return 0
        return self.handle(code)

    def save(self):
        """Save to the store; a block that fails the check is not saved but replaced."""
        return ERR_EMPTY if self.store is None else self.handle(self.store.save(self.block))
