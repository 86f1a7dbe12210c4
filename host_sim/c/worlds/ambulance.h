/* The ambulance problems of host_sim/problems/ambulance, for `play.h`; the noise of a step is its request. */
#ifndef WORLDS_AMBULANCE_H
#define WORLDS_AMBULANCE_H
#include <stdint.h>

#include "play/play.h"

/* cffi begin */
typedef struct {
    int32_t k; /* ambulances */
    double alpha;
} ambulance_world;
void ambulance_step(const void *world, const play_step *at);
/* cffi end */

#endif
