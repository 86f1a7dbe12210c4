#include "worlds/dram.h"

#include <string.h>

#include "exact.h"
#include "worlds/nearest.h"

/* As host_sim/problems/dram/traffic.py has them. */
static const double PEAK_LOAD = 0.45, LEAST_LOAD = 0.02, MOST_WRITES = 0.6;

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

/* ---- traffic -------------------------------------------------------------------------------------------- */

/* One episode while it is drawn. */
typedef struct {
    int64_t at; /* tape and episode */
    double latent[3], gap_stay, gap_move;
    dram_streams streams;
    dram_shadow shadow;
} drawing;

static int64_t epoch_at(const dram_world *world, int64_t episode, int32_t epoch)
{
    return episode * (world->horizon + 1) + epoch;
}

/* A given load fixes the average gap; the ratio of the two stays. */
static void set_gaps(const dram_world *world, drawing *now)
{
    double locality = now->latent[0], stretch = 1.0;
    if (world->vary_load) {
        double busy = LEAST_LOAD + (PEAK_LOAD - LEAST_LOAD) * now->latent[1];
        double wanted = (double)(world->streams * world->timing.burst) / busy - 1.0;
        wanted = wanted > 1.0 ? wanted : 1.0;
        stretch = wanted / (locality * world->gap_stay + (1.0 - locality) * world->gap_move);
    }
    now->gap_stay = world->gap_stay * stretch;
    now->gap_move = world->gap_move * stretch;
}

static void draw_epoch(const dram_world *world, drawing *now, int32_t epoch, uint64_t seed)
{
    int64_t at = epoch_at(world, now->at, epoch), n = world->requests;
    dram_request *requests = world->traffic + at * n;
    double writes = world->vary_writes ? MOST_WRITES * now->latent[2] : 0.0, *seen = world->seen + 3 * at;
    dram_view view;
    dram_streams_next(&now->streams, seed, now->latent[0], now->gap_stay, now->gap_move, writes, requests, n);
    dram_observe(&now->shadow, requests, n, &view);
    double busy = (double)(view.requests * world->timing.burst) / (double)(view.span > 1 ? view.span : 1);
    double load = busy / PEAK_LOAD;
    world->crowded[now->at] += busy >= PEAK_LOAD;
    seen[0] = (double)view.same_row / (double)view.requests;
    seen[1] = load < 1.0 ? load : 1.0;
    seen[2] = (double)view.writes / (double)view.requests;
}

static void start(const dram_world *world, drawing *now, const double *drawn)
{
    uint64_t seed = (uint64_t)(drawn[3] * 0x1.0p53);
    dram_totals unpaid;
    dram_channel *warm = world->warm + now->at;
    memset(&unpaid, 0, sizeof unpaid);
    memcpy(now->latent, drawn, sizeof now->latent);
    dram_shadow_reset(&now->shadow);
    set_gaps(world, now);
    dram_streams_reset(&now->streams, world->streams, seed + 1, now->latent[0], now->gap_stay, now->gap_move);
    draw_epoch(world, now, 0, seed);
    dram_reset(warm, &world->timing);
    dram_run(warm, &world->timing, &world->policy, world->traffic + epoch_at(world, now->at, 0) * world->requests,
             world->requests, &unpaid);
}

void dram_world_fill(const dram_world *world, int32_t tape, int32_t instance, int32_t episodes, const double *drawn,
                     const double *noise)
{
    double c = world->c[instance];
    int64_t n = world->n;
    for (int64_t k = 0; k < episodes; k++) {
        drawing now = {.at = (int64_t)tape * world->episodes + k};
        world->crowded[now.at] = 0;
        start(world, &now, drawn + (k * n + instance) * 4);
        for (int32_t h = 0; h < world->horizon; h++) {
            const double *numbers = noise + (k * world->horizon + h) * 4 * n + instance;
            now.latent[0] = c * now.latent[0] + (1.0 - c) * (1.0 - now.latent[0]);
            for (int j = 0; j < 3; j++)
                now.latent[j] = inside(now.latent[j] + world->walk * numbers[j * n]);
            set_gaps(world, &now);
            draw_epoch(world, &now, h + 1, (uint64_t)(numbers[3 * n] * 0x1.0p53));
        }
    }
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

void dram_step(const void *of, const play_step *at)
{
    const dram_world *world = of;
    int64_t episode = (int64_t)world->tape[at->instance] * world->episodes + at->k;
    int64_t epoch = epoch_at(world, episode, at->h + 1);
    dram_channel *channel = world->channel + at->instance;
    dram_totals *totals = world->last + at->instance;
    dram_policy policy = world->policy;
    policy.timeout = at->action[0] >= 1.0 ? DRAM_NEVER : nearest(exact_exp2(10.0 * at->action[0]) - 1.0);
    if (world->d_a > 1)
        policy.opportune = 1 + (int32_t)nearest(31.0 * at->action[1]);
    if (at->h == 0)
        *channel = world->warm[episode];
    memset(totals, 0, sizeof *totals);
    dram_run(channel, &world->timing, &policy, world->traffic + epoch * world->requests, world->requests, totals);
    add(world->sum + at->instance, totals);
    double hit = world->timing.cl + world->timing.burst;
    double latency = totals->reads ? (double)totals->read_latency / (double)totals->reads : hit;
    *at->reward = inside((world->worst - latency) / (world->worst - hit));
    for (int32_t j = 0; j < world->d_s; j++)
        at->next[j] = world->seen[3 * epoch + j];
}
