/* A tree over actions alone, one of which is played for a whole episode, for `play.h`: what
 * host_sim/rivals/action_zoom.py plays step by step. */
#ifndef RIVALS_HELD_H
#define RIVALS_HELD_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    void *tree; /* a rivals_tree */
    int32_t d_a, horizon;
    double *action; /* learner, coordinate: the one held */
    double *sum;    /* learner: rewards of this episode */
} rivals_held;
int rivals_held_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
int rivals_held_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
/* cffi end */

#endif
