/* Pruning the tree of V: two cells that no ball distinguishes become one. */
#include "adamb_internal.h"

/* The first code of a random node of step c->h whose two slots are values, and the node's depth; -1 without a node. */
int adamb_prune_pick(const adamb_call *c, uint16_t *code)
{
    uint16_t *w = c->w;
    uint32_t random = adamb_number_random(w), node = w[c->step + ADAMB_S_V_SLOT], found = 0;
    int depth = 0;
    if (!is_link(c, node)) {
        return -1;
    }
    for (;; depth++) {
        uint32_t side = random >> depth & 1u;
        if (!is_link(c, w[at(node) + side])) {
            side ^= 1u;
        }
        if (depth == ADAMB_LEVEL_MAX - 1 || !is_link(c, w[at(node) + side])) {
            break;
        }
        ADAMB_WORK();
        found |= side << (15 - depth);
        node = w[at(node) + side];
    }
    *code = (uint16_t)found;
    return depth;
}

/* Join the two slots of such a node when, by the last scan, no ball needs both: down to their depth they lie in the same
 * cell of every level, so one scan is valid for both. With more than 1+1 dimensions in tracking, also when both play the
 * same action for about the same value. Returns 1 when a unit was freed. */
int adamb_prune_join(const adamb_call *c, uint16_t code, int depth)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    for (int k = 0; k < depth; k++) {
        nodes[k] = w[i];
        i = at(w[i]) + ((uint32_t)(code >> (15 - k)) & 1u);
    }
    const uint16_t *p = w + at(w[i]);
    if (c->d_s * c->best_level > depth && !(c->wide && p[2] == p[3] && adamb_value_near(p[0], p[1]))) {
        return 0; /* a ball needs both */
    }
    uint16_t q = c->paper ? min16(c->best_q, w[i + 2]) : c->best_q, node = w[i];
    w[i + 2] = c->best_action;
    ADAMB_IN_ORDER(); /* the cell has its action before it is one, and no walk meets the node when it is freed */
    w[i] = (uint16_t)(ADAMB_TAG | q);
    adamb_value_refresh_means(c, nodes, (uint32_t)depth, code, q);
    ADAMB_IN_ORDER();
    adamb_pool_free(w, node);
    return 1;
}
