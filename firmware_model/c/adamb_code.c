/* Points as left-aligned interleaved codes of 16 bits: the first bits are the coarsest cell. */
#include "adamb_internal.h"

/* abcdefgh -> 0a0b0c0d0e0f0g0h */
static uint32_t spread2(uint32_t x)
{
    x = (x | (x << 4)) & 0x0F0Fu;
    x = (x | (x << 2)) & 0x3333u;
    return (x | (x << 1)) & 0x5555u;
}

static uint32_t gather2(uint32_t x)
{
    x &= 0x5555u;
    x = (x | (x >> 1)) & 0x3333u;
    x = (x | (x >> 2)) & 0x0F0Fu;
    return (x | (x >> 4)) & 0x00FFu;
}

/* abcde -> 00a00b00c00d00e */
static uint32_t spread3(uint32_t x)
{
    x = (x | (x << 8)) & 0x100Fu;
    x = (x | (x << 4)) & 0x10C3u;
    return (x | (x << 2)) & 0x1249u;
}

static uint32_t gather3(uint32_t x)
{
    x &= 0x1249u;
    x = (x | (x >> 2)) & 0x10C3u;
    x = (x | (x >> 4)) & 0x100Fu;
    return (x | (x >> 8)) & 0x001Fu;
}

uint16_t adamb_code_pack(const uint16_t *coordinates, uint8_t dims)
{
    if (dims == 1) {
        return coordinates[0];
    }
    if (dims == 2) {
        return (uint16_t)((spread2(coordinates[0] >> 8) << 1) | spread2(coordinates[1] >> 8));
    }
    return (uint16_t)((spread3(coordinates[0] >> 11) << 3) | (spread3(coordinates[1] >> 11) << 2) |
                      (spread3(coordinates[2] >> 11) << 1));
}

void adamb_code_unpack(uint16_t code, uint8_t dims, uint16_t *coordinates)
{
    if (dims == 1) {
        coordinates[0] = code;
    } else if (dims == 2) {
        coordinates[0] = (uint16_t)(gather2((uint32_t)code >> 1) << 8);
        coordinates[1] = (uint16_t)(gather2(code) << 8);
    } else {
        coordinates[0] = (uint16_t)(gather3((uint32_t)code >> 3) << 11);
        coordinates[1] = (uint16_t)(gather3((uint32_t)code >> 2) << 11);
        coordinates[2] = (uint16_t)(gather3((uint32_t)code >> 1) << 11);
    }
}

/* A level consumes its d_s state bits, then its d_a action bits, two bits a block: four bits of the result tell
 * how many of each the first block takes, the next four the second, and so on. */
uint16_t adamb_code_division(uint8_t d_s, uint8_t d_a)
{
    uint32_t division = 0;
    for (uint8_t chunk = 0; 2 * chunk < d_s + d_a; chunk++) {
        int left = d_s + d_a - 2 * chunk, state_n = d_s - 2 * chunk;
        state_n = state_n < 0 ? 0 : state_n > 2 ? 2 : state_n;
        int action_n = (left > 2 ? 2 : left) - state_n;
        division |= (uint32_t)(state_n | action_n << 2) << (4 * chunk);
    }
    return (uint16_t)division;
}

/* Centre of the action cell whose first `bits` bits are those of `code`. */
uint16_t adamb_code_centre(uint16_t code, uint8_t bits, uint8_t d_a)
{
    return (uint16_t)(code | (((1u << d_a) - 1u) << (16 - bits - d_a)));
}
