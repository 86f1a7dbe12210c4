/* What a proof takes from a function that another proof is about: what must hold before, and all that may be after.
 * A harness puts `#define adamb_pool_alloc contract_alloc` in front of the files whose calls it replaces. */
#ifndef CONTRACTS_H
#define CONTRACTS_H
#include "proof.h"

/* pool.c */
static uint16_t contract_alloc(uint16_t *w)
{
    uint16_t unit = any16();
    change_block(w);
    ASSUME(unit == 0 || (unit >= w[ADAMB_H_POOL_AT] && unit < w[ADAMB_H_UNITS]));
    return unit;
}

static void contract_free(uint16_t *w, uint16_t unit)
{
    change_block(w);
}

static int step_there(const uint16_t *w, uint32_t step)
{
    uint32_t first = adamb_call_step(w, 0), behind = adamb_call_step(w, (w[ADAMB_H_DIMS] >> 8) + 1u);
    return step >= first && step + ADAMB_S_WORDS <= behind;
}

/* value.c */
static uint32_t contract_value_find(const uint16_t *w, uint32_t step, uint32_t code)
{
    uint32_t i = any32();
    CHECK(step_there(w, step));
    ASSUME(i < unit_base(w[ADAMB_H_UNITS]) - 2);
    return i;
}

static uint32_t contract_value_at(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits)
{
    uint32_t value = any32();
    CHECK(step_there(w, step) && bits <= ADAMB_LEVEL_MAX);
    ASSUME(value <= ADAMB_VALUE_MAX);
    return value;
}

static uint8_t contract_value_set(const adamb_call *c, uint16_t code, const adamb_choice *best)
{
    uint8_t depth = any8();
    CHECK(call_ok(c) && choice_ok(c, best));
    change_block(c->w);
    ASSUME(depth <= ADAMB_LEVEL_MAX);
    return depth;
}

/* counts.c */
static uint32_t contract_expect(const adamb_call *c, uint32_t rec, uint32_t level)
{
    uint32_t value = any32();
    CHECK(rec < c->w[ADAMB_H_UNITS] && level <= c->finest);
    ASSUME(value <= ADAMB_VALUE_MAX);
    return value;
}

static void contract_counts_add(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t cell, uint16_t n)
{
    CHECK(is_link(c, rec) && level <= c->finest && n < 1u << (15 - c->d_s * level));
    change_block(c->w);
}

/* scan.c and rank.c */
static void contract_scan(const adamb_call *c, uint16_t state_code, adamb_choice *best)
{
    CHECK(call_ok(c));
    change_block(c->w);
    *best = any_choice(c);
}

/* number.c */
static uint32_t contract_divide(uint32_t number, uint32_t by)
{
    uint32_t quotient = any32();
    CHECK(by != 0);
    ASSUME(quotient <= number && (number >> 8 >= by || quotient < 256));
    return quotient;
}

static uint32_t contract_blend(uint32_t from, uint32_t to, uint32_t part, uint32_t whole)
{
    CHECK(whole != 0);
    return any32();
}

static uint16_t contract_number_dithered_mean(uint32_t mean, uint32_t value, uint32_t n, uint32_t salt)
{
    CHECK(n >= 1 && n <= ADAMB_N_MAX);
    return any16();
}

/* A mean by the table: what is not a mean of 15-bit values is still bounded. */
static uint32_t contract_number_mean(uint32_t sum, uint32_t total)
{
    uint32_t value = any32();
    CHECK(total >= 124 && total <= 255);
    ASSUME(value < 1u << 18 && (sum > 2 * total * ADAMB_VALUE_MAX || value <= 1u << 16));
    return value;
}
#endif
