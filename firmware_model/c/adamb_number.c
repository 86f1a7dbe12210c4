/* Integer arithmetic shared by the parts; the ranges are those of SPEC 4.9. */
#include "adamb_internal.h"

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
uint16_t adamb_number_follow(uint32_t mean, uint32_t value, uint32_t n, uint32_t salt)
{
    uint32_t dither = ((((n + salt) & ADAMB_DITHER_MASK) * ADAMB_DITHER_FACTOR) & 0xFFFFu) * n >> 16;
    if (value >= mean) {
        return (uint16_t)(mean + adamb_number_divide(value - mean + dither, n));
    }
    return (uint16_t)(mean - adamb_number_divide(mean - value + dither, n));
}

/* The same with 2^shift values, however many there were. */
uint16_t adamb_number_drift(uint32_t mean, uint32_t value, uint32_t shift, uint32_t salt)
{
    uint32_t dither = ((salt & ADAMB_DITHER_MASK) * ADAMB_DITHER_FACTOR & 0xFFFFu) >> (16 - shift);
    return (uint16_t)(value >= mean ? mean + ((value - mean + dither) >> shift) : mean - ((mean - value + dither) >> shift));
}

/* The most that can still be earned from step h on. */
uint16_t adamb_number_initial(const adamb_call *c, uint8_t h)
{
    return (uint16_t)((c->horizon - h) << c->fraction);
}
