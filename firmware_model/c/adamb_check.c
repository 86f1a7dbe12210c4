/* Diagnosis: the self-check, the counters, and codes in words. */
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"

/* Whether a header, a step, a record or a cell is valid by itself; used by the walks of check and guard. */

static int entry_ok(const adamb_call *c, uint16_t word, uint32_t level)
{
    return !is_value(word) || (word & ((1u << (15 - c->d_s * level)) - 1u)) != 0;
}

/* Whether a record is valid by itself: it has a sample, and no count is 0; level 0 and the held step have no counts. */
int adamb_words_record(const adamb_call *c, uint32_t rec, uint32_t level)
{
    uint16_t n = c->w[unit_base(rec) + ADAMB_R_N], counts = c->w[unit_base(rec) + ADAMB_R_COUNTS];
    return !is_value(n) && (n & ADAMB_N_MAX) != 0 && (c->d_s * level == 0 ? counts == 0 : entry_ok(c, counts, level));
}

/* A unit of counts: entries or nothing, but for the link to the next one that the paper's mode has in front. */
int adamb_words_counts(const adamb_call *c, uint32_t unit, uint32_t level)
{
    int good = 1;
    for (uint32_t i = unit_base(unit); i < unit_base(unit) + 4; i++) {
        int may_link = i == unit_base(unit) && has_flag(c->w, ADAMB_FLAG_PAPER);
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
        pool != (c->step + (horizon + 1) * ADAMB_S_WORDS + 3) >> 2 || pool > fresh || fresh > units || free_n > fresh - pool ||
        peak < fresh - pool - free_n || peak > units - pool || w[ADAMB_H_RNG] == 0 || share > ADAMB_SHARE_TESTING ||
        w[ADAMB_H_TABLE] != (share == ADAMB_SHARE_TESTING ? pool : 0) || w[ADAMB_H_FLAGS] >= 2 * ADAMB_FLAG_AUTO_BONUS ||
        w[ADAMB_H_BONUS] > (uint32_t)ADAMB_BONUS_MAX >> (12 - c->fraction) || w[ADAMB_H_SAME_N] > ADAMB_SHARE_COUNT_MAX ||
        w[ADAMB_H_OTHER_N] > ADAMB_SHARE_COUNT_MAX || w[ADAMB_H_HELD] > ADAMB_HELD_TAUGHT ||
        w[ADAMB_H_HELD_N] > ADAMB_DETECT_WINDOW || w[ADAMB_H_STEPS_N] > ADAMB_DETECT_WINDOW) {
        return 0;
    }
    int good = 1;
    int early = c->chunks == 1 && !has_flag(w, ADAMB_FLAG_PAPER | ADAMB_FLAG_OWN);
    uint32_t last = early ? 1u + ADAMB_FINEST_EXTRA : 1u; /* levels whose threshold may be "never" */
    for (uint32_t i = ADAMB_H_WORDS, least = 1; i < c->step; least = w[i++]) {
        good &= w[i] >= least && (i + last >= c->step || w[i] <= ADAMB_THRESHOLD_MAX);
    }
    for (uint32_t h = 0; h <= horizon; h++) {
        good &= step_ok(c, w + adamb_call_step(w, h));
    }
    return good;
}

/* The full self-check and the counters. Nothing in the block is trusted before it has been compared. */

#define MIX 0x9E3779B1u /* odd: products of different units differ */

/* What the walk has met so far: each unit must come up exactly once, so their number, sum and mix must be those of
 * all units; a unit met twice for another one missed changes them. */
typedef struct {
    const uint16_t *w;
    adamb_call c;
    uint32_t met, sum, mix, splits;
    int bad;
} adamb_walk;

static int meet(adamb_walk *k, uint16_t unit)
{
    k->met++;
    k->sum += unit;
    k->mix ^= unit * MIX;
    if (unit < k->w[ADAMB_H_POOL_AT] || unit >= k->w[ADAMB_H_FRESH] || k->met > k->w[ADAMB_H_UNITS]) {
        k->bad = 1;
    }
    return !k->bad;
}

static void walk_counts(adamb_walk *k, uint16_t rec, uint8_t level)
{
    uint16_t unit = k->w[unit_base(rec) + ADAMB_R_COUNTS];
    k->bad |= !adamb_words_record(&k->c, rec, level);
    while (unit != 0 && !is_value(unit) && meet(k, unit)) {
        k->bad |= !adamb_words_counts(&k->c, unit, level);
        unit = k->w[unit_base(unit)];
    }
}

/* Depth first through a partition; slot and block of every depth are kept, so no recursion. */
static void walk_tree(adamb_walk *k, uint32_t root)
{
    const uint16_t *w = k->w;
    uint16_t block[ADAMB_PATH_MAX];
    uint8_t next[ADAMB_PATH_MAX];
    uint8_t depth = 0, most = (uint8_t)(k->c.finest * k->c.chunks);
    uint32_t slot = root;
    for (;;) {
        uint16_t word = w[slot], below = 0;
        uint8_t level = (uint8_t)adamb_number_divide(depth, k->c.chunks), chunk = (uint8_t)(depth - level * k->c.chunks);
        if (!is_value(word)) {
            if (!meet(k, word)) {
                return;
            }
            below = word;
            if (chunk == 0) {
                walk_counts(k, word, level);
                below = is_value(w[unit_base(word)]) ? 0 : w[unit_base(word)];
                k->bad |= w[unit_base(word)] == 0; /* neither a leaf's value nor a link */
                k->splits += below != 0 && !k->c.held;
                if (k->bad || (below != 0 && (depth >= most || !meet(k, below)))) {
                    k->bad = 1;
                    return;
                }
            }
        }
        if (below != 0) {
            block[depth] = below;
            next[depth++] = 0;
        }
        for (;;) { /* to the next slot, up where a block is done */
            if (depth == 0) {
                return;
            }
            level = (uint8_t)adamb_number_divide(depth - 1u, k->c.chunks);
            chunk = (uint8_t)(depth - 1 - level * k->c.chunks);
            if (next[depth - 1] < 1u << (adamb_code_state_bits(&k->c, chunk) + adamb_code_action_bits(&k->c, chunk))) {
                slot = unit_base(block[depth - 1]) + next[depth - 1]++;
                break;
            }
            depth--;
        }
    }
}

