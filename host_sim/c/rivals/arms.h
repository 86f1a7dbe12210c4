/* UCB over a grid of actions, for `play.h`; what it knows lies in the arrays of host_sim/rivals/bandit.py, which plays
 * the same step by step. */
#ifndef RIVALS_ARMS_H
#define RIVALS_ARMS_H
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
} rivals_arms;
int rivals_arms_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
int rivals_arms_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
int rivals_arms_end_episode(void *learners, int32_t first, int32_t n);
/* cffi end */

#endif
