/* Learning from a sample: the data of a ball, its estimate, when it is divided, and which cells of V follow. */
#include "adamb_internal.h"

/* The data of a ball: adding a sample, and estimating from its samples and those of the balls above. */

/* The record's own estimate: reward plus expected next value (which stays in v->expected). */
ADAMB_NOINLINE static uint32_t own_value(const adamb_call *c, adamb_visit *v, uint16_t rec, uint8_t level)
{
    uint8_t shift = (uint8_t)(16 - c->fraction);
    v->expected = adamb_counts_expect(c, rec, level);
    uint32_t value = v->expected + (((uint32_t)c->w[unit_base(rec) + ADAMB_R_REWARD] + (1u << (shift - 1))) >> shift);
    return value > ADAMB_VALUE_MAX ? ADAMB_VALUE_MAX : value;
}

static uint32_t model_ball_value(const adamb_call *c, adamb_visit *v)
{
    return own_value(c, v, v->rec, v->level);
}

static uint32_t model_parent_value(const adamb_call *c, adamb_visit *v)
{
    return own_value(c, v, v->parent, (uint8_t)(v->level - 1));
}

/* Paper: every ancestor's samples count in full; a running mean, since their number is not bounded by 2. */
static void model_gather_all(const adamb_call *c, adamb_visit *v, uint16_t rec, uint8_t level)
{
    uint32_t weight = own_n(c->w, rec) * (uint32_t)ADAMB_SAMPLE_WEIGHT, most = (uint32_t)ADAMB_SAMPLE_WEIGHT * ADAMB_N_MAX;
    if (weight != 0) {
        v->weight = (v->weight > most ? most : v->weight) + weight;
        v->value = adamb_number_blend(v->value, own_value(c, v, rec, level), weight, v->weight);
    }
}

/* Tracking: a few of the parent's samples count a quarter each, until the ball has enough of its own. */
static void model_gather_near(const adamb_call *c, adamb_visit *v)
{
    const uint16_t *w = c->w;
    uint32_t own = v->rec == 0 ? 0 : own_n(w, v->rec) * (uint32_t)ADAMB_SAMPLE_WEIGHT;
    uint32_t parent = v->parent == 0 ? 0 : own_n(w, v->parent);
    parent = own >= ADAMB_PARENT_UNTIL ? 0 : parent > ADAMB_PARENT_MOST ? ADAMB_PARENT_MOST : parent;
    v->weight = own + parent;
    if (parent == 0) {
        v->value = model_ball_value(c, v);
        return;
    }
    if (own == 0) {
        v->value = model_parent_value(c, v);
        return;
    }
    int shift = adamb_number_shift(v->weight);
    own = shifted(own, shift);
    parent = shifted(parent, shift);
    uint32_t sum = parent * model_parent_value(c, v);
    sum += own * model_ball_value(c, v);
    v->value = adamb_number_mean(sum, own + parent);
}

/* A mean reward that looks back a few samples only, so that it follows what drifts. What is further off than the noise
 * explains counts only as one of all samples: a bad one or two must not spoil what many have taught. */
static uint16_t remember(const adamb_call *c, uint32_t mean, uint32_t reward, uint32_t n)
{
    uint32_t salt = c->w[ADAMB_H_EPISODES];
    if (n <= 1u << ADAMB_MEMORY_SHIFT || c->paper) {
        return adamb_number_dithered_mean(mean, reward, n, salt);
    }
    uint32_t most = (uint32_t)c->w[c->tree + ADAMB_S_NOISE] * ADAMB_MEMORY_NOISE + ADAMB_MEMORY_MARGIN;
    uint32_t near = reward > mean + most ? mean + most : reward + most < mean ? mean - most : reward;
    mean = adamb_number_moving_average(mean, near, ADAMB_MEMORY_SHIFT, salt + n);
    return near == reward ? (uint16_t)mean : adamb_number_dithered_mean(mean, mean + reward - near, n, salt);
}

/* Count, mean reward and next states of a record after one more sample. */
static void model_add_sample(const adamb_call *c, const adamb_visit *v, uint16_t rec, uint8_t level)
{
    uint16_t *p = c->w + unit_base(rec);
    uint32_t n = own_n(c->w, rec);
    if (n < ADAMB_N_MAX) {
        n++;
        p[ADAMB_R_N]++;
    }
    p[ADAMB_R_REWARD] = remember(c, p[ADAMB_R_REWARD], v->reward, n);
    if (level != 0 && !c->held) {
        adamb_counts_add(c, rec, level, (uint16_t)(v->next >> (16 - c->d_s * level)), 1);
    }
}

