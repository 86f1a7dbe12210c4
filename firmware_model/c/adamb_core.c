/* The public functions: configuration, act, observe, end of an episode. */
#include "adamb_internal.h"

void adamb_thresholds(adamb_config *config, uint8_t gamma, uint16_t phi_num, uint16_t phi_den)
{
    for (uint8_t level = 0; level < 15; level++) {
        uint32_t value = phi_den == 0 ? 0 : ADAMB_THRESHOLD_NEVER; /* 0 is refused by init */
        if (gamma * level < 14 && phi_den != 0) {
            value = adamb_number_divide(((uint32_t)phi_num << (gamma * level)) + phi_den - 1u, phi_den);
        }
        config->thresholds[level] = (uint16_t)(value > ADAMB_THRESHOLD_MAX ? ADAMB_THRESHOLD_NEVER : value);
    }
}

uint8_t adamb_core_fraction(uint8_t horizon)
{
    return (uint8_t)(horizon <= 7 ? 12 : horizon <= 15 ? 11 : 10);
}

/* The finest level: where codes or counts end, or where no ball can split any more. */
static uint8_t finest_level(const adamb_config *config)
{
    uint8_t most = (uint8_t)(config->d_s == 1 ? ADAMB_LEVEL_MAX : config->d_s == 2 ? 7 : 4);
    uint8_t action = (uint8_t)(config->d_a == 1 ? 14 : config->d_a == 2 ? 7 : 4);
    uint8_t level = 0;
    if (action < most) {
        most = action;
    }
    while (level < most && config->thresholds[level] <= ADAMB_THRESHOLD_MAX) {
        level++;
    }
    return level;
}

static int valid(const adamb_config *g)
{
    if (g->d_s < 1 || g->d_s > ADAMB_DIM_MAX || g->d_a < 1 || g->d_a > ADAMB_DIM_MAX) {
        return 0;
    }
    if (g->horizon < 1 || g->horizon > ADAMB_HORIZON_MAX || g->share > 2 || g->bonus > ADAMB_BONUS_MAX) {
        return 0;
    }
    if ((g->paper | g->own | g->freeze | g->random_action | g->detect | g->auto_bonus) > 1) {
        return 0;
    }
    for (uint8_t level = 0; level < 15; level++) {
        if (g->thresholds[level] < 1 || (level > 0 && g->thresholds[level] < g->thresholds[level - 1])) {
            return 0;
        }
    }
    return 1;
}

static uint32_t header_units(const adamb_config *g)
{
    return (uint32_t)(ADAMB_H_WORDS + finest_level(g) + 1 + g->horizon * ADAMB_S_WORDS + 3) >> 2;
}

int32_t adamb_required_words(const adamb_config *config)
{
    if (config == 0) {
        return ADAMB_ERR_ARGUMENT;
    }
    if (!valid(config)) {
        return ADAMB_ERR_CONFIG;
    }
    uint32_t per_step = 3u * config->horizon;
    uint32_t shared = ADAMB_SHARE_TABLE_UNITS + 3u;
    uint32_t trees = config->share == ADAMB_SHARE_OFF || per_step > shared ? per_step : shared;
    return (int32_t)((header_units(config) + ADAMB_POOL_SPARE + trees + 2u * config->horizon) * ADAMB_UNIT_WORDS);
}

/* A level consumes its d_s state bits, then its d_a action bits, two bits a block: the lowest four bits tell how many
 * of each the first block takes (state bits in the lower two), the next four the second, and so on. */
static const uint16_t division[3][3] = {{0x5, 0x45, 0x85}, {0x42, 0x82, 0x482}, {0x52, 0x452, 0x852}};

/* Mix of the words that all memory safety rests on. Stored with the hash, it tells when a bit of them has flipped. */
static uint32_t seal(const uint16_t *w)
{
    uint32_t mix = (w[ADAMB_H_UNITS] * 11u + w[ADAMB_H_DIMS]) * 11u + w[ADAMB_H_SCALE];
    mix = (mix * 11u + w[ADAMB_H_POOL_AT]) * 11u;
    return (mix ^ mix >> 13) & 0xFFFFu;
}

