/* What one learner has seen: where its states lie, and the counts of its state-action pairs. */
#ifndef RIVALS_MODEL_COUNTS_H
#define RIVALS_MODEL_COUNTS_H
#include "rivals/common.h"
#include "rivals/model.h"

typedef struct {
    int32_t next, count, link; /* next state, how often, next entry of the row or -1 */
} rivals_entry;

typedef struct {
    int32_t n, head, total; /* samples, first entry or -1, sum of the entries' counts */
    double reward;          /* mean */
} rivals_pair;

typedef struct {
    double *position; /* states, d_s */
    double *kernel;   /* states, states: weight of one state's samples for another; NULL without kernel */
    int32_t known;    /* states in use */
    double *q;        /* step, state, action */
    double *v;        /* step, state: the largest q */
    rivals_pair *pair; /* step (one when shared), state, action */
    rivals_entry *entry;
    int32_t entries, capacity, rows; /* rows: pairs with at least one entry */
    int64_t visited, halved;
    int32_t *played; /* step: state * actions + action */
    sim_rng rng;
} rivals_memory;

int rivals_memory_init(const rivals_model_config *config, int32_t actions, rivals_memory *memory, uint64_t seed);
void rivals_memory_clear(rivals_memory *memory);

/* The state that stands for the point; a point far from all representatives becomes one while there is room. */
int32_t rivals_locate(const rivals_model_config *config, rivals_memory *memory, const double *point);

/* Count a transition of the pair; without room for a new entry the nearest one of the row takes it.
 * 0 when the host ran out of memory. */
int rivals_count(const rivals_model_config *config, rivals_memory *memory, rivals_pair *pair, int32_t next);

#endif
