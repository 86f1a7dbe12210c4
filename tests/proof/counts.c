/* Next-state counts of a record: reading, adding, giving back, for any content. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
#define CALL_adamb_pool_alloc contract_alloc
#define CALL_adamb_pool_free contract_free
#define CALL_value_at contract_value_at
#define CALL_adamb_number_divide contract_divide

/* number.c: weights of 124 to 255 in all, and a sum of products that are each at most weight * VALUE_MAX. */
static uint32_t contract_four_mean(uint32_t sum, uint32_t total)
{
    uint32_t value = any32();
    CHECK(total >= 124 && total <= 255);
    ASSUME(value <= ADAMB_VALUE_MAX);
    return value;
}
#define CALL_adamb_number_mean contract_four_mean

#define CHAIN_OK(unit) HOLDS(left >= 0 && left <= (c->paper ? 0x8000 : 0)) HOLDS(is_link(c, unit))
#define CUT_expect_chain_1                                                            \
    CUT_AT(1, CHAIN_OK(unit) HOLDS(total <= 2u * ADAMB_VALUE_MAX),                    \
           left = (int32_t)any32(); unit = any32(); total = any32(); sum = any32(), left)
#define CUT_adamb_counts_free_1 CUT_AT(1, CHAIN_OK(unit), left = (int32_t)any32(); unit = any16(); change_block(c->w), left)
#define CUT_halve_1 CUT_AT(1, CHAIN_OK(unit), left = (int32_t)any32(); unit = any16(); change_block(w), left)
#define CUT_find_entry_1                                                                                   \
    CUT_AT(1, CHAIN_OK(unit) HOLDS(word_ok(c, near)) HOLDS(empty == 0 || word_ok(c, empty)),         \
           left = (int32_t)any32(); unit = any16(); near = any32(); nearest = any32(); empty = any32(), left)
#define CUT_adamb_counts_add_1                                                                     \
    CUT_AT(1, HOLDS(count <= most && n <= most) HOLDS(count + n > most),                            \
           count = any32(); n = any16(); change_block(c->w), count + n)
#define CUT_adamb_counts_fold_1 CUT_AT(1, CHAIN_OK(head), left = (int32_t)any32(); head = any16(); change_block(c->w), left)

static uint32_t contract_entry(const adamb_call *c, uint16_t rec, uint32_t bits, uint16_t cell)
{
    uint32_t i = any32();
    CHECK(is_link(c, rec) && bits >= 1 && bits <= 15);
    change_block(c->w);
    ASSUME(word_ok(c, i));
    return i;
}

static void contract_halve(const adamb_call *c, uint16_t rec, uint32_t bits)
{
    CHECK(is_link(c, rec) && bits >= 1 && bits <= 15);
    change_block(c->w);
}
#define CALL_find_entry contract_entry
#define CALL_halve contract_halve
#define CALL_adamb_counts_add contract_counts_add
#include "adamb_value.c"

static adamb_call any_record(uint16_t *block, uint32_t *rec, uint32_t *level)
{
    adamb_call c = any_call(block);
    *rec = any32();
    *level = any32();
    ASSUME(*level <= c.finest);
    return c;
}

/* Walks that read may pass through the header: the record is any unit of the block. */
void prove_expect(void)
{
    uint16_t *block = sealed_block();
    uint32_t rec, level;
    adamb_call c = any_record(block, &rec, &level);
    ASSUME(rec < block[ADAMB_H_UNITS]);
    uint32_t value = adamb_counts_expect(&c, rec, level);
    CHECK(has_flag(block, ADAMB_FLAG_PAPER) || value <= ADAMB_VALUE_MAX);
    REACHED;
}

/* Walks that write stay in the pool. */
static adamb_call any_counts(uint16_t *block, uint16_t *rec, uint32_t *bits)
{
    uint32_t unit, level;
    adamb_call c = any_record(block, &unit, &level);
    ASSUME(is_link(&c, unit) && level != 0);
    *rec = (uint16_t)unit;
    *bits = count_bits(&c, level);
    return c;
}

KEEPS_SEAL(halve)
{
    uint16_t rec;
    uint32_t bits;
    adamb_call c = any_counts(block, &rec, &bits);
    halve(&c, rec, bits);
}

KEEPS_SEAL(entry)
{
    uint16_t rec;
    uint32_t bits;
    adamb_call c = any_counts(block, &rec, &bits);
    uint32_t i = find_entry(&c, rec, bits, any16());
    CHECK(word_ok(&c, i));
}

KEEPS_SEAL(add)
{
    uint32_t rec, level;
    adamb_call c = any_record(block, &rec, &level);
    uint16_t n = any16();
    ASSUME(is_link(&c, rec) && n < 1u << (15 - c.d_s * level));
    adamb_counts_add(&c, (uint16_t)rec, (uint8_t)level, any16(), n);
}

KEEPS_SEAL(free)
{
    uint32_t rec, level;
    adamb_call c = any_record(block, &rec, &level);
    ASSUME(is_link(&c, rec));
    adamb_counts_free(&c, (uint16_t)rec);
}

/* The counts of a leaf into those of its parent, which may be the same record where links are damaged. */
KEEPS_SEAL(fold)
{
    uint32_t from, level, to = any32();
    adamb_call c = any_record(block, &from, &level);
    ASSUME(is_link(&c, from) && is_link(&c, to) && level < c.finest);
    adamb_counts_fold(&c, (uint16_t)from, (uint16_t)to, (uint8_t)level);
}
