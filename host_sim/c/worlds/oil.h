/* The oil problems of host_sim/problems/oil, for `play.h`. */
#ifndef WORLDS_OIL_H
#define WORLDS_OIL_H
#include <stdint.h>

#include "play/play.h"

/* cffi begin */
typedef struct {
    int32_t d, deposits; /* dimensions; coordinates of c an instance */
    int32_t quadratic, product, sparse;
    int32_t text, late;  /* the survey as printed; steps by which the authors' sparse survey is behind */
    int32_t moves_noisily;
    double lam, alpha, sigma, root_variance, reward_noise;
    const double *c;     /* instance, coordinate or step */
} oil_world;
void oil_step(const void *world, const play_step *at);
/* cffi end */

#endif
