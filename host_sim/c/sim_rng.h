/* Small seeded random streams for the compiled simulators (splitmix64 seeding, xoshiro256**). */
#ifndef SIM_RNG_H
#define SIM_RNG_H
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} sim_rng;

/* Here and not in a file of their own: a call would cost more than a number. */
static inline void sim_rng_seed(sim_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += 0x9E3779B97F4A7C15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        rng->s[i] = z ^ (z >> 31);
    }
}

static inline uint64_t sim_rng_rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t sim_rng_next(sim_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = sim_rng_rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = sim_rng_rotate(s[3], 45);
    return result;
}

/* [0, 1) with 53 bits. */
static inline double sim_rng_uniform(sim_rng *rng)
{
    return (double)(sim_rng_next(rng) >> 11) * 0x1.0p-53;
}

#endif
