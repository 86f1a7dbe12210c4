/* Numbers: 16-bit arithmetic without a divide instruction, codes of points, and units of the user. */
#include "adamb_internal.h"
#include "adamb_unit.h"

/* Integer arithmetic shared by the parts; the ranges are those of SPEC 4.9. */

uint16_t adamb_number_random(uint16_t *w)
{
    uint16_t x = w[ADAMB_H_RNG];
    x = (uint16_t)(x ^ (x << 7));
    x = (uint16_t)(x ^ (x >> 9));
    x = (uint16_t)(x ^ (x << 8));
    w[ADAMB_H_RNG] = x;
    return x;
}

static const uint16_t reciprocal[] = ADAMB_RECIPROCAL;
static const uint16_t inverse_root[] = ADAMB_INVERSE_ROOT;

/* How far left (or, below zero, right) weights with this total must go for a total of 128 to 255. */
int adamb_number_shift(uint32_t total)
{
    int shift = 0;
    for (; total < 128; total <<= 1) {
        shift++;
    }
    for (; total > 255; total >>= 1) {
        shift--;
    }
    return shift;
}

/* sum / total for a mean of 15-bit values whose weights sum to 124..255 (up to four may each lose one by a shift). */
uint32_t adamb_number_mean(uint32_t sum, uint32_t total)
{
    return (sum >> 8) * reciprocal[total - 124] >> 14;
}

/* factor / sqrt(weight / 4), up to 3 % too large: the weight is cut to its first bits. The most there is without a weight. */
uint32_t adamb_number_bonus(uint32_t factor, uint32_t weight)
{
    uint32_t shift = 15;
    if (weight == 0) {
        return ADAMB_VALUE_MAX;
    }
    for (; weight < 16; weight <<= 2) {
        shift--;
    }
    for (; weight > 63; weight >>= 2) {
        shift++;
    }
    return factor * inverse_root[weight - 16] >> shift;
}

/* number / by, by > 0: half the work and a part of the code of a library division on a core that has no divider. */
uint32_t adamb_number_divide(uint32_t number, uint32_t by)
{
#ifdef ADAMB_HAS_DIVIDE
    return number / by;
#else
    uint32_t quotient = 0, bit = 1;
    while (by <= number >> 1) {
        by <<= 1;
        bit <<= 1;
    }
    for (; bit != 0; bit >>= 1, by >>= 1) {
        if (number >= by) {
            number -= by;
            quotient |= bit;
        }
    }
    return quotient;
#endif
}

/* The point `part/whole` of the way from one value to another; the step is cut towards `from`. */
uint32_t adamb_number_blend(uint32_t from, uint32_t to, uint32_t part, uint32_t whole)
{
    if (to >= from) {
        return from + adamb_number_divide((to - from) * part, whole);
    }
    return from - adamb_number_divide((from - to) * part, whole);
}

/* A mean of n values after one more. The step is dithered so that the mean never freezes: what is cut averages out
 * over successive values and over `salt`. */
uint16_t adamb_number_dithered_mean(uint32_t mean, uint32_t value, uint32_t n, uint32_t salt)
{
    uint32_t dither = ((((n + salt) & ADAMB_DITHER_MASK) * ADAMB_DITHER_FACTOR) & 0xFFFFu) * n >> 16;
    if (value >= mean) {
        return (uint16_t)(mean + adamb_number_divide(value - mean + dither, n));
    }
    return (uint16_t)(mean - adamb_number_divide(mean - value + dither, n));
}

/* The same with 2^shift values, however many there were. */
uint16_t adamb_number_moving_average(uint32_t mean, uint32_t value, uint32_t shift, uint32_t salt)
{
    uint32_t dither = ((salt & ADAMB_DITHER_MASK) * ADAMB_DITHER_FACTOR & 0xFFFFu) >> (16 - shift);
    return (uint16_t)(value >= mean ? mean + ((value - mean + dither) >> shift) : mean - ((mean - value + dither) >> shift));
}

/* The most that can still be earned from step h on. */
uint16_t adamb_number_initial(const adamb_call *c, uint8_t h)
{
    return (uint16_t)((c->horizon - h) << c->fraction);
}

/* Points as left-aligned interleaved codes of 16 bits: the first bits are the coarsest cell. */

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
    if (c->chunks == 1 && !c->held) {
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
static const uint16_t divisions[4][3] = {{0x4, 0x8, 0x48}, {0x5, 0x45, 0x85}, {0x42, 0x82, 0x482}, {0x52, 0x452, 0x852}};

uint16_t adamb_code_division(uint32_t d_s, uint32_t d_a)
{
    return divisions[d_s][d_a - 1];
}

/* Values of a user's unit as codes, and back. 65535 = 255 * 257, so that both divisions can be done in two steps of
 * less than 2^25 each: MicroPython's small integers hold them, and 32 bits are enough. */

#define LAST 65535u
#define FEW 255u
#define MANY 257u
#define MOST_COUNTED 0x3FFFFFFFu

/* Of two's complement numbers, without overflow: the larger less the smaller. */
static uint32_t apart(int32_t a, int32_t b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

int adamb_unit_init(adamb_unit *unit, int32_t zero, int32_t full)
{
    if (!unit) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (zero == full || apart(zero, full) > LAST) {
        return ADAMB_BAD_CONFIG;
    }
    unit->zero = zero;
    unit->full = full;
    unit->out_of_range = 0;
    unit->outside = 0;
    return ADAMB_OK;
}

uint16_t adamb_unit_code(adamb_unit *unit, int32_t value)
{
    int rises = unit->zero < unit->full;
    int below = rises ? value < unit->zero : value > unit->zero;
    int above = rises ? value > unit->full : value < unit->full;
    unit->outside = (uint8_t)(below || above);
    if (unit->outside) {
        unit->out_of_range += unit->out_of_range < MOST_COUNTED;
        return (uint16_t)(below ? 0u : LAST);
    }
    uint32_t span = apart(unit->zero, unit->full);
    uint32_t part = apart(unit->zero, value) * FEW;
    return (uint16_t)(part / span * MANY + (part % span * MANY + span / 2u) / span);
}

int32_t adamb_unit_value(const adamb_unit *unit, uint16_t code)
{
    uint32_t span = apart(unit->zero, unit->full);
    uint32_t part = code / MANY * span;
    uint32_t steps = part / FEW + (part % FEW * MANY + code % MANY * span + LAST / 2u) / LAST;
    return unit->zero < unit->full ? unit->zero + (int32_t)steps : unit->zero - (int32_t)steps;
}
