/* Net-based Q-learning (Song, Sun 2019): optimistic Q-learning on a uniform grid, n learners per call. */
#ifndef BASELINES_GRID_H
#define BASELINES_GRID_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t size_s, size_a; /* cells per dimension */
    int32_t share;          /* 1: one count for all steps; a sample updates the value of every step */
    double bonus;
} baselines_grid_config;
typedef struct baselines_grid baselines_grid;
baselines_grid *baselines_grid_new(const baselines_grid_config *config, const uint64_t *seeds); /* NULL: no memory */
void baselines_grid_free(baselines_grid *grid);
int baselines_grid_act(void *grid, int32_t first, int32_t n, int h, const double *states, double *actions);
int baselines_grid_observe(void *grid, int32_t first, int32_t n, int h, const double *rewards, const double *next);
/* The cell that was last played at step h: {Q, n}. */
void baselines_grid_played(const baselines_grid *grid, int learner, int h, double *cell);
void baselines_grid_visited(const baselines_grid *grid, int64_t *cells); /* per learner: cells with a sample */
/* cffi end */

#endif
