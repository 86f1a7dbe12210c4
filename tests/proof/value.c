/* The tree of V: every walk of it, for any content. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
#define CALL_adamb_pool_alloc contract_alloc

/* What is above the slot are links, however often units of the way were handed out again. */
#define CUT_adamb_value_set_1                                                                       \
    CUT_AT(1, HOLDS(depth <= ADAMB_LEVEL_MAX) HOLDS(slot_ok(c, i)) HOLDS(node_ok(c, nodes, depth, any_depth)), \
           depth = any8(); i = any32(); change_block(w); change_nodes(c, nodes, depth), ADAMB_PATH_MAX - depth)
#define CUT_adamb_value_refresh_means_1                                                 \
    CUT_AT(1, HOLDS(depth >= 1 && depth <= ADAMB_LEVEL_MAX) HOLDS(value <= ADAMB_VALUE_MAX) \
           HOLDS(node_ok(c, nodes, depth, any_depth)),                                      \
           depth = any32(); value = any32(); code = any32(); take_nodes(c, nodes, depth); change_block(w), depth)

static proof_seal seal;

static uint32_t any_depth; /* what is checked for it is taken for all depths */

static int node_ok(const adamb_call *c, const uint16_t *nodes, uint32_t depth, uint32_t k)
{
    return k >= depth || is_link(c, nodes[k]);
}

static void take_nodes(const adamb_call *c, const uint16_t *nodes, uint32_t depth)
{
    for (uint32_t k = 0; k < ADAMB_PATH_MAX; k++) {
        ASSUME(node_ok(c, nodes, depth, k));
    }
}

static void change_nodes(const adamb_call *c, uint16_t *nodes, uint32_t depth)
{
    for (uint32_t k = 0; k < ADAMB_PATH_MAX; k++) {
        nodes[k] = any16();
    }
    take_nodes(c, nodes, depth);
}
#define CALL_adamb_value_set contract_value_set
#include "adamb_value.c"

static uint32_t any_step(const uint16_t *block)
{
    uint32_t h = any32();
    ASSUME(h <= block[ADAMB_H_DIMS] >> 8);
    return adamb_call_step(block, h);
}

void prove_find(void)
{
    uint16_t *block = sealed_block();
    uint32_t i = adamb_value_find(block, any_step(block), any32());
    CHECK(i + 2 < unit_base(block[ADAMB_H_UNITS]));
    REACHED;
}

void prove_value_at(void)
{
    uint16_t *block = sealed_block();
    uint32_t bits = any32();
    ASSUME(bits <= ADAMB_LEVEL_MAX);
    CHECK(value_at(block, any_step(block), any32(), bits) <= ADAMB_VALUE_MAX);
    REACHED;
}

void prove_mean(void)
{
    uint16_t *block = sealed_block();
    uint32_t unit = any32();
    ASSUME(unit < block[ADAMB_H_UNITS]);
    CHECK(adamb_value_mean(block, unit_base(unit)) <= ADAMB_VALUE_MAX);
    REACHED;
}

/* A call, and what is checked after it. */
static adamb_call watched_call(uint16_t *block)
{
    adamb_call c = any_call(block);
    seal = seal_of(block);
    any_depth = any32();
    ASSUME(any_depth < ADAMB_PATH_MAX);
    return c;
}

void prove_refresh_means(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = watched_call(block);
    uint16_t nodes[ADAMB_PATH_MAX];
    uint32_t depth = any32(), value = any32(), code = any32();
    ASSUME(depth <= ADAMB_LEVEL_MAX && value <= ADAMB_VALUE_MAX && code <= 0xFFFF);
    take_nodes(&c, nodes, depth);
    adamb_value_refresh_means(&c, nodes, depth, code, value);
    CHECK(seal_kept(block, seal));
    REACHED;
}

void prove_set(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = watched_call(block);
    adamb_choice best = any_choice(&c);
    CHECK(adamb_value_set(&c, any16(), &best) <= ADAMB_LEVEL_MAX);
    CHECK(seal_kept(block, seal));
    REACHED;
}

void prove_holds(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = watched_call(block);
    adamb_choice ball = any_choice(&c);
    adamb_value_holds(&c, any16(), &ball);
    CHECK(seal_kept(block, seal));
    REACHED;
}
