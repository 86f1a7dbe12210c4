/* The simulated caches of host_sim/problems/cache/simulated.py, for `play.h`. An LRU part holds the objects that
 * were used last, as many as it has taken in: so it hits what lies no deeper in the order of use than it holds lines.
 * Requests do not depend on the actions, so their depths are found first, once for all instances of a seed: a tape
 * of some episodes. A part that is full hits what a table says, and one that fills is followed until it is full. */
#ifndef WORLDS_CACHE_H
#define WORLDS_CACHE_H
#include <stdint.h>

#include "play/play.h"

/* cffi begin */
typedef struct {
    int32_t n, horizon, lines, requests, warm_up;
    int32_t objects[2], loops[2];
    const double *accept[2];
    const int32_t *alias[2];
    double walk;
    /* by instance */
    const double *c;
    const int32_t *tape;
    int32_t *held; /* slot */
    int64_t *hits; /* slot: of the last epoch */
    /* by tape and episode */
    int32_t episodes;   /* so many have room */
    int32_t *warm;      /* slot: lines held at the start */
    int32_t *first;     /* step: how many requests are the first slot's */
    uint16_t *depth;    /* step, request: the first slot's, then the second's */
    uint32_t *at_most;  /* step, slot, lines 0, 1, ...: requests that are no deeper */
} cache_world;

/* Fills a tape for one of its instances, from the first slot's lines (episode, instance), states (episode, instance,
 * 2), drawn numbers (episode, instance, 5) and noise (episode, step, 2, instance). 0 when memory ran out. */
int cache_world_fill(const cache_world *world, int32_t tape, int32_t instance, int32_t episodes, const int32_t *lines,
                     const double *states, const double *drawn, const double *noise);
void cache_step(const void *world, const play_step *at);
/* cffi end */

#endif
