#include "paper/support.h"

static int add(paper_support *support, int32_t first, uint64_t key, double samples, int level, int d)
{
    for (int32_t at = first; at < support->count; at++) {
        if (support->mass[at].key == key) {
            support->mass[at].mass += samples;
            return 1;
        }
    }
    void *moved = paper_grow(support->mass, &support->capacity, support->count + 1, sizeof *support->mass);
    if (moved == NULL)
        return 0;
    support->mass = moved;
    paper_mass *made = &support->mass[support->count++];
    *made = (paper_mass){key, samples, {0}};
    paper_centre_of_key(key, level, d, made->centre);
    return 1;
}

int paper_support_spread(paper_support *support, int32_t first, uint64_t key, double samples, int level, int d)
{
    for (uint64_t part = 0; part < (uint64_t)1 << d; part++)
        if (!add(support, first, key << d | part, samples / (1 << d), level, d))
            return 0;
    return 1;
}

double paper_support_sum(const paper_support *support, int32_t first, int32_t count, const paper_cells *cells,
                         double lipschitz)
{
    double sum = 0;
    for (int32_t at = first; at < first + count; at++)
        sum += support->mass[at].mass * paper_cells_envelope(cells, support->mass[at].centre, lipschitz);
    return sum;
}
