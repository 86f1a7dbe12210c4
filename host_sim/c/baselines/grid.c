#include "baselines/grid.h"

#include <stdlib.h>

#include "baselines/common.h"

struct baselines_grid {
    baselines_grid_config config;
    int32_t states, actions, count_steps;
    double *q;       /* learner, step, state, action */
    uint16_t *count; /* learner, step (one when shared), state, action */
    int32_t *played; /* learner, step: state * actions + action */
    int64_t *visited;
    sim_rng *rng;
};

static double *q_at(const baselines_grid *grid, int32_t learner, int h, int32_t pair)
{
    size_t pairs = (size_t)grid->states * (size_t)grid->actions;
    return &grid->q[((size_t)learner * (size_t)grid->config.horizon + (size_t)h) * pairs + (size_t)pair];
}

static uint16_t *count_at(const baselines_grid *grid, int32_t learner, int h, int32_t pair)
{
    size_t pairs = (size_t)grid->states * (size_t)grid->actions;
    size_t step = grid->count_steps == 1 ? 0 : (size_t)h;
    return &grid->count[((size_t)learner * (size_t)grid->count_steps + step) * pairs + (size_t)pair];
}

static void start_values(baselines_grid *grid, const uint64_t *seeds)
{
    int32_t pairs = grid->states * grid->actions;
    for (int32_t i = 0; i < grid->config.n; i++) {
        sim_rng_seed(&grid->rng[i], seeds[i]);
        for (int h = 0; h < grid->config.horizon; h++)
            for (int32_t pair = 0; pair < pairs; pair++)
                *q_at(grid, i, h, pair) = grid->config.horizon - h;
    }
}

baselines_grid *baselines_grid_new(const baselines_grid_config *config, const uint64_t *seeds)
{
    baselines_grid *grid = calloc(1, sizeof *grid);
    if (grid == NULL)
        return NULL;
    grid->config = *config;
    grid->states = baselines_power(config->size_s, config->d_s);
    grid->actions = baselines_power(config->size_a, config->d_a);
    grid->count_steps = config->share ? 1 : config->horizon;
    size_t n = (size_t)config->n, steps = (size_t)config->horizon;
    size_t pairs = (size_t)grid->states * (size_t)grid->actions;
    grid->q = malloc(n * steps * pairs * sizeof *grid->q);
    grid->count = calloc(n * (size_t)grid->count_steps * pairs, sizeof *grid->count);
    grid->played = calloc(n * steps, sizeof *grid->played);
    grid->visited = calloc(n, sizeof *grid->visited);
    grid->rng = calloc(n, sizeof *grid->rng);
    if (!grid->q || !grid->count || !grid->played || !grid->visited || !grid->rng) {
        baselines_grid_free(grid);
        return NULL;
    }
    start_values(grid, seeds);
    return grid;
}

void baselines_grid_free(baselines_grid *grid)
{
    free(grid->q);
    free(grid->count);
    free(grid->played);
    free(grid->visited);
    free(grid->rng);
    free(grid);
}

int baselines_grid_act(void *all, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const baselines_grid *grid = all;
    const baselines_grid_config *config = &grid->config;
    for (int32_t i = 0; i < n; i++) {
        int32_t state = baselines_cell(&states[(int64_t)i * config->d_s], config->d_s, config->size_s), best = 0;
        const double *q = q_at(grid, first + i, h, state * grid->actions);
        baselines_choice choice = {0, 0};
        for (int32_t a = 0; a < grid->actions; a++)
            if (baselines_take(&choice, q[a], &grid->rng[first + i]))
                best = a;
        grid->played[(first + i) * config->horizon + h] = state * grid->actions + best;
        baselines_centre(best, config->d_a, config->size_a, &actions[(int64_t)i * config->d_a]);
    }
    return 0;
}

static double state_value(const baselines_grid *grid, int32_t learner, int h, int32_t state)
{
    if (h >= grid->config.horizon)
        return 0;
    const double *q = q_at(grid, learner, h, state * grid->actions);
    double best = q[0], most = grid->config.horizon - h;
    for (int32_t a = 1; a < grid->actions; a++)
        best = q[a] > best ? q[a] : best;
    return best < most ? best : most;
}

static void learn(baselines_grid *grid, int32_t i, int h, double reward, int32_t next)
{
    const baselines_grid_config *config = &grid->config;
    int32_t pair = grid->played[i * config->horizon + h];
    uint16_t *count = count_at(grid, i, h, pair);
    grid->visited[i] += *count == 0;
    if (*count < BASELINES_COUNT_MAX)
        ++*count;
    double rate = baselines_rate(config->horizon, *count), bonus = baselines_bonus(config->bonus, *count);
    int from = config->share ? 0 : h, to = config->share ? config->horizon : h + 1;
    for (int step = from; step < to; step++) {
        double target = reward + bonus + state_value(grid, i, step + 1, next);
        double *q = q_at(grid, i, step, pair);
        *q += rate * (target - *q);
    }
}

int baselines_grid_observe(void *all, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    baselines_grid *grid = all;
    const baselines_grid_config *config = &grid->config;
    for (int32_t i = 0; i < n; i++) {
        int32_t cell = baselines_cell(&next[(int64_t)i * config->d_s], config->d_s, config->size_s);
        learn(grid, first + i, h, rewards[i], cell);
    }
    return 0;
}

void baselines_grid_played(const baselines_grid *grid, int learner, int h, double *cell)
{
    int32_t pair = grid->played[learner * grid->config.horizon + h];
    cell[0] = *q_at(grid, learner, h, pair);
    cell[1] = *count_at(grid, learner, h, pair);
}

void baselines_grid_visited(const baselines_grid *grid, int64_t *cells)
{
    for (int32_t i = 0; i < grid->config.n; i++)
        cells[i] = grid->visited[i];
}
