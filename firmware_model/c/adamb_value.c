/* V of one step: a binary tree over the bits of the state code.
 *
 * A node is {slot 0, slot 1, aux 0, aux 1}. A slot is either a value (then aux is the best action code of that
 * cell) or a link (then aux is the mean of everything below), so `act` and an expectation are one descent. */
#include "adamb_internal.h"

/* Word index of the slot that the first `bits` bits of the code lead to; a value ends the walk earlier. */
uint32_t adamb_value_find(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits)
{
    uint32_t i = step + ADAMB_S_V_SLOT, rest = code << 16; /* next bit on top: two instructions less a level */
    uint32_t units = w[ADAMB_H_UNITS];                               /* values are above all links */
    for (; bits != 0 && w[i] < units; bits--) {
        ADAMB_WORK();
        i = at(w[i]) + (rest >> 31);
        rest <<= 1;
    }
    return i;
}

static uint32_t slot_value(const uint16_t *w, uint32_t i)
{
    return (is_value(w[i]) ? w[i] : w[i + 2]) & ADAMB_VALUE_MASK;
}

uint32_t adamb_value_at(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits)
{
    return slot_value(w, adamb_value_find(w, step, code, bits));
}

/* Mean of everything below a node. */
uint32_t adamb_value_mean(const uint16_t *w, uint32_t node)
{
    return (slot_value(w, node) + slot_value(w, node + 1) + 1u) >> 1;
}

/* Refresh the means above a changed cell, nearest first; `nodes` are the units on the way to it. */
static void refresh_means(const adamb_call *c, const uint16_t *nodes, uint8_t depth, uint16_t code)
{
    uint16_t *w = c->w;
    while (depth != 0) {
        depth--;
        uint32_t node = at(nodes[depth]), slot = c->step + ADAMB_S_V_SLOT;
        if (depth != 0) {
            slot = at(nodes[depth - 1]) + ((uint32_t)(code >> (16 - depth)) & 1u);
        }
        w[slot + 2] = (uint16_t)adamb_value_mean(w, node);
    }
}

/* Store the result of the last scan in the cell of `code`, refining the tree to the scan's level where there is
 * room. Returns the depth of the cell in bits. */
uint8_t adamb_value_set(const adamb_call *c, uint16_t code)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint8_t depth = 0, bits = (uint8_t)(c->d_s * c->best_level);
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    uint16_t q = c->best_q;
    for (;;) {
        if (depth == ADAMB_LEVEL_MAX || !is_link(c, w[i])) {
            uint16_t unit = depth < bits ? adamb_pool_alloc(w) : 0;
            if (unit == 0) {
                break;
            }
            uint32_t p = at(unit);
            w[p] = w[p + 1] = w[i];
            w[p + 2] = w[p + 3] = w[i + 2];
            w[i] = unit;
        }
        ADAMB_WORK();
        nodes[depth] = w[i];
        i = at(w[i]) + ((uint32_t)(code >> (15 - depth)) & 1u);
        depth++;
    }
    if (has_flag(w, ADAMB_FLAG_PAPER)) {
        q = min16(q, w[i] & ADAMB_VALUE_MASK);
    }
    w[i] = (uint16_t)(ADAMB_TAG | q);
    w[i + 2] = c->best_action;
    refresh_means(c, nodes, depth, code);
    return depth;
}

/* Is the cell of `code` up to date although the Q of its best action is now `q`? Small moves are not worth a scan;
 * the value is left alone, so that small moves add up. */
int adamb_value_holds(const adamb_call *c, uint16_t code, uint16_t action, uint16_t q)
{
    const uint16_t *w = c->w;
    uint32_t i = c->step + ADAMB_S_V_SLOT, rest = (uint32_t)code << 16, units = w[ADAMB_H_UNITS];
    int32_t depth = 0;
    for (; depth < ADAMB_LEVEL_MAX && w[i] < units; depth++) {
        i = at(w[i]) + (rest >> 31);
        rest <<= 1;
    }
    int32_t moved = q - (w[i] & ADAMB_VALUE_MASK);
    return w[i + 2] == action && depth >= c->d_s * c->level && moved < ADAMB_SCAN_TOLERANCE &&
           moved > -ADAMB_SCAN_TOLERANCE;
}

/* Walk to a random node of step c->h whose two slots are values and join them when no ball needs both.
 * Returns 1 when a unit came back. */
int adamb_value_reclaim(adamb_call *c)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint16_t random = adamb_number_random(w);
    uint16_t code = 0;
    uint8_t depth = 0;
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    if (!is_link(c, w[i])) {
        return 0;
    }
    for (;;) {
        uint32_t node = at(w[i]);
        uint32_t side = (uint32_t)(random >> depth) & 1u;
        nodes[depth] = w[i];
        if (!is_link(c, w[node + side])) {
            side ^= 1u;
        }
        if (depth == ADAMB_LEVEL_MAX - 1 || !is_link(c, w[node + side])) {
            break;
        }
        ADAMB_WORK();
        code = (uint16_t)(code | (side << (15 - depth)));
        depth++;
        i = node + side;
    }
    adamb_tree_scan(c, code); /* speaks for both halves: down to this depth they lie in the same cell of every level */
    if (c->d_s * c->best_level > depth) {
        return 0; /* a ball needs both */
    }
    uint16_t q = has_flag(w, ADAMB_FLAG_PAPER) ? min16(c->best_q, w[i + 2]) : c->best_q;
    adamb_pool_free(w, w[i]);
    w[i] = (uint16_t)(ADAMB_TAG | q);
    w[i + 2] = c->best_action;
    refresh_means(c, nodes, depth, code);
    return 1;
}