/* Depth first through a value tree; means are checked against both sides on the way. */
static void walk_value(adamb_walk *k)
{
    const uint16_t *w = k->w;
    uint32_t path[ADAMB_PATH_MAX];
    uint32_t slot = k->c.step + ADAMB_S_V_SLOT;
    uint8_t depth = 0;
    for (;;) {
        if (!is_value(w[slot])) {
            if (depth >= k->c.d_s * k->c.finest || !meet(k, w[slot])) {
                k->bad = 1;
                return;
            }
            uint32_t node = unit_base(w[slot]);
            k->bad |= w[slot + 2] != adamb_value_mean(w, node);
            path[depth++] = slot;
            slot = node;
            continue;
        }
        k->bad |= !adamb_words_cell(&k->c, slot);
        while (depth != 0 && slot == unit_base(w[path[depth - 1]]) + 1) {
            slot = path[--depth];
        }
        if (depth == 0) {
            return;
        }
        slot++;
    }
}

int adamb_check(const uint16_t *block, uint32_t words)
{
    adamb_walk k = {.w = block};
    if (block == 0 || words < ADAMB_H_WORDS) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_words_header(&k.c, block, words)) {
        return ADAMB_BAD_BLOCK;
    }
    uint32_t free_n = 0, first = block[ADAMB_H_POOL_AT], last = block[ADAMB_H_FRESH];
    for (uint8_t h = 0; h <= block[ADAMB_H_DIMS] >> 8 && !k.bad; h++) {
        adamb_call_decode(&k.c, (uint16_t *)(uintptr_t)block, h); /* the walk only reads */
        walk_value(&k);
        if (!k.bad && (h == 0 || !k.c.shared)) {
            walk_tree(&k, k.c.step + ADAMB_S_ROOT);
        }
    }
    for (uint16_t i = 0; i < ADAMB_SHARE_TABLE_UNITS && block[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING; i++) {
        meet(&k, (uint16_t)(block[ADAMB_H_TABLE] + i));
    }
    for (uint16_t unit = block[ADAMB_H_FREE_HEAD]; unit != 0 && meet(&k, unit); unit = block[unit_base(unit)]) {
        k.bad |= (block[unit_base(unit) + 1] | block[unit_base(unit) + 2] | block[unit_base(unit) + 3]) != 0;
        free_n++;
    }
    for (uint32_t unit = first; unit < last; unit++) {
        k.met--;
        k.sum -= unit;
        k.mix ^= unit * MIX;
    }
    k.bad |= free_n != block[ADAMB_H_FREE_N] || k.splits != block[ADAMB_H_SPLITS];
    return k.bad || k.met != 0 || k.sum != 0 || k.mix != 0 ? ADAMB_BAD_BLOCK : 0;
}

int adamb_stats(const uint16_t *block, adamb_statistics *stats)
{
    const uint16_t *w = block;
    adamb_call c;
    if (w == 0 || stats == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_config_usable(w)) {
        return ADAMB_BAD_BLOCK;
    }
    adamb_call_decode(&c, (uint16_t *)(uintptr_t)w, 0); /* only reads */
    stats->episodes = (uint32_t)w[ADAMB_H_EPISODES_HIGH] << 16 | w[ADAMB_H_EPISODES];
    stats->units = w[ADAMB_H_UNITS];
    stats->units_used = (uint16_t)(w[ADAMB_H_FRESH] - w[ADAMB_H_POOL_AT] - w[ADAMB_H_FREE_N]);
    stats->units_peak = w[ADAMB_H_USED_PEAK];
    stats->units_header = w[ADAMB_H_POOL_AT];
    stats->splits = w[ADAMB_H_SPLITS];
    stats->trees = c.shared ? 1 : c.horizon;
    stats->finest = c.finest;
    stats->share = w[ADAMB_H_SHARE];
    stats->bonus = (uint16_t)(adamb_adapt_factor(&c) << (12 - c.fraction));
    stats->refused = w[ADAMB_H_REFUSED];
    stats->no_room = w[ADAMB_H_NO_ROOM];
    stats->reclaims = w[ADAMB_H_RECLAIMS];
    stats->saturations = w[ADAMB_H_SATURATIONS];
    stats->restarts = w[ADAMB_H_RESTARTS];
    return 0;
}

/* Codes in words. Nothing in the core calls this. */

#ifndef ADAMB_NO_ERROR_TEXT
const char *adamb_error_text(int code)
{
    switch (code) {
    case ADAMB_OK:
        return "no error";
    case ADAMB_BAD_ARGUMENT:
        return "null pointer, or step outside the horizon";
    case ADAMB_BAD_CONFIG:
        return "configuration outside its limits";
    case ADAMB_NO_MEMORY:
        return "not enough memory";
    case ADAMB_BAD_BLOCK:
        return "not a block of this version, or damaged";
    case ADAMB_BAD_ORDER:
        return "observe without act";
    case ADAMB_STORE_EMPTY:
        return "no completed save in the store";
    case ADAMB_STORE_DEVICE:
        return "the storage failed";
    case ADAMB_BAD_DIMENSIONS:
        return "a save of other dimensions or another horizon";
    default:
        return "not an error code";
    }
}
#endif
