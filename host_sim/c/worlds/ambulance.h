/* The ambulance problems of host_sim/problems/ambulance, for `play.h`; the noise of a step is its request in a world that has
 * not drifted. */
#ifndef WORLDS_AMBULANCE_H
#define WORLDS_AMBULANCE_H
#include <stdint.h>

#include "play/play.h"

/* cffi begin */
typedef struct {
    int32_t k; /* ambulances */
    int32_t mirrored;
    double alpha;
    /* by instance */
    const double *shift; /* how far requests have walked, from -1 to 1; null where they do not */
    double *request;     /* the last one, */
    int64_t *server;     /* and who served it */
} ambulance_world;
void ambulance_step(const void *world, const play_step *at);
/* cffi end */

#endif
