#include "worlds/dram.h"

#include <math.h>
#include <string.h>

#include "exact.h"
#include "worlds/nearest.h"

const double DRAM_PEAK_LOAD = 0.45; /* near what sixteen banks sustain when no row is ever reused */
static const double LEAST_LOAD = 0.02, MOST_WRITES = 0.6;

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

/* ---- traffic -------------------------------------------------------------------------------------------- */

static int64_t epoch_at(const dram_world *world, int32_t tape, int32_t episode, int32_t epoch)
{
    return ((int64_t)tape * world->episodes + episode) * world->epochs + epoch % world->epochs;
}

/* A given load fixes the average gap; the ratio of the two stays. */
void dram_world_gaps(const dram_world *world, double locality, double load, double gaps[2])
{
    double stretch = 1.0;
    if (world->vary_load) {
        double busy = LEAST_LOAD + (DRAM_PEAK_LOAD - LEAST_LOAD) * load;
        double wanted = (double)(world->streams * world->timing.burst) / busy - 1.0;
        wanted = wanted > 1.0 ? wanted : 1.0;
        stretch = wanted / (locality * world->gap_stay + (1.0 - locality) * world->gap_move);
    }
    gaps[0] = world->gap_stay * stretch;
    gaps[1] = world->gap_move * stretch;
}

static void look_at(const dram_world *world, int32_t tape, int64_t epoch)
{
    double *seen = world->seen + 4 * epoch;
    dram_view view;
    dram_observe(&world->traffic[tape].shadow, world->asked + epoch * world->requests, world->requests, &view);
    double busy = (double)(view.requests * world->timing.burst) / (double)(view.span > 1 ? view.span : 1);
    double load = busy / DRAM_PEAK_LOAD;
    seen[0] = (double)view.same_row / (double)view.requests;
    seen[1] = load < 1.0 ? load : 1.0;
    seen[2] = (double)view.writes / (double)view.requests;
    seen[3] = busy;
}

static void draw_epoch(const dram_world *world, int32_t tape, int64_t epoch, uint64_t seed, const double gaps[2])
{
    dram_traffic *now = &world->traffic[tape];
    double writes = world->vary_writes ? MOST_WRITES * now->latent[2] : 0.0;
    dram_streams_next(&now->streams, seed, now->latent[0], gaps[0], gaps[1], writes,
                      world->asked + epoch * world->requests, world->requests);
    look_at(world, tape, epoch);
}

static void warm_up(const dram_world *world, int32_t tape, int32_t episode)
{
    dram_channel *warm = world->warm + (int64_t)tape * world->episodes + episode;
    dram_totals unpaid;
    memset(&unpaid, 0, sizeof unpaid);
    dram_reset(warm, &world->timing);
    dram_run(warm, &world->timing, &world->policy,
             world->asked + epoch_at(world, tape, episode, 0) * world->requests, world->requests, &unpaid);
}

void dram_world_start(const dram_world *world, int32_t tape, int32_t episode, const double drawn[4])
{
    uint64_t seed = (uint64_t)(drawn[3] * 0x1.0p53);
    dram_traffic *now = &world->traffic[tape];
    double gaps[2];
    memcpy(now->latent, drawn, sizeof now->latent);
    dram_shadow_reset(&now->shadow);
    dram_world_gaps(world, now->latent[0], now->latent[1], gaps);
    dram_streams_reset(&now->streams, world->streams, seed + 1, now->latent[0], gaps[0], gaps[1]);
    draw_epoch(world, tape, epoch_at(world, tape, episode, 0), seed, gaps);
    warm_up(world, tape, episode);
}

void dram_world_next(const dram_world *world, int32_t tape, int32_t episode, int32_t h, int32_t instance,
                     const double *noise)
{
    const double *numbers = noise + instance;
    double c = world->c[instance], *latent = world->traffic[tape].latent, gaps[2];
    latent[0] = c * latent[0] + (1.0 - c) * (1.0 - latent[0]);
    for (int64_t j = 0; j < 3; j++)
        latent[j] = inside(latent[j] + world->walk * numbers[j * world->n]);
    dram_world_gaps(world, latent[0], latent[1], gaps);
    uint64_t seed = (uint64_t)(numbers[3 * (int64_t)world->n] * 0x1.0p53);
    draw_epoch(world, tape, epoch_at(world, tape, episode, h + 1), seed, gaps);
}

void dram_world_fill(const dram_world *world, int32_t tape, int32_t instance, int32_t episodes, const double *drawn,
                     const double *noise)
{
    int64_t n = world->n;
    for (int32_t k = 0; k < episodes; k++) {
        dram_world_start(world, tape, k, drawn + (k * n + instance) * 4);
        for (int32_t h = 0; h < world->horizon; h++)
            dram_world_next(world, tape, k, h, instance, noise + ((int64_t)k * world->horizon + h) * 4 * n);
    }
}

void dram_world_take(const dram_world *world, int32_t tape, int32_t first)
{
    if (first)
        dram_shadow_reset(&world->traffic[tape].shadow);
    look_at(world, tape, epoch_at(world, tape, 0, 0));
    if (first)
        warm_up(world, tape, 0);
}

/* ---- a step --------------------------------------------------------------------------------------------- */

static void add(dram_totals *sum, const dram_totals *epoch)
{
    int64_t worst = sum->worst_read > epoch->worst_read ? sum->worst_read : epoch->worst_read;
    int64_t *to = &sum->reads;
    const int64_t *from = &epoch->reads;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
    sum->worst_read = worst;
}

/* The last eighth of the range never closes a row: an agent plays centres of balls, not the end itself. */
double dram_timeout(double action)
{
    return action >= 0.875 ? INFINITY : exact_exp2(80.0 * action / 7.0) - 1.0;
}

int32_t dram_drain_start(double action)
{
    return 1 + (int32_t)nearest(31.0 * action);
}

void dram_step(const void *of, const play_step *at)
{
    const dram_world *world = of;
    int32_t tape = world->tape[at->instance];
    int64_t epoch = epoch_at(world, tape, at->k, at->h + 1);
    dram_channel *channel = world->channel + at->instance;
    dram_totals *totals = world->last + at->instance;
    dram_policy policy = world->policy;
    double timeout = dram_timeout(at->action[0]);
    policy.timeout = isinf(timeout) ? DRAM_NEVER : nearest(timeout);
    if (world->d_a > 1)
        policy.opportune = dram_drain_start(at->action[1]);
    if (at->h == 0 && !world->carry)
        *channel = world->warm[(int64_t)tape * world->episodes + at->k];
    memset(totals, 0, sizeof *totals);
    dram_run(channel, &world->timing, &policy, world->asked + epoch * world->requests, world->requests, totals);
    add(world->sum + at->instance, totals);
    double hit = world->timing.cl + world->timing.burst;
    double latency = totals->reads ? (double)totals->read_latency / (double)totals->reads : hit;
    *at->reward = inside((world->worst - latency) / (world->worst - hit));
    for (int32_t j = 0; j < world->d_s; j++)
        at->next[j] = world->seen[4 * epoch + j];
}
