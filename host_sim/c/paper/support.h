/* Where the next states of a ball's ancestors lie, spread over cells as fine as the ball; with the envelope V is
 * read at their centres. It is fixed when the ball is made, and its siblings share it. */
#ifndef PAPER_SUPPORT_H
#define PAPER_SUPPORT_H
#include "paper/cells.h"

typedef struct {
    uint64_t key;
    double mass; /* samples */
    double centre[PAPER_MAX_DIM];
} paper_mass;

/* One array for all balls of a learner; a ball has a range of it. */
typedef struct {
    paper_mass *mass;
    int32_t count, capacity;
} paper_support;

/* The parts of a cell of level - 1, each with its part of the samples, to the range that begins at `first`.
 * 0: out of memory. */
int paper_support_spread(paper_support *support, int32_t first, uint64_t key, double samples, int level, int d);

/* Samples times the envelope over a range. */
double paper_support_sum(const paper_support *support, int32_t first, int32_t count, const paper_cells *cells,
                         double lipschitz);

#endif
