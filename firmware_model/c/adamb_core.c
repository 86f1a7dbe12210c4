/* The public functions of a controller at work: init, act, observe, end of an episode; and reclaiming, a part of observe. */
#include "adamb_internal.h"

/* Pruning the tree of V: two cells that no ball distinguishes become one. */

/* The first code of a random node of step c->h whose two slots are values, and the node's depth; -1 without a node. */
ADAMB_NOINLINE static int prune_pick(const adamb_call *c, uint16_t *code)
{
    uint16_t *w = c->w;
    uint32_t random = adamb_number_random(w), node = w[c->step + ADAMB_S_V_SLOT], found = 0;
    int depth = 0;
    if (!is_link(c, node)) {
        return -1;
    }
    for (;; depth++) {
        uint32_t side = random >> depth & 1u;
        if (!is_link(c, w[unit_base(node) + side])) {
            side ^= 1u;
        }
        if (depth == ADAMB_LEVEL_MAX - 1 || !is_link(c, w[unit_base(node) + side])) {
            break;
        }
        ADAMB_WORK();
        found |= side << (15 - depth);
        node = w[unit_base(node) + side];
    }
    *code = (uint16_t)found;
    return depth;
}

/* Join the two slots of such a node when, by the last scan, no ball needs both: down to their depth they lie in the same
 * cell of every level, so one scan is valid for both. Returns 1 when a unit was freed. */
ADAMB_NOINLINE static int prune_join(const adamb_call *c, uint16_t code, int depth, const adamb_choice *best)
{
    uint16_t *w = c->w;
    uint16_t nodes[ADAMB_PATH_MAX];
    uint32_t i = c->step + ADAMB_S_V_SLOT;
    for (int k = 0; k < depth; k++) {
        nodes[k] = w[i];
        i = unit_base(w[i]) + ((uint32_t)(code >> (15 - k)) & 1u);
    }
    if (c->d_s * best->level > depth) {
        return 0; /* a ball needs both */
    }
    uint16_t q = c->paper ? min16(best->q, w[i + 2]) : best->q, node = w[i];
    w[i + 2] = best->action;
    ADAMB_COMPILER_BARRIER(); /* the cell has its action before it is one, and no walk meets the node when it is freed */
    w[i] = (uint16_t)(ADAMB_TAG | q);
    adamb_value_refresh_means(c, nodes, (uint32_t)depth, code, q);
    ADAMB_COMPILER_BARRIER();
    adamb_pool_free(w, node);
    return 1;
}

/* Freeing units when few are left: one bounded walk a step, like the clock algorithm of page replacement.
 *
 * Every record on the path of a sample gets full credit; every walk takes one credit from the records it passes.
 * A leaf without credit is folded into its parent and leaves its surplus in its slot; a block whose balls are all unvisited
 * is removed. So what was not used for long is removed in small pieces. */

/* Fold a leaf (at level+1) into its parent. The slot keeps the Q of this step. When steps share the tree, Q of no step
 * may rise by the fold, so a positive difference of the expectations is not added. */
static void fold(const adamb_call *c, uint32_t slot, uint16_t parent, uint8_t level)
{
    uint16_t *w = c->w;
    uint16_t rec = w[slot];
    uint32_t n = own_n(w, rec), parent_n = own_n(w, parent);
    uint16_t *mean = w + unit_base(parent) + ADAMB_R_REWARD;
    if (n != 0) {
        *mean = (uint16_t)adamb_number_blend(*mean, w[unit_base(rec) + ADAMB_R_REWARD], n, n + parent_n);
    }
    n = n + parent_n > ADAMB_N_MAX ? ADAMB_N_MAX : n + parent_n;
    w[unit_base(parent) + ADAMB_R_N] = (uint16_t)((w[unit_base(parent) + ADAMB_R_N] & ~(uint32_t)ADAMB_N_MAX) | n);
    int32_t surplus = w[unit_base(rec)] & ADAMB_VALUE_MASK, before = (int32_t)adamb_counts_expect(c, rec, level + 1u);
    adamb_counts_fold(c, rec, parent, level);
    int32_t after = (int32_t)adamb_counts_expect(c, parent, level);
#ifndef ADAMB_WITHOUT_FOLD
    before = c->shared && before > after ? after : before;
#endif
    w[slot] = adamb_tree_surplus(surplus + before - after);
    adamb_tree_free(c, rec);
}

