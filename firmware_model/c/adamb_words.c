/* Whether a header, a step, a record or a cell is valid by itself; used by the walks of check and guard. */
#include "adamb_internal.h"

static int entry_ok(const adamb_call *c, uint16_t word, uint32_t level)
{
    return !is_value(word) || (word & ((1u << (15 - c->d_s * level)) - 1u)) != 0;
}

/* Whether a record is valid by itself: it has a sample, and no count is 0; level 0 has no counts. */
int adamb_words_record(const adamb_call *c, uint32_t rec, uint32_t level)
{
    uint16_t n = c->w[at(rec) + ADAMB_R_N], counts = c->w[at(rec) + ADAMB_R_COUNTS];
    return !is_value(n) && (n & ADAMB_N_MAX) != 0 && (level == 0 ? counts == 0 : entry_ok(c, counts, level));
}

/* A unit of counts: entries or nothing, but for the link to the next one that the paper's mode has in front. */
int adamb_words_counts(const adamb_call *c, uint32_t unit, uint32_t level)
{
    int good = 1;
    for (uint32_t i = at(unit); i < at(unit) + 4; i++) {
        int may_link = i == at(unit) && has_flag(c->w, ADAMB_FLAG_PAPER);
        good &= entry_ok(c, c->w[i], level) && (c->w[i] == 0 || is_value(c->w[i]) || may_link);
    }
    return good;
}

/* The centre of an action cell of a level that there is. */
static int is_centre(const adamb_call *c, uint32_t action)
{
    uint32_t low = action & (~action + 1u), ones = (low << c->d_a) - low;
    return (action & ones) == ones && low >> (16 - c->d_a * (c->finest + 1)) != 0;
}

static int action_ok(const adamb_call *c, uint32_t action)
{
    return action == 0 || is_centre(c, action);
}

/* A cell of V: no more than can be earned, and the centre of an action cell. */
int adamb_words_cell(const adamb_call *c, uint32_t slot)
{
    return (c->w[slot] & ADAMB_VALUE_MASK) <= adamb_number_initial(c, c->h) && is_centre(c, c->w[slot + 2]);
}

/* A step's pending job, if there is one, is inside the cell that it is for; a state of three coordinates has an even code;
 * actions, if there are any, are centres unless they are random. */
static int step_ok(const adamb_call *c, const uint16_t *s)
{
    uint32_t cell = s[ADAMB_S_JOB_CELL], one = cell & (~cell + 1u);
    return (cell == 0 ? s[ADAMB_S_JOB_AT] == 0 : ((s[ADAMB_S_JOB_AT] ^ cell) & ~(2 * one - 1)) == 0) &&
           (c->d_s != 3 || (s[ADAMB_S_STATE] & 1) == 0) &&
           (has_flag(c->w, ADAMB_FLAG_RANDOM) || (action_ok(c, s[ADAMB_S_ACTION]) && action_ok(c, s[ADAMB_S_LAST])));
}

/* Whether header and steps are valid by themselves: the walk relies on nothing else. */
int adamb_words_header(adamb_call *c, const uint16_t *w, uint32_t words)
{
    uint32_t d_s = w[ADAMB_H_DIMS] & 15u, d_a = w[ADAMB_H_DIMS] >> 4 & 15u, horizon = w[ADAMB_H_DIMS] >> 8;
    uint32_t finest = w[ADAMB_H_SCALE] >> 8, pool = w[ADAMB_H_POOL_AT], fresh = w[ADAMB_H_FRESH], units = w[ADAMB_H_UNITS];
    uint32_t free_n = w[ADAMB_H_FREE_N], peak = w[ADAMB_H_USED_PEAK], share = w[ADAMB_H_SHARE];
    if (!adamb_config_usable(w) || d_s < 1 || d_s > ADAMB_DIM_MAX || d_a < 1 || d_a > ADAMB_DIM_MAX ||
        horizon < 1 || horizon > ADAMB_HORIZON_MAX || finest * d_s > ADAMB_LEVEL_MAX || (finest + 1) * d_a > 16 ||
        (w[ADAMB_H_SCALE] & 0xFF) != adamb_config_fraction_bits((uint8_t)horizon)) {
        return 0;
    }
    adamb_call_decode(c, (uint16_t *)(uintptr_t)w, 0); /* only to be read */
    if (w[ADAMB_H_BITS] != c->bits || w[ADAMB_H_STEPS_AT] != c->step || units > words / 4 || units > ADAMB_UNITS_MAX ||
        pool != (c->step + horizon * ADAMB_S_WORDS + 3) >> 2 || pool > fresh || fresh > units || free_n > fresh - pool ||
        peak < fresh - pool - free_n || peak > units - pool || w[ADAMB_H_RNG] == 0 || share > ADAMB_SHARE_TESTING ||
        w[ADAMB_H_TABLE] != (share == ADAMB_SHARE_TESTING ? pool : 0) || w[ADAMB_H_FLAGS] >= 2 * ADAMB_FLAG_AUTO_BONUS ||
        w[ADAMB_H_BONUS] > (uint32_t)ADAMB_BONUS_MAX >> (12 - c->fraction) || w[ADAMB_H_SAME_N] > ADAMB_SHARE_COUNT_MAX ||
        w[ADAMB_H_OTHER_N] > ADAMB_SHARE_COUNT_MAX) {
        return 0;
    }
    int good = 1;
    int early = c->chunks == 1 && !has_flag(w, ADAMB_FLAG_PAPER | ADAMB_FLAG_OWN);
    uint32_t last = early ? 1u + ADAMB_FINEST_EXTRA : 1u; /* levels whose threshold may be "never" */
    for (uint32_t i = ADAMB_H_WORDS, least = 1; i < c->step; least = w[i++]) {
        good &= w[i] >= least && (i + last >= c->step || w[i] <= ADAMB_THRESHOLD_MAX);
    }
    for (uint32_t h = 0; h < horizon; h++) {
        good &= step_ok(c, w + adamb_call_step(w, h));
    }
    return good;
}
