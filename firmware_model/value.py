"""V of a step, and what is expected of it after the next states of a record.

V is a binary tree over the bits of the state code. A node is {slot 0, slot 1, aux 0, aux 1}. A slot is either
a value (then aux is the best action code of that cell) or a link (then aux is the mean of everything below),
so `act` and an expectation are one descent.

A record counts next states over the cells of its level. An entry is one word: tag, cell, count; the cell takes
d_s*level bits, the count the rest of 15, so the counts of a record sum to less than 2^15 whatever happens. One
entry lives in the record itself; more go to a unit of four. Tracking stops there: a fifth cell counts for the
nearest of the four, which bounds memory and time and costs almost nothing. The paper's mode keeps every cell
in a chain of units {next, entry, entry, entry}. Level 0 has a single cell and stores nothing.
"""

# isort: off
from ._scratch import B_ACTION, B_LEVEL, B_Q, C_D_A, C_D_S, C_H, C_HORIZON, C_STEP, T_BITS, T_CELL
from ._scratch import T_EMPTY, T_ENTRY, T_FOLD_LEFT, T_LEFT, T_NEAR, T_NEAREST, T_PATH, T_SUM, T_TO, T_TOTAL
from ._scratch import T_TO_LEVEL, V_ACTION, V_LEVEL
from ._spec import LEVEL_MAX, SCAN_TOLERANCE, TAG, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_PAPER
from ._spec import H_FLAGS, H_POOL_AT, H_SATURATIONS, H_UNITS
from ._spec import S_V_SLOT, S_WORDS
from ._spec import R_COUNTS

# isort: on
from .config import pool_alloc, pool_free, saturating_inc
from .number import code_inside
from .number import mean as number_mean
from .number import shift as number_shift


def find(w, step, code, bits):
    """Word index of the slot that the first `bits` bits of the code lead to; a value ends the walk early."""
    step += S_V_SLOT
    units = w[H_UNITS]  # values are above all links
    end = 16 - bits
    bits = 16
    while bits != end and w[step] < units:
        bits -= 1
        step = (w[step] << 2) + (code >> bits & 1)
    return step


def _slot_value(w, i):
    return (w[i] if w[i] & TAG else w[i + 2]) & VALUE_MASK


def at(w, step, code, bits):
    """Mean value of the cell of the first `bits` bits of the code."""
    return _slot_value(w, find(w, step, code, bits))


def mean(w, node):
    """Mean of everything below a node."""
    return (_slot_value(w, node) + _slot_value(w, node + 1) + 1) >> 1


def slot(t, depth, code):
    """Word index of the slot at a depth of the path."""
    if depth == 0:
        return t[C_STEP] + S_V_SLOT
    return (t[T_PATH + depth - 1] << 2) + (code >> 16 - depth & 1)


def refresh_means(w, t, depth, code):
    """Refresh the means above a cell that now has the value B_Q, nearest first."""
    value = t[B_Q]
    while depth:
        depth -= 1
        i = (t[T_PATH + depth] << 2) + (code >> 15 - depth & 1 ^ 1)  # the other side
        value = (value + _slot_value(w, i) + 1) >> 1
        i = slot(t, depth, code) + 2
        w[i] = value


def _refine(w, i):
    """Divide the cell of a value slot; 0 when there is no room."""
    unit = pool_alloc(w)
    if unit:
        node = unit << 2
        w[node] = w[node + 1] = w[i]
        w[node + 2] = w[node + 3] = w[i + 2]
        w[i] = unit
    return unit


def set(w, t, code):
    """Store the result of the last scan in the cell of `code`; returns the depth of the cell in bits.

    The tree is refined to the scan's level where there is room.
    """
    i = t[C_STEP] + S_V_SLOT
    depth = 0
    while True:
        if (depth == LEVEL_MAX or not w[H_POOL_AT] <= w[i] < w[H_UNITS]) and (
            depth >= t[C_D_S] * t[B_LEVEL] or not _refine(w, i)
        ):
            break
        t[T_PATH + depth] = w[i]
        i = (w[i] << 2) + (code >> (15 - depth) & 1)
        depth += 1
    if w[H_FLAGS] & FLAG_PAPER:
        t[B_Q] = min(t[B_Q], w[i] & VALUE_MASK)
    w[i] = TAG | t[B_Q]
    if w[H_FLAGS] & FLAG_PAPER or not code_inside(w[i + 2], t[B_ACTION], t[C_D_A]):
        w[i + 2] = t[B_ACTION]  # a finer action within the best ball stays
    refresh_means(w, t, depth, code)
    return depth


