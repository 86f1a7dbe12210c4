#include "exogenous.h"

#include <math.h>
#include <stddef.h>

#include "exact.h"
#include "worlds/dram.h"

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static double swing(const season *around, const play_step *at, double y)
{
    const double *mean = around->mean + (int64_t)at->h * at->n + at->instance;
    double heading = mean[at->n] + around->memory * (y - mean[0]);
    return inside(heading + around->deviation * at->noise[0]);
}

/* ---- rows and lines ------------------------------------------------------------------------------------- */

void dram_lite_step(const void *world, const play_step *at)
{
    const dram_lite_world *rows = world;
    double before = at->state[0], c = rows->c[at->instance];
    double heading = c * before + (1.0 - c) * (1.0 - before);
    double p = inside(heading + rows->walk * at->noise[0]);
    double timeout = dram_timeout(at->action[0]);
    double lost = p * exact_exp(-timeout / rows->gap_stay);
    double kept = (1.0 - p) * (2.0 - exact_exp(-timeout / rows->gap_move));
    *at->reward = 1.0 - 0.5 * (lost + kept);
    at->next[0] = p;
}

/* The line through the hit ratios at 0, 1, ... lines. */
static double hits_of(const double *curve, double lines, double at)
{
    int64_t cell = (int64_t)at, last = (int64_t)lines - 1;
    cell = cell < last ? cell : last;
    return curve[cell] + (at - (double)cell) * (curve[cell + 1] - curve[cell]);
}

void cache_lite_step(const void *world, const play_step *at)
{
    const cache_lite_world *cache = world;
    double share = at->action[0], lines = cache->lines, c = cache->c[at->instance], ratio[2];
    double requests = inside(at->state[1] + cache->walk * at->noise[0]);
    double part[2] = {share * lines, (1.0 - share) * lines};
    for (int tenant = 0; tenant < 2; tenant++) {
        double own = hits_of(cache->curve[tenant], lines, part[tenant]);
        double other = hits_of(cache->curve[1 - tenant], lines, part[tenant]);
        ratio[tenant] = c * own + (1.0 - c) * other;
    }
    double moving = lines / cache->requests;
    double hits = requests * ratio[0] + (1.0 - requests) * ratio[1];
    *at->reward = (hits - moving * fabs(share - at->state[0]) + moving) / (1.0 + moving);
    at->next[0] = share;
    at->next[1] = requests;
}

/* ---- duties --------------------------------------------------------------------------------------------- */

static double least(double x, double y)
{
    return x < y ? x : y;
}

static double most(double x, double y)
{
    return x > y ? x : y;
}

void dram_drain_step(const void *world, const play_step *at)
{
    const dram_drain_world *queue = world;
    double fill = at->state[0] + queue->inflow, load = at->state[1], action = at->action[0];
    double left = most(fill - queue->burst * action, 0.0);
    double overflow = least(most((left - queue->brim) / queue->brim_width, 0.0), queue->worst_overflow);
    double used = least(action, fill / queue->burst);
    double turnaround = queue->turnaround * least(action / 0.05, 1.0);
    double cost = load * used + turnaround + queue->penalty * overflow / queue->worst_overflow;
    *at->reward = 1.0 - cost / (1.0 + queue->turnaround + queue->penalty);
    at->next[0] = least(left, 1.0);
    at->next[1] = swing(&queue->load, at, load);
}

void dram_refresh_step(const void *world, const play_step *at)
{
    const dram_refresh_world *rows = world;
    double own = at->state[0], load = at->state[1], action = at->action[0];
    double left = own * (1.0 - action) + rows->debt;
    int forced = left >= 1.0;
    double cost = load * action * own + (forced ? rows->penalty * left : 0.0);
    *at->reward = 1.0 - cost / most(1.0 + rows->penalty, rows->penalty * (1.0 + rows->debt));
    at->next[0] = forced ? 0.0 : left;
    at->next[1] = swing(&rows->load, at, load);
}

/* ---- allocation ----------------------------------------------------------------------------------------- */

/* Probability that a request waits with so many servers and a load in erlangs. */
static double waiting(double servers, double load)
{
    double blocking = 1.0;
    if (load >= servers)
        return load > 0.0 ? 1.0 : 0.0;
    for (int k = 1; k <= servers; k++)
        blocking = load * blocking / (k + load * blocking);
    return servers * blocking / (servers - load * (1.0 - blocking));
}

static double utility(const allocation_world *world, double demand, double spent)
{
    double safe = most(demand, 1e-12);
    return (demand > 0.0 ? safe * exact_log1p(world->greed * spent / safe) : 0.0) / world->worth;
}

static double server_reward(const allocation_world *world, const play_step *at, double demand)
{
    double wanted = at->action[0], unmet = most(demand - wanted, 0.0);
    if (world->erlang)
        unmet = waiting(rint(wanted * world->servers), demand * world->servers);
    double switched = world->d_s == 2 ? world->beta * fabs(wanted - at->state[0]) : 0.0;
    return 1.0 - (world->price * wanted + unmet + switched) / world->scale;
}

static double next_demand(const allocation_world *world, const play_step *at)
{
    if (world->series == NULL)
        return swing(&world->demand, at, at->state[world->d_s - 1]);
    int64_t *place = world->place + at->instance;
    *place = (*place + 1) % world->values;
    return world->series[*place];
}

void allocation_step(const void *world, const play_step *at)
{
    const allocation_world *servers = world;
    double own = at->state[0], wanted = at->action[0];
    double demand = next_demand(servers, at);
    *at->reward = servers->budget ? utility(servers, demand, wanted * own) : server_reward(servers, at, demand);
    if (servers->d_s == 2)
        at->next[0] = servers->budget ? own * (1.0 - wanted) : wanted;
    at->next[servers->d_s - 1] = demand;
}
