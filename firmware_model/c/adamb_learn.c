/* One sample: find its ball, update its model and Q, split it, refresh V. */
#include "adamb_internal.h"

/* The record's own estimate: reward plus expected next value (which stays in c->expected). */
static uint32_t own_value(adamb_call *c, uint16_t rec, uint8_t level)
{
    uint8_t shift = (uint8_t)(16 - c->fraction);
    c->expected = adamb_counts_expect(c, rec, level);
    uint32_t value = c->expected + ((c->w[at(rec) + ADAMB_R_REWARD] + (1u << (shift - 1))) >> shift);
    return value > ADAMB_VALUE_MAX ? ADAMB_VALUE_MAX : value;
}

/* Paper: every ancestor's samples count in full; a running mean, since their number is not bounded by 2. */
static void gather_all(adamb_call *c, uint16_t rec, uint8_t level)
{
    uint32_t n4 = own_n(c->w, rec) * 4u;
    if (n4 != 0) {
        uint32_t inherited = c->weight > 4 * ADAMB_N_MAX ? 4 * ADAMB_N_MAX : c->weight;
        c->weight = inherited + n4;
        c->value = adamb_number_blend(c->value, own_value(c, rec, level), n4, c->weight);
    }
}

/* Tracking: the parent's samples count a quarter, at most 4^(level - 1) of them, until the ball has as many. */
static void gather_near(adamb_call *c)
{
    const uint16_t *w = c->w;
    uint32_t own = c->rec == 0 ? 0 : own_n(w, c->rec) * 4u;
    uint32_t parent = c->parent == 0 ? 0 : own_n(w, c->parent);
    if (own > 4 * parent) {
        parent = 0;
    } else if (c->level < 7 && parent > 1u << (2 * c->level)) {
        parent = 1u << (2 * c->level);
    }
    c->weight = own + parent;
    if (parent == 0) {
        c->value = own_value(c, c->rec, c->level);
        return;
    }
    if (own == 0) {
        c->value = own_value(c, c->parent, (uint8_t)(c->level - 1));
        return;
    }
    int shift = adamb_number_shift(c->weight);
    own = shifted(own, shift);
    parent = shifted(parent, shift);
    uint32_t sum = parent * own_value(c, c->parent, (uint8_t)(c->level - 1));
    sum += own * own_value(c, c->rec, c->level);
    c->value = adamb_number_mean(sum, own + parent);
}

/* From a block to the slot of a ball below it, making the blocks in between. 0 when there is no room. */
static int route(adamb_call *c, uint16_t block, uint32_t *state, uint32_t *action)
{
    uint16_t *w = c->w;
    for (uint32_t bits = c->bits;; bits >>= 4) {
        uint32_t state_n = bits & 3u, action_n = bits >> 2 & 3u;
        c->slot = at(block) + (*state >> (16 - state_n) << action_n) + (*action >> (16 - action_n));
        *state = (*state << state_n) & 0xFFFFu;
        *action = (*action << action_n) & 0xFFFFu;
        if (bits < 16) {
            return 1;
        }
        block = w[c->slot];
        if (!is_link(c, block)) {
            block = adamb_pool_alloc(w);
            if (block == 0) {
                return 0;
            }
            uint16_t *p = w + at(block);
            p[0] = p[1] = p[2] = p[3] = w[c->slot];
            w[c->slot] = block;
        }
    }
}

