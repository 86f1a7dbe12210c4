/* V of a step, and what is expected of it after a record's next states. */
#include "adamb_internal.h"

/* V of one step: a binary tree over the bits of the state code.
 *
 * A node is {slot 0, slot 1, aux 0, aux 1}. A slot is either a value (then aux is the best action code of that
 * cell) or a link (then aux is the mean of everything below), so `act` and an expectation are one descent. */

uint32_t adamb_value_find(const uint16_t *w, uint32_t step, uint32_t code)
{
    return adamb_value_cell(w, step, code);
}

static uint32_t slot_value(const uint16_t *w, uint32_t i)
{
    return (is_value(w[i]) ? w[i] : w[i + 2]) & ADAMB_VALUE_MASK;
}

/* V where the first `bits` bits of the code lead to, or the mean of what is below; a value ends the walk earlier. */
static uint32_t value_at(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits)
{
    uint32_t i = step + ADAMB_S_V_SLOT, rest = code << 16; /* next bit on top: two instructions less a level */
    uint32_t units = w[ADAMB_H_UNITS];
    for (; bits != 0 && w[i] < units; bits--) {
        ADAMB_WORK();
        i = unit_base(w[i]) + (rest >> 31);
        rest <<= 1;
    }
    return slot_value(w, i);
}

/* Mean of everything below a node. */
uint32_t adamb_value_mean(const uint16_t *w, uint32_t node)
{
    return (slot_value(w, node) + slot_value(w, node + 1) + 1u) >> 1;
}

/* Refresh the means above a cell that now has this value, nearest first; `nodes` are the units on the way to it. */
void adamb_value_refresh_means(const adamb_call *c, const uint16_t *nodes, uint32_t depth, uint32_t code, uint32_t value)
{
    uint16_t *w = c->w;
    for (code >>= 16 - depth; depth != 0; code >>= 1) {
        value = (value + slot_value(w, unit_base(nodes[--depth]) + (~code & 1u)) + 1u) >> 1;
        uint32_t slot = depth == 0 ? c->step + ADAMB_S_V_SLOT : unit_base(nodes[depth - 1]) + (code >> 1 & 1u);
        w[slot + 2] = (uint16_t)value;
    }
}

/* Store the result of the last scan in the cell of `code`, refining the tree to the scan's level where there is
 * room. Returns the depth of the cell in bits. */
uint8_t adamb_value_set(const adamb_call *c, uint16_t code, const adamb_choice *best)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint8_t depth = 0, bits = (uint8_t)(c->d_s * best->level);
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    uint16_t q = best->q;
    for (;;) {
        if (depth == ADAMB_LEVEL_MAX || !is_link(c, w[i])) {
            uint16_t unit = depth < bits ? adamb_pool_alloc(w) : 0;
            if (unit == 0) {
                break;
            }
            uint32_t p = unit_base(unit);
            w[p] = w[p + 1] = w[i];
            w[p + 2] = w[p + 3] = w[i + 2];
            ADAMB_COMPILER_BARRIER(); /* the node is complete before a walk can meet it */
            w[i] = unit;
        }
        ADAMB_WORK();
        nodes[depth] = w[i];
        i = unit_base(w[i]) + ((uint32_t)(code >> (15 - depth)) & 1u);
        depth++;
    }
    if (c->paper) {
        q = min16(q, w[i] & ADAMB_VALUE_MASK);
    }
    w[i] = (uint16_t)(ADAMB_TAG | q);
    int finer = adamb_code_inside(w[i + 2], best->action, c->d_a);
#ifdef ADAMB_WITHOUT_KEEP
    finer = 0;
#endif
    if (c->paper || !finer) {
        w[i + 2] = best->action; /* a finer action within the best ball stays */
    }
    adamb_value_refresh_means(c, nodes, depth, code, q);
    return depth;
}

/* Is the cell of `code` up to date although the ball of its best action has this Q now? Small moves are not worth a scan;
 * the value is left alone, so that small moves add up. A best action that has become better still is the best: then
 * the value is set without a scan. */
