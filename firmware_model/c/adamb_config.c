/* What a block begins with: its configuration, what a call decodes of it, and the pool of units. */
#include "adamb_internal.h"

/* Configuration of a controller: fields, limits, the words it needs, and the words it becomes. */

void adamb_thresholds(adamb_config *config, uint8_t gamma, uint16_t phi_num, uint16_t phi_den)
{
    for (uint8_t level = 0; level <= ADAMB_LEVEL_MAX; level++) {
        uint32_t value = phi_den == 0 ? 0 : ADAMB_THRESHOLD_NEVER; /* 0 is refused by init */
        if (gamma * level < 14 && phi_den != 0) {
            value = adamb_number_divide(((uint32_t)phi_num << (gamma * level)) + phi_den - 1u, phi_den);
        }
        config->thresholds[level] = (uint16_t)(value > ADAMB_THRESHOLD_MAX ? ADAMB_THRESHOLD_NEVER : value);
    }
}

void adamb_config_default(adamb_config *config, uint8_t d_s, uint8_t d_a, uint8_t horizon)
{
    config->d_s = d_s; /* one by one: no compiler asks for memset then */
    config->d_a = d_a;
    config->horizon = horizon;
    config->mode = ADAMB_MODE_TRACKING;
    config->split_counts = ADAMB_SPLIT_COUNTS_INHERITED;
    config->share = ADAMB_SHARE_TESTING;
    config->when_full = ADAMB_WHEN_FULL_RECLAIM;
    config->random_action = 0;
    config->detect = 1;
    config->auto_bonus = 1;
    config->bonus = 0;
    config->seed = 1;
    adamb_thresholds(config, ADAMB_DEFAULT_GAMMA, ADAMB_DEFAULT_PHI, 1);
}

uint8_t adamb_config_fraction_bits(uint8_t horizon)
{
    return (uint8_t)(horizon <= 7 ? 12 : horizon <= 15 ? 11 : 10);
}

/* The finest level: where codes or counts end, or where no ball can split any more but by early division. */
static uint8_t finest_level(const adamb_config *config)
{
    uint8_t dims = config->d_s > config->d_a ? config->d_s : config->d_a, level = 0;
    uint8_t most = (uint8_t)(dims == 1 ? ADAMB_LEVEL_MAX : dims == 2 ? ADAMB_LEVEL_MAX / 2 : ADAMB_LEVEL_MAX / 3);
    while (level < most && config->thresholds[level] <= ADAMB_THRESHOLD_MAX) {
        level++;
    }
    if (config->d_s + config->d_a == 2 && !config->mode && !config->split_counts) {
        level = (uint8_t)(level + ADAMB_FINEST_EXTRA < most ? level + ADAMB_FINEST_EXTRA : most);
    }
    return level;
}

static int valid(const adamb_config *g)
{
    if (g->d_s < 1 || g->d_s > ADAMB_DIM_MAX || g->d_a < 1 || g->d_a > ADAMB_DIM_MAX) {
        return 0;
    }
    if (g->horizon < 1 || g->horizon > ADAMB_HORIZON_MAX || g->share > ADAMB_SHARE_TESTING || g->bonus > ADAMB_BONUS_MAX) {
        return 0;
    }
    if ((g->mode | g->split_counts | g->when_full | g->random_action | g->detect | g->auto_bonus) > 1) {
        return 0;
    }
    for (uint8_t level = 0; level <= ADAMB_LEVEL_MAX; level++) {
        if (g->thresholds[level] < 1 || (level > 0 && g->thresholds[level] < g->thresholds[level - 1])) {
            return 0;
        }
    }
    return 1;
}

static uint32_t header_units(const adamb_config *g)
{
    return (uint32_t)(ADAMB_H_WORDS + finest_level(g) + 1 + (g->horizon + 1) * ADAMB_S_WORDS + 3) >> 2;
}

int32_t adamb_required_words(const adamb_config *config)
{
    if (config == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!valid(config)) {
        return ADAMB_BAD_CONFIG;
    }
    uint32_t per_step = (uint32_t)ADAMB_TREE_UNITS * config->horizon;
    uint32_t shared = ADAMB_SHARE_TABLE_UNITS + ADAMB_TREE_UNITS;
    uint32_t trees = config->share == ADAMB_SHARE_OFF || per_step > shared ? per_step : shared;
    uint32_t units = header_units(config) + ADAMB_POOL_SPARE + trees + (uint32_t)ADAMB_VALUE_UNITS * config->horizon;
    return (int32_t)(units * ADAMB_UNIT_WORDS);
}

