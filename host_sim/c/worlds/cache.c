#include "worlds/cache.h"

#include <string.h>

#include "worlds/nearest.h"

/* ---- requests ------------------------------------------------------------------------------------------- */

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static int64_t room(const cache_world *world)
{
    return world->warm_up > world->requests ? world->warm_up : world->requests;
}

static uint64_t *keys_of(const cache_world *world, int32_t tape)
{
    return world->keys + tape * room(world);
}

static uint8_t *slots_of(const cache_world *world, int32_t tape)
{
    return world->slots + tape * room(world);
}

static int64_t epoch_at(const cache_world *world, int32_t tape, int64_t episode, int32_t h)
{
    return (tape * (int64_t)world->episodes + episode) * world->epochs + h % world->epochs;
}

static void draw(const cache_world *world, int32_t tape, double seed, int32_t n, double home)
{
    cache_epoch((uint64_t)(seed * 0x1.0p53), n, world->share[tape], home, world->objects, world->accept, world->alias,
                world->loops, world->cursor + 2 * (int64_t)tape, keys_of(world, tape), slots_of(world, tape));
}

void cache_world_warm(const cache_world *world, int32_t tape, int32_t episode, int32_t lines)
{
    cache_stack **stack = world->stack + 2 * (int64_t)tape;
    const uint64_t *keys = keys_of(world, tape);
    const uint8_t *slots = slots_of(world, tape);
    int64_t limit[2] = {lines, world->lines - lines};
    for (int slot = 0; slot < 2; slot++)
        cache_stack_keep(stack[slot], 0);
    for (int32_t i = 0; i < world->warm_up; i++)
        cache_stack_use(stack[slots[i]], keys[i]);
    for (int slot = 0; slot < 2; slot++) {
        int64_t objects = cache_stack_objects(stack[slot]), at = tape * (int64_t)world->episodes + episode;
        world->warm[at * 2 + slot] = (int32_t)(objects < limit[slot] ? objects : limit[slot]);
    }
}

void cache_world_start(const cache_world *world, int32_t tape, int32_t episode, int32_t instance, int32_t lines,
                       double share, const double drawn[5])
{
    world->share[tape] = share;
    world->cursor[2 * (int64_t)tape] = 0;
    world->cursor[2 * (int64_t)tape + 1] = (int32_t)(drawn[3] * world->objects[1]);
    draw(world, tape, drawn[4], world->warm_up, world->c[instance]);
    cache_world_warm(world, tape, episode, lines);
}

void cache_world_take(const cache_world *world, int32_t tape, int32_t episode, int32_t h)
{
    int32_t n = world->requests, sizes = world->lines + 1, second = 0;
    int64_t epoch = epoch_at(world, tape, episode, h);
    const uint64_t *keys = keys_of(world, tape);
    const uint8_t *slots = slots_of(world, tape);
    uint32_t *at_most = world->at_most + epoch * 2 * sizes;
    for (int32_t i = 0; i < n; i++)
        second += slots[i];
    int32_t *to[2] = {world->depth + epoch * n, world->depth + epoch * n + (n - second)};
    memset(at_most, 0, 2 * (size_t)sizes * sizeof *at_most);
    for (int32_t i = 0; i < n; i++) {
        int slot = slots[i];
        int32_t distance = (int32_t)cache_stack_use(world->stack[2 * tape + slot], keys[i]);
        *to[slot]++ = distance > 0 ? distance : sizes;
        at_most[slot * sizes + distance] += distance > 0;
    }
    for (int32_t i = 1; i < sizes; i++) {
        at_most[i] += at_most[i - 1];
        at_most[sizes + i] += at_most[sizes + i - 1];
    }
    world->first[epoch] = n - second;
}

void cache_world_next(const cache_world *world, int32_t tape, int32_t episode, int32_t h, int32_t instance,
                      const double *noise)
{
    world->share[tape] = inside(world->share[tape] + world->walk * noise[instance]);
    draw(world, tape, noise[world->n + instance], world->requests, world->c[instance]);
    cache_world_take(world, tape, episode, h);
}

void cache_world_fill(const cache_world *world, int32_t tape, int32_t instance, int32_t episodes, const int32_t *lines,
                      const double *states, const double *drawn, const double *noise)
{
    int64_t n = world->n;
    for (int32_t k = 0; k < episodes; k++) {
        int64_t from = k * n + instance;
        cache_world_start(world, tape, k, instance, lines[from], states[from * 2 + 1], drawn + from * 5);
        for (int32_t h = 0; h < world->horizon; h++)
            cache_world_next(world, tape, k, h, instance, noise + ((int64_t)k * world->horizon + h) * 2 * n);
    }
}

/* ---- a step --------------------------------------------------------------------------------------------- */

/* Hits of a part with so many lines; it takes in a line at every miss until all are held. */
static int64_t run(const int32_t *depth, int32_t n, const uint32_t *at_most, int32_t lines, int32_t *held)
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

/* An eighth of the range at each end gives all lines to one tenant: an agent plays centres of balls, not the ends. */
double cache_share(double action)
{
    return inside((8.0 * action - 1.0) / 6.0);
}

void cache_step(const void *of, const play_step *at)
{
    const cache_world *world = of;
    int32_t tape = world->tape[at->instance];
    int64_t episode = (int64_t)tape * world->episodes + at->k, epoch = epoch_at(world, tape, at->k, at->h);
    int64_t *hits = world->hits + 2 * (int64_t)at->instance;
    int32_t *held = world->held + 2 * (int64_t)at->instance, n = world->requests, first = world->first[epoch];
    const int32_t *depth = world->depth + epoch * n;
    const uint32_t *at_most = world->at_most + epoch * 2 * (world->lines + 1);
    int32_t own = (int32_t)nearest(cache_share(at->action[0]) * world->lines);
    if (at->h == 0 && !world->carry)
        memcpy(held, world->warm + 2 * episode, 2 * sizeof *held);
    hits[0] = run(depth, first, at_most, own, &held[0]);
    hits[1] = run(depth + first, n - first, at_most + world->lines + 1, world->lines - own, &held[1]);
    *at->reward = (double)(hits[0] + hits[1]) / n;
    at->next[0] = (double)own / world->lines;
    at->next[1] = 1.0 - (double)(n - first) / n;
}
