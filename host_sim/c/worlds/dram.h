/* The simulated channels of host_sim/problems/dram/simulated.py, for `play.h`. What is asked of a channel does not
 * depend on the actions, so it is drawn first, once for all instances of a seed: a tape of some episodes, each a
 * first epoch that warms the channel and one for every step. Where a tape has no room for whole episodes, or a trace
 * says what is asked, it holds one epoch at a time. */
#ifndef WORLDS_DRAM_H
#define WORLDS_DRAM_H
#include <stdint.h>

#include "dram/dram.h"
#include "play/play.h"

/* cffi begin */
extern const double DRAM_PEAK_LOAD; /* share of the data bus that a load of 1 asks for */

/* The traffic of a tape as far as it is drawn. */
typedef struct {
    double latent[3]; /* locality, load, write share */
    dram_streams streams;
    dram_shadow shadow;
} dram_traffic;

typedef struct {
    dram_timing timing;
    dram_policy policy; /* of the first epoch; the actions set some of it */
    int32_t n, d_s, d_a, horizon, requests, streams;
    int32_t vary_load, vary_writes;
    int32_t carry; /* 1: channels are as the episode before left them */
    double walk, gap_stay, gap_move, worst;
    /* by instance */
    const double *c;
    const int32_t *tape;
    dram_channel *channel;
    dram_totals *last, *sum; /* of the last epoch, and of all */
    /* by tape and episode */
    int32_t episodes, epochs; /* so many have room: all epochs of an episode, or the last one alone */
    dram_request *asked;      /* epoch, request */
    double *seen;             /* epoch: row locality, load, write share, part of the data bus that is asked for */
    dram_channel *warm;       /* after the first epoch */
    /* by tape */
    dram_traffic *traffic;
} dram_world;

/* The first epoch of an episode from four drawn numbers, and the epoch of step h from row `instance` of noise
 * (4, instance). */
void dram_world_start(const dram_world *world, int32_t tape, int32_t episode, const double drawn[4]);
void dram_world_next(const dram_world *world, int32_t tape, int32_t episode, int32_t h, int32_t instance,
                     const double *noise);
/* Fills a tape for one of its instances, from drawn (episode, instance, 4) and noise (episode, step, 4, instance). */
void dram_world_fill(const dram_world *world, int32_t tape, int32_t instance, int32_t episodes, const double *drawn,
                     const double *noise);
/* The same for requests that a trace has put there; `first` begins an episode. */
void dram_world_take(const dram_world *world, int32_t tape, int32_t first);
/* Mean cycles until a stream returns to its row and until it asks for another. */
void dram_world_gaps(const dram_world *world, double locality, double load, double gaps[2]);
double dram_timeout(double action);      /* cycles of the page timeout that the first coordinate means, or infinity */
int32_t dram_drain_start(double action); /* waiting writes that start a drain, which the second one means */
void dram_step(const void *world, const play_step *at);
/* cffi end */

#endif
