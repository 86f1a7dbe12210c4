#include "worlds/cache.h"

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "cache/cache_depth.h"
#include "worlds/nearest.h"

/* ---- requests ------------------------------------------------------------------------------------------- */

/* One episode while it is drawn. */
typedef struct {
    double share, home;
    int32_t cursor[2];
    uint64_t *keys;
    uint8_t *slots;
    cache_depth depth[2];
} drawing;

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static int64_t longest(const cache_world *world)
{
    return world->warm_up > world->requests ? world->warm_up : world->requests;
}

static int drawing_init(const cache_world *world, drawing *now)
{
    int64_t objects = (int64_t)world->objects[0] + world->objects[1];
    int64_t uses = world->warm_up + (int64_t)world->horizon * world->requests;
    now->keys = malloc((size_t)longest(world) * sizeof *now->keys);
    now->slots = malloc((size_t)longest(world));
    int first = cache_depth_init(&now->depth[0], objects, uses, world->lines);
    int second = cache_depth_init(&now->depth[1], objects, uses, world->lines);
    return first && second && now->keys != NULL && now->slots != NULL;
}

static void drawing_free(drawing *now)
{
    free(now->keys);
    free(now->slots);
    cache_depth_free(&now->depth[0]);
    cache_depth_free(&now->depth[1]);
}

static void draw(const cache_world *world, drawing *now, double seed, int32_t n)
{
    cache_epoch((uint64_t)(seed * 0x1.0p53), n, now->share, now->home, world->objects, world->accept, world->alias,
                world->loops, now->cursor, now->keys, now->slots);
}

static int32_t use(const cache_world *world, drawing *now, int32_t i)
{
    int64_t object = (int64_t)(uint32_t)now->keys[i] + (now->keys[i] >> 32 ? world->objects[0] : 0);
    return cache_depth_use(&now->depth[now->slots[i]], object);
}

static void warm_up(const cache_world *world, drawing *now, double seed, int32_t lines, int32_t *held)
{
    int32_t room[2] = {lines, world->lines - lines};
    draw(world, now, seed, world->warm_up);
    for (int slot = 0; slot < 2; slot++)
        cache_depth_clear(&now->depth[slot]);
    for (int32_t i = 0; i < world->warm_up; i++)
        (void)use(world, now, i);
    for (int slot = 0; slot < 2; slot++)
        held[slot] = now->depth[slot].objects < room[slot] ? (int32_t)now->depth[slot].objects : room[slot];
}

static void fill_epoch(const cache_world *world, drawing *now, double seed, int64_t epoch)
{
    int32_t n = world->requests, sizes = world->lines + 1, second = 0;
    uint32_t *at_most = world->at_most + epoch * 2 * sizes;
    draw(world, now, seed, n);
    for (int32_t i = 0; i < n; i++)
        second += now->slots[i];
    uint16_t *to[2] = {world->depth + epoch * n, world->depth + epoch * n + (n - second)};
    memset(at_most, 0, 2 * (size_t)sizes * sizeof *at_most);
    for (int32_t i = 0; i < n; i++) {
        int slot = now->slots[i];
        int32_t depth = use(world, now, i);
        *to[slot]++ = (uint16_t)depth;
        if (depth < sizes)
            at_most[slot * sizes + depth]++;
    }
    for (int32_t i = 1; i < sizes; i++) {
        at_most[i] += at_most[i - 1];
        at_most[sizes + i] += at_most[sizes + i - 1];
    }
    world->first[epoch] = n - second;
}

int cache_world_fill(const cache_world *world, int32_t tape, int32_t instance, int32_t episodes, const int32_t *lines,
                     const double *states, const double *drawn, const double *noise)
{
    int64_t n = world->n;
    drawing now = {.home = world->c[instance]};
    int ready = drawing_init(world, &now);
    for (int64_t k = 0; k < episodes && ready; k++) {
        int64_t episode = (int64_t)tape * world->episodes + k, from = k * n + instance;
        now.cursor[0] = 0;
        now.cursor[1] = (int32_t)(drawn[from * 5 + 3] * world->objects[1]);
        now.share = states[from * 2 + 1];
        warm_up(world, &now, drawn[from * 5 + 4], lines[from], world->warm + episode * 2);
        for (int32_t h = 0; h < world->horizon; h++) {
            const double *numbers = noise + (k * world->horizon + h) * 2 * n + instance;
            now.share = inside(now.share + world->walk * numbers[0]);
            fill_epoch(world, &now, numbers[n], episode * world->horizon + h);
        }
    }
    drawing_free(&now);
    return ready;
}

/* ---- a step --------------------------------------------------------------------------------------------- */

/* Hits of a part with so many lines; it takes in a line at every miss until all are held. */
static int64_t run(const uint16_t *depth, int32_t n, const uint32_t *at_most, int32_t lines, int32_t *held)
{
    int32_t now = *held < lines ? *held : lines;
    int64_t hits = 0, passed = 0;
    for (int32_t i = 0; i < n && now < lines; i++) {
        int hit = depth[i] <= now;
        hits += hit;
        passed += depth[i] <= lines;
        now += !hit;
    }
    *held = now;
    return now < lines ? hits : hits + at_most[lines] - passed;
}

void cache_step(const void *of, const play_step *at)
{
    const cache_world *world = of;
    int64_t episode = (int64_t)world->tape[at->instance] * world->episodes + at->k;
    int64_t epoch = episode * world->horizon + at->h, *hits = world->hits + 2 * (int64_t)at->instance;
    int32_t *held = world->held + 2 * (int64_t)at->instance, n = world->requests, first = world->first[epoch];
    const uint16_t *depth = world->depth + epoch * n;
    const uint32_t *at_most = world->at_most + epoch * 2 * (world->lines + 1);
    int32_t own = (int32_t)nearest(at->action[0] * world->lines);
    if (at->h == 0)
        memcpy(held, world->warm + 2 * episode, 2 * sizeof *held);
    hits[0] = run(depth, first, at_most, own, &held[0]);
    hits[1] = run(depth + first, n - first, at_most + world->lines + 1, world->lines - own, &held[1]);
    *at->reward = (double)(hits[0] + hits[1]) / n;
    at->next[0] = (double)own / world->lines;
    at->next[1] = 1.0 - (double)(n - first) / n;
}