/* What the sample says about noise: how far it is from what its ball predicts. */
static void model_measure_noise(const adamb_call *c, const adamb_visit *v)
{
    uint32_t shift = 16u - c->fraction, seen = (uint32_t)v->reward >> shift;
    if (v->rec == 0 || own_n(c->w, v->rec) < ADAMB_NOISE_SAMPLES) {
        return;
    }
    if (v->next_slot != 0) {
        uint32_t value = c->w[v->next_slot] & ADAMB_VALUE_MASK;
        seen += value;
        adamb_adapt_spread(c, value > v->expected ? value - v->expected : v->expected - value);
    }
    uint32_t expected = (c->w[unit_base(v->rec) + ADAMB_R_REWARD] >> shift) + v->expected;
    adamb_adapt_noise(c, seen > expected ? seen - expected : expected - seen);
}

/* One sample: find its ball, update its model and Q, split it, refresh V. */

/* Paper: gather the samples of the records above the ball. Where damage had the pool hand out a unit of the way just
 * walked, what stands there now need not be a link: the way ends then. */
static void gather_above(const adamb_call *c, adamb_visit *v, uint32_t path)
{
    const uint16_t *w = c->w;
    uint32_t slot = c->tree + ADAMB_S_ROOT, units = w[ADAMB_H_UNITS];
    v->weight = v->value = v->inherited_n = v->expected = 0;
    for (uint8_t level = 0; level < v->level && w[slot] < units; level++) {
        uint16_t rec = w[slot];
        model_gather_all(c, v, rec, level);
        v->inherited_n += own_n(w, rec);
        slot = unit_base(rec);
        for (uint32_t more = c->chunks; more != 0 && w[slot] < units; more--, path <<= 2) {
            slot = unit_base(w[slot]) + (path >> 30);
        }
    }
}

/* Is the mean of the ball known to within a part of c * 2^-level, what rewards are taken to differ by inside a ball of its
 * size? Then there is more to learn inside. */
static int known(const adamb_call *c, const adamb_visit *v, uint32_t shift)
{
    uint32_t error = adamb_number_bonus(c->w[c->tree + ADAMB_S_NOISE], (uint32_t)ADAMB_SAMPLE_WEIGHT * own_n(c->w, v->rec));
    return error << (v->level + shift) <= adamb_adapt_factor(c) << (15 - c->fraction);
}

/* A ball is divided when it has its threshold of samples. In tracking one that is known well is divided early; and small ones
 * of many dimensions in a shared tree, of which there are many, only if they are known. */