def keep(w, t, code, q):
    """Store the action played with the Q of its ball."""
    t[B_Q] = q
    t[B_ACTION] = t[V_ACTION]
    t[B_LEVEL] = t[V_LEVEL]
    set(w, t, code)


def holds(w, t, code, q):
    """Is the cell of `code` up to date although the Q of its best action is now `q`?

    Small moves are not worth a scan; the value is left alone, so that small moves add up. A best action that
    has become better still is the best: then the value is set without a scan.
    """
    i = t[C_STEP] + S_V_SLOT
    depth = 0
    while depth < LEVEL_MAX and w[i] < w[H_UNITS]:
        i = (w[i] << 2) + (code >> (15 - depth) & 1)
        depth += 1
    if w[i + 2] != t[V_ACTION] or depth < t[C_D_S] * t[V_LEVEL]:
        return False
    depth = q - (w[i] & VALUE_MASK)  # how far it moved
    if depth >= SCAN_TOLERANCE:
        keep(w, t, code, q)
    return depth > -SCAN_TOLERANCE


def _begin(w, t, unit):
    """The unit, if the word is a link, else 0. None follows it, in paper mode one per cell at most."""
    t[T_LEFT] = (w[H_FLAGS] & FLAG_PAPER) << 15 >> t[T_BITS]
    return unit if w[H_POOL_AT] <= unit < w[H_UNITS] else 0


def _next(w, t, unit):
    """The unit after this one in a chain; in a unit of four entries the first word is an entry."""
    t[T_LEFT] -= 1
    unit = w[unit << 2]
    return unit if t[T_LEFT] >= 0 and w[H_POOL_AT] <= unit < w[H_UNITS] else 0


def _halve(w, t, rec):
    """Halve every entry of the record (an entry that reaches zero is dropped)."""
    low = (1 << t[T_BITS]) - 1
    i = (rec << 2) + R_COUNTS
    saturating_inc(w, H_SATURATIONS)
    rec = _begin(w, t, w[i])
    if rec == 0:
        w[i] = w[i] & ~low | (w[i] & low) >> 1
    while rec:
        for i in range(rec << 2, (rec << 2) + 4):
            if w[i] & TAG:
                half = (w[i] & low) >> 1
                w[i] = w[i] & ~low | half if half else 0
        rec = _next(w, t, rec)


def _place(w, t, head):
    """Word index for a cell without entry: a free word, else one in a new unit, else that of the nearest."""
    if t[T_EMPTY]:
        return t[T_EMPTY]
    if _begin(w, t, w[head]) and not w[H_FLAGS] & FLAG_PAPER:
        return t[T_NEAR]
    unit = pool_alloc(w)
    if unit == 0:
        return t[T_NEAR]
    i = unit << 2
    if _begin(w, t, w[head]):
        w[i] = w[head]
    else:
        w[i + 1] = w[head]
    w[head] = unit
    return i + 2


def _note(w, t, i):
    """Note a free word and the entry of the nearest cell."""
    if w[i] == 0:
        t[T_EMPTY] = i
        return
    distance = abs(((w[i] & VALUE_MASK) >> t[T_BITS]) - t[T_CELL])
    if distance < t[T_NEAREST]:
        t[T_NEAREST] = distance
        t[T_NEAR] = i


def _search(w, t, unit):
    """Word index of the cell's entry in this unit, else 0; a link to the next unit is none."""
    i = unit << 2
    while True:
        if (w[i] ^ t[T_ENTRY]) >> t[T_BITS] == 0:
            return i
        if i & 3 or not w[H_FLAGS] & FLAG_PAPER:
            _note(w, t, i)
        i += 1
        if i & 3 == 0:
            return 0


def _find_entry(w, t, rec):
    """Word index of the entry for the cell, or for the nearest cell when it cannot have one of its own."""
    head = (rec << 2) + R_COUNTS
    t[T_ENTRY] = TAG | t[T_CELL] << t[T_BITS]
    if w[head] == 0 or (w[head] ^ t[T_ENTRY]) >> t[T_BITS] == 0:
        w[head] |= t[T_ENTRY]
        return head
    t[T_EMPTY] = 0
    t[T_NEAR] = head
    t[T_NEAREST] = 0xFFFF
    rec = _begin(w, t, w[head])
    while rec:
        i = _search(w, t, rec)
        if i:
            return i
        rec = _next(w, t, rec)
    i = _place(w, t, head)
    if w[i] == 0:
        w[i] = t[T_ENTRY]
    return i