/* Walk down by state and action code to the ball, creating its record where there is room. */
static void descend(adamb_call *c, uint32_t state, uint32_t action)
{
    uint16_t *w = c->w;
    int paper = has_flag(w, ADAMB_FLAG_PAPER);
    c->slot = adamb_tree_root(c);
    c->parent = 0;
    c->level = 0;
    c->weight = c->value = c->inherited_n = c->expected = 0;
    for (;;) {
        ADAMB_WORK();
        c->rec = is_link(c, w[c->slot]) ? w[c->slot] : adamb_tree_create(c, c->slot);
        if (c->rec == 0) {
            return;
        }
        w[at(c->rec) + ADAMB_R_N] |= ADAMB_CREDIT_FULL << ADAMB_CREDIT_SHIFT;
        uint16_t block = adamb_tree_children(c, c->rec);
        if (block == 0 || c->level == c->finest) {
            return;
        }
        if (paper) {
            gather_all(c, c->rec, c->level);
        }
        c->inherited_n += own_n(w, c->rec);
        c->parent = c->rec;
        c->level++;
        if (!route(c, block, &state, &action)) {
            c->rec = 0;
            return;
        }
    }
}

/* Count, mean reward and next states of a record after one more sample. */
static void add_sample(adamb_call *c, uint16_t rec, uint8_t level, uint16_t reward, uint16_t next_code)
{
    uint16_t *p = c->w + at(rec);
    uint32_t n = own_n(c->w, rec);
    if (n < ADAMB_N_MAX) {
        n++;
        p[ADAMB_R_N]++;
    }
    p[ADAMB_R_REWARD] = adamb_number_follow(p[ADAMB_R_REWARD], reward, n, c->w[ADAMB_H_EPISODES]);
    if (level != 0) {
        adamb_counts_add(c, rec, level, (uint16_t)(next_code >> (16 - c->d_s * level)), 1);
    }
}

/* Does the ball earn more than its parent did, by three times its bonus? Then there is more to find inside it, and it is divided
 * early, while a quarter of the block is free. Asked when its samples, a power of two, are a quarter of the threshold or more. */
static int leads(adamb_call *c)
{
    const uint16_t *w = c->w;
    uint32_t n = own_n(w, c->rec);
    if (c->parent == 0 || (n & (n - 1)) != 0 || 4 * n < w[ADAMB_H_WORDS + c->level] ||
        adamb_pool_room(w) < w[ADAMB_H_UNITS] >> 2) {
        return 0;
    }
    uint32_t above = own_value(c, c->parent, (uint8_t)(c->level - 1));
    return own_value(c, c->rec, c->level) > above + 3 * adamb_adapt_bonus(c, 4 * n);
}

static int wants_split(adamb_call *c)
{
    const uint16_t *thresholds = c->w + ADAMB_H_WORDS;
    uint32_t n = own_n(c->w, c->rec);
    if (c->level >= c->finest) {
        return 0;
    }
    if (has_flag(c->w, ADAMB_FLAG_OWN)) {
        return n + 1 >= thresholds[c->level];
    }
    if (c->level != 0) {
        n += c->inherited_n < thresholds[c->level - 1] ? c->inherited_n : thresholds[c->level - 1];
    }
    return n >= thresholds[c->level] || (!has_flag(c->w, ADAMB_FLAG_PAPER) && leads(c));
}

/* Ask for a refresh of all cells of one step under the ball's state side; joins a pending request. */
static void request(uint16_t *w, uint32_t step, uint16_t state_code, uint8_t bits)
{
    uint32_t one = 0x8000u >> bits; /* a cell is its first bits, then a one, then zeros */
    uint32_t cell = (state_code & ~(2 * one - 1)) | one;
    uint32_t pending = w[step + ADAMB_S_JOB_CELL];
    if (pending != 0) {
        uint32_t low = pending & (~pending + 1);
        if (low > one) {
            one = low;
        }
        while (((cell ^ pending) & ~(2 * one - 1)) != 0) {
            one <<= 1;
        }
        cell = (cell & ~(2 * one - 1)) | one;
    }
    w[step + ADAMB_S_JOB_CELL] = (uint16_t)cell;
    w[step + ADAMB_S_JOB_AT] = (uint16_t)(cell & ~(2 * one - 1));
}

