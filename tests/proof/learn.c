/* Learning from one sample, for any content: its parts, and the whole by what the parts do. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
#define CALL_adamb_counts_add contract_counts_add
#define CALL_adamb_counts_expect contract_expect
#define CALL_adamb_number_blend contract_blend
#define CALL_adamb_number_divide contract_divide
#define CALL_adamb_number_dithered_mean contract_number_dithered_mean
#define CALL_adamb_number_mean contract_number_mean
#define CALL_adamb_pool_alloc contract_alloc
#define CALL_adamb_pool_free contract_free
#define CALL_adamb_tree_scan contract_scan
#define CALL_adamb_value_set contract_value_set

static int contract_holds(const adamb_call *c, uint16_t code, const adamb_choice *ball)
{
    CHECK(call_ok(c) && choice_ok(c, ball));
    change_block(c->w);
    return any_int();
}
#define CALL_adamb_value_holds contract_holds

/* Paper mode only; tracking sets them in update. */
static int gathered_ok(const adamb_visit *v)
{
    return v->weight <= 2 * ADAMB_SAMPLE_WEIGHT * ADAMB_N_MAX && v->inherited_n <= ADAMB_PATH_MAX * ADAMB_N_MAX &&
           v->expected <= ADAMB_VALUE_MAX;
}


static void contract_descend(const adamb_call *c, adamb_visit *v, uint32_t path)
{
    CHECK(call_ok(c));
    change_block(c->w);
    v->level = any8();
    v->slot = any32();
    v->rec = any16();
    v->parent = any16();
    ASSUME(ball_ok(c, v));
}

static void contract_gather(const adamb_call *c, adamb_visit *v, uint32_t path)
{
    CHECK(call_ok(c) && ball_ok(c, v));
    v->weight = any32();
    v->value = any32();
    v->inherited_n = any32();
    v->expected = any32();
    ASSUME(gathered_ok(v));
}

static uint16_t contract_update(const adamb_call *c, adamb_visit *v)
{
    uint16_t q = any16();
    CHECK(call_ok(c) && ball_ok(c, v) && (v->rec != 0 || v->parent != 0));
    change_block(c->w);
    ASSUME(q <= ADAMB_VALUE_MAX);
    return q;
}

static void contract_request(uint16_t *w, uint32_t step, uint16_t state_code, uint8_t bits)
{
    CHECK(step_there(w, step) && bits <= ADAMB_LEVEL_MAX);
    change_block(w);
}

static void contract_split(const adamb_call *c, const adamb_visit *v)
{
    CHECK(call_ok(c) && ball_ok(c, v) && v->rec != 0 && v->level < c->finest);
    change_block(c->w);
}
#define CALL_adamb_tree_descend contract_descend
#define CALL_gather_above contract_gather
#define CALL_update contract_update
#define CALL_request contract_request
#define CALL_split contract_split

#define CUT_split_1 \
    CUT_AT(1, HOLDS(h < (c->shared ? c->horizon : 1)), h = any8(); change_block(w), (c->shared ? c->horizon : 1) - h)
#define CUT_gather_above_1                                                                        \
    CUT_AT(1, HOLDS(slot < unit_base(units)) HOLDS(level < v->level && w[slot] < units) HOLDS(gathered_ok(v)) \
           HOLDS(v->inherited_n <= (uint32_t)level * ADAMB_N_MAX),                                \
           level = any8(); slot = any32(); path = any32(); v->weight = any32(); v->value = any32(); \
           v->inherited_n = any32(); v->expected = any32(), v->level - level)
#include "adamb_adapt.c"
#include "adamb_tree.c"
#include "adamb_learn.c"

static adamb_visit any_visit(const adamb_call *c)
{
    adamb_visit v;
    ASSUME(ball_ok(c, &v) && gathered_ok(&v) && next_ok(c, &v));
    return v;
}

void prove_gather_above(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    adamb_visit v = any_visit(&c);
    gather_above(&c, &v, any32());
    CHECK(gathered_ok(&v));
    REACHED;
}

KEEPS_SEAL(update)
{
    adamb_call c = any_call(block);
    adamb_visit v = any_visit(&c);
    ASSUME(v.rec != 0 || v.parent != 0);
    CHECK(update(&c, &v) <= ADAMB_VALUE_MAX);
}

KEEPS_SEAL(request)
{
    adamb_call c = any_call(block);
    uint8_t bits = any8();
    ASSUME(bits <= ADAMB_LEVEL_MAX);
    request(block, c.step, any16(), bits);
}

KEEPS_SEAL(split)
{
    adamb_call c = any_call(block);
    adamb_visit v = any_visit(&c);
    ASSUME(v.rec != 0 && v.level < c.finest);
    split(&c, &v);
}

KEEPS_SEAL(jobs)
{
    adamb_call c = any_call(block);
    adamb_learn_jobs(&c);
    CHECK(call_ok(&c));
}

KEEPS_SEAL(sample)
{
    adamb_call c = any_call(block);
    adamb_visit v;
    ASSUME(next_ok(&c, &v));
    adamb_learn_sample(&c, &v);
    CHECK(call_ok(&c) && v.level <= c.finest);
}
