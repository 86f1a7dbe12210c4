/* Problems where noise alone moves one coordinate of the state, for `play.h`: host_sim/problems/dram/lite.py and
 * duties.py, cache/lite.py and allocation.py. */
#ifndef WORLDS_EXOGENOUS_H
#define WORLDS_EXOGENOUS_H
#include <stdint.h>

#include "play/play.h"

/* cffi begin */
typedef struct {
    double walk, gap_stay, gap_move;
    const double *c; /* instance: how much of the locality lasts */
} dram_lite_world;
void dram_lite_step(const void *world, const play_step *at);

typedef struct {
    double lines, requests, walk;
    const double *curve[2]; /* hit ratios of each tenant at 0, 1, ... lines */
    const double *c;        /* instance: part of the requests that goes to a tenant's own objects */
} cache_lite_world;
void cache_lite_step(const void *world, const play_step *at);

/* A coordinate that swings around its season: heading for mean[h + 1] and keeping `memory` of what it is above
 * mean[h], with noise. */
typedef struct {
    double memory, deviation;
    const double *mean; /* step 0 to H, instance */
} season;

typedef struct {
    season load;
    double turnaround, penalty;
    double inflow, burst, brim, brim_width, worst_overflow;
} dram_drain_world;
void dram_drain_step(const void *world, const play_step *at);

typedef struct {
    season load;
    double debt, penalty;
} dram_refresh_world;
void dram_refresh_step(const void *world, const play_step *at);

typedef struct {
    season demand;
    int32_t d_s;
    int32_t erlang, budget; /* neither: a shortage */
    double price, beta, scale, servers;
    double greed, worth; /* utility of a budget; worth is log1p(greed) */
    /* Demand from a file, else null: its values, and by instance which of them is the present one. */
    int64_t values;
    const double *series;
    int64_t *place;
} allocation_world;
void allocation_step(const void *world, const play_step *at);
/* cffi end */

#endif
