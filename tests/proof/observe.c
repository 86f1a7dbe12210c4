/* adamb_observe, adamb_end_episode and adamb_init as a whole, by what the proofs of their parts say of these. */
#include "proof.h"

/* A node of V was picked, and since then nothing has changed the block but a scan: so reclaim.c takes it. */
static int picked, picked_depth;
static uint16_t picked_code;
#define change_block(w) (picked = 0, change_block(w))
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"

/* Whether the seal is found whole: act.c proves which words that reads. */
static int usable;

static int contract_usable(const uint16_t *w)
{
    return usable;
}
#define CALL_adamb_config_usable contract_usable
#define CALL_adamb_number_divide contract_divide
#define CALL_adamb_number_dithered_mean contract_number_dithered_mean
#define CALL_adamb_pool_alloc contract_alloc
#define CALL_adamb_pool_free contract_free
#define CALL_adamb_value_find contract_value_find
#define CALL_adamb_value_set contract_value_set
#define CALL_adamb_tree_scan contract_scan_frame
#define CALL_adamb_learn_sample contract_learn_sample
#define CALL_adamb_learn_jobs contract_learn_jobs
#define CALL_adamb_learn_follow contract_learn_follow
#define CALL_reclaim_tree contract_reclaim_tree
#define CALL_prune_pick contract_prune_pick
#define CALL_prune_join contract_prune_join
#define CALL_adamb_required_words contract_required_words
#define CALL_adamb_config_write_header contract_write_header

/* scan.c, rank.c: a scan changes the word of the effect and no other. */
static void contract_scan_frame(const adamb_call *c, uint16_t state_code, adamb_choice *best)
{
    CHECK(call_ok(c));
    c->w[c->tree + ADAMB_S_EFFECT] = any16();
    *best = any_choice(c);
}

/* learn.c */
static int contract_learn_sample(const adamb_call *c, adamb_visit *v)
{
    CHECK(call_ok(c) && next_ok(c, v));
    change_block(c->w);
    v->rec = any16(), v->parent = any16(), v->slot = any32(), v->level = any8();
    v->weight = any32(), v->value = any32(), v->expected = any32(), v->inherited_n = any32();
    ASSUME(v->level <= c->finest);
    return any_int();
}

static void contract_learn_jobs(const adamb_call *c)
{
    CHECK(call_ok(c));
    change_block(c->w);
}

/* descent.c */
static void contract_learn_follow(const adamb_call *c, const adamb_visit *v, uint32_t finer)
{
    CHECK(call_ok(c) && v->level <= c->finest && finer <= 0xFFFF);
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

static int contract_prune_join(const adamb_call *c, uint16_t code, int depth, const adamb_choice *best)
{
    CHECK(call_ok(c) && picked && code == picked_code && depth == picked_depth && depth >= 0);
    CHECK(choice_ok(c, best));
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

#define CUT_adamb_adapt_restart_1 CUT_AT(1, HOLDS(h <= w[ADAMB_H_DIMS] >> 8), h = any8(); change_block(w), 255 - h)
#define CUT_adamb_adapt_restart_3 CUT_AT(3, HOLDS(i < ADAMB_SHARE_TABLE_UNITS), i = any8(); change_block(w), 255 - i)
#define CUT_judge_sharing_1 CUT_AT(1, HOLDS(i < ADAMB_SHARE_TABLE_UNITS), i = any16(); change_block(w), 255 - i)
#define CUT_learn_paper_1                                                                     \
    CUT_AT(1, HOLDS(cells >= 1 && cells <= c->links) HOLDS(call_ok(c)), cells = any32(); change_block(c->w), cells)
static void contract_restart(uint16_t *w)
{
    change_block(w);
}
#define CALL_adamb_adapt_restart contract_restart

static int contract_adapt_step(const adamb_call *c, const adamb_visit *v, const uint16_t *next)
{
    uint8_t i = any8();
    CHECK(call_ok(c) && !c->held);
    ASSUME(i < c->d_s);
    (void)next[i]; /* it reads the coordinates of the next state, and these only */
    change_block(c->w);
    return any_int();
}
#define CALL_adamb_adapt_step contract_adapt_step

/* The parts of observe and end_episode, each with a proof below. Learning may decode the call again, when the word `share`
 * has changed. */
static void contract_reclaim(adamb_call *c)
{
    CHECK(call_ok(c));
    change_block(c->w);
}

static int contract_learn_tracking(adamb_call *c, adamb_visit *v)
{
    adamb_visit any_visit;
    CHECK(call_ok(c));
    change_block(c->w);
    *v = any_visit;
    c->shared = any8(), c->tree = any32();
    ASSUME(call_ok(c));
    return any_int();
}

static void contract_learn_held(uint16_t *w, uint32_t value)
{
    CHECK(value <= 0xFFFF);
    change_block(w);
}
#define CALL_reclaim contract_reclaim
#define CALL_learn_tracking contract_learn_tracking
#define CALL_learn_held contract_learn_held
#include "adamb_adapt.c"
#include "adamb_learn.c"
#include "adamb_core.c"

/* A point of the program: as long as its configuration says, which init, restore and guard compare with the block. */
static uint16_t *any_next(const uint16_t *block)
{
    adamb_config program;
    ASSUME(block[ADAMB_H_DIMS] == adamb_config_dims(&program));
    return any8() ? any_block(program.d_s) : 0;
}

KEEPS_SEAL(restart)
{
    adamb_adapt_restart(block);
}

KEEPS_SEAL(adapt_step)
{
    adamb_call c = any_step_call(block);
    adamb_visit v;
    adamb_adapt_step(&c, &v, any_block(c.d_s));
    CHECK(call_ok(&c));
}

KEEPS_SEAL(learn_tracking)
{
    adamb_call c = any_call(block);
    adamb_visit v;
    learn_tracking(&c, &v);
    CHECK(call_ok(&c));
}

KEEPS_SEAL(reclaim)
{
    adamb_call c = any_call(block);
    reclaim(&c);
}

KEEPS_SEAL(learn_held)
{
    learn_held(block, any16());
}

KEEPS_SEAL(observe)
{
    usable = any_int();
    int result = adamb_observe(block, any_int(), any16(), any_next(block));
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK || result == ADAMB_BAD_ORDER);
}

KEEPS_SEAL(end_episode)
{
    usable = any_int();
    int result = adamb_end_episode(block);
    CHECK(result == 0 || result == ADAMB_BAD_BLOCK);
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
