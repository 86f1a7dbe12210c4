/* AdaMB as the paper prints it, in doubles, for runs that are too long for the Python reference: no cap, no
 * rounding. n learners a call. host_sim/agents/reference is the same in words; a test compares the two. */
#ifndef PAPER_LEARNER_H
#define PAPER_LEARNER_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t own;           /* 1: a split asks for the ball's own samples; 0: those of its ancestors count */
    int32_t full;          /* 1: all balls are renewed when an episode ends; 0: the one that was played */
    int32_t fresh;         /* 1: a new ball knows nothing but how often its ancestors were played */
    int32_t decreasing;    /* 1: Q never rises; 0: V alone */
    int32_t random_action; /* 1: a uniform point of the ball; 0: its centre */
    int32_t theory;        /* 1: the bonuses of the theory; 0: bonus/sqrt(n) */
    int32_t envelope;      /* 1: V of a point through the Lipschitz envelope; 0: V of its cell */
    double bonus, log_r, log_t, l_r, l_t, l_v, c_t;
    double threshold[20]; /* samples at which a ball of each level is split */
} paper_config;
typedef struct paper_learners paper_learners;
/* The calls of play/play.h; -1: no memory. */
paper_learners *paper_new(const paper_config *config, const uint64_t *seeds); /* NULL: no memory */
void paper_free(paper_learners *all);
int paper_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
int paper_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
int paper_end_episode(void *learners, int32_t first, int32_t n);
/* Four counters a learner: active balls, counts of next states, deepest level, bytes of what it keeps. */
void paper_counters(const paper_learners *all, int64_t *counters);
/* Q, level and own samples of the active balls of one learner that hold pairs of a state and an action: three
 * numbers a pair. */
void paper_balls(const paper_learners *all, int learner, int h, int pairs, const double *states,
                 const double *actions, double *found);
/* cffi end */

#endif