int adamb_init(const adamb_config *config, uint16_t *block, uint32_t words)
{
    int32_t required = adamb_required_words(config);
    if (required < 0) {
        return required;
    }
    if (block == 0) {
        return ADAMB_ERR_ARGUMENT;
    }
    if (words < (uint32_t)required) {
        return ADAMB_ERR_MEMORY;
    }
    uint32_t units = words / ADAMB_UNIT_WORDS;
    uint8_t finest = finest_level(config), fraction = adamb_core_fraction(config->horizon);
    for (uint32_t i = 0; i < words; i++) {
        block[i] = 0;
    }
    block[ADAMB_H_MAGIC] = ADAMB_MAGIC;
    block[ADAMB_H_UNITS] = (uint16_t)(units > ADAMB_UNITS_MAX ? ADAMB_UNITS_MAX : units);
    block[ADAMB_H_DIMS] = (uint16_t)(config->d_s | config->d_a << 4 | config->horizon << 8);
    block[ADAMB_H_BITS] = division[config->d_s - 1][config->d_a - 1];
    block[ADAMB_H_FLAGS] = (uint16_t)((config->paper ? ADAMB_FLAG_PAPER : 0) | (config->own ? ADAMB_FLAG_OWN : 0) |
                                      (config->freeze ? ADAMB_FLAG_FREEZE : 0) |
                                      (config->random_action ? ADAMB_FLAG_RANDOM : 0) |
                                      (config->detect ? ADAMB_FLAG_DETECT : 0) |
                                      (config->auto_bonus ? ADAMB_FLAG_AUTO_BONUS : 0));
    block[ADAMB_H_SCALE] = (uint16_t)(fraction | finest << 8);
    block[ADAMB_H_STEPS_AT] = (uint16_t)(ADAMB_H_WORDS + finest + 1);
    block[ADAMB_H_POOL_AT] = (uint16_t)header_units(config);
    block[ADAMB_H_HASH] = (uint16_t)(ADAMB_SPEC_HASH ^ seal(block));
    block[ADAMB_H_BONUS] = (uint16_t)(config->bonus >> (12 - fraction));
    block[ADAMB_H_RNG] = (uint16_t)(config->seed == 0 ? 0x5EED : config->seed);
    block[ADAMB_H_SHARE] = config->share;
    for (uint8_t level = 0; level <= finest; level++) {
        block[ADAMB_H_WORDS + level] = config->thresholds[level];
    }
    adamb_core_restart(block);
    return 0;
}

void adamb_core_decode(adamb_call *c, uint16_t *w, uint8_t h)
{
    uint16_t dims = w[ADAMB_H_DIMS];
    c->w = w;
    c->h = h;
    c->d_s = (uint8_t)(dims & 15);
    c->d_a = (uint8_t)(dims >> 4 & 15);
    c->horizon = (uint8_t)(dims >> 8);
    c->chunks = (uint8_t)((c->d_s + c->d_a + 1) >> 1);
    c->bits = division[c->d_s - 1][c->d_a - 1];
    c->fraction = (uint8_t)(w[ADAMB_H_SCALE] & 0xFF);
    c->finest = (uint8_t)(w[ADAMB_H_SCALE] >> 8);
    c->shared = w[ADAMB_H_SHARE] != ADAMB_SHARE_OFF;
    c->first = w[ADAMB_H_POOL_AT];
    c->links = w[ADAMB_H_UNITS] - c->first;
    c->step = adamb_core_step(w, h);
}

/* Forget everything learnt; configuration, counters and the sharing verdict stay. */
void adamb_core_restart(uint16_t *w)
{
    adamb_call c;
    w[ADAMB_H_FREE_HEAD] = w[ADAMB_H_FREE_N] = w[ADAMB_H_SPLITS] = 0;
    w[ADAMB_H_FRESH] = w[ADAMB_H_POOL_AT];
    for (uint32_t i = ADAMB_H_TABLE; i <= ADAMB_H_SINCE; i++) {
        w[i] = 0;
    }
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING) {
        w[ADAMB_H_TABLE] = w[ADAMB_H_POOL_AT];
        for (uint8_t i = 0; i < ADAMB_SHARE_TABLE_UNITS; i++) {
            adamb_pool_alloc(w);
        }
    }
    for (uint8_t h = 0; h < w[ADAMB_H_DIMS] >> 8; h++) {
        adamb_core_decode(&c, w, h);
        uint16_t *s = w + c.step;
        uint16_t value = (uint16_t)(ADAMB_TAG | adamb_number_initial(&c, h));
        s[ADAMB_S_ROOT] = ADAMB_TAG;
        s[ADAMB_S_V_SLOT] = value;
        s[ADAMB_S_V_AUX] = adamb_code_centre(0, 0, c.d_a);
        s[ADAMB_S_STATE] = s[ADAMB_S_ACTION] = s[ADAMB_S_JOB_CELL] = s[ADAMB_S_JOB_AT] = s[ADAMB_S_REWARD_MEAN] = 0;
        s[ADAMB_S_REWARD_TOP] = 0xFFFF;
    }
}

/* A point of the cell around an action centre. */
static uint16_t random_action(uint16_t *w, uint16_t centre, uint8_t d_a)
{
    uint16_t low = (uint16_t)(centre & -centre);
    uint16_t mask = (uint16_t)(((uint32_t)low << d_a) - 1u);
    uint16_t code = (uint16_t)((centre & ~mask) | (adamb_number_random(w) & mask));
    return (uint16_t)(code | (d_a == 3 ? 2u : 1u)); /* never 0: that means no action */
}

