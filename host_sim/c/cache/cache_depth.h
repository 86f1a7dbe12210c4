/* How deep in the order of use an object lies when it is asked for, down to `most` objects: what an LRU part that
 * holds so many lines hits. Objects are numbers from 0. Each holds a bit at the place in time of its last use, so
 * the depth is the number of bits from there on, which are counted by words of 64, eight counts in a number, and by
 * groups of 1024. */
#ifndef CACHE_DEPTH_H
#define CACHE_DEPTH_H
#include <stdint.h>

typedef struct {
    int32_t *last; /* by object; before `base`: not used since it was cleared */
    uint64_t *bits, *counts;
    uint16_t *groups;
    int64_t room, base, next, floor; /* the places from floor on hold `inside` bits */
    int32_t most, inside;
    int64_t objects; /* different ones since it was cleared */
} cache_depth;

/* For so many uses between two clears, and 2^31 in all; 1 when memory sufficed, free it in either case. */
int cache_depth_init(cache_depth *depth, int64_t objects, int64_t uses, int32_t most);
void cache_depth_free(cache_depth *depth);
void cache_depth_clear(cache_depth *depth);
/* Use an object: 1 for the one used last, most + 1 for all that are deeper or new. */
int32_t cache_depth_use(cache_depth *depth, int64_t object);

#endif
