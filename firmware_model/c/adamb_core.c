/* The public functions of a controller at work: init, act, observe, end of an episode. */
#include "adamb_internal.h"

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
    adamb_call_restart(block);
    return 0;
}

/* A point of the cell around an action centre. */
ADAMB_APART static uint16_t random_action(uint16_t *w, uint16_t centre, uint8_t d_a)
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

int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action)
{
    uint16_t *w = block;
    int error = call_error(w, h, action == 0 ? 0 : state);
    if (error != 0) {
        return error;
    }
    uint32_t dims = w[ADAMB_H_DIMS], d_s = dims & 15u, d_a = dims >> 4 & 15u, step = adamb_call_step(w, (uint32_t)h);
    uint16_t code = d_s == 1 ? state[0] : adamb_code_pack(state, (uint8_t)d_s);
    uint16_t chosen = w[adamb_value_cell(w, step, code) + 2];
    if (has_flag(w, ADAMB_FLAG_RANDOM)) {
        chosen = random_action(w, chosen, (uint8_t)d_a);
    }
    w[step + ADAMB_S_STATE] = code;
    w[step + ADAMB_S_ACTION] = chosen;
    adamb_code_unpack(chosen, (uint8_t)d_a, action);
    return 0;
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
    adamb_call_decode(c, w, (uint8_t)(c->shared && !value ? 0 : (uint32_t)random * c->horizon >> 16));
    uint16_t code;
    int freed = 0, depth = value ? adamb_prune_pick(c, &code) : -1;
    if (!value) {
        freed = adamb_reclaim_tree(c);
    } else if (depth >= 0) {
        adamb_tree_scan(c, code);
        freed = adamb_prune_join(c, code, depth);
    }
    if (freed) {
        count_up(w, ADAMB_H_RECLAIMS);
    }
}

/* The paper refreshes every state cell under the ball, at once. */
static void learn_paper(adamb_call *c, uint16_t state, uint16_t action, uint16_t reward, uint16_t next)
{
    adamb_learn_sample(c, state, action, reward, next);
    for (uint32_t cells = c->links; cells != 0 && c->w[c->step + ADAMB_S_JOB_CELL] != 0; cells--) {
        adamb_learn_jobs(c);
    }
}

/* Learns from the sample, and lets the state try a finer action that is played elsewhere: at the next state or, where steps
 * have trees of their own, at this step the last time. Returns 1 when it left no turn to other work. */
static int learn_tracking(adamb_call *c, uint16_t state, uint16_t action, uint16_t reward, uint16_t next)
{
    uint16_t *w = c->w;
    int busy = adamb_refresh_next(c, next);
    uint32_t finer = w[c->step + ADAMB_S_LAST];
    c->next = 0;
    if (c->h + 1 < c->horizon) {
        c->next = adamb_value_find(w, c->step + ADAMB_S_WORDS, next);
    }
    if (c->shared) {
        finer = c->next != 0 ? w[c->next + 2] : 0;
    }
    if (adamb_learn_sample(c, state, action, reward, next)) {
        adamb_tree_scan(c, state);
        adamb_value_set(c, state);
    }
    if (!has_flag(w, ADAMB_FLAG_RANDOM)) {
        adamb_learn_follow(c, state, action, finer);
    }
    w[c->step + ADAMB_S_LAST] = action;
    if (busy) {
        return 1;
    }
    int pending = w[c->step + ADAMB_S_JOB_CELL] != 0;
    if (pending) {
        adamb_learn_jobs(c);
    }
    if (c->wide) {
        adamb_refresh_any(c);
        return 0;
    }
    return pending;
}

int adamb_observe(uint16_t *block, int h, uint16_t reward, const uint16_t *next_state)
{
    adamb_call c;
    int error = call_error(block, h, next_state);
    if (error != 0) {
        return error;
    }
    adamb_call_decode(&c, block, (uint8_t)h);
    uint16_t state = block[c.step + ADAMB_S_STATE], action = block[c.step + ADAMB_S_ACTION];
    if (action == 0) {
        return ADAMB_BAD_ORDER;
    }
    block[c.step + ADAMB_S_ACTION] = 0;
    adamb_adapt_step(&c, state, action, reward, next_state);
    uint16_t next = adamb_code_pack(next_state, c.d_s);
    if (has_flag(block, ADAMB_FLAG_PAPER)) {
        learn_paper(&c, state, action, reward, next);
        reclaim(&c);
    } else if (!learn_tracking(&c, state, action, reward, next)) {
        reclaim(&c);
    }
    return 0;
}

int adamb_end_episode(uint16_t *block)
{
    int error = call_error(block, 0, block);
    if (error == 0) {
        adamb_adapt_episode(block);
    }
    return error;
}
