/* One sample: find its ball, update its model and Q, split it, refresh V. */
#include "adamb_internal.h"

/* A value in front of further blocks becomes a block of copies; 0 when there is no room. */
static uint32_t widen(uint16_t *w, uint32_t slot)
{
    uint32_t block = adamb_pool_alloc(w);
    if (block != 0) {
        uint16_t *p = w + at(block);
        p[0] = p[1] = p[2] = p[3] = w[slot];
        w[slot] = (uint16_t)block;
    }
    return block;
}

/* Walk down to the ball of a point, creating its record where there is room. */
static void descend(adamb_call *c, uint32_t path)
{
    uint16_t *w = c->w;
    uint32_t slot = c->tree + ADAMB_S_ROOT, rec, parent = 0, left = c->finest;
    for (;;) {
        ADAMB_WORK();
        rec = w[slot];
        if (!is_link(c, rec)) {
            rec = adamb_tree_create(c, slot);
            break;
        }
        uint16_t *p = w + at(rec);
        uint32_t block = p[0];
        p[ADAMB_R_N] |= ADAMB_CREDIT_FULL << ADAMB_CREDIT_SHIFT;
        if (!is_link(c, block) || left == 0) {
            break;
        }
        left--;
        parent = rec;
        for (uint32_t more = c->chunks;;) {
            slot = at(block) + (path >> 30);
            path <<= 2;
            if (--more == 0) {
                break;
            }
            block = is_link(c, w[slot]) ? w[slot] : widen(w, slot);
            if (block == 0) {
                rec = 0;
                break;
            }
        }
        if (rec == 0) {
            break;
        }
    }
    c->slot = slot;
    c->rec = (uint16_t)rec;
    c->parent = (uint16_t)parent;
    c->level = (uint8_t)(c->finest - left);
}

/* Paper: gather the samples of the records above the ball. Where damage had the pool hand out a unit of the way just
 * walked, what stands there now need not be a link: the way ends then. */
static void gather_above(adamb_call *c, uint32_t path)
{
    const uint16_t *w = c->w;
    uint32_t slot = c->tree + ADAMB_S_ROOT, units = w[ADAMB_H_UNITS];
    c->weight = c->value = c->inherited_n = c->expected = 0;
    for (uint8_t level = 0; level < c->level && w[slot] < units; level++) {
        uint16_t rec = w[slot];
        adamb_model_gather_all(c, rec, level);
        c->inherited_n += own_n(w, rec);
        slot = at(rec);
        for (uint32_t more = c->chunks; more != 0 && w[slot] < units; more--, path <<= 2) {
            slot = at(w[slot]) + (path >> 30);
        }
    }
}

/* Is the mean of the ball known to within a part of c * 2^-level, what rewards are taken to differ by inside a ball of its
 * size? Then there is more to learn inside. */
static int known(const adamb_call *c, uint32_t shift)
{
    uint32_t error = adamb_number_bonus(c->w[c->tree + ADAMB_S_NOISE], (uint32_t)ADAMB_SAMPLE_WEIGHT * own_n(c->w, c->rec));
    return error << (c->level + shift) <= adamb_adapt_factor(c) << (15 - c->fraction);
}

/* A ball is divided when it has its threshold of samples. In tracking one that is known well is divided early, while a part
 * of the block is free; and small ones of many dimensions in a shared tree, of which there are many, only if they are known. */
