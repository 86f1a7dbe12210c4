/* UCB over a grid of actions; what it knows lies in the arrays of host_sim/baselines/bandit.py. */
#ifndef BASELINES_ARMS_H
#define BASELINES_ARMS_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_a, horizon, arms, tables;
    int32_t hold; /* 1: an arm is kept for an episode and credited with its return */
    double bonus, discount;
    const double *place; /* arm, coordinate */
    const double *order; /* learner, arm: which of those never played comes first */
    double *mean, *count; /* table, learner, arm */
    int64_t *arm;         /* step, learner: the one played */
    double *sum;          /* learner: rewards of this episode */
} baselines_arms;
int baselines_arms_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_arms_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
int baselines_arms_end_episode(void *learners, int32_t first, int32_t n);
/* cffi end */

#endif
