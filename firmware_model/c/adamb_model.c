/* The data of a ball: adding a sample, and estimating from its samples and those of the balls above. */
#include "adamb_internal.h"

/* The record's own estimate: reward plus expected next value (which stays in c->expected). */
static uint32_t own_value(adamb_call *c, uint16_t rec, uint8_t level)
{
    uint8_t shift = (uint8_t)(16 - c->fraction);
    c->expected = adamb_counts_expect(c, rec, level);
    uint32_t value = c->expected + (((uint32_t)c->w[at(rec) + ADAMB_R_REWARD] + (1u << (shift - 1))) >> shift);
    return value > ADAMB_VALUE_MAX ? ADAMB_VALUE_MAX : value;
}

uint32_t adamb_model_ball_value(adamb_call *c)
{
    return own_value(c, c->rec, c->level);
}

uint32_t adamb_model_parent_value(adamb_call *c)
{
    return own_value(c, c->parent, (uint8_t)(c->level - 1));
}

/* Paper: every ancestor's samples count in full; a running mean, since their number is not bounded by 2. */
void adamb_model_gather_all(adamb_call *c, uint16_t rec, uint8_t level)
{
    uint32_t weight = own_n(c->w, rec) * (uint32_t)ADAMB_SAMPLE_WEIGHT, most = (uint32_t)ADAMB_SAMPLE_WEIGHT * ADAMB_N_MAX;
    if (weight != 0) {
        c->weight = (c->weight > most ? most : c->weight) + weight;
        c->value = adamb_number_blend(c->value, own_value(c, rec, level), weight, c->weight);
    }
}

/* Tracking: a few of the parent's samples count a quarter each, until the ball has enough of its own. */
void adamb_model_gather_near(adamb_call *c)
{
    const uint16_t *w = c->w;
    uint32_t own = c->rec == 0 ? 0 : own_n(w, c->rec) * (uint32_t)ADAMB_SAMPLE_WEIGHT;
    uint32_t parent = c->parent == 0 ? 0 : own_n(w, c->parent);
    parent = own >= ADAMB_PARENT_UNTIL ? 0 : parent > ADAMB_PARENT_MOST ? ADAMB_PARENT_MOST : parent;
    c->weight = own + parent;
    if (parent == 0) {
        c->value = adamb_model_ball_value(c);
        return;
    }
    if (own == 0) {
        c->value = adamb_model_parent_value(c);
        return;
    }
    int shift = adamb_number_shift(c->weight);
    own = shifted(own, shift);
    parent = shifted(parent, shift);
    uint32_t sum = parent * adamb_model_parent_value(c);
    sum += own * adamb_model_ball_value(c);
    c->value = adamb_number_mean(sum, own + parent);
}

/* A mean reward that looks back a few samples only, so that it follows what drifts. What is further off than the noise
 * explains counts only as one of all samples: a bad one or two must not spoil what many have taught. */
static uint16_t remember(const adamb_call *c, uint32_t mean, uint32_t reward, uint32_t n)
{
    uint32_t salt = c->w[ADAMB_H_EPISODES];
    if (n <= 1u << ADAMB_MEMORY_SHIFT || c->paper) {
        return adamb_number_follow(mean, reward, n, salt);
    }
    uint32_t most = (uint32_t)c->w[c->tree + ADAMB_S_NOISE] * ADAMB_MEMORY_NOISE + ADAMB_MEMORY_MARGIN;
    uint32_t near = reward > mean + most ? mean + most : reward + most < mean ? mean - most : reward;
    mean = adamb_number_drift(mean, near, ADAMB_MEMORY_SHIFT, salt + n);
    return near == reward ? (uint16_t)mean : adamb_number_follow(mean, mean + reward - near, n, salt);
}

/* Count, mean reward and next states of a record after one more sample. */
void adamb_model_add_sample(adamb_call *c, uint16_t rec, uint8_t level, uint16_t reward, uint16_t next_code)
{
    uint16_t *p = c->w + at(rec);
    uint32_t n = own_n(c->w, rec);
    if (n < ADAMB_N_MAX) {
        n++;
        p[ADAMB_R_N]++;
    }
    p[ADAMB_R_REWARD] = remember(c, p[ADAMB_R_REWARD], reward, n);
    if (level != 0) {
        adamb_counts_add(c, rec, level, (uint16_t)(next_code >> (16 - c->d_s * level)), 1);
    }
}

/* What the sample says about noise: how far it is from what its ball predicts. */
void adamb_model_measure_noise(const adamb_call *c, uint32_t reward)
{
    uint32_t shift = 16u - c->fraction, seen = reward >> shift;
    if (c->rec == 0 || own_n(c->w, c->rec) < ADAMB_NOISE_SAMPLES) {
        return;
    }
    if (c->next != 0) {
        uint32_t v = c->w[c->next] & ADAMB_VALUE_MASK;
        seen += v;
        adamb_adapt_spread(c, v > c->expected ? v - c->expected : c->expected - v);
    }
    uint32_t expected = (c->w[at(c->rec) + ADAMB_R_REWARD] >> shift) + c->expected;
    adamb_adapt_noise(c, seen > expected ? seen - expected : expected - seen);
}