static void split(adamb_call *c, uint16_t state_code)
{
    uint16_t *w = c->w;
    /* Children without room for their records would know less than their parent did. */
    if (adamb_pool_room(w) < ADAMB_SPLIT_ROOM || !adamb_tree_split(c, c->rec)) {
        count_up(w, ADAMB_H_REFUSED);
        return;
    }
    uint32_t first = c->shared ? adamb_core_step(w, 0) : c->step;
    for (uint8_t h = 0; h < (c->shared ? c->horizon : 1); h++) {
        request(w, first + (uint32_t)h * ADAMB_S_WORDS, state_code, (uint8_t)(c->d_s * c->level));
    }
}

/* Refresh the next cell of the pending request of this step. */
void adamb_learn_jobs(adamb_call *c)
{
    uint16_t *w = c->w;
    uint32_t cell = w[c->step + ADAMB_S_JOB_CELL];
    uint32_t code = w[c->step + ADAMB_S_JOB_AT];
    uint32_t one = cell & (~cell + 1);
    adamb_tree_scan(c, (uint16_t)code);
    uint8_t depth = adamb_value_set(c, (uint16_t)code);
    code = (code | (0xFFFFu >> depth)) + 1;
    if (code > (cell | (one - 1))) {
        w[c->step + ADAMB_S_JOB_CELL] = 0;
        code = 0;
    }
    w[c->step + ADAMB_S_JOB_AT] = (uint16_t)code;
}

/* Update the model of the ball with one sample and its Q; returns the Q. */
static uint16_t update(adamb_call *c, uint16_t reward, uint16_t next_code)
{
    uint16_t *w = c->w;
    uint16_t rec = c->rec == 0 ? c->parent : c->rec; /* without a record of its own the ball lends its parent's */
    uint8_t level = (uint8_t)(c->rec == 0 ? c->level - 1 : c->level);
    uint32_t word = c->rec == 0 ? c->slot : at(rec);
    uint16_t old = ADAMB_VALUE_MAX;
    if (has_flag(w, ADAMB_FLAG_PAPER)) {
        int fresh = c->rec == 0 || own_n(w, rec) == 0; /* still refers to the parent's next states */
        old = adamb_tree_q(c, w[word], fresh ? c->parent : rec, (uint8_t)(c->level - fresh));
        add_sample(c, rec, level, reward, next_code);
        if (c->rec != 0) {
            gather_all(c, rec, level); /* a parent's evidence was gathered on the way down */
        }
    } else {
        add_sample(c, rec, level, reward, next_code);
        gather_near(c);
    }
    uint16_t q = min16(old, adamb_tree_clip(c, (int32_t)(c->value + adamb_adapt_bonus(c, c->weight))));
    w[word] = adamb_tree_surplus(q - (int32_t)c->expected + ADAMB_SURPLUS_ZERO);
    return q;
}

void adamb_learn_sample(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, uint16_t next_code)
{
    uint16_t *w = c->w;
    uint16_t q = 0;
    int settled = 0;
    descend(c, state_code, action_code);
    if (c->rec == 0) {
        count_up(w, ADAMB_H_NO_ROOM);
    }
    if (c->rec != 0 || c->parent != 0) {
        q = update(c, reward, next_code);
        settled = c->rec != 0;
    }
    if (settled && wants_split(c)) {
        split(c, state_code);
        settled = 0;
    }
    if (has_flag(w, ADAMB_FLAG_PAPER)) {
        /* The paper refreshes every state cell under the ball; so do we, at once. */
        request(w, c->step, state_code, (uint8_t)(c->d_s * c->level));
        for (uint32_t cells = c->links; cells != 0 && w[c->step + ADAMB_S_JOB_CELL] != 0; cells--) {
            adamb_learn_jobs(c);
        }
        return;
    }
    if (!settled || !adamb_value_holds(c, state_code, action_code, q)) {
        adamb_tree_scan(c, state_code);
        adamb_value_set(c, state_code);
    }
}
