/* Random numbers for the drivers: xorshift, never 0. */
#ifndef DRAW_H
#define DRAW_H
#include <stdint.h>

static inline uint32_t draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