/* Clear the block and write its configuration, all but what a restart sets. */
void adamb_config_write_header(const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint32_t units = words / ADAMB_UNIT_WORDS;
    uint8_t finest = finest_level(config), fraction = adamb_config_fraction_bits(config->horizon);
    for (uint32_t i = 0; i < words; i++) {
        block[i] = 0;
    }
    block[ADAMB_H_MAGIC] = ADAMB_MAGIC;
    block[ADAMB_H_UNITS] = (uint16_t)(units > ADAMB_UNITS_MAX ? ADAMB_UNITS_MAX : units);
    block[ADAMB_H_DIMS] = (uint16_t)(config->d_s | config->d_a << 4 | config->horizon << 8);
    block[ADAMB_H_BITS] = adamb_code_division(config->d_s, config->d_a);
    block[ADAMB_H_FLAGS] = (uint16_t)((config->mode ? ADAMB_FLAG_PAPER : 0) |
                                      (config->split_counts ? ADAMB_FLAG_OWN : 0) |
                                      (config->when_full ? ADAMB_FLAG_FREEZE : 0) |
                                      (config->random_action ? ADAMB_FLAG_RANDOM : 0) |
                                      (config->detect ? ADAMB_FLAG_DETECT : 0) |
                                      (config->auto_bonus ? ADAMB_FLAG_AUTO_BONUS : 0));
    block[ADAMB_H_SCALE] = (uint16_t)(fraction | finest << 8);
    block[ADAMB_H_STEPS_AT] = (uint16_t)(ADAMB_H_WORDS + finest + 1);
    block[ADAMB_H_POOL_AT] = (uint16_t)header_units(config);
    block[ADAMB_H_HASH] = (uint16_t)(ADAMB_SPEC_HASH ^ adamb_config_seal(block));
    block[ADAMB_H_BONUS] = (uint16_t)(config->bonus >> (12 - fraction));
    block[ADAMB_H_RNG] = (uint16_t)(config->seed == 0 ? ADAMB_SEED_ZERO : config->seed);
    block[ADAMB_H_SHARE] = config->share;
    for (uint8_t level = 0; level <= finest; level++) {
        block[ADAMB_H_WORDS + level] = config->thresholds[level];
    }
}

/* What a call needs to know, decoded from the block; the restart. */

void adamb_call_decode(adamb_call *c, uint16_t *w, uint8_t h)
{
    uint16_t dims = w[ADAMB_H_DIMS];
    c->w = w;
    c->h = h;
    c->held = h == dims >> 8;
    c->d_s = (uint8_t)(c->held ? 0 : dims & 15);
    c->d_a = (uint8_t)(dims >> 4 & 15);
    c->horizon = (uint8_t)((dims >> 8) + c->held);
    c->chunks = (uint8_t)((c->d_s + c->d_a + 1) >> 1);
    c->bits = adamb_code_division(c->d_s, c->d_a);
    c->fraction = (uint8_t)(w[ADAMB_H_SCALE] & 0xFF);
    c->finest = (uint8_t)(w[ADAMB_H_SCALE] >> 8);
    c->shared = w[ADAMB_H_SHARE] != ADAMB_SHARE_OFF && !c->held;
    c->paper = w[ADAMB_H_FLAGS] & ADAMB_FLAG_PAPER;
    c->taught = w[ADAMB_H_HELD] == ADAMB_HELD_TAUGHT && !has_flag(w, ADAMB_FLAG_PAPER | ADAMB_FLAG_RANDOM) && !c->held;
    c->wide = c->chunks > 1 && !c->paper && !c->held;
    c->first = w[ADAMB_H_POOL_AT];
    c->links = w[ADAMB_H_UNITS] - c->first;
    c->tree = adamb_call_step(w, 0);
    c->step = c->tree + h * (uint32_t)ADAMB_S_WORDS;
    if (!c->shared) {
        c->tree = c->step;
    }
}


/* Units of four words: a list of returned units, and the never used rest behind `fresh`. */

uint16_t adamb_pool_room(const uint16_t *w)
{
    return (uint16_t)(w[ADAMB_H_FREE_N] + w[ADAMB_H_UNITS] - w[ADAMB_H_FRESH]);
}

static int inside(const uint16_t *w, uint16_t unit)
{
    return unit >= w[ADAMB_H_POOL_AT] && unit < w[ADAMB_H_UNITS];
}

uint16_t adamb_pool_alloc(uint16_t *w)
{
    uint16_t unit = w[ADAMB_H_FREE_HEAD];
    if (inside(w, unit)) {
        w[ADAMB_H_FREE_HEAD] = w[unit_base(unit)];
        w[ADAMB_H_FREE_N]--;
    } else if (inside(w, w[ADAMB_H_FRESH])) {
        unit = w[ADAMB_H_FRESH]++;
    } else {
        return 0;
    }
    uint16_t *p = w + unit_base(unit);
    p[0] = p[1] = p[2] = p[3] = 0;
    uint16_t used = (uint16_t)(w[ADAMB_H_FRESH] - w[ADAMB_H_POOL_AT] - w[ADAMB_H_FREE_N]);
    if (used > w[ADAMB_H_USED_PEAK]) {
        w[ADAMB_H_USED_PEAK] = used;
    }
    return unit;
}

void adamb_pool_free(uint16_t *w, uint16_t unit)
{
    if (!inside(w, unit)) {
        return;
    }
    uint16_t *p = w + unit_base(unit);
    p[0] = w[ADAMB_H_FREE_HEAD];
    p[1] = p[2] = p[3] = 0; /* a dump then shows freed units as such, and twins compare equal */
    w[ADAMB_H_FREE_HEAD] = unit;
    w[ADAMB_H_FREE_N]++;
}
