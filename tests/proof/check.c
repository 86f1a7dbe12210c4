/* adamb_check for any content: every walk of it, and the whole. It only reads. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"

#include "contract_words.h"

static uint32_t contract_quotient(uint32_t number, uint32_t by)
{
    CHECK(by >= 1 && by <= 3 && number <= 15);
    return by == 1 ? number : by == 2 ? number >> 1 : number * 11 >> 5;
}
#define CALL_adamb_number_divide contract_quotient

static uint32_t any_depth; /* what is checked for it is taken for all depths */

#define CHANGE_WALK(k) \
    (k)->met = any32(); \
    (k)->sum = any32(); \
    (k)->mix = any32(); \
    (k)->splits = any32(); \
    (k)->bad = any_int()
#define WALK_OK(k) HOLDS(!(k)->bad && (k)->met <= (k)->w[ADAMB_H_UNITS])
#define LEFT(k) ((uint64_t)((k)->w[ADAMB_H_UNITS] - (k)->met))

/* The state of a walk at the head of a round. A round either meets a unit, or it goes on to the next slot of the
 * deepest block that has one left: units are met at most `units` times, and between two of them slots come in order. */
static uint32_t met_before, depth_before, slot_before, path_before[ADAMB_PATH_MAX];
static uint8_t next_before[ADAMB_PATH_MAX];

#define CUT_walk_counts_1                                                            \
    CUT_AT(1, WALK_OK(k) HOLDS(in_use_ok(k, unit)) HOLDS(k->met >= met_before),     \
           unit = any16(); CHANGE_WALK(k), LEFT(k))
#define CUT_walk_tree_1                                                                                       \
    CUT_AT(1, WALK_OK(k) HOLDS(word_ok(&k->c, slot)) HOLDS(depth <= most)                                \
           HOLDS(tree_ok(k, block, next, depth, any_depth)),                                                  \
           slot = any32(); depth = any8(); change_tree(k, block, next, depth); CHANGE_WALK(k),                \
           checking ? !tree_went_on(k, next, depth) : tree_was(k, next, depth))
#define CUT_walk_value_1                                                                                      \
    CUT_AT(1, HOLDS(k->met <= k->w[ADAMB_H_UNITS]) HOLDS(slot_ok(&k->c, slot))                               \
           HOLDS(depth <= k->c.d_s * k->c.finest)                                                             \
           HOLDS(path_ok(k, path, slot, depth, any_depth)),                                                         \
           slot = any32(); depth = any8(); change_path(k, path, slot, depth); CHANGE_WALK(k),                       \
           checking ? !value_went_on(k, path, slot, depth) : value_was(k, path, slot, depth))
#define CUT_walk_value_2                                                                                      \
    CUT_AT(2, HOLDS(depth != 0 && depth <= depth_before && slot == unit_base(w[path[depth - 1]]) + 1)                \
           HOLDS(slot == (depth < depth_before ? path[depth] : slot_before)), slot = any32(); depth = any8(), depth)
#define BEFORE_walk_counts "check_state.h"
#define BEFORE_adamb_check "check_whole.h"
#define CUT_adamb_check_1 \
    CUT_AT(1, WALK_OK(&k) HOLDS(h <= block[ADAMB_H_DIMS] >> 8), h = any8(); CHANGE_WALK(&k), \
           (block[ADAMB_H_DIMS] >> 8) + 1 - h)
#define CUT_adamb_check_3 \
    CUT_AT(3, WALK_OK(&k) HOLDS(in_use_ok(&k, unit)), unit = any16(); free_n = any32(); CHANGE_WALK(&k), LEFT(&k))
#define CUT_adamb_check_4 CUT_AT(4, HOLDS(unit >= first && unit < last), unit = any32(); CHANGE_WALK(&k), last - unit)
#include "adamb_check.c"
#undef walk_value
#undef walk_tree

static adamb_walk any_walk(uint16_t *block)
{
    adamb_walk k;
    k.w = block;
    k.c = any_call(block);
    k.bad = 0;
    uint32_t fresh = block[ADAMB_H_FRESH];
    ASSUME(fresh >= block[ADAMB_H_POOL_AT] && fresh <= block[ADAMB_H_UNITS] && k.met <= block[ADAMB_H_UNITS]);
    any_depth = any32();
    ASSUME(any_depth < ADAMB_PATH_MAX);
    return k;
}

void prove_walk_tree(void)
{
    adamb_walk k = any_walk(sealed_block());
    walk_tree(&k, k.c.step + ADAMB_S_ROOT);
    CHECK(k.bad || k.met <= k.w[ADAMB_H_UNITS]);
    REACHED;
}

void prove_walk_value(void)
{
    adamb_walk k = any_walk(sealed_block());
    walk_value(&k);
    CHECK(k.bad || k.met <= k.w[ADAMB_H_UNITS]);
    REACHED;
}

void prove_check(void)
{
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    int result = adamb_check(block, words);
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK);
    CHECK(result != 0 || (sealed(block, words) && block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS]));
    REACHED;
}
