#include "baselines/model_counts.h"

#include <math.h>
#include <stdlib.h>

static double distance(const double *a, const double *b, int d)
{
    double most = 0;
    for (int i = 0; i < d; i++) {
        double apart = fabs(a[i] - b[i]);
        most = apart > most ? apart : most;
    }
    return most;
}

/* Epanechnikov: samples beyond the bandwidth have no say. */
static double kernel_weight(const baselines_model_config *config, const double *a, const double *b)
{
    double u = distance(a, b, config->d_s) / config->bandwidth;
    return u < 1 ? 1 - u * u : 0;
}

static int32_t add_state(const baselines_model_config *config, baselines_memory *memory, const double *point)
{
    int32_t state = memory->known++;
    double *position = &memory->position[(int64_t)state * config->d_s];
    for (int i = 0; i < config->d_s; i++)
        position[i] = point[i];
    for (int32_t other = 0; memory->kernel != NULL && other <= state; other++) {
        double weight = kernel_weight(config, position, &memory->position[(int64_t)other * config->d_s]);
        memory->kernel[(size_t)state * (size_t)config->states + (size_t)other] = weight;
        memory->kernel[(size_t)other * (size_t)config->states + (size_t)state] = weight;
    }
    return state;
}

static void start_values(const baselines_model_config *config, int32_t actions, baselines_memory *memory)
{
    size_t states = (size_t)config->states, row = states * (size_t)actions;
    for (size_t h = 0; h < (size_t)config->horizon; h++) {
        for (size_t j = 0; j < row; j++)
            memory->q[h * row + j] = config->horizon - (int)h;
        for (size_t s = 0; s < states; s++)
            memory->v[h * states + s] = config->horizon - (int)h;
    }
    for (size_t j = 0; j < row * (size_t)(config->share ? 1 : config->horizon); j++)
        memory->pair[j].head = -1;
}

int baselines_memory_init(const baselines_model_config *config, int32_t actions, baselines_memory *memory, uint64_t seed)
{
    size_t states = (size_t)config->states, row = states * (size_t)actions, steps = (size_t)config->horizon;
    memory->position = calloc(states * (size_t)config->d_s, sizeof *memory->position);
    memory->kernel = config->bandwidth > 0 ? calloc(states * states, sizeof *memory->kernel) : NULL;
    memory->q = calloc(steps * row, sizeof *memory->q);
    memory->v = calloc(steps * states, sizeof *memory->v);
    memory->pair = calloc((config->share ? 1 : steps) * row, sizeof *memory->pair);
    memory->played = calloc(steps, sizeof *memory->played);
    if (!memory->position || !memory->q || !memory->v || !memory->pair || !memory->played
        || (config->bandwidth > 0 && !memory->kernel))
        return 0;
    sim_rng_seed(&memory->rng, seed);
    start_values(config, actions, memory);
    for (int32_t cell = 0; config->size_s > 0 && cell < config->states; cell++) {
        double centre[BASELINES_MAX_DIM];
        baselines_centre(cell, config->d_s, config->size_s, centre);
        add_state(config, memory, centre);
    }
    return 1;
}

void baselines_memory_clear(baselines_memory *memory)
{
    free(memory->position);
    free(memory->kernel);
    free(memory->q);
    free(memory->v);
    free(memory->pair);
    free(memory->played);
    free(memory->entry);
}

int32_t baselines_locate(const baselines_model_config *config, baselines_memory *memory, const double *point)
{
    if (config->size_s > 0)
        return baselines_cell(point, config->d_s, config->size_s);
    int32_t nearest = -1;
    double least = 2;
    for (int32_t state = 0; state < memory->known; state++) {
        double apart = distance(point, &memory->position[(int64_t)state * config->d_s], config->d_s);
        if (apart < least) {
            least = apart;
            nearest = state;
        }
    }
    if (nearest < 0 || (least > config->apart && memory->known < config->states))
        return add_state(config, memory, point);
    return nearest;
}

static int32_t nearest_entry(const baselines_model_config *config, const baselines_memory *memory,
                             const baselines_pair *pair, int32_t next)
{
    int32_t nearest = pair->head;
    double least = 2;
    for (int32_t e = pair->head; e >= 0; e = memory->entry[e].link) {
        double apart = distance(&memory->position[(int64_t)next * config->d_s],
                                &memory->position[(int64_t)memory->entry[e].next * config->d_s], config->d_s);
        if (apart < least) {
            least = apart;
            nearest = e;
        }
    }
    return nearest;
}

static void halve(baselines_memory *memory, baselines_pair *pair)
{
    pair->total = 0;
    for (int32_t e = pair->head; e >= 0; e = memory->entry[e].link) {
        memory->entry[e].count = (memory->entry[e].count + 1) / 2;
        pair->total += memory->entry[e].count;
    }
    memory->halved++;
}

static int32_t new_entry(baselines_memory *memory, baselines_pair *pair, int32_t next)
{
    if (memory->entries == memory->capacity) {
        int32_t capacity = 2 * memory->capacity + 64;
        baselines_entry *grown = realloc(memory->entry, (size_t)capacity * sizeof *grown);
        if (grown == NULL)
            return -1;
        memory->entry = grown;
        memory->capacity = capacity;
    }
    memory->rows += pair->head < 0;
    memory->entry[memory->entries] = (baselines_entry){next, 0, pair->head};
    return pair->head = memory->entries++;
}

int baselines_count(const baselines_model_config *config, baselines_memory *memory, baselines_pair *pair, int32_t next)
{
    int32_t e = pair->head;
    while (e >= 0 && memory->entry[e].next != next)
        e = memory->entry[e].link;
    if (e < 0) {
        int room = config->spare < 0 || memory->entries - memory->rows < config->spare || pair->head < 0;
        e = room ? new_entry(memory, pair, next) : nearest_entry(config, memory, pair, next);
        if (e < 0)
            return 0;
    }
    if (memory->entry[e].count >= config->count_max)
        halve(memory, pair);
    memory->entry[e].count++;
    pair->total++;
    return 1;
}
