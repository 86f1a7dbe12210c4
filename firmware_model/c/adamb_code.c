/* Points as left-aligned interleaved codes of 16 bits: the first bits are the coarsest cell. */
#include "adamb_internal.h"

/* abcdefgh -> 0a0b0c0d0e0f0g0h, in both halves of a number at once */
static uint32_t spread2(uint32_t x)
{
    x = (x | (x << 4)) & 0x0F0F0F0Fu;
    x = (x | (x << 2)) & 0x33333333u;
    return (x | (x << 1)) & 0x55555555u;
}

/* All 16 bits with zeros between them. */
static uint32_t interleaved(uint32_t code)
{
    return spread2((code << 8 | (code & 0xFFu)) & 0x00FF00FFu);
}

static uint32_t gather2(uint32_t x)
{
    x = (x | (x >> 1)) & 0x33333333u;
    x = (x | (x >> 2)) & 0x0F0F0F0Fu;
    return (x | (x >> 4)) & 0x00FF00FFu;
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
        uint32_t both = spread2((uint32_t)coordinates[0] >> 8 << 16 | coordinates[1] >> 8);
        return (uint16_t)(both >> 15 | both);
    }
    return (uint16_t)((spread3(coordinates[0] >> 11) << 3) | (spread3(coordinates[1] >> 11) << 2) |
                      (spread3(coordinates[2] >> 11) << 1));
}

void adamb_code_unpack(uint16_t code, uint8_t dims, uint16_t *coordinates)
{
    if (dims == 1) {
        coordinates[0] = code;
    } else if (dims == 2) {
        uint32_t both = gather2(((uint32_t)code << 15 | code) & 0x55555555u);
        coordinates[0] = (uint16_t)(both >> 16 << 8);
        coordinates[1] = (uint16_t)(both << 8);
    } else {
        coordinates[0] = (uint16_t)(gather3((uint32_t)code >> 3) << 11);
        coordinates[1] = (uint16_t)(gather3((uint32_t)code >> 2) << 11);
        coordinates[2] = (uint16_t)(gather3((uint32_t)code >> 1) << 11);
    }
}

/* The way through a partition to a point: the slot numbers of its blocks, two bits each, the first on top. */
uint32_t adamb_code_path(const adamb_call *c, uint32_t state, uint32_t action)
{
    if (c->chunks == 1) {
        return interleaved(state) << 1 | interleaved(action);
    }
    uint32_t path = 0, shift = 32;
    for (uint32_t level = 0; level < c->finest; level++) {
        uint32_t part = state >> (16 - c->d_s) << c->d_a | action >> (16 - c->d_a);
        if (((c->d_s + c->d_a) & 1) != 0) {
            part += part & ~(uint32_t)1; /* the last block of the level is entered by one bit */
        }
        shift -= 2u * c->chunks;
        path |= part << shift;
        state = state << c->d_s & 0xFFFFu;
        action = action << c->d_a & 0xFFFFu;
    }
    return path;
}

/* Centre of the action cell whose first `bits` bits are those of `code`. */
uint16_t adamb_code_centre(uint32_t code, uint32_t bits, uint32_t d_a)
{
    return (uint16_t)(code | (((1u << d_a) - 1u) << (16 - bits - d_a)));
}

/* Is `fine` the centre of a smaller cell within the cell around `centre`? */
int adamb_code_inside(uint32_t fine, uint32_t centre, uint32_t d_a)
{
    uint32_t low = centre & (~centre + 1); /* the last of the d_a ones */
    return (fine & (low - 1)) != 0 && (fine ^ centre) < low << d_a;
}

/* A level consumes its d_s state bits, then its d_a action bits, two bits a block: the lowest four bits say how many
 * of each the first block takes (state bits in the lower two), the next four the second, and so on. */
static const uint16_t divisions[3][3] = {{0x5, 0x45, 0x85}, {0x42, 0x82, 0x482}, {0x52, 0x452, 0x852}};

uint16_t adamb_code_division(uint32_t d_s, uint32_t d_a)
{
    return divisions[d_s - 1][d_a - 1];
}
