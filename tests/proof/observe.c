/* adamb_observe, adamb_end_episode and adamb_init as a whole, by what the proofs of their parts say of these. */
#include "proof.h"

/* A node of V was picked, and since then nothing has changed the block but a scan: so reclaim.c takes it. */
static int picked, picked_depth;
static uint16_t picked_code;
#define change_block(w) (picked = 0, change_block(w))
#include "contracts.h"
#include "adamb_code.c"
#include "adamb_number.c"
#include "adamb_pool.c"

/* Whether the seal is found whole: act.c proves which words that reads. */
static int usable;

static int contract_usable(const uint16_t *w)
{
    return usable;
}
#define adamb_config_usable contract_usable
#define adamb_number_divide contract_divide
#define adamb_number_follow contract_number_follow
#define adamb_pool_alloc contract_alloc
#define adamb_pool_free contract_free
#define adamb_value_find contract_value_find
#define adamb_value_set contract_value_set
#define adamb_tree_scan contract_scan_frame
#define adamb_learn_sample contract_learn_sample
#define adamb_learn_jobs contract_learn_jobs
#define adamb_learn_follow contract_learn_follow
#define adamb_reclaim_tree contract_reclaim_tree
#define adamb_prune_pick contract_prune_pick
#define adamb_prune_join contract_prune_join
#define adamb_required_words contract_required_words
#define adamb_config_write_header contract_write_header

/* scan.c, rank.c: a scan changes the word of the effect and no other. */
static void contract_scan_frame(adamb_call *c, uint16_t state_code)
{
    CHECK(call_ok(c));
    c->w[c->tree + ADAMB_S_EFFECT] = any16();
    c->best_level = any8();
    c->best_q = any16();
    c->best_action = any16();
    ASSUME(c->best_level <= c->finest && c->best_q <= ADAMB_VALUE_MAX);
}

/* learn.c */
static void change_ball(adamb_call *c)
{
    change_block(c->w);
    c->rec = any16(), c->parent = any16(), c->slot = any32();
    c->weight = any32(), c->value = any32(), c->expected = any32(), c->inherited_n = any32();
    c->best_level = any8(), c->best_q = any16(), c->best_action = any16();
}

static int contract_learn_sample(adamb_call *c, uint16_t state, uint16_t action, uint16_t reward, uint16_t next)
{
    CHECK(call_ok(c) && next_ok(c));
    change_ball(c);
    c->level = any8();
    ASSUME(c->level <= c->finest);
    return any_int();
}

static void contract_learn_jobs(adamb_call *c)
{
    CHECK(call_ok(c));
    change_ball(c);
}

/* descent.c */
static void contract_learn_follow(const adamb_call *c, uint16_t state_code, uint16_t action_code, uint32_t finer)
{
    CHECK(call_ok(c) && c->level <= c->finest && finer <= 0xFFFF);
    change_block(c->w);
}

/* reclaim.c */
static int contract_reclaim_tree(const adamb_call *c)
{
    CHECK(call_ok(c));
    change_block(c->w);
    return any16() & 1;
}

static int contract_prune_pick(const adamb_call *c, uint16_t *code)
{
    CHECK(call_ok(c));
    c->w[ADAMB_H_RNG] = any16();
    picked = 1;
    *code = picked_code = any16();
    picked_depth = any_int();
    ASSUME(picked_depth >= -1 && picked_depth < ADAMB_LEVEL_MAX);
    return picked_depth;
}

static int contract_prune_join(const adamb_call *c, uint16_t code, int depth)
{
    CHECK(call_ok(c) && picked && code == picked_code && depth == picked_depth && depth >= 0);
    CHECK(c->best_level <= c->finest && c->best_q <= ADAMB_VALUE_MAX);
    change_block(c->w);
    return any_int();
}

/* header.c */
static int32_t contract_required_words(const adamb_config *config)
{
    int32_t words = any_int();
    ASSUME(words == ADAMB_BAD_CONFIG || (words >= ADAMB_H_WORDS && words <= 4 * ADAMB_UNITS_MAX));
    return words;
}

