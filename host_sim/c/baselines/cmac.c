#include "baselines/cmac.h"

#include <stdlib.h>

#include "baselines/common.h"

enum { MAX_TILINGS = 64 };

struct baselines_cmac {
    baselines_cmac_config config;
    int32_t candidates, tables;
    uint32_t tiles; /* per tiling: one more than `size` per dimension, because tilings are shifted */
    double *weight; /* learner, step (one when shared), tiling, weight */
    int32_t *active; /* learner, step, tiling: the weights of the last action */
    double *reward; /* learner: of the step before */
    sim_rng *rng;
};

/* The largest return: all steps that are left, or a discounted run without end. */
static double largest_return(const baselines_cmac_config *config, int h)
{
    return config->share ? 1 / (1 - config->discount) : config->horizon - h;
}

static void start_weights(baselines_cmac *cmac, const uint64_t *seeds)
{
    const baselines_cmac_config *config = &cmac->config;
    size_t table = (size_t)config->tilings * (size_t)config->weights;
    for (int32_t i = 0; i < config->n; i++) {
        sim_rng_seed(&cmac->rng[i], seeds[i]);
        for (int h = 0; h < cmac->tables; h++) {
            double *weight = &cmac->weight[((size_t)i * (size_t)cmac->tables + (size_t)h) * table];
            for (size_t j = 0; j < table; j++)
                weight[j] = config->start * largest_return(config, h) / config->tilings;
        }
    }
}

baselines_cmac *baselines_cmac_new(const baselines_cmac_config *config, const uint64_t *seeds)
{
    baselines_cmac *cmac = calloc(1, sizeof *cmac);
    if (cmac == NULL)
        return NULL;
    cmac->config = *config;
    cmac->candidates = baselines_power(config->actions, config->d_a);
    cmac->tiles = (uint32_t)baselines_power(config->size + 1, config->d_s + config->d_a);
    cmac->tables = config->share ? 1 : config->horizon;
    size_t n = (size_t)config->n, tilings = (size_t)config->tilings, weights = (size_t)config->weights;
    cmac->weight = malloc(n * (size_t)cmac->tables * tilings * weights * sizeof *cmac->weight);
    cmac->active = calloc(n * (size_t)config->horizon * tilings, sizeof *cmac->active);
    cmac->reward = calloc(n, sizeof *cmac->reward);
    cmac->rng = calloc(n, sizeof *cmac->rng);
    if (!cmac->weight || !cmac->active || !cmac->reward || !cmac->rng) {
        baselines_cmac_free(cmac);
        return NULL;
    }
    start_weights(cmac, seeds);
    return cmac;
}

void baselines_cmac_free(baselines_cmac *cmac)
{
    free(cmac->weight);
    free(cmac->active);
    free(cmac->reward);
    free(cmac->rng);
    free(cmac);
}

/* Tiling t is shifted by (1, 3, 5, ...) * t / tilings of a tile along the dimensions: uneven shifts keep the
 * tilings from lining up along the diagonal. */
static uint32_t tile_of(const baselines_cmac *cmac, int tiling, const double *state, const double *action)
{
    const baselines_cmac_config *config = &cmac->config;
    uint32_t tile = 0;
    for (int i = 0; i < config->d_s + config->d_a; i++) {
        double x = i < config->d_s ? state[i] : action[i - config->d_s];
        double shift = (double)((2 * i + 1) * tiling % config->tilings) / config->tilings;
        int at = (int)(x * config->size + shift);
        at = at > config->size ? config->size : at < 0 ? 0 : at;
        tile = tile * (uint32_t)(config->size + 1) + (uint32_t)at;
    }
    return tile;
}

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static void find_weights(const baselines_cmac *cmac, const double *state, const double *action, int32_t *active)
{
    uint32_t weights = (uint32_t)cmac->config.weights;
    for (int t = 0; t < cmac->config.tilings; t++) {
        uint32_t tile = tile_of(cmac, t, state, action);
        active[t] = (int32_t)(weights < cmac->tiles ? mix(tile * 64u + (uint32_t)t) % weights : tile);
    }
}

