/* The state cells of one step with V on them, and its mean over every coarser cell. Cells are never removed. */
#ifndef PAPER_CELLS_H
#define PAPER_CELLS_H
#include <stddef.h>
#include <stdint.h>

enum { PAPER_LEVELS = 20, PAPER_MAX_DIM = 3 };

/* A cell of the 2^-level grid is a leading 1 and d_s bits a level, so its parent is a shift. */
typedef struct {
    uint64_t key;
    double mean;
    double centre[PAPER_MAX_DIM];
    int32_t level, child, parent; /* child: first of the parts, -1 for a cell of the partition */
} paper_cell;

typedef struct {
    paper_cell *cell;
    int32_t count, capacity, d_s;
} paper_cells;

int paper_cells_init(paper_cells *cells, int d_s, double value);   /* 0: out of memory */
int paper_cells_split(paper_cells *cells, int32_t at);             /* the parts take over V; 0: out of memory */
void paper_cells_set(paper_cells *cells, int32_t at, double value); /* and carry it to the means above */

/* Equation (def-V): the least, over all cells of the partition, of V plus lipschitz times the distance of the
 * point from the centre. */
double paper_cells_envelope(const paper_cells *cells, const double *point, double lipschitz);

/* The centre of the cell of a key that has `level` levels. */
void paper_centre_of_key(uint64_t key, int level, int d, double *centre);

/* From a known cell on the way to `key` to the deepest one there is, no deeper than `level`. */
int32_t paper_cells_descend(const paper_cells *cells, int32_t from, uint64_t key, int level);

/* The bits of each level of a key that has `level` of them. */
void paper_path_of_key(uint64_t key, int level, int d, uint8_t *path);

/* The same for a point of the unit cube, all levels; a border belongs to the upper cell, 1.0 to the last. */
void paper_path_of_point(const double *point, int d, uint8_t *path);
uint64_t paper_key_of_path(const uint8_t *path, int level, int d);

/* Where the next states of a ball's ancestors lie, spread over cells as fine as the ball; with the envelope V is
 * read at their centres. It is fixed when the ball is made, and its siblings share it. */
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

void *paper_grow(void *array, int32_t *capacity, int32_t wanted, size_t size); /* NULL: out of memory */

#endif
