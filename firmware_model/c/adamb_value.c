/* V of one step: a binary tree over the bits of the state code.
 *
 * A node is {slot 0, slot 1, aux 0, aux 1}. A slot is either a value (then aux is the best action code of that
 * cell) or a link (then aux is the mean of everything below), so `act` and an expectation are one descent. */
#include "adamb_internal.h"

uint32_t adamb_value_find(const uint16_t *w, uint32_t step, uint32_t code)
{
    return adamb_value_cell(w, step, code);
}

static uint32_t slot_value(const uint16_t *w, uint32_t i)
{
    return (is_value(w[i]) ? w[i] : w[i + 2]) & ADAMB_VALUE_MASK;
}

/* V where the first `bits` bits of the code lead to, or the mean of what is below; a value ends the walk earlier. */
uint32_t adamb_value_at(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits)
{
    uint32_t i = step + ADAMB_S_V_SLOT, rest = code << 16; /* next bit on top: two instructions less a level */
    uint32_t units = w[ADAMB_H_UNITS];
    for (; bits != 0 && w[i] < units; bits--) {
        ADAMB_WORK();
        i = at(w[i]) + (rest >> 31);
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
        value = (value + slot_value(w, at(nodes[--depth]) + (~code & 1u)) + 1u) >> 1;
        uint32_t slot = depth == 0 ? c->step + ADAMB_S_V_SLOT : at(nodes[depth - 1]) + (code >> 1 & 1u);
        w[slot + 2] = (uint16_t)value;
    }
}

/* Store the result of the last scan in the cell of `code`, refining the tree to the scan's level where there is
 * room. In tracking with more than 1+1 dimensions, where V takes most of a small block, a cell that agrees with the scan is
 * not divided. Returns the depth of the cell in bits. */
uint8_t adamb_value_set(const adamb_call *c, uint16_t code)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint8_t depth = 0, bits = (uint8_t)(c->d_s * c->best_level);
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    uint16_t q = c->best_q;
    int finer;
    for (;;) {
        if (depth == ADAMB_LEVEL_MAX || !is_link(c, w[i])) {
            finer = adamb_code_inside(w[i + 2], c->best_action, c->d_a);
            int agrees = c->wide && (finer || w[i + 2] == c->best_action) && adamb_value_near(w[i], ADAMB_TAG | q);
            uint16_t unit = depth < bits && !agrees ? adamb_pool_alloc(w) : 0;
            if (unit == 0) {
                break;
            }
            uint32_t p = at(unit);
            w[p] = w[p + 1] = w[i];
            w[p + 2] = w[p + 3] = w[i + 2];
            ADAMB_IN_ORDER(); /* the node is complete before a walk can meet it */
            w[i] = unit;
        }
        ADAMB_WORK();
        nodes[depth] = w[i];
        i = at(w[i]) + ((uint32_t)(code >> (15 - depth)) & 1u);
        depth++;
    }
    if (c->paper) {
        q = min16(q, w[i] & ADAMB_VALUE_MASK);
    }
    w[i] = (uint16_t)(ADAMB_TAG | q);
    if (c->paper || !finer) {
        w[i + 2] = c->best_action; /* a finer action within the best ball stays */
    }
    adamb_value_refresh_means(c, nodes, depth, code, q);
    return depth;
}

/* Is the cell of `code` up to date although the Q of its best action is now `q`? Small moves are not worth a scan;
 * the value is left alone, so that small moves add up. A best action that has become better still is the best: then
 * the value is set without a scan. */
int adamb_value_holds(adamb_call *c, uint16_t code, uint16_t action, uint16_t q)
{
    const uint16_t *w = c->w;
    uint32_t i = c->step + ADAMB_S_V_SLOT, rest = (uint32_t)code << 16, units = w[ADAMB_H_UNITS];
    int32_t depth = 0;
    for (; depth < ADAMB_LEVEL_MAX && w[i] < units; depth++) {
        i = at(w[i]) + (rest >> 31);
        rest <<= 1;
    }
    int32_t moved = (int32_t)q - (int32_t)(w[i] & ADAMB_VALUE_MASK);
    if (w[i + 2] != action || depth < c->d_s * c->level || moved <= -ADAMB_SCAN_TOLERANCE) {
        return 0;
    }
    if (moved >= ADAMB_SCAN_TOLERANCE) {
        c->best_q = q;
        c->best_action = action;
        c->best_level = c->level;
        adamb_value_set(c, code);
    }
    return 1;
}