static int wants_split(const adamb_call *c)
{
    const uint16_t *w = c->w, *threshold = w + ADAMB_H_WORDS + c->level;
    uint32_t own = own_n(w, c->rec), n = own, paper = c->paper;
    if (c->level >= c->finest) {
        return 0;
    }
    if (has_flag(w, ADAMB_FLAG_OWN)) {
        return own + 1 >= *threshold;
    }
    if (c->level != 0) { /* tracking takes it for granted that the parent had what its own size asks for */
        n += paper && c->inherited_n < threshold[-1] ? c->inherited_n : threshold[-1];
    }
    int full = n >= *threshold && *threshold <= ADAMB_THRESHOLD_MAX;
    int late = c->shared && c->wide && c->level >= ADAMB_LATE_LEVEL;
    if (paper || (full && !late)) {
        return full;
    }
    if (!full && (c->parent == 0 || (own & ADAMB_EARLY_MASK) != 0 ||
                  adamb_pool_room(w) < w[ADAMB_H_UNITS] >> ADAMB_EARLY_ROOM_SHIFT)) {
        return 0;
    }
    return known(c, late ? ADAMB_LATE_ERROR_SHIFT : ADAMB_EARLY_ERROR_SHIFT);
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
    for (uint8_t h = 0; h < (c->shared ? c->horizon : 1); h++) {
        request(w, c->tree + (uint32_t)h * ADAMB_S_WORDS, state_code, (uint8_t)(c->d_s * c->level));
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
    uint16_t rec = c->rec == 0 ? c->parent : c->rec; /* without a record the ball borrows its parent's */
    uint8_t level = (uint8_t)(c->rec == 0 ? c->level - 1 : c->level);
    uint32_t word = c->rec == 0 ? c->slot : at(rec);
    uint16_t old = ADAMB_VALUE_MAX;
    if (c->paper) {
        int fresh = c->rec == 0 || own_n(w, rec) == 0; /* still refers to the parent's next states */
        old = adamb_tree_q(c, w[word], fresh ? c->parent : rec, (uint8_t)(c->level - fresh));
        adamb_model_add_sample(c, rec, level, reward, next_code);
        if (c->rec != 0) {
            adamb_model_gather_all(c, rec, level); /* the parent was gathered before */
        }
    } else {
        adamb_model_add_sample(c, rec, level, reward, next_code);
        adamb_model_gather_near(c);
        adamb_model_measure_noise(c, reward);
    }
    uint16_t q = min16(old, adamb_tree_clip(c, (int32_t)(c->value + adamb_adapt_bonus(c, c->weight))));
    w[word] = adamb_tree_surplus(q - (int32_t)c->expected + ADAMB_SURPLUS_ZERO);
    return q;
}

/* Learn from one sample; returns 1 when V of its state needs a search. */
int adamb_learn_sample(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, uint16_t next_code)
{
    uint16_t q = 0;
    int settled = 0;
    uint32_t path = adamb_code_path(c, state_code, action_code);
    descend(c, path);
    if (c->paper) {
        gather_above(c, path);
    }
    if (c->rec == 0) {
        count_up(c->w, ADAMB_H_NO_ROOM);
    }
    if (c->rec != 0 || c->parent != 0) {
        q = update(c, reward, next_code);
        settled = c->rec != 0;
    }
    if (settled && wants_split(c)) {
        split(c, state_code);
        settled = 0;
    }
    if (c->paper) {
        request(c->w, c->step, state_code, (uint8_t)(c->d_s * c->level)); /* every state cell under the ball */
    }
    return !settled || !adamb_value_holds(c, state_code, action_code, q);
}

/* A finer action within the ball is worth a try where the ball is still played. */
void adamb_learn_follow(const adamb_call *c, uint16_t state_code, uint16_t action_code, uint32_t finer)
{
    uint16_t *w = c->w;
    uint32_t bits = (uint32_t)c->d_a * c->level, inside = 16 - bits;
    if (finer == action_code) {
        return;
    }
    uint32_t centre = adamb_code_centre((uint32_t)action_code >> inside << inside, bits, c->d_a);
    if (!adamb_code_inside(finer, centre, c->d_a)) {
        return;
    }
    uint32_t i = adamb_value_find(w, c->step, state_code) + 2;
    if (i > c->step && (uint32_t)(w[i] ^ action_code) >> inside == 0) { /* a damaged link may lead into the header */
        w[i] = (uint16_t)finer;
    }
}
