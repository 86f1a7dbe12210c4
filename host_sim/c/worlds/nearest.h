#ifndef WORLDS_NEAREST_H
#define WORLDS_NEAREST_H
#include <stdint.h>

/* The whole number nearest to x >= 0, of two the even one, as Python's round. */
static inline int64_t nearest(double x)
{
    int64_t below = (int64_t)x;
    double rest = x - (double)below;
    return below + (rest > 0.5 || (rest == 0.5 && (below & 1)));
}

#endif
