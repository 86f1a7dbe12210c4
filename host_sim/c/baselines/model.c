#include "baselines/model.h"

#include <stdlib.h>

#include "baselines/model_counts.h"

struct baselines_model {
    baselines_model_config config;
    int32_t actions;
    baselines_memory *memories;
};

baselines_model *baselines_model_new(const baselines_model_config *config, const uint64_t *seeds)
{
    baselines_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return NULL;
    model->config = *config;
    model->actions = baselines_power(config->size_a, config->d_a);
    model->memories = calloc((size_t)config->n, sizeof *model->memories);
    if (model->memories == NULL) {
        free(model);
        return NULL;
    }
    for (int32_t i = 0; i < config->n; i++) {
        if (!baselines_memory_init(config, model->actions, &model->memories[i], seeds[i])) {
            baselines_model_free(model);
            return NULL;
        }
    }
    return model;
}

void baselines_model_free(baselines_model *model)
{
    for (int32_t i = 0; i < model->config.n; i++)
        baselines_memory_clear(&model->memories[i]);
    free(model->memories);
    free(model);
}

static size_t index_of(const baselines_model *model, int h, int32_t state, int32_t action)
{
    return ((size_t)h * (size_t)model->config.states + (size_t)state) * (size_t)model->actions + (size_t)action;
}

static baselines_pair *pair_of(const baselines_model *model, const baselines_memory *memory, int h, int32_t state,
                            int32_t action)
{
    return &memory->pair[index_of(model, model->config.share ? 0 : h, state, action)];
}

/* Mean reward plus the mean value of the counted next states. */
static double backup(const baselines_model *model, const baselines_memory *memory, int h, const baselines_pair *pair)
{
    if (h + 1 >= model->config.horizon || pair->total == 0)
        return pair->reward;
    const double *v = &memory->v[(size_t)(h + 1) * (size_t)model->config.states];
    double sum = 0;
    for (int32_t e = pair->head; e >= 0; e = memory->entry[e].link)
        sum += memory->entry[e].count * v[memory->entry[e].next];
    return pair->reward + sum / pair->total;
}

/* The samples of all states, weighted by the kernel, and a little optimism for where there are few. */
static double smoothed(const baselines_model *model, const baselines_memory *memory, int h, int32_t state,
                       int32_t action, double most)
{
    const double *kernel = &memory->kernel[(size_t)state * (size_t)model->config.states];
    double weight = model->config.prior, sum = weight * most;
    for (int32_t other = 0; other < memory->known; other++) {
        const baselines_pair *pair = pair_of(model, memory, h, other, action);
        if (kernel[other] == 0 || pair->n == 0)
            continue;
        weight += kernel[other] * pair->n;
        sum += kernel[other] * pair->n * backup(model, memory, h, pair);
    }
    return weight > 0 ? sum / weight + baselines_bonus(model->config.bonus, weight) : most;
}

static double plan_pair(const baselines_model *model, baselines_memory *memory, int h, int32_t state, int32_t action)
{
    double most = model->config.horizon - h, estimate = most;
    const baselines_pair *pair = pair_of(model, memory, h, state, action);
    double *q = &memory->q[index_of(model, h, state, action)];
    if (memory->kernel != NULL)
        estimate = smoothed(model, memory, h, state, action, most);
    else if (pair->n > 0)
        estimate = backup(model, memory, h, pair) + baselines_bonus(model->config.bonus, pair->n);
    estimate = estimate < most ? estimate : most;
    if (!model->config.monotone || estimate < *q)
        *q = estimate;
    return *q;
}

static void plan_state(const baselines_model *model, baselines_memory *memory, int h, int32_t state)
{
    double best = plan_pair(model, memory, h, state, 0);
    for (int32_t a = 1; a < model->actions; a++) {
        double q = plan_pair(model, memory, h, state, a);
        best = q > best ? q : best;
    }
    memory->v[(size_t)h * (size_t)model->config.states + (size_t)state] = best;
}

int baselines_model_act(void *all, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const baselines_model *model = all;
    const baselines_model_config *config = &model->config;
    for (int32_t i = 0; i < n; i++) {
        baselines_memory *memory = &model->memories[first + i];
        int32_t state = baselines_locate(config, memory, &states[(int64_t)i * config->d_s]), best = 0;
        if (!config->full)
            plan_state(model, memory, h, state);
        const double *q = &memory->q[index_of(model, h, state, 0)];
        baselines_choice choice = {0, 0};
        for (int32_t a = 0; a < model->actions; a++)
            if (baselines_take(&choice, q[a], &memory->rng))
                best = a;
        memory->played[h] = state * model->actions + best;
        baselines_centre(best, config->d_a, config->size_a, &actions[(int64_t)i * config->d_a]);
    }
    return 0;
}

int baselines_model_observe(void *all, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const baselines_model *model = all;
    const baselines_model_config *config = &model->config;
    for (int32_t i = 0; i < n; i++) {
        baselines_memory *memory = &model->memories[first + i];
        int32_t state = memory->played[h] / model->actions, action = memory->played[h] % model->actions;
        baselines_pair *pair = pair_of(model, memory, h, state, action);
        memory->visited += pair->n == 0;
        if (pair->n < BASELINES_COUNT_MAX)
            pair->n++;
        pair->reward += (rewards[i] - pair->reward) / pair->n;
        if (!config->share && h + 1 >= config->horizon)
            continue;
        int32_t to = baselines_locate(config, memory, &next[(int64_t)i * config->d_s]);
        if (!baselines_count(config, memory, pair, to))
            return -1;
    }
    return 0;
}

int baselines_model_end_episode(void *all, int32_t first, int32_t n)
{
    const baselines_model *model = all;
    for (int32_t i = 0; i < n && model->config.full; i++) {
        baselines_memory *memory = &model->memories[first + i];
        for (int h = model->config.horizon - 1; h >= 0; h--)
            for (int32_t state = 0; state < memory->known; state++)
                plan_state(model, memory, h, state);
    }
    return 0;
}

void baselines_model_counters(const baselines_model *model, int64_t *counters)
{
    for (int32_t i = 0; i < model->config.n; i++) {
        const baselines_memory *memory = &model->memories[i];
        int64_t *out = &counters[(int64_t)5 * i];
        out[0] = memory->known;
        out[1] = memory->visited;
        out[2] = memory->entries;
        out[3] = memory->halved;
        out[4] = memory->rows;
    }
}

void baselines_model_played(const baselines_model *model, int learner, int h, double *out)
{
    const baselines_memory *memory = &model->memories[learner];
    int32_t state = memory->played[h] / model->actions, action = memory->played[h] % model->actions;
    const baselines_pair *pair = pair_of(model, memory, h, state, action);
    out[0] = memory->q[index_of(model, h, state, action)];
    out[1] = pair->n;
    out[2] = pair->reward;
}
