/* The simulated channels of host_sim/problems/dram/simulated.py, for `play.h`. What is asked of a channel does not
 * depend on the actions, so it is drawn first, once for all instances of a seed: a tape of some episodes, each a
 * first epoch that warms the channel and one for every step. */
#ifndef WORLDS_DRAM_H
#define WORLDS_DRAM_H
#include <stdint.h>

#include "dram/dram.h"
#include "play/play.h"

/* cffi begin */
typedef struct {
    dram_timing timing;
    dram_policy policy; /* of the first epoch; the actions set some of it */
    int32_t n, d_s, d_a, horizon, requests, streams;
    int32_t vary_load, vary_writes;
    double walk, gap_stay, gap_move, worst;
    /* by instance */
    const double *c;
    const int32_t *tape;
    dram_channel *channel;
    dram_totals *last, *sum; /* of the last epoch, and of all */
    /* by tape and episode */
    int32_t episodes;      /* so many have room */
    dram_request *traffic; /* epoch, request */
    double *seen;          /* epoch: row locality, load, write share */
    dram_channel *warm;    /* after the first epoch */
    int32_t *crowded;      /* epochs that ask for more than the channel sustains */
} dram_world;

/* Fills a tape for one of its instances, from drawn (episode, instance, 4) and noise (episode, step, 4, instance). */
void dram_world_fill(const dram_world *world, int32_t tape, int32_t instance, int32_t episodes, const double *drawn,
                     const double *noise);
void dram_step(const void *world, const play_step *at);
/* cffi end */

#endif
