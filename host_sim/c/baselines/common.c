#include "baselines/common.h"

#include <math.h>

int baselines_take(baselines_choice *choice, double value, sim_rng *rng)
{
    if (choice->equals == 0 || value > choice->best) {
        choice->best = value;
        choice->equals = 1;
        return 1;
    }
    if (value < choice->best)
        return 0;
    choice->equals++;
    return sim_rng_next(rng) % choice->equals == 0;
}

int baselines_power(int base, int exponent)
{
    int result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

int baselines_cell(const double *point, int d, int size)
{
    int cell = 0;
    for (int i = 0; i < d; i++) {
        int at = (int)(point[i] * size);
        at = at < 0 ? 0 : at >= size ? size - 1 : at;
        cell = cell * size + at;
    }
    return cell;
}

void baselines_centre(int cell, int d, int size, double *point)
{
    for (int i = d - 1; i >= 0; i--) {
        point[i] = (cell % size + 0.5) / size;
        cell /= size;
    }
}

double baselines_rate(int horizon, double t)
{
    return (horizon + 1) / (horizon + t);
}

double baselines_bonus(double c, double t)
{
    return c / sqrt(t);
}
