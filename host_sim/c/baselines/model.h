/* Optimistic value iteration on a finite model: UCBVI (Azar, Osband, Munos 2017) on a uniform grid, and
 * Kernel-UCBVI (Domingues et al. 2020) on representative states; n learners per call. */
#ifndef BASELINES_MODEL_H
#define BASELINES_MODEL_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t size_s;      /* cells per state dimension; 0: representative states, found while running */
    int32_t states;      /* cells, or the most representatives */
    int32_t size_a;      /* actions per action dimension */
    int32_t share;       /* 1: one model for all steps, values per step */
    int32_t full;        /* 1: plan all states after each episode; 0: the visited state before acting */
    int32_t monotone;    /* 1: Q only decreases */
    int32_t spare;       /* sparse counts: entries beyond the first of each pair; -1: no limit */
    int32_t count_max;   /* a count that would pass this halves its row */
    double bonus;
    double apart;        /* least distance of representatives (largest coordinate difference) */
    double bandwidth;    /* of the kernel over states; 0: none */
    double prior;        /* weight of the optimistic value in a smoothed mean */
} baselines_model_config;
typedef struct baselines_model baselines_model;
baselines_model *baselines_model_new(const baselines_model_config *config, const uint64_t *seeds); /* NULL: no memory */
void baselines_model_free(baselines_model *model);
int baselines_model_act(void *model, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_model_observe(void *model, int32_t first, int32_t n, int h, const double *rewards, const double *next);
int baselines_model_end_episode(void *model, int32_t first, int32_t n);
/* Five counters per learner: states in use, pairs with a sample, entries, halved rows, rows with entries. */
void baselines_model_counters(const baselines_model *model, int64_t *counters);
/* The pair that was last played at step h: {Q, n, mean reward}. */
void baselines_model_played(const baselines_model *model, int learner, int h, double *pair);
/* cffi end */

#endif
