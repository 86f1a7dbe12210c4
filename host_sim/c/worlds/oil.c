#include "oil.h"

#include <math.h>

#include "exact.h"

static double survey(const oil_world *world, int h, double distance)
{
    if (world->quadratic)
        return 1.0 - world->lam * distance * distance;
    double value = exact_exp(-world->lam * distance);
    if (world->text)
        value = 1.0 - value;
    if (world->sparse)
        value = (world->late ? h / 5.0 : 1.0 / (h + 1)) * value;
    return value;
}

/* Of the surveyed place from the deposit: the largest of the coordinates'. */
static double distance_of(const oil_world *world, const play_step *at)
{
    const double *c = world->c + (int64_t)at->instance * world->deposits;
    if (world->d == 1) {
        double place = world->product ? at->state[0] * at->action[0] : at->state[0];
        int32_t turn = at->h - world->late;
        return fabs(place - c[turn < 0 ? turn + world->deposits : turn % world->deposits]);
    }
    double largest = 0.0;
    for (int32_t k = 0; k < world->d; k++) {
        double distance = fabs(at->state[k] - c[k]);
        largest = distance > largest ? distance : largest;
    }
    return largest;
}

static double inside(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

static double landing(const oil_world *world, double state, double action, double noise)
{
    double reach = state + action, deviation = world->sigma * (reach * reach);
    if (world->root_variance != 0.0)
        deviation += world->root_variance * reach;
    return inside(action + deviation * noise);
}

void oil_step(const void *world, const play_step *at)
{
    const oil_world *oil = world;
    double travel = 0.0;
    for (int32_t k = 0; k < oil->d; k++)
        travel += fabs(at->state[k] - at->action[k]);
    double reward = survey(oil, at->h, distance_of(oil, at)) - oil->alpha * travel;
    if (oil->reward_noise > 0.0)
        reward += oil->reward_noise * at->noise[(int64_t)oil->d * at->n];
    *at->reward = inside(reward);
    for (int32_t k = 0; k < oil->d; k++) {
        double to = at->action[k];
        at->next[k] = oil->moves_noisily ? landing(oil, at->state[k], to, at->noise[(int64_t)k * at->n]) : to;
    }
}