static int wants_split(const adamb_call *c, const adamb_visit *v)
{
    const uint16_t *w = c->w, *threshold = w + ADAMB_H_WORDS + v->level;
    uint32_t own = own_n(w, v->rec), n = own, paper = c->paper;
    if (v->level >= c->finest) {
        return 0;
    }
    if (has_flag(w, ADAMB_FLAG_OWN)) {
        return own + 1 >= *threshold;
    }
    if (v->level != 0) { /* tracking takes it for granted that the parent had what its own size asks for */
        n += paper && v->inherited_n < threshold[-1] ? v->inherited_n : threshold[-1];
    }
    int full = n >= *threshold && *threshold <= ADAMB_THRESHOLD_MAX;
    int late = c->shared && c->wide && v->level >= ADAMB_LATE_LEVEL;
    if (paper || (full && !late)) {
        return full;
    }
#ifdef ADAMB_WITHOUT_EARLY
    return full && known(c, v, ADAMB_LATE_ERROR_SHIFT);
#endif
    if (!full && (v->parent == 0 || (!c->held && (own & ADAMB_EARLY_MASK) != 0))) {
        return 0;
    }
    return known(c, v, c->held ? 0 : late ? ADAMB_LATE_ERROR_SHIFT : ADAMB_EARLY_ERROR_SHIFT);
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

static void split(const adamb_call *c, const adamb_visit *v)
{
    uint16_t *w = c->w;
    /* Children without room for their records would know less than their parent did. */
    if (adamb_pool_room(w) < ADAMB_SPLIT_ROOM || !adamb_tree_split(c, v->rec)) {
        saturating_inc(w, ADAMB_H_REFUSED);
        return;
    }
    for (uint8_t h = 0; !c->taught && h < (c->shared ? c->horizon : 1); h++) {
        request(w, c->tree + (uint32_t)h * ADAMB_S_WORDS, v->state, (uint8_t)(c->d_s * v->level));
    }
}

/* Refresh the next cell of the pending request of this step. */
void adamb_learn_jobs(const adamb_call *c)
{
    uint16_t *w = c->w;
    uint32_t cell = w[c->step + ADAMB_S_JOB_CELL];
    uint32_t code = w[c->step + ADAMB_S_JOB_AT];
    uint32_t one = cell & (~cell + 1);
    adamb_choice best;
    adamb_tree_scan(c, (uint16_t)code, &best);
    uint8_t depth = adamb_value_set(c, (uint16_t)code, &best);
    code = (code | (0xFFFFu >> depth)) + 1;
    if (code > (cell | (one - 1))) {
        w[c->step + ADAMB_S_JOB_CELL] = 0;
        code = 0;
    }
    w[c->step + ADAMB_S_JOB_AT] = (uint16_t)code;
}

/* Update the model of the ball with one sample and its Q; returns the Q. */
static uint16_t update(const adamb_call *c, adamb_visit *v)
{
    uint16_t *w = c->w;
    uint16_t rec = v->rec == 0 ? v->parent : v->rec; /* without a record the ball borrows its parent's */
    uint8_t level = (uint8_t)(v->rec == 0 ? v->level - 1 : v->level);
    uint32_t word = v->rec == 0 ? v->slot : unit_base(rec);
    uint16_t old = ADAMB_VALUE_MAX;
    if (c->paper) {
        int fresh = v->rec == 0 || own_n(w, rec) == 0; /* still refers to the parent's next states */
        old = adamb_tree_q(c, w[word], fresh ? v->parent : rec, (uint8_t)(v->level - fresh));
        model_add_sample(c, v, rec, level);
        if (v->rec != 0) {
            model_gather_all(c, v, rec, level); /* the parent was gathered before */
        }
    } else {
        model_add_sample(c, v, rec, level);
        model_gather_near(c, v);
        model_measure_noise(c, v);
    }
    uint32_t bonus = c->taught ? 0 : adamb_adapt_bonus(c, v->level, v->weight); /* nothing invites to leave the teacher */
    uint16_t q = min16(old, adamb_tree_clip(c, (int32_t)(v->value + bonus)));
    w[word] = adamb_tree_surplus(q - (int32_t)v->expected + ADAMB_SURPLUS_ZERO);
    return q;
}

/* Learn from one sample; returns 1 when V of its state needs a search. */
int adamb_learn_sample(const adamb_call *c, adamb_visit *v)
{
    adamb_choice ball = {0, v->action, 0};
    int settled = 0;
    uint32_t path = adamb_code_path(c, v->state, v->action);
    adamb_tree_descend(c, v, path);
    if (c->paper) {
        gather_above(c, v, path);
    }
    if (v->rec == 0) {
        saturating_inc(c->w, ADAMB_H_NO_ROOM);
    }
    if (v->rec != 0 || v->parent != 0) {
        ball.q = update(c, v);
        settled = v->rec != 0;
    }
    if (settled && wants_split(c, v)) {
        split(c, v);
        settled = 0;
    }
    if (c->paper) {
        request(c->w, c->step, v->state, (uint8_t)(c->d_s * v->level)); /* every state cell under the ball */
    }
    ball.level = v->level;
    if (c->taught && v->rec != 0) {
        adamb_value_set(c, v->state, &ball); /* what the teacher does, whatever else looks better */
        return 0;
    }
    return !settled || !adamb_value_holds(c, v->state, &ball);
}

/* A finer action within the ball is worth a try where the ball is still played. */
void adamb_learn_follow(const adamb_call *c, const adamb_visit *v, uint32_t finer)
{
    uint16_t *w = c->w;
    uint32_t bits = (uint32_t)c->d_a * v->level, action_code = v->action, inside = 16 - bits;
    if (finer == action_code) {
        return;
    }
    uint32_t centre = adamb_code_centre(action_code >> inside << inside, bits, c->d_a);
    if (!adamb_code_inside(finer, centre, c->d_a)) {
        return;
    }
    uint32_t i = adamb_value_find(w, c->step, v->state) + 2;
    if (i > c->step && (w[i] ^ action_code) >> inside == 0) { /* a damaged link may lead into the header */
        w[i] = (uint16_t)finer;
    }
}

/* V and the best action of cells other than the visited one, so that they use what was learnt elsewhere. */

/* Refresh the cell that will be played next, so that it uses what was learnt at other states and steps. With 1+1
 * dimensions it takes the place of other work, in one observe of sixteen: returns 1 then. */
int adamb_refresh_next(adamb_call *c, uint16_t code)
{
    uint8_t h = c->h;
#ifdef ADAMB_WITHOUT_AHEAD
    return 0;
#endif
    if (h + 1 == c->horizon || c->taught || (!c->wide && (adamb_number_random(c->w) & ADAMB_NEXT_MASK) != 0)) {
        return 0;
    }
    adamb_call_decode(c, c->w, (uint8_t)(h + 1));
    adamb_choice best;
    adamb_tree_scan(c, code, &best);
    adamb_value_set(c, code, &best);
    adamb_call_decode(c, c->w, h);
    return !c->wide;
}
