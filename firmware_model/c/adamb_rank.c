/* Choosing among the balls of a state: what a scan concludes from those it meets. */
#include "adamb_internal.h"

/* The mean rewards on the way to the ball that the state plays so far. */
static void follow_played(const adamb_call *c, adamb_ranking *r, uint32_t state_code)
{
    const uint16_t *w = c->w;
    uint32_t units = w[ADAMB_H_UNITS], word = w[c->tree + ADAMB_S_ROOT], level = 0;
    uint32_t path = adamb_code_path(c, state_code, w[adamb_value_find(w, c->step, state_code) + 2]);
    while (word < units) {
        ADAMB_WORK();
        r->top = (uint16_t)(w[at(word) + ADAMB_R_REWARD] >> (16 - c->fraction));
        r->above[++level] = r->top;
        if (level > c->finest) { /* only damage leads further */
            break;
        }
        word = w[at(word)];
        for (uint32_t more = c->chunks; more != 0 && word < units; more--, path <<= 2) {
            word = w[at(word) + (path >> 30)];
        }
    }
    while (level <= ADAMB_LEVEL_MAX) {
        r->above[++level] = r->top;
    }
}

void adamb_rank_start(const adamb_call *c, adamb_ranking *r, uint32_t state_code)
{
    const uint16_t *w = c->w;
    r->part = 256, r->top = 0;
    if (c->h + 1 < c->horizon && !c->paper) {
        uint32_t effect = w[c->tree + ADAMB_S_EFFECT], spread = w[c->tree + ADAMB_S_SPREAD];
        effect <<= ADAMB_EFFECT_SCALE_SHIFT - ADAMB_SPREAD_SCALE_SHIFT; /* in the unit of the spread */
        r->part = (uint16_t)(effect > spread ? 256 - adamb_number_divide(spread << 8, effect) : 0);
    }
    r->best = -1;
    r->inherited = (uint32_t)2 * ADAMB_VALUE_MAX; /* no record above: start at the optimistic maximum */
    r->rec = r->of = 0;
    r->n = r->balls = 0;
    r->sum = r->squares = 0;
    if (!c->paper) {
        follow_played(c, r, state_code);
    }
}

/* Add a visited ball to what is known of all of them together. */
static void weigh(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t expected)
{
    const uint16_t *ball = c->w + at(word);
    int32_t n = ball[ADAMB_R_N] & ADAMB_N_MAX, e = (int32_t)(expected >> (c->fraction - ADAMB_EFFECT_BITS));
    if (r->n >= ADAMB_RANK_MOST) {
        return;
    }
    n = n < ADAMB_RANK_SAMPLES ? n : ADAMB_RANK_SAMPLES;
    if (r->balls++ == 0) {
        r->first = e;
    }
    e -= r->first;
    e = e > ADAMB_EFFECT_MOST ? ADAMB_EFFECT_MOST : e < -ADAMB_EFFECT_MOST ? -ADAMB_EFFECT_MOST : e;
    r->n += n;
    n *= e;
    r->sum += n;
    r->squares += n * e;
}

/* The next ball: the word of its slot, and its action code | level << 25. An unvisited ball refers to its parent, whose
 * samples come from more states than this one. So it is raised by a part of what the ball that is played here earns more
 * than the record of the parent's size above it, whose samples come from the same states. */
void adamb_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where)
{
    uint32_t expected, level = where >> 25 & 15u;
    int32_t lift = 0, visited = 0;
    if (word >= c->w[ADAMB_H_UNITS]) {
        if (r->rec != r->of) {
            r->of = r->rec;
            r->inherited = adamb_counts_expect(c, r->rec, level - 1);
        }
        expected = r->inherited;
        if (r->rec != 0 && !c->paper && r->top > r->above[level]) {
            lift = (int32_t)(r->top - r->above[level]) * ADAMB_RANK_LIFT >> ADAMB_RANK_LIFT_SHIFT;
        }
    } else {
        expected = adamb_counts_expect(c, word, level);
        if (!c->paper) {
            visited = 1;
            weigh(c, r, word, expected);
        }
        word = c->w[at(word)];
    }
    lift += (int32_t)(word & ADAMB_VALUE_MASK);
    int32_t key = 2 * (lift + (int32_t)(expected * r->part >> 8)) + visited;
    if (key > r->best) {
        r->best = key;
        r->q = lift + (int32_t)expected;
        r->where = where;
    }
}

/* Follows by how much the expectations of a state's balls differ: their variance, weighted by samples. */
static void follow_effect(const adamb_call *c, const adamb_ranking *r)
{
    uint16_t *s = c->w + c->tree;
    uint32_t others = (uint32_t)r->balls - 1u, n = (uint32_t)r->n, most = others * ADAMB_EFFECT_TOP;
    int shift = adamb_number_shift(n);
    int32_t sum = r->sum < 0 ? -r->sum : r->sum;
    int32_t mean = (int32_t)adamb_number_mean(shifted((uint32_t)sum, shift) << 6, shifted(n, shift)) >> 6;
    uint32_t between = (uint32_t)(r->squares - mean * (2 * sum - mean * r->n)) >> ADAMB_EFFECT_SCALE_SHIFT;
    shift = adamb_number_shift(others);
    between = adamb_number_mean(shifted(between > most ? most : between, shift), shifted(others, shift));
    s[ADAMB_S_EFFECT] = adamb_number_drift(s[ADAMB_S_EFFECT], between, ADAMB_EFFECT_SHIFT, c->w[ADAMB_H_RNG]);
}

/* The best ball, its Q and the centre of its action side. Ties go to visited balls, then to the first. */
void adamb_rank_end(adamb_call *c, adamb_ranking *r)
{
    if (c->h + 1 < c->horizon && r->balls > 1 && r->n > 1) { /* n: a damaged record may have no samples */
        follow_effect(c, r);
    }
    c->best_action = 0xE000; /* an action like any other, should damage have ended the scan too soon */
    c->best_q = 0;
    if (r->best >= 0) {
        c->best_action = adamb_code_centre(r->where & 0xFFFFu, (r->where >> 25 & 15u) * c->d_a, c->d_a);
        c->best_q = adamb_tree_clip(c, r->q - ADAMB_SURPLUS_ZERO);
    }
}
