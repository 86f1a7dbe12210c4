/* Small seeded random streams for the compiled simulators (splitmix64 seeding, xoshiro256**). */
#ifndef SIM_RNG_H
#define SIM_RNG_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    uint64_t s[4];
} sim_rng;
void sim_rng_seed(sim_rng *rng, uint64_t seed);
uint64_t sim_rng_next(sim_rng *rng);
double sim_rng_uniform(sim_rng *rng); /* [0, 1) with 53 bits */
/* cffi end */

#endif
