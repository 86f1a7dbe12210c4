/* What a learner keeps, and Q of a ball from it. */
#ifndef PAPER_BALL_H
#define PAPER_BALL_H
#include "paper/learner.h"
#include "paper/support.h"
#include "sim_rng.h"

typedef struct {
    int32_t child; /* first of the children, by state bits, then action bits; -1 for an active ball */
    int32_t parent, cell, level;
    int32_t n, prior_n; /* own samples, those of the ancestors */
    uint32_t action[PAPER_MAX_DIM];
    double reward_sum, prior_reward, q;
    int32_t first, last; /* its counts of next states, in the order of their first sample; -1 for none */
    int32_t support, supports; /* with the envelope: the range of its ancestors' next states */
} paper_ball;

typedef struct {
    uint64_t key; /* of a cell as fine as the ball */
    int32_t cell; /* the finest one known of those that hold it: cells only ever divide */
    int32_t samples, link;
} paper_count;

typedef struct {
    paper_ball *ball; /* the first `horizon` are the roots */
    paper_count *count;
    paper_support support;
    paper_cells *cells; /* per step */
    int32_t *played;    /* per step */
    int32_t balls, ball_capacity, counts, count_capacity, leaves, deepest;
    sim_rng rng;
} paper_learner;

/* Equation (q_update) for a ball of step h, before any clipping. */
double paper_estimate(const paper_config *config, paper_learner *one, int h, int32_t at);

#endif