int adamb_value_holds(const adamb_call *c, uint16_t code, const adamb_choice *ball)
{
    const uint16_t *w = c->w;
    uint32_t i = c->step + ADAMB_S_V_SLOT, rest = (uint32_t)code << 16, units = w[ADAMB_H_UNITS];
    int32_t depth = 0;
    for (; depth < ADAMB_LEVEL_MAX && w[i] < units; depth++) {
        i = unit_base(w[i]) + (rest >> 31);
        rest <<= 1;
    }
    int32_t moved = (int32_t)ball->q - (int32_t)(w[i] & ADAMB_VALUE_MASK);
    if (w[i + 2] != ball->action || depth < c->d_s * ball->level || moved <= -ADAMB_SCAN_TOLERANCE) {
        return 0;
    }
    if (moved >= ADAMB_SCAN_TOLERANCE) {
        adamb_value_set(c, code, ball);
    }
    return 1;
}

/* Next-state counts of a record over the cells of its level.
 *
 * An entry is one word: tag, cell, count; the cell takes d_s*level bits, the count the rest of 15, so the counts
 * of a record sum to less than 2^15 whatever happens. One entry lives in the record itself; more go to a unit of
 * four. Tracking stops there: a fifth cell counts for the nearest of the four, which bounds memory and time and
 * costs almost nothing. The paper's mode keeps every cell in a chain of units {next, entry, entry, entry}.
 * Level 0 has a single cell and stores nothing. */

static uint32_t count_bits(const adamb_call *c, uint32_t level)
{
    return 15u - c->d_s * level;
}

/* How many units of a chain may follow the first, whatever links say: none, in paper mode as many as the level has cells. */
static int32_t chain_rest(const adamb_call *c, uint32_t bits)
{
    return (int32_t)((uint32_t)c->paper << 15 >> bits);
}

/* Halve every entry of the record (an entry that reaches zero is dropped). */
static void halve(const adamb_call *c, uint16_t rec, uint32_t bits)
{
    uint16_t *w = c->w;
    uint16_t low = (uint16_t)((1u << bits) - 1u);
    uint32_t head = unit_base(rec) + ADAMB_R_COUNTS;
    saturating_inc(w, ADAMB_H_SATURATIONS);
    if (!is_link(c, w[head])) {
        w[head] = (uint16_t)((w[head] & ~low) | ((w[head] & low) >> 1));
        return;
    }
    uint16_t unit = w[head];
    for (int32_t left = chain_rest(c, bits); left >= 0 && is_link(c, unit); left--, unit = w[unit_base(unit)]) {
        for (uint32_t i = unit_base(unit); i < unit_base(unit) + 4; i++) {
            uint16_t half = (uint16_t)((w[i] & low) >> 1);
            if (is_value(w[i])) {
                w[i] = (uint16_t)(half == 0 ? 0 : (w[i] & ~low) | half);
            }
        }
    }
}

/* Word index of the entry for `cell`; without one of a free word, else in a new unit, else that of the nearest cell. */
static uint32_t find_entry(const adamb_call *c, uint16_t rec, uint32_t bits, uint16_t cell)
{
    uint16_t *w = c->w;
    uint32_t head = unit_base(rec) + ADAMB_R_COUNTS, entry = ADAMB_TAG | (uint32_t)cell << bits;
    uint32_t near = head, nearest = 0xFFFF, empty = 0;
    if (w[head] == 0 || (w[head] ^ entry) >> bits == 0) {
        empty = head;
    }
    uint16_t unit = w[head];
    for (int32_t left = chain_rest(c, bits); left >= 0 && is_link(c, unit); left--, unit = w[unit_base(unit)]) {
        for (uint32_t i = unit_base(unit); i < unit_base(unit) + 4; i++) {
            ADAMB_WORK();
            if ((w[i] ^ entry) >> bits == 0) {
                return i;
            }
            if (c->paper && i == unit_base(unit)) {
                continue; /* a link to the next unit is no entry */
            }
            uint32_t other = (uint32_t)(w[i] & ADAMB_VALUE_MASK) >> bits;
            uint32_t distance = other > cell ? other - cell : cell - other;
            if (w[i] == 0) {
                empty = i;
            } else if (distance < nearest) {
                nearest = distance;
                near = i;
            }
        }
    }
    if (empty == 0) {
        unit = is_link(c, w[head]) && !c->paper ? 0 : adamb_pool_alloc(w);
        if (unit == 0) {
            return near;
        }
        w[unit_base(unit) + !is_link(c, w[head])] = w[head]; /* the next unit, or the first entry */
        w[head] = unit;
        empty = unit_base(unit) + 2;
    }
    w[empty] |= (uint16_t)entry;
    return empty;
}

