/* The number routines: every value that their callers may pass, by SPEC 4.9. */
#include "proof.h"
#include "adamb_number.c"

/* A divisor that is not 0: the loop ends, and what it gives is the quotient. */
void prove_divide(void)
{
    uint32_t number = any32(), by = any32();
    ASSUME(by != 0);
    uint32_t quotient = adamb_number_divide(number, by);
    CHECK(quotient <= number && (number >> 8 >= by || quotient < 256));
    REACHED;
}

/* The quotient itself, where a multiplier of that size can be searched. */
void prove_divide_small(void)
{
    uint32_t number = any8(), by = any8();
    ASSUME(by != 0);
    CHECK(adamb_number_divide(number, by) == number / by);
    REACHED;
}

void prove_shift(void)
{
    uint32_t total = any32();
    ASSUME(total != 0);
    int shift = adamb_number_shift(total);
    CHECK(shift <= 7 && shift >= -24);
    if (total < 1u << 24) {
        uint32_t moved = shifted(total, shift);
        CHECK(moved >= 128 && moved <= 255);
    }
    REACHED;
}

/* Four weights may each lose one by the shift: the table of the mean starts at 124. */
void prove_mean_of_four(void)
{
    uint32_t weight[4], total = 0, moved = 0, sum = 0;
    for (int i = 0; i < 4; i++) {
        ASSUME(weight[i] <= ADAMB_VALUE_MAX);
        total += weight[i];
    }
    ASSUME(total != 0);
    int shift = adamb_number_shift(total);
    for (int i = 0; i < 4; i++) {
        moved += shifted(weight[i], shift);
    }
    CHECK(moved >= 124 && moved <= 255);
    REACHED;
}

/* A mean of 15-bit values has 15 bits, and nothing on the way exceeds 30: the ranges of SPEC 4.9. */
void prove_mean(void)
{
    uint32_t total = any32(), sum = any32();
    ASSUME(total >= 124 && total <= 255 && sum <= total * ADAMB_VALUE_MAX);
    CHECK((sum >> 8) * reciprocal[total - 124] < 1u << 30);
    CHECK(adamb_number_mean(sum, total) <= ADAMB_VALUE_MAX);
    uint32_t rounded = any32();
    ASSUME(rounded <= 2 * total * ADAMB_VALUE_MAX);
    CHECK(adamb_number_mean(rounded, total) <= 1u << 16);
    REACHED;
}

/* Why the sum of four products is one of the table's: each is at most its weight times VALUE_MAX. */
void prove_product(void)
{
    uint32_t weight = any8(), value = any16();
    ASSUME(value <= ADAMB_VALUE_MAX);
    CHECK(weight * value <= weight * ADAMB_VALUE_MAX);
    REACHED;
}

void prove_bonus(void)
{
    uint32_t factor = any32(), weight = any32();
    ASSUME(factor <= 0xFFFF);
    CHECK(adamb_number_bonus(factor, weight) <= 2 * factor || weight == 0);
    REACHED;
}

void prove_random_is_never_0(void)
{
    uint16_t block[ADAMB_H_WORDS];
    uint16_t was = block[ADAMB_H_RNG];
    CHECK((adamb_number_random(block) == 0) == (was == 0));
    REACHED;
}

/* n is at most N_MAX, or the window of the detector. */
void prove_follow_has_room(void)
{
    uint32_t n = any32(), salt = any32();
    ASSUME(n >= 1 && n <= ADAMB_N_MAX && salt <= 0xFFFF);
    uint32_t dither = ((((n + salt) & ADAMB_DITHER_MASK) * ADAMB_DITHER_FACTOR) & 0xFFFFu) * n >> 16;
    CHECK(dither < n);
    adamb_number_dithered_mean(any16(), any16(), n, salt);
    REACHED;
}

/* Values with the weights of samples, or mean rewards with their number: 30 bits, whatever the whole is. */
void prove_blend(void)
{
    uint32_t from = any16(), to = any16(), part = any32(), whole = any32();
    int values = from <= ADAMB_VALUE_MAX && to <= ADAMB_VALUE_MAX && part <= ADAMB_SAMPLE_WEIGHT * ADAMB_N_MAX;
    ASSUME(whole != 0 && (values || part <= ADAMB_N_MAX));
    CHECK((to >= from ? to - from : from - to) * part < 1u << 30);
    adamb_number_blend(from, to, part, whole);
    REACHED;
}

/* The next mean lies between the last one and the new value. */
void prove_drift(void)
{
    uint32_t mean = any16(), value = any16(), shift = any32();
    ASSUME(shift >= 1 && shift <= 15);
    uint32_t next = adamb_number_moving_average(mean, value, shift, any32());
    CHECK(value >= mean ? next >= mean && next <= value : next <= mean && next >= value);
    REACHED;
}

void prove_initial(void)
{
    adamb_call c;
    uint8_t h = any8(), horizon = any8();
    ASSUME(horizon >= 1 && horizon <= ADAMB_HORIZON_MAX && h <= horizon);
    ASSUME(c.horizon == horizon + (h == horizon)); /* the held step is the last one */
    ASSUME(c.fraction == (horizon <= 7 ? 12 : horizon <= 15 ? 11 : 10));
    CHECK(adamb_number_initial(&c, h) <= ADAMB_VALUE_MAX);
    REACHED;
}
