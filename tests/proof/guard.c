/* The check in slices, for any content and any place; how damage is handled, by what init and the store do. */
#include "contracts.h"
#include "adamb_guard.h"
#include "adamb_number.c"
#include "adamb_config.c"
#include "adamb_tree.c"
#include "contract_words.h"

/* observe.c and store.c: a block that was made or restored has sound sealed words. */
static int contract_init(const adamb_config *config, uint16_t *block, uint32_t words)
{
    __CPROVER_havoc_object(block);
    int result = any8() ? 0 : any8() ? ADAMB_BAD_CONFIG : ADAMB_NO_MEMORY;
    ASSUME(result != 0 || (words >= ADAMB_H_WORDS && sealed(block, words) && block[ADAMB_H_DIMS] == adamb_config_dims(config)));
    return result;
}
#define CALL_adamb_init contract_init

static int contract_restore(adamb_store *store, const adamb_config *config, uint16_t *block, uint32_t words)
{
    __CPROVER_havoc_object(block);
    int result = any_int();
    ASSUME(result <= 0 && (result != 0 || (words >= ADAMB_H_WORDS && sealed(block, words) &&
                                           block[ADAMB_H_DIMS] == adamb_config_dims(config))));
    return result;
}
#define CALL_adamb_store_restore contract_restore

static int contract_save(adamb_store *store, const uint16_t *block)
{
    int result = any_int();
    ASSUME(result <= 0);
    return result;
}
#define CALL_adamb_store_save contract_save

#define CUT_scrub_value_1                                                                     \
    CUT_AT(1, HOLDS(depth >= 0 && depth <= c->d_s * c->finest) HOLDS(slot_ok(c, slot)),       \
           depth = any_int(); slot = any32(), (uint64_t)(ADAMB_LEVEL_MAX + 1 - depth))
#define CUT_scrub_record_1                                                                    \
    CUT_AT(1, HOLDS(good && left <= c->links), left = any32(); unit = any16(); good = any_int(), (uint64_t)left + 1)
#define CUT_scrub_ball_1                                                                      \
    CUT_AT(1, HOLDS(level <= c->finest && used == level * (c->d_s + c->d_a)) HOLDS(word_ok(c, slot)), \
           level = any32(); used = any32(); slot = any32(), (uint64_t)c->finest + 1 - level)
#define CUT_begin_1                                                                           \
    CUT_AT(1, HOLDS(h < g->config->horizon && sealed(g->block, g->words))                     \
           HOLDS(g->block[ADAMB_H_DIMS] == adamb_config_dims(g->config)),                     \
           h = any32(); change_block(g->block), g->config->horizon - h)
#define BEFORE_scrub_ball "guard_ball.h"
#define BEFORE_adamb_scrub "guard_scrub.h"
#include "adamb_guard.c"
#undef scrub_record
#undef scrub_value
#undef scrub_ball

static adamb_call any_slice(uint16_t *block)
{
    adamb_call c = any_call(block);
    ASSUME(block[ADAMB_H_FRESH] >= block[ADAMB_H_POOL_AT] && block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS]);
    return c;
}

void prove_slice_of_values(void)
{
    adamb_call c = any_slice(sealed_block());
    int used = scrub_value(&c, any32());
    CHECK(used >= -1 && used <= (int)PATH_BITS);
    REACHED;
}

void prove_slice_of_a_record(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_slice(block);
    uint32_t rec = any32(), level = any32();
    ASSUME(in_use(&c, rec) && level <= c.finest);
    scrub_record(&c, rec, level);
    REACHED;
}

void prove_slice_of_balls(void)
{
    adamb_call c = any_slice(sealed_block());
    int used = scrub_ball(&c, any32());
    CHECK(used >= -1 && used <= (int)PATH_BITS);
    REACHED;
}

void prove_scrub(void)
{
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    adamb_place place;
    int result = adamb_scrub(block, words, any8() ? &place : 0);
    CHECK(result == 0 || result == 1 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK);
    REACHED;
}

/* Whatever a call returned: what is left is a block of the program's dimensions, or one that every call refuses. */
static int for_program(const uint16_t *block, uint32_t words, const adamb_config *config)
{
    return words >= ADAMB_H_WORDS && sealed(block, words) && block[ADAMB_H_DIMS] == adamb_config_dims(config);
}

void prove_guard(void)
{
    adamb_guard guard;
    adamb_config config;
    adamb_store store;
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    int result = adamb_guard_open(any8() ? &guard : 0, any8() ? &config : 0, block, words, any8() ? &store : 0);
    if (result != ADAMB_BAD_ARGUMENT) {
        CHECK(result < 0 ? words == 0 || block[ADAMB_H_MAGIC] != ADAMB_MAGIC : for_program(block, words, &config));
        int code = any_int();
        result = any8() ? adamb_guard_handle(&guard, code) : any8() ? adamb_guard_tick(&guard) : adamb_guard_save(&guard);
        CHECK(result <= 0 || result == code || for_program(block, words, &config));
    }
    REACHED;
}
