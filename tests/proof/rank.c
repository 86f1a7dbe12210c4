/* What a scan concludes from the balls it meets, for any content: one ball after any others, and the end. */
#include "contracts.h"
#include "adamb_call.c"
#include "adamb_code.c"
#include "adamb_number.c"
#include "adamb_pool.c"
#define adamb_counts_expect contract_expect
#define adamb_number_divide contract_divide
#define adamb_number_mean contract_number_mean
#define adamb_tree_clip contract_clip
#define adamb_value_find contract_value_find

/* The real one is in front of the partition's walks: a value between 0 and the most that can be earned. */
static uint16_t contract_clip(const adamb_call *c, int32_t q)
{
    uint16_t value = any16();
    ASSUME(value <= ADAMB_VALUE_MAX);
    return value;
}

/* What the walk writes to r->above is of any value, and stays there. */
#define CUT_follow_played_1                                                                        \
    CUT_AT(1, HOLDS(level <= c->finest && word < units) HOLDS(r->top >= 0 && r->top < 4096),       \
           level = any32(); word = any32(); path = any32(); r->top = any_int(), c->finest + 1 - level)
#include "adamb_rank.c"

#define MOST_N (ADAMB_RANK_MOST + ADAMB_RANK_SAMPLES - 1)
#define FAR_MOST (ADAMB_EFFECT_MOST + 1) /* a power of two is easier to multiply by */
#define Q_MOST (4 * ADAMB_VALUE_MAX)

/* The best ball so far, if there is one. */
static int best_ok(const adamb_call *c, const adamb_ranking *r)
{
    return r->best == -1 || (r->best >= 0 && r->best <= 2 * Q_MOST + 1 && r->q >= 0 && r->q <= Q_MOST &&
                             (r->where >> 25 & 15u) <= c->finest);
}

/* The samples that count are few, which keeps the sums small: a ball brings n times a bounded number. */
static int ranking_ok(const adamb_call *c, const adamb_ranking *r)
{
    int32_t n = r->n;
    return r->rec < c->w[ADAMB_H_UNITS] && r->part <= 256 && r->inherited <= 2 * ADAMB_VALUE_MAX &&
           n >= 0 && n <= MOST_N && r->balls >= 0 && r->balls <= 1 << 16 && r->top >= 0 && r->top < 4096 &&
           r->sum <= n * FAR_MOST && r->sum >= n * -FAR_MOST && r->squares >= 0 &&
           r->squares <= n * (FAR_MOST * FAR_MOST) &&
           (r->balls == 0 || (r->first >= 0 && r->first <= ADAMB_VALUE_MAX)) && best_ok(c, r);
}

void prove_start(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    adamb_ranking r;
    uint32_t watched = any32();
    ASSUME(watched < at(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    adamb_rank_start(&c, &r, any16());
    CHECK(block[watched] == word);
    CHECK(ranking_ok(&c, &r) && r.rec == 0 && r.of == 0 && r.balls == 0);
    REACHED;
}

void prove_ball(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    adamb_ranking r;
    uint32_t where = any32(), level = where >> 25 & 15u;
    ASSUME(ranking_ok(&c, &r) && r.balls < 1 << 16 && level <= c.finest);
    ASSUME(level != 0 || (r.rec == 0 && r.of == 0));
    uint32_t watched = any32();
    ASSUME(watched < at(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    adamb_rank_ball(&c, &r, any16(), where);
    CHECK(block[watched] == word);
    CHECK(ranking_ok(&c, &r));
    REACHED;
}

void prove_end(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    adamb_call c = any_call(block);
    adamb_ranking r;
    uint32_t watched = any32();
    ASSUME(ranking_ok(&c, &r));
    ASSUME(watched < at(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    adamb_rank_end(&c, &r);
    CHECK(seal_kept(block, before));
    CHECK(watched == c.tree + ADAMB_S_EFFECT || block[watched] == word);
    CHECK(c.best_q <= ADAMB_VALUE_MAX);
    REACHED;
}