def counts_add(w, t, rec, level, n):
    """Count n more samples for the cell."""
    if level == 0:
        return
    t[T_BITS] = 15 - t[C_D_S] * level
    most = (1 << t[T_BITS]) - 1
    i = _find_entry(w, t, rec)
    level = w[i]
    while (level & most) + n > most:
        _halve(w, t, rec)
        level = level & ~most | (level & most) >> 1  # the count may reach zero, but is about to grow
        n = (n + 1) >> 1
    w[i] = level + n


def _fold_entry(w, t, entry):
    bits = 15 - t[C_D_S] * (t[T_TO_LEVEL] + 1)
    t[T_CELL] = (entry & VALUE_MASK) >> bits >> t[C_D_S]
    entry &= (1 << bits) - 1
    counts_add(w, t, t[T_TO], t[T_TO_LEVEL], entry)


def counts_fold(w, t, rec):
    """Add the counts of a record to one a level above, each in the cell that contains it."""
    rec = w[(rec << 2) + R_COUNTS]
    if rec & TAG:
        _fold_entry(w, t, rec)
        return
    t[T_BITS] = 15 - t[C_D_S] * (t[T_TO_LEVEL] + 1)
    rec = _begin(w, t, rec)
    while rec:
        t[T_FOLD_LEFT] = t[T_LEFT]
        for i in range(rec << 2, (rec << 2) + 4):
            if w[i] & TAG:
                _fold_entry(w, t, w[i])
        t[T_LEFT] = t[T_FOLD_LEFT]  # adding walks a chain of its own
        rec = _next(w, t, rec)


def _entry_value(w, t, entry):
    bits = t[T_BITS]
    return at(w, t[C_STEP] + S_WORDS, (entry & VALUE_MASK) >> bits << bits + 1, 15 - bits)


def _add_term(w, t, entry, n):
    t[T_TOTAL] += n
    n *= _entry_value(w, t, entry)
    t[T_SUM] += n


def _expect_chain(w, t, unit):
    """Mean over a chain of any length."""
    low = (1 << t[T_BITS]) - 1
    unit = _begin(w, t, unit)
    while unit:
        i = unit << 2
        while True:
            if w[i] & TAG and t[T_TOTAL] <= VALUE_MAX:  # as it always is, unless there is damage
                _add_term(w, t, w[i], w[i] & low)
            i += 1
            if i & 3 == 0:
                break
        unit = _next(w, t, unit)
    return t[T_SUM] // t[T_TOTAL] if t[T_TOTAL] else 0


def _expect_four(w, t, i):
    """Mean over the entries of one unit."""
    low = (1 << t[T_BITS]) - 1
    n = (w[i] & low) + (w[i + 1] & low) + (w[i + 2] & low) + (w[i + 3] & low)
    if n == 0:
        return 0
    shift = number_shift(n)
    while True:
        n = w[i] & low
        n = n << shift if shift >= 0 else n >> -shift
        if n:
            _add_term(w, t, w[i], n)
        i += 1
        if i & 3 == 0:
            return number_mean(t[T_SUM], t[T_TOTAL])


def counts_expect(w, t, rec, level):
    """Expected value of the next state under the record's own counts; nothing follows the last step."""
    if t[C_H] + 1 >= t[C_HORIZON]:
        return 0
    t[T_BITS] = 15 - t[C_D_S] * level
    rec = w[(rec << 2) + R_COUNTS]
    if level == 0 or rec >= w[H_UNITS]:  # values are above all links
        return _entry_value(w, t, rec)
    if rec == 0:
        return 0
    t[T_SUM] = t[T_TOTAL] = 0
    if w[H_FLAGS] & FLAG_PAPER:
        return _expect_chain(w, t, rec)
    return _expect_four(w, t, rec << 2)


def counts_free(w, t, rec):
    """Return the units of a record's counts to the pool."""
    t[T_BITS] = 0
    unit = _begin(w, t, w[(rec << 2) + R_COUNTS])
    while unit:
        rec = _next(w, t, unit)
        pool_free(w, unit)
        unit = rec
