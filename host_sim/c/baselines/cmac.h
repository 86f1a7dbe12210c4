/* SARSA on tile coding over state and action, as self-optimising memory controllers use it (Ipek, Mutlu,
 * Martinez, Caruana 2008); n learners per call. */
#ifndef BASELINES_CMAC_H
#define BASELINES_CMAC_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t tilings, size;  /* size: tiles per dimension */
    int32_t actions;        /* candidates per action dimension */
    int32_t weights;        /* per tiling and step; fewer than tiles: tiles share them by hashing */
    int32_t share;          /* 1: one table that does not know the step, for a discounted return without end */
    double rate, epsilon;   /* step size of the sum of the tiles; share of random actions */
    double discount;        /* of the shared table */
    double start;           /* optimism: first value as a share of the largest possible return */
} baselines_cmac_config;
typedef struct baselines_cmac baselines_cmac;
baselines_cmac *baselines_cmac_new(const baselines_cmac_config *config, const uint64_t *seeds); /* NULL: no memory */
void baselines_cmac_free(baselines_cmac *cmac);
int baselines_cmac_act(void *cmac, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_cmac_observe(void *cmac, int32_t first, int32_t n, int h, const double *rewards, const double *next);
double baselines_cmac_value(const baselines_cmac *cmac, int learner, int h, const double *state, const double *action);
/* cffi end */

#endif
