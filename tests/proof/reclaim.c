/* Freeing units, for any content: the walk that folds a leaf or removes a block, and two cells of V that become one. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
static uint32_t any_depth; /* what is checked for it is taken for all depths */
#define CALL_adamb_counts_expect contract_expect
#define CALL_adamb_counts_fold contract_counts_fold
#define CALL_adamb_counts_free contract_counts_free
#define CALL_adamb_number_blend contract_blend
#define CALL_adamb_pool_alloc contract_alloc
#define CALL_adamb_pool_free contract_free
#define CALL_adamb_value_refresh_means contract_refresh_means

/* counts.c */
static void contract_counts_fold(const adamb_call *c, uint16_t from, uint16_t to, uint8_t level)
{
    CHECK(is_link(c, from) && is_link(c, to) && level < c->finest);
    change_block(c->w);
}

static void contract_counts_free(const adamb_call *c, uint16_t rec)
{
    CHECK(is_link(c, rec));
    change_block(c->w);
}

/* value.c: the nodes on the way are units of the pool. */
static void contract_refresh_means(const adamb_call *c, const uint16_t *nodes, uint32_t depth, uint32_t code, uint32_t value)
{
    CHECK(depth <= ADAMB_LEVEL_MAX && value <= ADAMB_VALUE_MAX && code <= 0xFFFF);
    CHECK(any_depth >= depth || is_link(c, nodes[any_depth]));
    change_block(c->w);
}

#define CUT_reclaim_tree_1                                                                              \
    CUT_AT(1, HOLDS(level <= c->finest && (parent == 0) == (level == 0)) HOLDS(parent == 0 || is_link(c, parent)) \
           HOLDS(word_ok(c, slot)) HOLDS(is_link(c, w[slot])),                                                \
           level = any8(); parent = any16(); slot = any32(); change_block(w), c->finest + 1 - level)

static void contract_fold(const adamb_call *c, uint32_t slot, uint16_t parent, uint8_t level)
{
    CHECK(word_ok(c, slot) && is_link(c, c->w[slot]) && is_link(c, parent) && level < c->finest);
    change_block(c->w);
}

static void contract_remove(const adamb_call *c, uint16_t block, uint32_t slots, uint32_t above, uint8_t level)
{
    CHECK(is_link(c, block) && slots >= 1 && slots <= 4);
    CHECK(level == 0xFF ? word_ok(c, above) : level <= c->finest && is_link(c, above));
    change_block(c->w);
}

static uint32_t contract_pick(const adamb_call *c, uint16_t block, uint32_t slots)
{
    uint32_t i = any32();
    CHECK(is_link(c, block) && slots >= 1 && slots <= 4);
    c->w[ADAMB_H_RNG] = any16();
    ASSUME(i == slots || (i < slots && is_link(c, c->w[unit_base(block) + i])));
    return i;
}

#define CALL_fold contract_fold
#define CALL_pick contract_pick
#define CALL_remove_block contract_remove

/* The slots on the way to a node of V: the walk down enters them here, the way back must meet the same. */
static uint32_t way[ADAMB_LEVEL_MAX + 1];

static int way_ok(const adamb_call *c, uint32_t code, uint32_t depth, uint32_t k)
{
    if (k > depth) {
        return 1;
    }
    return slot_ok(c, way[k]) && is_link(c, c->w[way[k]]) &&
           way[k] == (k == 0 ? c->step + ADAMB_S_V_SLOT : unit_base(c->w[way[k - 1]]) + (code >> (16 - k) & 1u));
}

static void take_way(const adamb_call *c, uint32_t code, uint32_t depth)
{
    for (uint32_t k = 0; k <= ADAMB_LEVEL_MAX; k++) {
        way[k] = any32();
        ASSUME(way_ok(c, code, depth, k));
    }
}

#include "adamb_tree.c"

