/* Freeing units when few are left: one bounded walk a step, like the clock algorithm of page replacement.
 *
 * Every record on the path of a sample gets full credit; every walk takes one credit from the records it passes.
 * A leaf without credit is folded into its parent and leaves its surplus in its slot, more often when no state plays
 * it; a block whose balls are all unvisited is removed. So what was not used for long is removed in small pieces. */
#include "adamb_internal.h"

/* Fold a leaf (at level+1) into its parent. The slot keeps the Q of this step. When steps share the tree, Q of no step
 * may rise by the fold, so a positive difference of the expectations is not added. */
static void fold(const adamb_call *c, uint32_t slot, uint16_t parent, uint8_t level)
{
    uint16_t *w = c->w;
    uint16_t rec = w[slot];
    uint32_t n = own_n(w, rec), parent_n = own_n(w, parent);
    uint16_t *mean = w + at(parent) + ADAMB_R_REWARD;
    if (n != 0) {
        *mean = (uint16_t)adamb_number_blend(*mean, w[at(rec) + ADAMB_R_REWARD], n, n + parent_n);
    }
    n = n + parent_n > ADAMB_N_MAX ? ADAMB_N_MAX : n + parent_n;
    w[at(parent) + ADAMB_R_N] = (uint16_t)((w[at(parent) + ADAMB_R_N] & ~(uint32_t)ADAMB_N_MAX) | n);
    int32_t surplus = w[at(rec)] & ADAMB_VALUE_MASK, before = (int32_t)adamb_counts_expect(c, rec, level + 1u);
    adamb_counts_fold(c, rec, parent, level);
    int32_t after = (int32_t)adamb_counts_expect(c, parent, level);
    w[slot] = adamb_tree_surplus(c->shared && before > after ? surplus : surplus + before - after);
    adamb_tree_free(c, rec);
}

/* A linked slot of the block, from a random one on, preferably without credit; `slots` when all are values. */
static uint32_t pick(const adamb_call *c, uint16_t block, uint32_t slots, int records)
{
    uint16_t *w = c->w;
    uint32_t start = adamb_number_random(w) & (slots - 1u), found = slots;
    for (uint32_t k = 0; k < slots; k++) {
        uint32_t i = (start + k) & (slots - 1u);
        uint16_t word = w[at(block) + i];
        if (!is_link(c, word)) {
            continue;
        }
        if (!records || (w[at(word) + ADAMB_R_N] >> ADAMB_CREDIT_SHIFT) == 0) {
            return i;
        }
        if (found == slots) {
            found = i;
        }
    }
    return found;
}

/* The word that stands for all balls of a block of unvisited ones: the best of them. */
static uint16_t best_slot(const adamb_call *c, uint16_t block, uint32_t slots)
{
    const uint16_t *w = c->w;
    uint16_t best = w[at(block)];
    for (uint32_t i = 1; i < slots; i++) {
        best = w[at(block) + i] > best ? w[at(block) + i] : best;
    }
    return best;
}

/* Remove a block whose balls are all unvisited: the first one below the record `above`, or (level 0xFF) the one that the
 * slot `above` leads to. */
static void remove_block(const adamb_call *c, uint16_t block, uint32_t slots, uint32_t above, uint8_t level)
{
    uint16_t *w = c->w;
    uint16_t best = best_slot(c, block, slots);
    if (level != 0xFF) {
        adamb_tree_unsplit(c, (uint16_t)above, level, best);
    } else {
        adamb_pool_free(w, block);
        w[above] = best;
    }
}

/* Does any step of this tree play the ball, given as first codes of its state and action side, at a random state? */
static int played(const adamb_call *c, uint32_t state, uint32_t action, uint8_t level)
{
    uint16_t *w = c->w;
    uint32_t step = c->tree;
    uint16_t code = (uint16_t)(state | ((uint32_t)adamb_number_random(w) >> (c->d_s * level)));
    for (uint8_t h = 0; h < (c->shared ? c->horizon : 1); h++, step += ADAMB_S_WORDS) {
        uint32_t aux = w[adamb_value_find(w, step, code) + 2];
        if ((aux ^ action) >> (16 - c->d_a * level) == 0) {
            return 1;
        }
    }
    return 0;
}

/* One walk through the tree of c->h: folds one leaf or removes one block, or only takes credit. Returns 1 when units were
 * freed. */
int adamb_reclaim_tree(const adamb_call *c)
{
    uint16_t *w = c->w;
    uint32_t slot = adamb_tree_root(c), state = 0, action = 0;
    uint16_t parent = 0;
    uint8_t level = 0, s_bits = 0, a_bits = 0;
    if (!is_link(c, w[slot])) {
        return 0;
    }
    for (;;) {
        uint16_t rec = w[slot];
        uint16_t *n = w + at(rec) + ADAMB_R_N;
        int spent = (*n >> ADAMB_CREDIT_SHIFT) == 0;
        ADAMB_WORK();
        *n = (uint16_t)(*n - (spent ? 0u : 1u << ADAMB_CREDIT_SHIFT));
        uint16_t block = adamb_tree_children(c, rec);
        if (block == 0 || level == c->finest) {
            if (spent && parent != 0 &&
                (!played(c, state, action, level) || (adamb_number_random(w) & ADAMB_PLAYED_MASK) == 0)) {
                fold(c, slot, parent, (uint8_t)(level - 1));
                return 1;
            }
            return 0;
        }
        for (uint8_t chunk = 0; chunk < c->chunks; chunk++) {
            uint32_t slots = 1u << (adamb_code_state_bits(c, chunk) + adamb_code_action_bits(c, chunk));
            uint32_t i = pick(c, block, slots, chunk + 1 == c->chunks);
            if (i == slots) {
                if (spent) {
                    remove_block(c, block, slots, chunk == 0 ? rec : slot, chunk == 0 ? level : 0xFF);
                }
                return spent;
            }
            uint32_t action_n = adamb_code_action_bits(c, chunk);
            s_bits = (uint8_t)(s_bits + adamb_code_state_bits(c, chunk));
            a_bits = (uint8_t)(a_bits + action_n);
            state |= i >> action_n << (16 - s_bits);
            action |= (i & ((1u << action_n) - 1u)) << (16 - a_bits);
            slot = at(block) + i;
            block = w[slot];
        }
        parent = rec;
        level++;
    }
}