static double *step_weights(const baselines_cmac *cmac, int32_t learner, int h)
{
    const baselines_cmac_config *config = &cmac->config;
    size_t table = (size_t)learner * (size_t)cmac->tables + (config->share ? 0 : (size_t)h);
    return &cmac->weight[table * (size_t)config->tilings * (size_t)config->weights];
}

static int32_t *step_active(const baselines_cmac *cmac, int32_t learner, int h)
{
    const baselines_cmac_config *config = &cmac->config;
    return &cmac->active[((size_t)learner * (size_t)config->horizon + (size_t)h) * (size_t)config->tilings];
}

static double sum_weights(const baselines_cmac *cmac, const double *weight, const int32_t *active)
{
    double sum = 0;
    for (int t = 0; t < cmac->config.tilings; t++)
        sum += weight[t * cmac->config.weights + active[t]];
    return sum;
}

double baselines_cmac_value(const baselines_cmac *cmac, int learner, int h, const double *state, const double *action)
{
    int32_t active[MAX_TILINGS];
    find_weights(cmac, state, action, active);
    return sum_weights(cmac, step_weights(cmac, learner, h), active);
}

static void move_towards(baselines_cmac *cmac, int32_t learner, int h, double target)
{
    double *weight = step_weights(cmac, learner, h);
    const int32_t *active = step_active(cmac, learner, h);
    double change = cmac->config.rate * (target - sum_weights(cmac, weight, active)) / cmac->config.tilings;
    for (int t = 0; t < cmac->config.tilings; t++)
        weight[t * cmac->config.weights + active[t]] += change;
}

static int32_t best_action(baselines_cmac *cmac, int32_t learner, int h, const double *state, double *value)
{
    baselines_choice choice = {0, 0};
    int32_t best = 0;
    double action[BASELINES_MAX_DIM];
    for (int32_t a = 0; a < cmac->candidates; a++) {
        baselines_centre(a, cmac->config.d_a, cmac->config.actions, action);
        if (baselines_take(&choice, baselines_cmac_value(cmac, learner, h, state, action), &cmac->rng[learner]))
            best = a;
    }
    *value = choice.best;
    return best;
}

static int32_t choose(baselines_cmac *cmac, int32_t learner, int h, const double *state)
{
    sim_rng *rng = &cmac->rng[learner];
    double value;
    if (cmac->config.epsilon > 0 && sim_rng_uniform(rng) < cmac->config.epsilon)
        return (int32_t)(sim_rng_next(rng) % (uint32_t)cmac->candidates);
    return best_action(cmac, learner, h, state, &value);
}

/* SARSA: the step before is learned from the action that was really taken next. */
int baselines_cmac_act(void *all, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    baselines_cmac *cmac = all;
    const baselines_cmac_config *config = &cmac->config;
    for (int32_t i = first; i < first + n; i++) {
        const double *state = &states[(int64_t)(i - first) * config->d_s];
        double *action = &actions[(int64_t)(i - first) * config->d_a];
        baselines_centre(choose(cmac, i, h, state), config->d_a, config->actions, action);
        int32_t *active = step_active(cmac, i, h);
        find_weights(cmac, state, action, active);
        if (h > 0) {
            double following = sum_weights(cmac, step_weights(cmac, i, h), active);
            move_towards(cmac, i, h - 1, cmac->reward[i] + (config->share ? config->discount : 1) * following);
        }
    }
    return 0;
}

/* The last step is followed by nothing, or by the best that a table without steps can promise there. */
int baselines_cmac_observe(void *all, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    baselines_cmac *cmac = all;
    const baselines_cmac_config *config = &cmac->config;
    for (int32_t i = first; i < first + n; i++) {
        cmac->reward[i] = rewards[i - first];
        if (h < config->horizon - 1)
            continue;
        double value = 0;
        if (config->share)
            best_action(cmac, i, h, &next[(int64_t)(i - first) * config->d_s], &value);
        move_towards(cmac, i, h, cmac->reward[i] + config->discount * value);
    }
    return 0;
}
