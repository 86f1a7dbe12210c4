/* The walk from the root of a partition to the ball of a sample, and the action that is tried there. */
#include "contracts.h"
#include "adamb_call.c"
#include "adamb_code.c"
#include "adamb_number.c"
#include "adamb_pool.c"
#define adamb_pool_alloc contract_alloc
#define adamb_value_find contract_value_find
#include "adamb_tree.c"

#define CUT_descend_1                                                                                             \
    CUT_AT(1, HOLDS(left <= c->finest) HOLDS(word_ok(c, slot)) HOLDS(parent == 0 || is_link(c, parent)) \
           HOLDS((parent == 0) == (left == c->finest)),                                                           \
           slot = any32(); path = any32(); left = any32(); parent = any32(); change_block(w), left + 1)
#define CUT_descend_2                                                                                             \
    CUT_AT(2, HOLDS(more >= 1 && more <= c->chunks) HOLDS(is_link(c, block)),                                     \
           slot = any32(); path = any32(); more = any32(); block = any32(); change_block(w), more)
#include "adamb_learn.c"

void prove_descend(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    proof_seal before = seal_of(block);
    descend(&c, any32());
    CHECK(seal_kept(block, before));
    CHECK(ball_ok(&c));
    REACHED;
}

void prove_follow(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    proof_seal before = seal_of(block);
    c.level = any8();
    ASSUME(c.level <= c.finest);
    adamb_learn_follow(&c, any16(), any16(), any16());
    CHECK(seal_kept(block, before));
    REACHED;
}
