/* Adaptive partitions without a model: adaptive Q-learning (Sinclair, Banerjee, Yu 2019) and contextual
 * zooming (Slivkins 2014). n learners per call; values are doubles here and 16 bits in the byte count. */
#ifndef BASELINES_TREE_H
#define BASELINES_TREE_H
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
} baselines_tree_config;
typedef struct baselines_tree baselines_tree;
baselines_tree *baselines_tree_new(const baselines_tree_config *config, const uint64_t *seeds); /* NULL: no memory */
void baselines_tree_free(baselines_tree *tree);
int baselines_tree_act(void *tree, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_tree_observe(void *tree, int32_t first, int32_t n, int h, const double *rewards, const double *next);
/* Five counters per learner: nodes now, most nodes, leaves, refused splits, merges. */
void baselines_tree_counters(const baselines_tree *tree, int64_t *counters);
/* The ball that was last played at step h: {Q, n, level}; for tests and pictures. */
void baselines_tree_played(const baselines_tree *tree, int learner, int h, double *ball);
/* The same of the balls that hold pairs of a state and an action: three numbers a pair. */
void baselines_tree_balls(const baselines_tree *tree, int learner, int h, int pairs, const double *states,
                       const double *actions, double *found);

/* A tree over actions alone, one of which is played for a whole episode. */
typedef struct {
    void *tree; /* a baselines_tree */
    int32_t d_a, horizon;
    double *action; /* learner, coordinate: the one held */
    double *sum;    /* learner: rewards of this episode */
} baselines_held;
int baselines_held_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_held_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
/* cffi end */

#endif