static int call_error(const uint16_t *w, int h, const void *argument)
{
    if (w == 0 || argument == 0) {
        return ADAMB_ERR_ARGUMENT;
    }
    if (w[ADAMB_H_MAGIC] != ADAMB_MAGIC || w[ADAMB_H_HASH] != (ADAMB_SPEC_HASH ^ seal(w))) {
        return ADAMB_ERR_BLOCK;
    }
    return h >= 0 && h < w[ADAMB_H_DIMS] >> 8 ? 0 : ADAMB_ERR_ARGUMENT;
}

/* A block of this version, and one whose sealed words are those that `init` wrote. */
int adamb_core_usable(const uint16_t *w)
{
    return call_error(w, 0, w) == 0;
}

int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action)
{
    uint16_t *w = block;
    int error = call_error(w, h, action == 0 ? 0 : state);
    if (error != 0) {
        return error;
    }
    uint8_t d_a = (uint8_t)(w[ADAMB_H_DIMS] >> 4 & 15);
    uint32_t step = adamb_core_step(w, (uint32_t)h);
    uint16_t code = adamb_code_pack(state, (uint8_t)(w[ADAMB_H_DIMS] & 15));
    uint16_t chosen = w[adamb_value_find(w, step, code, 16) + 2];
    if (has_flag(w, ADAMB_FLAG_RANDOM)) {
        chosen = random_action(w, chosen, d_a);
    }
    w[step + ADAMB_S_STATE] = code;
    w[step + ADAMB_S_ACTION] = chosen;
    adamb_code_unpack(chosen, d_a, action);
    return 0;
}

/* One piece of work towards more free units, when they run low. Its parts are called from here, not from each other,
 * so that their stack frames do not add up. */
static void reclaim(adamb_call *c)
{
    uint16_t *w = c->w;
    if (has_flag(w, ADAMB_FLAG_FREEZE) || adamb_pool_room(w) >= 4u + (uint16_t)(w[ADAMB_H_UNITS] >> 5)) {
        return;
    }
    uint16_t random = adamb_number_random(w);
    if ((random & ADAMB_RECLAIM_MASK) != 0) {
        return;
    }
    int value = (random >> 2 & 3u) == 0;
    adamb_core_decode(c, w, (uint8_t)(c->shared && !value ? 0 : (uint32_t)random * c->horizon >> 16));
    if (!value) {
        adamb_reclaim_tree(c);
    } else if (adamb_value_reclaim(c)) {
        count_up(w, ADAMB_H_RECLAIMS);
    }
}

/* V and the best action of one cell, by a search. */
static void refresh(adamb_call *c, uint8_t h, uint16_t code)
{
    adamb_core_decode(c, c->w, h);
    adamb_tree_scan(c, code);
    adamb_value_set(c, code);
}

/* What was learnt at other states and steps is news to the cell that will be played next: refresh it. Always, but in
 * problems of 1+1 dimensions, where it matters less, in one observe of eight and in the place of other work: returns 1
 * then. */
static int refresh_next(adamb_call *c, uint16_t code)
{
    uint8_t h = c->h;
    if (h + 1 == c->horizon || (c->chunks == 1 && (adamb_number_random(c->w) & ADAMB_NEXT_MASK) != 0)) {
        return 0;
    }
    refresh(c, (uint8_t)(h + 1), code);
    adamb_core_decode(c, c->w, h);
    return c->chunks == 1;
}

/* Refresh the next cell of a pending job. With more than 1+1 dimensions, where most cells are seldom visited, any cell as well,
 * of this step or of the first, which nothing looks ahead to. Returns 1 when it took the turn of other work. */
static int refresh_later(adamb_call *c)
{
    int pending = c->w[c->step + ADAMB_S_JOB_CELL] != 0;
    if (pending) {
        adamb_learn_jobs(c);
    }
    if (c->chunks > 1) {
        uint16_t random = adamb_number_random(c->w);
        refresh(c, (random & 1u) != 0 ? 0 : c->h, random);
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
    adamb_core_decode(&c, block, (uint8_t)h);
    uint16_t state = block[c.step + ADAMB_S_STATE], action = block[c.step + ADAMB_S_ACTION];
    if (action == 0) {
        return ADAMB_ERR_ORDER;
    }
    block[c.step + ADAMB_S_ACTION] = 0;
    adamb_adapt_step(&c, state, action, reward, next_state);
    uint16_t next = adamb_code_pack(next_state, c.d_s);
    int tracking = !has_flag(block, ADAMB_FLAG_PAPER), busy = tracking && refresh_next(&c, next);
    adamb_learn_sample(&c, state, action, reward, next);
    if (tracking && !busy) {
        busy = refresh_later(&c);
    }
    if (!busy) {
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
