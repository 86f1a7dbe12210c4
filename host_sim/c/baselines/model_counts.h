/* Memory of one learner: where its states lie, and the counts of its state-action pairs. */
#ifndef BASELINES_MODEL_COUNTS_H
#define BASELINES_MODEL_COUNTS_H
#include "baselines/common.h"
#include "baselines/model.h"

typedef struct {
    int32_t next, count, link; /* next state, how often, next entry of the row or -1 */
} baselines_entry;

typedef struct {
    int32_t n, head, total; /* samples, first entry or -1, sum of the entries' counts */
    double reward;          /* mean */
} baselines_pair;

typedef struct {
    double *position; /* states, d_s */
    double *kernel;   /* states, states: weight of one state's samples for another; NULL without kernel */
    int32_t known;    /* states in use */
    double *q;        /* step, state, action */
    double *v;        /* step, state: the largest q */
    baselines_pair *pair; /* step (one when shared), state, action */
    baselines_entry *entry;
    int32_t entries, capacity, rows; /* rows: pairs with at least one entry */
    int64_t visited, halved;
    int32_t *played; /* step: state * actions + action */
    sim_rng rng;
} baselines_memory;

int baselines_memory_init(const baselines_model_config *config, int32_t actions, baselines_memory *memory, uint64_t seed);
void baselines_memory_clear(baselines_memory *memory);

/* The state that stands for the point; a point far from all representatives becomes one while there is room. */
int32_t baselines_locate(const baselines_model_config *config, baselines_memory *memory, const double *point);

/* Count a transition of the pair; without room for a new entry the nearest one of the row takes it.
 * 0 when the host ran out of memory. */
int baselines_count(const baselines_model_config *config, baselines_memory *memory, baselines_pair *pair, int32_t next);

#endif