/* In prune_pick, the work of a round is to enter the slot that it goes on to. */
#define BEFORE_prune_join "reclaim_join.h"
#undef ADAMB_WORK
#define ADAMB_WORK() (way[depth + 1] = unit_base(node) + side)
#define CUT_prune_pick_1                                                                                 \
    CUT_AT(1, HOLDS(depth >= 0 && depth < ADAMB_LEVEL_MAX) HOLDS((found & 0xFFFFu >> depth) == 0 && found <= 0xFFFF)   \
           HOLDS(way_ok(c, found, (uint32_t)depth, any_depth)) HOLDS(node == w[way[depth]]),                   \
           depth = any_int(); ASSUME(depth >= 0 && depth < ADAMB_LEVEL_MAX); found = any32(); node = any32();  \
           take_way(c, found, (uint32_t)depth), ADAMB_LEVEL_MAX - depth)
#define CUT_prune_join_1                                                                                 \
    CUT_AT(1, HOLDS(k >= 0 && k < depth) HOLDS(i == way[k])                                                    \
           HOLDS(any_depth >= (uint32_t)k || is_link(c, nodes[any_depth])),                                    \
           k = any_int(); i = any32(); nodes[any_depth] = any16(), depth - k)
#include "adamb_core.c"

static adamb_call any_fold(uint16_t *block, uint16_t *parent, uint8_t *level, uint32_t *slot)
{
    adamb_call c = any_call(block);
    *parent = any16();
    *level = any8();
    *slot = any32();
    ASSUME(is_link(&c, *parent) && *level < c.finest && word_ok(&c, *slot) && is_link(&c, block[*slot]));
    return c;
}

KEEPS_SEAL(fold_leaf)
{
    uint16_t parent;
    uint8_t level;
    uint32_t slot;
    adamb_call c = any_fold(block, &parent, &level, &slot);
    fold(&c, slot, parent, level);
}

KEEPS_SEAL(remove)
{
    adamb_call c = any_call(block);
    uint16_t unit = any16();
    uint32_t slots = any32(), above = any32();
    uint8_t level = any8();
    ASSUME(is_link(&c, unit) && slots >= 1 && slots <= 4);
    ASSUME(level == 0xFF ? word_ok(&c, above) : level <= c.finest && is_link(&c, above));
    remove_block(&c, unit, slots, above, level);
}

/* A slot that it returns holds a link; it changes the random number and nothing else. */
void prove_pick(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    uint16_t unit = any16();
    uint32_t chunk = any32(), watched = any32();
    ASSUME(is_link(&c, unit) && chunk < c.chunks && watched < unit_base(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    uint32_t slots = 1u << (adamb_code_state_bits(&c, chunk) + adamb_code_action_bits(&c, chunk));
    uint32_t i = pick(&c, unit, slots);
    CHECK(slots <= 4 && (i == slots || (i < slots && is_link(&c, block[unit_base(unit) + i]))));
    CHECK(watched == ADAMB_H_RNG || block[watched] == word);
    REACHED;
}

KEEPS_SEAL(tree)
{
    adamb_call c = any_call(block);
    reclaim_tree(&c);
}

/* Every slot on the way to what it picks holds a link. It changes the random number and nothing else. */
void prove_pick_node(void)
{
    uint16_t *block = sealed_block(), code;
    adamb_call c = any_call(block);
    uint32_t watched = any32();
    any_depth = any32();
    ASSUME(any_depth <= ADAMB_LEVEL_MAX && watched < unit_base(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    way[0] = c.step + ADAMB_S_V_SLOT;
    int depth = prune_pick(&c, &code);
    CHECK(depth >= -1 && depth < ADAMB_LEVEL_MAX);
    CHECK(depth < 0 || way_ok(&c, code, (uint32_t)depth, any_depth));
    CHECK(watched == ADAMB_H_RNG || block[watched] == word);
    REACHED;
}

/* Between the two lies a scan, which changes the word of the effect and no other (rank.c): no slot of V. */
KEEPS_SEAL(join)
{
    adamb_call c = any_call(block);
    uint16_t code = any16();
    int depth = any_int();
    any_depth = any32();
    ASSUME(any_depth <= ADAMB_LEVEL_MAX && depth >= 0 && depth < ADAMB_LEVEL_MAX);
    take_way(&c, code, (uint32_t)depth);
    adamb_choice best = any_choice(&c);
    prune_join(&c, code, depth, &best);
}
