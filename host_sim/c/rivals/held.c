#include "rivals/held.h"

#include <string.h>

#include "rivals/tree.h"

int rivals_held_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const rivals_held *all = learners;
    double *held = all->action + (int64_t)first * all->d_a;
    int error = h == 0 ? rivals_tree_act(all->tree, first, n, 0, states, held) : 0;
    memcpy(actions, held, (size_t)n * (size_t)all->d_a * sizeof *actions);
    return error;
}

int rivals_held_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const rivals_held *all = learners;
    for (int32_t i = 0; i < n; i++) {
        double *sum = all->sum + first + i;
        *sum += rewards[i];
        if (h + 1 < all->horizon)
            continue;
        double mean = *sum / all->horizon;
        *sum = 0.0;
        int error = rivals_tree_observe(all->tree, first + i, 1, 0, &mean, next);
        if (error < 0)
            return error;
    }
    return 0;
}
