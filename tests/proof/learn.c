/* Learning from one sample, for any content: its parts, and the whole by what the parts do. */
#include "contracts.h"
#include "adamb_call.c"
#include "adamb_code.c"
#include "adamb_number.c"
#include "adamb_pool.c"
#define adamb_counts_add contract_counts_add
#define adamb_counts_expect contract_expect
#define adamb_number_blend contract_blend
#define adamb_number_divide contract_divide
#define adamb_number_follow contract_number_follow
#define adamb_number_mean contract_number_mean
#define adamb_pool_alloc contract_alloc
#define adamb_pool_free contract_free
#define adamb_tree_scan contract_scan
#define adamb_value_set contract_value_set
#include "adamb_adapt.c"
#include "adamb_model.c"
#undef adamb_tree_scan
#include "adamb_tree.c"
#define adamb_tree_scan contract_scan

static int contract_holds(adamb_call *c, uint16_t code, uint16_t action, uint16_t q)
{
    CHECK(call_ok(c) && c->level <= c->finest && q <= ADAMB_VALUE_MAX);
    change_block(c->w);
    c->best_level = any8();
    c->best_q = any16();
    c->best_action = any16();
    return any_int();
}
#define adamb_value_holds contract_holds

/* Paper mode only; tracking sets them in update. */
static int gathered_ok(const adamb_call *c)
{
    return c->weight <= 2 * ADAMB_SAMPLE_WEIGHT * ADAMB_N_MAX && c->inherited_n <= ADAMB_PATH_MAX * ADAMB_N_MAX &&
           c->expected <= ADAMB_VALUE_MAX;
}

#define BEFORE_split "learn_split.h"
#define BEFORE_adamb_learn_jobs "learn_jobs.h"
#define BEFORE_adamb_learn_sample "learn_sample.h"
#define CUT_split_1 \
    CUT_AT(1, HOLDS(h < (c->shared ? c->horizon : 1)), h = any8(); change_block(w), (c->shared ? c->horizon : 1) - h)
#define CUT_gather_above_1                                                                        \
    CUT_AT(1, HOLDS(slot < at(units)) HOLDS(level < c->level && w[slot] < units) HOLDS(gathered_ok(c)) \
           HOLDS(c->inherited_n <= (uint32_t)level * ADAMB_N_MAX),                                \
           level = any8(); slot = any32(); path = any32(); c->weight = any32(); c->value = any32(); \
           c->inherited_n = any32(); c->expected = any32(), c->level - level)
#include "adamb_learn.c"
#undef descend
#undef gather_above
#undef update
#undef request
#undef split

static adamb_call any_ball(uint16_t *block)
{
    adamb_call c = any_call(block);
    ASSUME(ball_ok(&c) && gathered_ok(&c) && next_ok(&c));
    return c;
}

void prove_gather_above(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_ball(block);
    gather_above(&c, any32());
    CHECK(gathered_ok(&c));
    REACHED;
}

void prove_update(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_ball(block);
    ASSUME(c.rec != 0 || c.parent != 0);
    CHECK(update(&c, any16(), any16()) <= ADAMB_VALUE_MAX);
    CHECK(seal_kept(block, before));
    REACHED;
}

void prove_request(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_call(block);
    uint8_t bits = any8();
    ASSUME(bits <= ADAMB_LEVEL_MAX);
    request(block, c.step, any16(), bits);
    CHECK(seal_kept(block, before));
    REACHED;
}

void prove_split(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_ball(block);
    ASSUME(c.rec != 0 && c.level < c.finest);
    split(&c, any16());
    CHECK(seal_kept(block, before));
    REACHED;
}

void prove_jobs(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_call(block);
    adamb_learn_jobs(&c);
    CHECK(seal_kept(block, before) && call_ok(&c));
    REACHED;
}

void prove_sample(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_call(block);
    ASSUME(next_ok(&c));
    adamb_learn_sample(&c, any16(), any16(), any16(), any16());
    CHECK(seal_kept(block, before) && call_ok(&c) && c.level <= c.finest);
    REACHED;
}