/* A linked slot of the block, the first from a random one on; `slots` when all are values. */
static uint32_t pick(const adamb_call *c, uint16_t block, uint32_t slots)
{
    uint16_t *w = c->w;
    uint32_t start = adamb_number_random(w);
    for (uint32_t k = 0; k < slots; k++) {
        uint32_t i = (start + k) & (slots - 1u);
        if (is_link(c, w[unit_base(block) + i])) {
            return i;
        }
    }
    return slots;
}

/* The word that stands for all balls of a block of unvisited ones: the best of them. */
static uint16_t best_slot(const adamb_call *c, uint16_t block, uint32_t slots)
{
    const uint16_t *w = c->w;
    uint16_t best = w[unit_base(block)];
    for (uint32_t i = 1; i < slots; i++) {
        best = w[unit_base(block) + i] > best ? w[unit_base(block) + i] : best;
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

/* One walk through the tree of c->h: folds one leaf or removes one block, or only takes credit. Returns 1 when units were
 * freed. */
ADAMB_NOINLINE static int reclaim_tree(const adamb_call *c)
{
    uint16_t *w = c->w;
    uint32_t slot = adamb_tree_root(c);
    uint16_t parent = 0;
    uint8_t level = 0;
    if (!is_link(c, w[slot])) {
        return 0;
    }
    for (;;) {
        uint16_t rec = w[slot];
        uint16_t *n = w + unit_base(rec) + ADAMB_R_N;
        int spent = (*n >> ADAMB_CREDIT_SHIFT) == 0;
        ADAMB_WORK();
        *n = (uint16_t)(*n - (spent ? 0u : 1u << ADAMB_CREDIT_SHIFT));
        uint16_t block = adamb_tree_children(c, rec);
        if (block == 0 || level == c->finest) {
            spent &= parent != 0;
            if (spent) {
                fold(c, slot, parent, (uint8_t)(level - 1));
            }
            return spent;
        }
        for (uint8_t chunk = 0; chunk < c->chunks; chunk++) {
            uint32_t slots = 1u << (adamb_code_state_bits(c, chunk) + adamb_code_action_bits(c, chunk));
            uint32_t i = pick(c, block, slots);
            if (i == slots) {
                if (spent) {
                    remove_block(c, block, slots, chunk == 0 ? rec : slot, chunk == 0 ? level : 0xFF);
                }
                return spent;
            }
            slot = unit_base(block) + i;
            block = w[slot];
        }
        parent = rec;
        level++;
    }
}

/* Free at most a few units when few are left. Its parts are called from here, not from each other,
 * so that their stack frames do not add up. */
static void reclaim(adamb_call *c)
{
    uint16_t *w = c->w;
    uint32_t enough = ADAMB_RECLAIM_ROOM + ((uint32_t)w[ADAMB_H_UNITS] >> ADAMB_RECLAIM_ROOM_SHIFT);
    if (has_flag(w, ADAMB_FLAG_FREEZE) || adamb_pool_room(w) >= enough) {
        return;
    }
    uint16_t random = adamb_number_random(w);
    if ((random & ADAMB_RECLAIM_MASK) != 0) {
        return;
    }
    int value = (random & ADAMB_RECLAIM_VALUE_MASK) == 0;
    uint32_t last = w[ADAMB_H_DIMS] >> 8, h = random * (last + 1) >> 16;
    adamb_call_decode(c, w, (uint8_t)(w[ADAMB_H_SHARE] != ADAMB_SHARE_OFF && !value && h != last ? 0 : h));
    uint16_t code;
    int freed = 0, depth = value ? prune_pick(c, &code) : -1;
    if (!value) {
        freed = reclaim_tree(c);
    } else if (depth >= 0) {
        adamb_choice best;
        adamb_tree_scan(c, code, &best);
        freed = prune_join(c, code, depth, &best);
    }
    if (freed) {
        saturating_inc(w, ADAMB_H_RECLAIMS);
    }
}

/* The public functions of a controller at work: init, act, observe, end of an episode. */

int adamb_init(const adamb_config *config, uint16_t *block, uint32_t words)
{
    int32_t required = adamb_required_words(config);
    if (required < 0) {
        return (int)required;
    }
    if (block == 0 || adamb_config_overlaps(block, words, (const uint8_t *)config, sizeof *config)) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (words < (uint32_t)required) {
        return ADAMB_NO_MEMORY;
    }
    adamb_config_write_header(config, block, words);
    adamb_adapt_restart(block);
    return 0;
}

/* A point of the cell around an action centre. */
ADAMB_NOINLINE static uint16_t random_action(uint16_t *w, uint16_t centre, uint8_t d_a)
{
    uint16_t low = (uint16_t)(centre & -centre);
    uint16_t mask = (uint16_t)(((uint32_t)low << d_a) - 1u);
    uint16_t code = (uint16_t)((centre & ~mask) | (adamb_number_random(w) & mask));
    return (uint16_t)(code | (d_a == 3 ? 2u : 1u)); /* never 0: that means no action */
}

static int call_error(const uint16_t *w, int h, const void *argument)
{
    if (w == 0 || argument == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_config_usable(w)) {
        return ADAMB_BAD_BLOCK;
    }
    return (uint32_t)h < (uint32_t)w[ADAMB_H_DIMS] >> 8 ? 0 : ADAMB_BAD_ARGUMENT;
}

/* The paper refreshes every state cell under the ball, at once. */
static void learn_paper(const adamb_call *c, adamb_visit *v)
{
    adamb_learn_sample(c, v);
    for (uint32_t cells = c->links; cells != 0 && c->w[c->step + ADAMB_S_JOB_CELL] != 0; cells--) {
        adamb_learn_jobs(c);
    }
}

/* Learns from the sample, and lets the state try a finer action that is played elsewhere: at the next state or, where steps
 * have trees of their own, at this step the last time. Returns 1 when it left no turn to other work. */
static int learn_tracking(adamb_call *c, adamb_visit *v)
{
    uint16_t *w = c->w;
    int busy = adamb_refresh_next(c, v->next);
    uint32_t finer = w[c->step + ADAMB_S_LAST];
    v->next_slot = 0;
    if (c->h + 1 < c->horizon) {
        v->next_slot = adamb_value_find(w, c->step + ADAMB_S_WORDS, v->next);
    }
    if (c->shared) {
        finer = v->next_slot != 0 ? w[v->next_slot + 2] : 0;
    }
    if (adamb_learn_sample(c, v)) {
        adamb_choice best;
        adamb_tree_scan(c, v->state, &best);
        adamb_value_set(c, v->state, &best);
    }
#ifndef ADAMB_WITHOUT_FOLLOW
    if (!has_flag(w, ADAMB_FLAG_RANDOM) && !c->taught) {
        adamb_learn_follow(c, v, finer);
    }
#endif
    w[c->step + ADAMB_S_LAST] = v->action;
    if (busy) {
        return 1;
    }
    int pending = w[c->step + ADAMB_S_JOB_CELL] != 0;
    if (pending) {
        adamb_learn_jobs(c);
    }
    return pending;
}

/* A held episode is one sample of the step that stands for it: its action, and the mean reward. */
ADAMB_NOINLINE static void learn_held(uint16_t *w, uint32_t value)
{
    adamb_call c;
    adamb_visit v = {0};
    adamb_call_decode(&c, w, (uint8_t)(w[ADAMB_H_DIMS] >> 8));
    value = adamb_number_divide(value << (16 - c.fraction), c.horizon - 1u);
    v.action = w[c.step + ADAMB_S_V_AUX];
    v.reward = (uint16_t)(value > 0xFFFF ? 0xFFFF : value);
    adamb_adapt_rewards(&c, v.reward);
    if (!learn_tracking(&c, &v)) {
        reclaim(&c);
    }
}

int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action)
{
    uint16_t *w = block;
    int error = call_error(w, h, action == 0 ? 0 : state);
    if (error != 0) {
        return error;
    }
    uint32_t dims = w[ADAMB_H_DIMS], d_s = dims & 15u, d_a = dims >> 4 & 15u, step = adamb_call_step(w, (uint32_t)h);
    uint16_t code = d_s == 1 ? state[0] : adamb_code_pack(state, (uint8_t)d_s);
    uint16_t chosen;
    if (w[ADAMB_H_HELD] == 1) {
        chosen = w[adamb_call_step(w, dims >> 8) + ADAMB_S_V_AUX];
    } else {
        chosen = w[adamb_value_cell(w, step, code) + 2];
        if (has_flag(w, ADAMB_FLAG_RANDOM)) {
            chosen = random_action(w, chosen, (uint8_t)d_a);
        }
    }
    w[step + ADAMB_S_STATE] = code;
    w[step + ADAMB_S_ACTION] = chosen;
    adamb_code_unpack(chosen, (uint8_t)d_a, action);
    return 0;
}

int adamb_given(uint16_t *block, int h, const uint16_t *state, const uint16_t *action)
{
    adamb_call c;
    int error = call_error(block, h, action == 0 ? 0 : state);
    if (error != 0) {
        return error;
    }
    adamb_call_decode(&c, block, (uint8_t)h);
    uint32_t bits = (uint32_t)c.d_a * c.finest, inside = 16 - bits, code = adamb_code_pack(action, c.d_a);
    block[c.step + ADAMB_S_STATE] = adamb_code_pack(state, c.d_s);
    block[c.step + ADAMB_S_ACTION] = adamb_code_centre(code >> inside << inside, bits, c.d_a);
    block[ADAMB_H_HELD] = ADAMB_HELD_TAUGHT;
    return 0;
}

int adamb_observe(uint16_t *block, int h, uint16_t reward, const uint16_t *next_state)
{
    adamb_call c;
    adamb_visit v;
    int error = call_error(block, h, next_state);
    if (error != 0) {
        return error;
    }
    adamb_call_decode(&c, block, (uint8_t)h);
    v.state = block[c.step + ADAMB_S_STATE];
    v.action = block[c.step + ADAMB_S_ACTION];
    if (v.action == 0) {
        return ADAMB_BAD_ORDER;
    }
    block[c.step + ADAMB_S_ACTION] = 0;
    v.reward = reward;
    v.next = adamb_code_pack(next_state, c.d_s);
    if (!adamb_adapt_step(&c, &v, next_state)) {
        return 0;
    }
    if (has_flag(block, ADAMB_FLAG_PAPER)) {
        learn_paper(&c, &v);
        reclaim(&c);
    } else if (!learn_tracking(&c, &v)) {
        reclaim(&c);
    }
    return 0;
}

int adamb_end_episode(uint16_t *block)
{
    int error = call_error(block, 0, block);
    if (error != 0) {
        return error;
    }
    uint32_t value = 0;
    if (block[ADAMB_H_SEEN] != 0) {
        value = adamb_adapt_earned(block);
        if (block[ADAMB_H_HELD] == 1) {
            learn_held(block, value);
        }
    }
    adamb_adapt_episode(block, value);
    return 0;
}
