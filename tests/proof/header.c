/* What the seal stands for: every block that init makes or that adamb_words_header accepts has such words. */
#include "contracts.h"
#include "adamb_number.c"
/* init clears the block, however long it is: what it writes later does not depend on that. */
#define CUT_adamb_config_write_header_1 \
    CUT_AT(1, HOLDS(i < words), i = any32(); __CPROVER_havoc_object(block), words - i)
#include "adamb_config.c"

#define CUT_adamb_words_header_2 CUT_AT(2, HOLDS(h <= horizon), h = any32(); good = any_int(), horizon + 1 - h)
#include "adamb_check.c"

void prove_accepted_header(void)
{
    uint32_t words = any32();
    ASSUME(words >= ADAMB_H_WORDS);
    uint16_t *block = any_block(words);
    adamb_call c;
    if (adamb_words_header(&c, block, words)) {
        CHECK(sealed(block, words));
        CHECK(block[ADAMB_H_FRESH] >= block[ADAMB_H_POOL_AT] && block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS]);
        CHECK(c.w == block && c.h == 0 && c.first == block[ADAMB_H_POOL_AT]);
    }
    REACHED;
}

void prove_words_of_a_unit(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    uint32_t unit = any32(), level = any32();
    ASSUME(unit < block[ADAMB_H_UNITS] && level <= c.finest);
    adamb_words_record(&c, unit, level);
    adamb_words_counts(&c, unit, level);
    REACHED;
}

void prove_words_of_a_cell(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    uint32_t slot = any32();
    ASSUME(slot_ok(&c, slot));
    adamb_words_cell(&c, slot);
    REACHED;
}

void prove_init(void)
{
    adamb_config config;
    uint32_t words = any32();
    int32_t required = adamb_required_words(&config);
    CHECK(required == ADAMB_BAD_CONFIG || (required >= ADAMB_H_WORDS && required <= 4 * ADAMB_UNITS_MAX));
    if (required > 0 && words >= (uint32_t)required) {
        uint16_t *block = any_block(words);
        adamb_config_write_header(&config, block, words);
        CHECK(sealed(block, words));
    }
    REACHED;
}
