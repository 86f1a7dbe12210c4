/* What a scan concludes from the balls it meets, for any content: one ball after any others, and the end. */
#include "contracts.h"
#include "adamb_number.c"
#include "adamb_config.c"
#define CALL_adamb_counts_expect contract_expect
#define CALL_adamb_number_divide contract_divide
#define CALL_adamb_number_mean contract_number_mean
#define CALL_adamb_tree_clip contract_clip

/* The real one is in front of the partition's walks: a value between 0 and the most that can be earned. */
static uint16_t contract_clip(const adamb_call *c, int32_t q)
{
    uint16_t value = any16();
    ASSUME(value <= ADAMB_VALUE_MAX);
    return value;
}

#include "adamb_tree.c"

#define MOST_N (ADAMB_RANK_MOST + ADAMB_RANK_SAMPLES - 1)
#define FAR_MOST (ADAMB_EFFECT_MOST + 1) /* a power of two is easier to multiply by */
#define Q_MOST (3 * ADAMB_VALUE_MAX)

/* The best ball so far, if there is one. */
static int best_ok(const adamb_call *c, const adamb_ranking *r)
{
    return r->best == -1 || (r->best >= 0 && r->best <= Q_MOST && r->q >= 0 && r->q <= Q_MOST &&
                             (r->where >> 25 & 15u) <= c->finest);
}

/* The samples that count are few, which keeps the sums small: a ball brings n times a bounded number. */
static int ranking_ok(const adamb_call *c, const adamb_ranking *r)
{
    int32_t n = r->n;
    return r->rec < c->w[ADAMB_H_UNITS] && r->part <= 256 && r->inherited <= 2 * ADAMB_VALUE_MAX &&
           n >= 0 && n <= MOST_N && r->balls >= 0 && r->balls <= 1 << 16 &&
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
    ASSUME(watched < unit_base(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    adamb_rank_start(&c, &r);
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
    ASSUME(watched < unit_base(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    adamb_rank_ball(&c, &r, any16(), where);
    CHECK(block[watched] == word);
    CHECK(ranking_ok(&c, &r));
    REACHED;
}

KEEPS_SEAL(end)
{
    adamb_call c = any_call(block);
    adamb_ranking r;
    adamb_choice best;
    uint32_t watched = any32();
    ASSUME(ranking_ok(&c, &r));
    ASSUME(watched < unit_base(block[ADAMB_H_UNITS]));
    uint16_t word = block[watched];
    rank_end(&c, &r, &best);
    CHECK(watched == c.tree + ADAMB_S_EFFECT || block[watched] == word);
    CHECK(best.q <= ADAMB_VALUE_MAX);
}
