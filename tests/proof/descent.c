/* The walk from the root of a partition to the ball of a sample, and the action that is tried there. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
#define CALL_adamb_pool_alloc contract_alloc
#define CALL_adamb_value_find contract_value_find

#define CUT_adamb_tree_descend_1                                                                                             \
    CUT_AT(1, HOLDS(left <= c->finest) HOLDS(word_ok(c, slot)) HOLDS(parent == 0 || is_link(c, parent)) \
           HOLDS((parent == 0) == (left == c->finest)),                                                           \
           slot = any32(); path = any32(); left = any32(); parent = any32(); change_block(w), left + 1)
#define CUT_adamb_tree_descend_2                                                                                             \
    CUT_AT(2, HOLDS(more >= 1 && more <= c->chunks) HOLDS(is_link(c, block)),                                     \
           slot = any32(); path = any32(); more = any32(); block = any32(); change_block(w), more)
#include "adamb_tree.c"
#include "adamb_learn.c"

KEEPS_SEAL(descend)
{
    adamb_call c = any_call(block);
    adamb_visit v;
    adamb_tree_descend(&c, &v, any32());
    CHECK(ball_ok(&c, &v));
}

KEEPS_SEAL(follow)
{
    adamb_call c = any_call(block);
    adamb_visit v;
    ASSUME(v.level <= c.finest);
    adamb_learn_follow(&c, &v, any16());
}
