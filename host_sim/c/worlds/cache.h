/* The simulated caches of host_sim/problems/cache/simulated.py, for `play.h`. An LRU part holds the objects that
 * were used last, as many as it has taken in: so it hits what lies no deeper in the order of use than it holds lines.
 * Requests do not depend on the actions, so their depths are found first, once for all instances of a seed: a tape
 * of some episodes. A part that is full hits what a table says, and one that fills is followed until it is full. */
#ifndef WORLDS_CACHE_H
#define WORLDS_CACHE_H
#include <stdint.h>

#include "cache/cache.h"
#include "play/play.h"

/* cffi begin */
typedef struct {
    int32_t n, horizon, lines, requests, warm_up;
    int32_t objects[2], loops[2];
    const double *accept[2];
    const int32_t *alias[2];
    double walk;
    int32_t carry; /* 1: parts are as the episode before left them */
    /* by instance */
    const double *c;
    const int32_t *tape;
    int32_t *held; /* slot */
    int64_t *hits; /* slot: of the last epoch */
    /* by tape */
    cache_stack **stack; /* slot: of as many objects as there are lines */
    double *share;       /* of the first slot's requests */
    int32_t *cursor;     /* slot */
    uint64_t *keys;      /* what was asked for last: a warm-up or an epoch, whichever is longer has room */
    uint8_t *slots;
    /* by tape and episode */
    int32_t episodes;   /* so many have room */
    int32_t *warm;      /* slot: lines held at the start */
    /* by tape, episode and step, of which the last `epochs` are there */
    int32_t epochs;
    int32_t *first;     /* how many requests are the first slot's */
    int32_t *depth;     /* request: the first slot's, then the second's */
    uint32_t *at_most;  /* slot, lines 0, 1, ...: requests that are no deeper */
} cache_world;

/* An episode begins: draws what is asked for in the warm-up, from a share of requests and drawn numbers. */
void cache_world_start(const cache_world *world, int32_t tape, int32_t episode, int32_t instance, int32_t lines,
                       double share, const double drawn[5]);
/* The same where `keys` and `slots` of the warm-up are there. */
void cache_world_warm(const cache_world *world, int32_t tape, int32_t episode, int32_t lines);
/* The epoch of a step: draws what is asked for, from the noise (2, instance) of one of the tape's instances. */
void cache_world_next(const cache_world *world, int32_t tape, int32_t episode, int32_t h, int32_t instance,
                      const double *noise);
/* The same where `keys` and `slots` are there. */
void cache_world_take(const cache_world *world, int32_t tape, int32_t episode, int32_t h);
/* Whole episodes from the first slot's lines (episode, instance), states (episode, instance, 2), drawn numbers
 * (episode, instance, 5) and noise (episode, step, 2, instance). */
void cache_world_fill(const cache_world *world, int32_t tape, int32_t instance, int32_t episodes, const int32_t *lines,
                      const double *states, const double *drawn, const double *noise);
double cache_share(double action); /* of the lines, for the first slot */
void cache_step(const void *world, const play_step *at);
/* cffi end */

#endif
