/* Common parts of the compiled baselines: uniform grids over the unit cube, fair choice among equals, step sizes. */
#ifndef BASELINES_COMMON_H
#define BASELINES_COMMON_H
#include "sim_rng.h"

enum { BASELINES_MAX_DIM = 3 };

/* Counts are 16 bits wide; two of them hold the age where balls can be merged. */
enum { BASELINES_COUNT_MAX = 65535, BASELINES_COUNT_AGED_MAX = 16383 };

/* The largest value seen so far. Equals are drawn with equal chances: optimistic learners start with nothing
 * but equals, and always taking the first would explore from one corner. */
typedef struct {
    double best;
    uint32_t equals;
} baselines_choice;

int baselines_take(baselines_choice *choice, double value, sim_rng *rng); /* 1: value is the choice for now */

int baselines_power(int base, int exponent);
int baselines_cell(const double *point, int d, int size);            /* cell that holds the point */
void baselines_centre(int cell, int d, int size, double *point);       /* the inverse: its centre */

/* (H+1)/(H+t), the step size of optimistic Q-learning: late samples weigh H times more than in a mean. */
double baselines_rate(int horizon, double t);
double baselines_bonus(double c, double t); /* c/sqrt(t) */

#endif