void adamb_counts_add(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t cell, uint16_t n)
{
    if (level == 0) {
        return;
    }
    uint32_t bits = count_bits(c, level), most = ((uint32_t)1 << bits) - 1u;
    uint32_t i = find_entry(c, rec, bits, cell);
    uint32_t entry = c->w[i] & ~most, count = c->w[i] & most;
    for (; count + n > most; count >>= 1) { /* it may reach zero, but is about to grow */
        halve(c, rec, bits);
        n = (uint16_t)((n + 1) >> 1);
    }
    c->w[i] = (uint16_t)(entry + count + n);
}

/* Add the counts of a record at level+1 to one at `level`, each in the cell that contains it. */
void adamb_counts_fold(const adamb_call *c, uint16_t from, uint16_t to, uint8_t level)
{
    const uint16_t *w = c->w;
    uint32_t bits = count_bits(c, level + 1u), low = ((uint32_t)1 << bits) - 1u;
    uint16_t head = w[unit_base(from) + ADAMB_R_COUNTS];
    if (is_value(head)) {
        adamb_counts_add(c, to, level, (uint16_t)((head & ADAMB_VALUE_MASK) >> bits >> c->d_s), (uint16_t)(head & low));
        return;
    }
    for (int32_t left = chain_rest(c, bits); left >= 0 && is_link(c, head); left--, head = w[unit_base(head)]) {
        for (uint32_t i = unit_base(head); i < unit_base(head) + 4; i++) {
            ADAMB_WORK();
            if (is_value(w[i])) {
                adamb_counts_add(c, to, level, (uint16_t)((w[i] & ADAMB_VALUE_MASK) >> bits >> c->d_s), (uint16_t)(w[i] & low));
            }
        }
    }
}

/* V of the next step in the cell of an entry, whose count takes `bits` bits. */
static uint32_t entry_value(const adamb_call *c, uint32_t entry, uint32_t bits)
{
    return value_at(c->w, c->step + ADAMB_S_WORDS, entry >> bits << (bits + 1), 15 - bits);
}

/* Mean over a chain of any length. */
static uint32_t expect_chain(const adamb_call *c, uint32_t unit, uint32_t bits, uint32_t low)
{
    const uint16_t *w = c->w;
    uint32_t sum = 0, total = 0;
    for (int32_t left = chain_rest(c, bits); left >= 0 && is_link(c, unit); left--, unit = w[unit_base(unit)]) {
        for (uint32_t i = unit_base(unit); i < unit_base(unit) + 4; i++) {
            if (is_value(w[i]) && total <= ADAMB_VALUE_MAX) { /* as it always is, unless there is damage */
                total += w[i] & low;
                sum += (w[i] & low) * entry_value(c, w[i], bits);
            }
        }
    }
    return total == 0 ? 0 : adamb_number_divide(sum, total);
}

/* Expected value of the next state under the record's own counts; nothing follows the last step. */
uint32_t adamb_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level)
{
    uint32_t bits = count_bits(c, level), low = ((uint32_t)1 << bits) - 1u, head = c->w[unit_base(rec) + ADAMB_R_COUNTS];
    if (c->h + 1 >= c->horizon) {
        return 0;
    }
    if (level == 0 || head >= c->w[ADAMB_H_UNITS]) {
        return entry_value(c, head, bits);
    }
    if (head == 0) {
        return 0;
    }
    if (c->paper) {
        return expect_chain(c, head, bits, low);
    }
    const uint16_t *entry = c->w + unit_base(head);
    uint32_t total = (uint32_t)(entry[0] & low) + (entry[1] & low) + (entry[2] & low) + (entry[3] & low);
    if (total == 0) {
        return 0;
    }
    int shift = adamb_number_shift(total);
    uint32_t sum = 0;
    total = 0;
    for (uint8_t i = 0; i < 4; i++) {
        uint32_t n = shifted((uint32_t)(entry[i] & low), shift);
        if (n != 0) {
            total += n;
            sum += n * entry_value(c, entry[i], bits);
        }
    }
    return adamb_number_mean(sum, total);
}

/* Return the units of a record's counts to the pool. */
void adamb_counts_free(const adamb_call *c, uint16_t rec)
{
    uint16_t unit = c->w[unit_base(rec) + ADAMB_R_COUNTS];
    for (int32_t left = chain_rest(c, 0); left >= 0 && is_link(c, unit); left--) {
        uint16_t next = c->w[unit_base(unit)];
        adamb_pool_free(c->w, unit);
        unit = next;
    }
}
