"""The full self-check and the counters. Nothing in the block is trusted before it has been compared.

C counts and mixes the units it meets, because it has no memory to mark them; here each has a bit. The check
allocates, so it is for start-up and idle time, not for the control loop.
"""

# isort: off
from ._spec import SHARE_OFF, SHARE_TABLE_UNITS, SHARE_TESTING, TAG
from ._spec import ERR_ARGUMENT, ERR_BLOCK
from ._spec import H_BITS, H_DIMS, H_EPISODES, H_EPISODES_HIGH, H_FREE_HEAD, H_FREE_N, H_FRESH, H_NO_ROOM
from ._spec import H_POOL_AT, H_RECLAIMS, H_REFUSED, H_RESTARTS, H_SATURATIONS, H_SCALE, H_SHARE, H_SPLITS
from ._spec import H_STEPS_AT, H_TABLE, H_UNITS, H_USED_PEAK, H_WORDS
from ._spec import S_ROOT, S_V_SLOT, S_WORDS
from ._spec import R_COUNTS

# isort: on
from .adapt import factor as adapt_factor
from .call import decode as call_decode
from .call import scratch as call_scratch
from .config import usable
from .value import mean as value_mean
from .words import cell as words_cell
from .words import counts as words_counts
from .words import header as words_header
from .words import record as words_record


class _Bad(Exception):
    """Something does not agree."""


class _Walk:
    """Marks every unit met, once."""

    def __init__(self, w):
        self.w = w
        self.seen = bytearray(w[H_FRESH])
        self.met = 0
        self.splits = 0

    def need(self, condition):
        if not condition:
            raise _Bad

    def meet(self, unit):
        self.need(self.w[H_POOL_AT] <= unit < self.w[H_FRESH] and not self.seen[unit])
        self.seen[unit] = 1
        self.met += 1
        return unit << 2

    def counts(self, rec, level):
        w = self.w
        self.need(words_record(w, rec, level))
        unit = w[rec + R_COUNTS]
        while unit and not unit & TAG:
            i = self.meet(unit)
            self.need(words_counts(w, i, level))
            unit = w[i]

    def tree(self, root):
        """Every slot below a root; pending slots with their depth wait in a list."""
        w = self.w
        bits = w[H_BITS]
        chunks = 1 if bits < 16 else 2 if bits < 256 else 3
        pending = [(root, 0)]
        while pending:
            slot, depth = pending.pop()
            word = w[slot]
            if word & TAG:
                continue
            below = self.meet(word)
            if depth % chunks == 0:
                self.counts(below, depth // chunks)
                word = w[below]
                if word & TAG:
                    continue
                self.need(depth < (w[H_SCALE] >> 8) * chunks)
                self.splits += 1
                below = self.meet(word)
            nibble = bits >> 4 * (depth % chunks)
            for i in range(1 << ((nibble & 3) + (nibble >> 2 & 3))):
                pending.append((below + i, depth + 1))

    def value(self, slot, h):
        """Every cell of a value tree; a mean must be that of its two sides."""
        w = self.w
        most = (w[H_DIMS] & 15) * (w[H_SCALE] >> 8)
        pending = [(slot, 0)]
        while pending:
            slot, depth = pending.pop()
            if w[slot] & TAG:
                self.need(words_cell(w, slot, h))
                continue
            self.need(depth < most)
            node = self.meet(w[slot])
            self.need(w[slot + 2] == value_mean(w, node))
            pending.append((node, depth + 1))
            pending.append((node + 1, depth + 1))


def check(w):
    """0 when everything in the block agrees; ERR_BLOCK when it does not, ERR_ARGUMENT when it is no block."""
    if len(w) < H_WORDS:
        return ERR_ARGUMENT
    if not words_header(w):
        return ERR_BLOCK
    walk = _Walk(w)
    free_n = 0
    try:
        for h in range(w[H_DIMS] >> 8):
            step = w[H_STEPS_AT] + h * S_WORDS
            walk.value(step + S_V_SLOT, h)
            if h == 0 or w[H_SHARE] == SHARE_OFF:
                walk.tree(step + S_ROOT)
        if w[H_SHARE] == SHARE_TESTING:
            for i in range(SHARE_TABLE_UNITS):
                walk.meet(w[H_TABLE] + i)
        unit = w[H_FREE_HEAD]
        while unit:
            i = walk.meet(unit)
            walk.need(w[i + 1] == w[i + 2] == w[i + 3] == 0)
            unit = w[i]
            free_n += 1
    except _Bad:
        return ERR_BLOCK
    agrees = walk.met == w[H_FRESH] - w[H_POOL_AT] and free_n == w[H_FREE_N] and walk.splits == w[H_SPLITS]
    return 0 if agrees else ERR_BLOCK


def stats(w):
    """The counters by name, as C's adamb_stats gives them; an empty dict when it is no block.

    >>> from array import array
    >>> from adamb.firmware_model import Config, init
    >>> stats(init(Config(), array("H", bytes(4096))).w)["units"]
    512
    """
    if len(w) < H_WORDS or not usable(w):
        return {}
    t = call_scratch(w)
    call_decode(w, t, 0)
    return {
        "episodes": w[H_EPISODES_HIGH] << 16 | w[H_EPISODES],
        "units": w[H_UNITS],
        "units_used": w[H_FRESH] - w[H_POOL_AT] - w[H_FREE_N] & 0xFFFF,
        "units_peak": w[H_USED_PEAK],
        "units_header": w[H_POOL_AT],
        "splits": w[H_SPLITS],
        "trees": w[H_DIMS] >> 8 if w[H_SHARE] == SHARE_OFF else 1,
        "finest": w[H_SCALE] >> 8,
        "share": w[H_SHARE],
        "bonus": adapt_factor(w, t) << 12 - (w[H_SCALE] & 0xFF) & 0xFFFF,
        "refused": w[H_REFUSED],
        "no_room": w[H_NO_ROOM],
        "reclaims": w[H_RECLAIMS],
        "saturations": w[H_SATURATIONS],
        "restarts": w[H_RESTARTS],
    }
