/* Adaptive partitions without a model: adaptive Q-learning (Sinclair, Banerjee, Yu 2019) and contextual
 * zooming (Slivkins 2014). n learners per call; values are doubles here and 16 bits in the byte count. */
#ifndef RIVALS_TREE_H
#define RIVALS_TREE_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t zoom;          /* 1: mean of the immediate reward plus c/sqrt(n), no look ahead */
    int32_t share;         /* 1: one tree for all steps; a sample updates the value of every step */
    int32_t stepless;      /* 1: one tree and one value, of a discounted return without end */
    int32_t lazy;          /* 1: split the state side; split a part's action side when it is first played */
    int32_t random_action; /* 1: a uniform point of the ball; 0: its centre */
    int32_t reclaim;       /* 1: when full, merge balls that were not played recently; 0: stop splitting */
    int32_t max_nodes;     /* per learner */
    double bonus, phi, gamma, discount;
} rivals_tree_config;
typedef struct rivals_tree rivals_tree;
rivals_tree *rivals_tree_new(const rivals_tree_config *config, const uint64_t *seeds); /* NULL: no memory */
void rivals_tree_free(rivals_tree *tree);
int rivals_tree_act(void *tree, int32_t first, int32_t n, int h, const double *states, double *actions);
int rivals_tree_observe(void *tree, int32_t first, int32_t n, int h, const double *rewards, const double *next);
/* Five counters per learner: nodes now, most nodes, leaves, refused splits, merges. */
void rivals_tree_counters(const rivals_tree *tree, int64_t *counters);
/* The ball that was last played at step h: {Q, n, level}; for tests and pictures. */
void rivals_tree_played(const rivals_tree *tree, int learner, int h, double *ball);
/* The same of the balls that hold pairs of a state and an action: three numbers a pair. */
void rivals_tree_balls(const rivals_tree *tree, int learner, int h, int pairs, const double *states,
                       const double *actions, double *found);
/* cffi end */

#endif
