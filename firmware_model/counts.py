"""Next-state counts of a record over the cells of its level.

An entry is one word: tag, cell, count; the cell takes d_s*level bits, the count the rest of 15, so the counts
of a record sum to less than 2^15 whatever happens. One entry lives in the record itself; more go to a unit of
four. Tracking stops there: a fifth cell counts for the nearest of the four, which bounds memory and time and
costs almost nothing. The paper's mode keeps every cell in a chain of units {next, entry, entry, entry}.
Level 0 has a single cell and stores nothing.
"""

# isort: off
from ._scratch import T_BITS, T_CELL, T_D_S, T_EMPTY, T_ENTRY, T_FOLD_LEFT, T_H, T_HORIZON, T_LEFT, T_NEAR
from ._scratch import T_NEAREST, T_STEP, T_SUM, T_TO, T_TO_LEVEL, T_TOTAL
from ._spec import TAG, VALUE_MASK, VALUE_MAX
from ._spec import FLAG_PAPER
from ._spec import H_FLAGS, H_POOL_AT, H_SATURATIONS, H_UNITS
from ._spec import S_WORDS
from ._spec import R_COUNTS

# isort: on
from .number import mean as number_mean
from .number import shift as number_shift
from .pool import alloc as pool_alloc
from .pool import count_up
from .pool import free as pool_free
from .value import at as value_at


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
    count_up(w, H_SATURATIONS)
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


def _find(w, t, rec):
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


def add(w, t, rec, level, n):
    """Count n more samples for the cell."""
    if level == 0:
        return
    t[T_BITS] = 15 - t[T_D_S] * level
    most = (1 << t[T_BITS]) - 1
    i = _find(w, t, rec)
    level = w[i]
    while (level & most) + n > most:
        _halve(w, t, rec)
        level = level & ~most | (level & most) >> 1  # the count may reach zero, but is about to grow
        n = (n + 1) >> 1
    w[i] = level + n


def _fold_entry(w, t, entry):
    bits = 15 - t[T_D_S] * (t[T_TO_LEVEL] + 1)
    t[T_CELL] = (entry & VALUE_MASK) >> bits >> t[T_D_S]
    entry &= (1 << bits) - 1
    add(w, t, t[T_TO], t[T_TO_LEVEL], entry)


def fold(w, t, rec):
    """Add the counts of a record to one a level above, each in the cell that contains it."""
    rec = w[(rec << 2) + R_COUNTS]
    if rec & TAG:
        _fold_entry(w, t, rec)
        return
    t[T_BITS] = 15 - t[T_D_S] * (t[T_TO_LEVEL] + 1)
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
    return value_at(w, t[T_STEP] + S_WORDS, (entry & VALUE_MASK) >> bits << bits + 1, 15 - bits)


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


def expect(w, t, rec, level):
    """Expected value of the next state under the record's own counts; nothing follows the last step."""
    if t[T_H] + 1 >= t[T_HORIZON]:
        return 0
    t[T_BITS] = 15 - t[T_D_S] * level
    rec = w[(rec << 2) + R_COUNTS]
    if level == 0 or rec >= w[H_UNITS]:  # values are above all links
        return _entry_value(w, t, rec)
    if rec == 0:
        return 0
    t[T_SUM] = t[T_TOTAL] = 0
    if w[H_FLAGS] & FLAG_PAPER:
        return _expect_chain(w, t, rec)
    return _expect_four(w, t, rec << 2)


def free(w, t, rec):
    """Return the units of a record's counts to the pool."""
    t[T_BITS] = 0
    unit = _begin(w, t, w[(rec << 2) + R_COUNTS])
    while unit:
        rec = _next(w, t, unit)
        pool_free(w, unit)
        unit = rec
