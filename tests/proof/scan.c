/* adamb_tree_scan: one round of the walk from any state that its invariant allows. */
#define CALL_adamb_rank_start contract_start
#define CALL_adamb_rank_ball contract_ball
#define CALL_rank_end contract_end
#include "proof.h"
#include "adamb_number.c"
#include "adamb_config.c"

/* rank.c proves what these three do with the block. */
void contract_start(const adamb_call *c, adamb_ranking *r)
{
    r->rec = r->of = 0;
}

void contract_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where)
{
    uint32_t level = where >> 25 & 15u;
    CHECK(r->rec < c->w[ADAMB_H_UNITS] && level <= c->finest);
    CHECK(level != 0 || (r->rec == 0 && r->of == 0));
}

void contract_end(const adamb_call *c, adamb_ranking *r, adamb_choice *best)
{
}

static uint32_t any_depth; /* what is checked for it is taken for all depths */

#define BEFORE_adamb_tree_scan "scan_state.h"
#define CUT_adamb_tree_scan_1                                                                                 \
    CUT_AT(1, HOLDS(known <= (uint32_t)c->finest * c->chunks) HOLDS(action < 0x10000)                        \
           HOLDS(left != 0 && left <= ADAMB_SCAN_BALLS_LAST)                                                  \
           HOLDS(depth_ok(&p, action, depth, known, entry)) HOLDS(r.rec < w[ADAMB_H_UNITS])                  \
           HOLDS(link_ok(c, &p, known, any_depth)) HOLDS(slot_of(c, &p, &r, slot, action, depth, known, entry)),        \
           slot = any32(); action = any32(); depth = any32(); known = any32(); entry = any32();              \
           left = any32(); scan_change(c, &p, &r, state_code, known), left * 16 + 15 - depth)
#define CUT_adamb_tree_scan_2                                                                                 \
    CUT_AT(2, HOLDS(depth_ok(&p, action, depth, known, entry)) HOLDS(r.rec < w[ADAMB_H_UNITS])               \
           HOLDS(depth != 0 && (action >> (entry & 31u) & (entry >> 7 & 3u)) == 0),                          \
           slot = any32(); depth = any32(); entry = any32(); r.rec = any32(), depth)
#include "adamb_tree.c"

void prove_scan(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    any_depth = any32();
    ASSUME(any_depth >= 1 && any_depth < ADAMB_PATH_MAX);
    adamb_choice best;
    adamb_tree_scan(&c, any16(), &best);
    CHECK(best.level <= c.finest);
    REACHED;
}