static void contract_write_header(const adamb_config *config, uint16_t *block, uint32_t words)
{
    CHECK(words >= ADAMB_H_WORDS);
    __CPROVER_havoc_object(block);
    ASSUME(sealed(block, words));
}

#define CUT_adamb_call_restart_1 CUT_AT(1, HOLDS(h < w[ADAMB_H_DIMS] >> 8), h = any8(); change_block(w), 255 - h)
#define CUT_adamb_call_restart_3 CUT_AT(3, HOLDS(i < ADAMB_SHARE_TABLE_UNITS), i = any8(); change_block(w), 255 - i)
#define CUT_judge_sharing_1 CUT_AT(1, HOLDS(i < ADAMB_SHARE_TABLE_UNITS), i = any16(); change_block(w), 255 - i)
#define CUT_learn_paper_1                                                                     \
    CUT_AT(1, HOLDS(cells >= 1 && cells <= c->links) HOLDS(call_ok(c)), cells = any32(); change_ball(c), cells)
#include "adamb_call.c"

/* From here on the parts by their contracts; each has a proof of its own below. */
static void real_restart(uint16_t *w)
{
    adamb_call_restart(w);
}

static void contract_restart(uint16_t *w)
{
    change_block(w);
}
#define adamb_call_restart contract_restart
#include "adamb_adapt.c"

static void real_adapt_step(adamb_call *c, const uint16_t *next)
{
    adamb_adapt_step(c, any16(), any16(), any16(), next);
}

static void contract_adapt_step(adamb_call *c, uint16_t state, uint16_t action, uint16_t reward, const uint16_t *next)
{
    uint8_t i = any8();
    CHECK(call_ok(c));
    ASSUME(i < c->d_s);
    (void)next[i]; /* it reads the coordinates of the next state, and these only */
    change_block(c->w);
}
#define adamb_adapt_step contract_adapt_step
#include "adamb_refresh.c"
#include "adamb_core.c"

/* A point of the program: as long as its configuration says, which init, restore and guard compare with the block. */
static uint16_t *any_next(const uint16_t *block)
{
    adamb_config program;
    ASSUME(block[ADAMB_H_DIMS] == adamb_config_dims(&program));
    return any8() ? any_block(program.d_s) : 0;
}

void prove_restart(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    real_restart(block);
    CHECK(seal_kept(block, before));
    REACHED;
}

void prove_adapt_step(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_call(block);
    real_adapt_step(&c, any_block(c.d_s));
    CHECK(seal_kept(block, before) && call_ok(&c));
    REACHED;
}

void prove_observe(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    usable = any_int();
    int result = adamb_observe(block, any_int(), any16(), any_next(block));
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK || result == ADAMB_BAD_ORDER);
    CHECK(seal_kept(block, before));
    REACHED;
}

void prove_end_episode(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    usable = any_int();
    int result = adamb_end_episode(block);
    CHECK(result == 0 || result == ADAMB_BAD_BLOCK);
    CHECK(seal_kept(block, before));
    REACHED;
}

/* No assumption on the content: behind a broken seal nothing but the header is read, and nothing is written. */
void prove_calls_on_a_broken_seal(void)
{
    uint16_t *block = any_block(ADAMB_H_POOL_AT + 1), *none = any_block(0);
    uint32_t watched = any32();
    ASSUME(watched <= ADAMB_H_POOL_AT);
    uint16_t word = block[watched];
    usable = 0;
    CHECK(adamb_observe(block, any_int(), any16(), none) == ADAMB_BAD_BLOCK);
    CHECK(adamb_end_episode(block) == ADAMB_BAD_BLOCK);
    CHECK(adamb_observe(0, any_int(), any16(), none) == ADAMB_BAD_ARGUMENT);
    CHECK(adamb_end_episode(0) == ADAMB_BAD_ARGUMENT);
    CHECK(block[watched] == word);
    REACHED;
}

void prove_init_whole(void)
{
    adamb_config config;
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    int result = adamb_init(&config, block, words);
    CHECK(result == 0 || result == ADAMB_BAD_CONFIG || result == ADAMB_BAD_ARGUMENT || result == ADAMB_NO_MEMORY);
    CHECK(result != 0 || sealed(block, words));
    REACHED;
}
