#include "ambulance.h"

#include <math.h>
#include <stddef.h>

/* Where a request comes from; what walks beyond a border is folded back. */
static double drifted(const ambulance_world *fleet, int32_t instance, double request)
{
    double at = fleet->mirrored ? 1.0 - request : request;
    if (fleet->shift == NULL)
        return at;
    at += fleet->shift[instance];
    at = at < 0.0 ? at + 2.0 : at;
    return at > 1.0 ? 2.0 - at : at;
}

void ambulance_step(const void *world, const play_step *at)
{
    const ambulance_world *fleet = world;
    double request = drifted(fleet, at->instance, at->noise[0]), travel = 0.0, reach = INFINITY;
    int32_t server = 0;
    for (int32_t i = 0; i < fleet->k; i++) {
        double gap = fabs(at->action[i] - request);
        travel += fabs(at->state[i] - at->action[i]);
        if (gap < reach) {
            reach = gap;
            server = i;
        }
        at->next[i] = at->action[i];
    }
    at->next[server] = request;
    double reward = 1.0 - (fleet->alpha / fleet->k * travel + (1.0 - fleet->alpha) * reach);
    *at->reward = reward > 0.0 ? reward : 0.0;
    fleet->request[at->instance] = request;
    fleet->server[at->instance] = server;
}
