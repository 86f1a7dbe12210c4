/* The partition, and choosing among the balls of a state. */
#include "adamb_internal.h"

/* The partition: records joined by blocks of up to four slots.
 *
 * A slot is a link, or a value that stands for an unvisited ball. No Q is stored: a leaf keeps by how much its Q
 * exceeded the expected value of its next state when it was last visited (its surplus), and Q for any step is that
 * surplus plus the current expectation. An unvisited ball refers to its parent's next states. */

uint32_t adamb_tree_root(const adamb_call *c)
{
    return c->tree + ADAMB_S_ROOT;
}

/* Between 0 and the most that can still be earned. */
uint16_t adamb_tree_clip(const adamb_call *c, int32_t q)
{
    int32_t most = adamb_number_initial(c, c->h);
    return (uint16_t)(q < 0 ? 0 : q > most ? most : q);
}

/* Q of step c->h from a surplus word and the record (at `level`) whose next states it refers to. */
uint16_t adamb_tree_q(const adamb_call *c, uint16_t surplus, uint16_t rec, uint8_t level)
{
    int32_t q = (int32_t)(surplus & ADAMB_VALUE_MASK) - ADAMB_SURPLUS_ZERO;
    return adamb_tree_clip(c, rec == 0 ? ADAMB_VALUE_MAX : q + (int32_t)adamb_counts_expect(c, rec, level));
}

/* A surplus as it is stored. */
uint16_t adamb_tree_surplus(int32_t surplus)
{
    return (uint16_t)(ADAMB_TAG | (surplus < 0 ? 0 : surplus > ADAMB_VALUE_MAX ? ADAMB_VALUE_MAX : surplus));
}

/* Turn the unvisited ball in `slot` into a record; 0 when there is no room. */
static uint16_t tree_create(const adamb_call *c, uint32_t slot)
{
    uint16_t rec = adamb_pool_alloc(c->w);
    if (rec != 0) {
        c->w[unit_base(rec)] = c->w[slot];
        c->w[unit_base(rec) + ADAMB_R_N] = ADAMB_CREDIT_FULL << ADAMB_CREDIT_SHIFT;
        c->w[slot] = rec;
    }
    return rec;
}

/* Return a leaf record and its counts to the pool. */
void adamb_tree_free(const adamb_call *c, uint16_t rec)
{
    adamb_counts_free(c, rec);
    adamb_pool_free(c->w, rec);
}

static uint8_t block_slots(const adamb_call *c, uint8_t chunk)
{
    return (uint8_t)(1u << (adamb_code_state_bits(c, chunk) + adamb_code_action_bits(c, chunk)));
}

/* Give a leaf its children, all unvisited; 0 when there is no room. */
int adamb_tree_split(const adamb_call *c, uint16_t rec)
{
    uint16_t *w = c->w;
    uint16_t unit = adamb_pool_alloc(w);
    if (unit == 0) {
        return 0;
    }
    for (uint8_t i = 0; i < block_slots(c, 0); i++) {
        w[unit_base(unit) + i] = w[unit_base(rec)];
    }
    w[unit_base(rec)] = unit;
    w[ADAMB_H_SPLITS] = (uint16_t)(w[ADAMB_H_SPLITS] + !c->held);
    return 1;
}

/* Make a record whose children are all unvisited a leaf again; `best` is the word of the best of them.
 * It keeps at most its threshold of samples. */
void adamb_tree_unsplit(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t best)
{
    uint16_t *w = c->w;
    uint16_t n = min16(own_n(w, rec), w[ADAMB_H_WORDS + level]);
    adamb_pool_free(w, w[unit_base(rec)]);
    w[unit_base(rec)] = best;
    w[unit_base(rec) + ADAMB_R_N] = (uint16_t)((w[unit_base(rec) + ADAMB_R_N] & ~(uint32_t)ADAMB_N_MAX) | n);
    w[ADAMB_H_SPLITS] = (uint16_t)(w[ADAMB_H_SPLITS] - !c->held);
}

/* A value in front of further blocks becomes a block of copies; 0 when there is no room. */
static uint32_t widen(uint16_t *w, uint32_t slot)
{
    uint32_t block = adamb_pool_alloc(w);
    if (block != 0) {
        uint16_t *p = w + unit_base(block);
        p[0] = p[1] = p[2] = p[3] = w[slot];
        w[slot] = (uint16_t)block;
    }
    return block;
}

/* Walk down to the ball of a point, creating its record where there is room. */
void adamb_tree_descend(const adamb_call *c, adamb_visit *v, uint32_t path)
{
    uint16_t *w = c->w;
    uint32_t slot = c->tree + ADAMB_S_ROOT, rec, parent = 0, left = c->finest;
    for (;;) {
        ADAMB_WORK();
        rec = w[slot];
        if (!is_link(c, rec)) {
            rec = tree_create(c, slot);
            break;
        }
        uint16_t *p = w + unit_base(rec);
        uint32_t block = p[0];
        p[ADAMB_R_N] |= ADAMB_CREDIT_FULL << ADAMB_CREDIT_SHIFT;
        if (!is_link(c, block) || left == 0) {
            break;
        }
        left--;
        parent = rec;
        for (uint32_t more = c->chunks;;) {
            slot = unit_base(block) + (path >> 30);
            path <<= 2;
            if (--more == 0) {
                break;
            }
            block = is_link(c, w[slot]) ? w[slot] : widen(w, slot);
            if (block == 0) {
                rec = 0;
                break;
            }
        }
        if (rec == 0) {
            break;
        }
    }
    v->slot = slot;
    v->rec = (uint16_t)rec;
    v->parent = (uint16_t)parent;
    v->level = (uint8_t)(c->finest - left);
}

/* Choosing among the balls of a state: what a scan concludes from those it meets. */

void adamb_rank_start(const adamb_call *c, adamb_ranking *r)
{
    const uint16_t *w = c->w;
    r->part = 256;
    r->n = ADAMB_RANK_MOST; /* what follows is not compared */
    if (c->h + 1 < c->horizon && !c->paper) {
        r->n = 0;
        uint32_t effect = w[c->tree + ADAMB_S_EFFECT], spread = w[c->tree + ADAMB_S_SPREAD];
        effect <<= ADAMB_EFFECT_SCALE_SHIFT - ADAMB_SPREAD_SCALE_SHIFT; /* in the unit of the spread */
        r->part = effect > spread ? 256 - adamb_number_divide(spread << 8, effect) : 0;
#ifdef ADAMB_WITHOUT_FUTURE
        r->part = 256;
#endif
    }
    r->best = -1;
    r->inherited = (uint32_t)2 * ADAMB_VALUE_MAX; /* no record above: start at the optimistic maximum */
    r->rec = r->of = 0;
    r->balls = 0;
    r->sum = r->squares = 0;
}

/* Add a visited ball to what is known of all of them together. */
static void weigh(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t expected)
{
    const uint16_t *ball = c->w + unit_base(word);
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

/* The next ball: the word of its slot, and its action code | level << 25. */
void adamb_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where)
{
    uint32_t expected, level = where >> 25 & 15u;
    if (word >= c->w[ADAMB_H_UNITS]) {
        if (r->rec != r->of) {
            r->of = r->rec;
            r->inherited = adamb_counts_expect(c, r->rec, level - 1);
        }
        expected = r->inherited;
    } else {
        expected = adamb_counts_expect(c, word, level);
        weigh(c, r, word, expected);
        word = c->w[unit_base(word)];
    }
    int32_t surplus = (int32_t)(word & ADAMB_VALUE_MASK), key = surplus + (int32_t)(expected * r->part >> 8);
    if (key > r->best) {
        r->best = key;
        r->q = surplus + (int32_t)expected;
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
    s[ADAMB_S_EFFECT] = adamb_number_moving_average(s[ADAMB_S_EFFECT], between, ADAMB_EFFECT_SHIFT, c->w[ADAMB_H_RNG]);
}

/* The best ball, its Q and the centre of its action side. Ties go to the first. */
static void rank_end(const adamb_call *c, adamb_ranking *r, adamb_choice *best)
{
    if (r->balls > 1 && r->n > 1) { /* n: a damaged record may have no samples */
        follow_effect(c, r);
    }
    best->action = 0xE000; /* an action like any other, should damage have ended the scan too soon */
    best->q = 0;
    if (r->best >= 0) {
        best->action = adamb_code_centre(r->where & 0xFFFFu, (r->where >> 25 & 15u) * c->d_a, c->d_a);
        best->q = adamb_tree_clip(c, r->q - ADAMB_SURPLUS_ZERO);
    }
}

/* How the blocks along one state's paths are entered, by depth; index 0 is the root. */
typedef struct {
    uint32_t rest; /* the way on from the deepest one entered so far, */
    uint32_t bits; /* and how the bits of its level are divided */
    uint16_t block[ADAMB_PATH_MAX];
    uint16_t rec[ADAMB_PATH_MAX];   /* the record a block belongs to */
    uint16_t entry[ADAMB_PATH_MAX]; /* place of its action bits in the code | first slot for the state << 5 |
                                     * mask of the action bits << 7 | level of its balls << 9 | ENTRY_MORE */
} adamb_path;

#define ENTRY_MORE 0x8000u /* links lead to further blocks, not to records */
#define ROOT_ENTRY 16u

/* The entry of one more depth, below that of `above`. */
static uint16_t path_entry(const adamb_call *c, adamb_path *p, uint32_t above)
{
    uint32_t action_n = p->bits >> 2 & 3u, first = p->rest >> 30, level = above >> 9 & 15u;
    if (above < ENTRY_MORE) {
        level++;
    }
    p->rest <<= 2;
    p->bits >>= 4;
    uint32_t more = p->bits != 0 ? ENTRY_MORE : 0;
    if (more == 0) {
        p->bits = c->bits;
    }
    return (uint16_t)(more | level << 9 | ((1u << action_n) - 1u) << 7 | first << 5 | ((above & 31u) - action_n));
}

/* Best and finest of the balls whose state side contains the point: the walk follows the state bits and takes
 * every action branch, lowest code first, up to a number of balls. */
void adamb_tree_scan(const adamb_call *c, uint16_t state_code, adamb_choice *best)
{
    const uint16_t *w = c->w;
    adamb_path p;
    adamb_ranking r;
    uint32_t slot = c->tree + ADAMB_S_ROOT, action = 0, depth = 0, known = 0, entry = ROOT_ENTRY;
    uint32_t left = c->chunks > 1 ? ADAMB_SCAN_BALLS_WIDE : ADAMB_SCAN_BALLS;
    if (c->h + 1 >= c->horizon) {
        left = ADAMB_SCAN_BALLS_LAST;
    }
    adamb_rank_start(c, &r);
    p.rest = adamb_code_path(c, state_code, 0);
    p.bits = c->bits;
    p.entry[0] = ROOT_ENTRY, p.block[0] = p.rec[0] = 0; /* looked at when the walk is back at the root */
    for (;;) {
        uint32_t word = w[slot], units = w[ADAMB_H_UNITS], block = word; /* values are above all links */
        ADAMB_WORK();
        if (word < units && entry < ENTRY_MORE) {
            block = w[unit_base(word)];
        }
        if (block < units) { /* further down */
            if (entry < ENTRY_MORE) {
                r.rec = word;
            }
            depth++;
            if (depth > known) {
                if (depth > (uint32_t)c->finest * c->chunks) { /* only damage leads there, perhaps in a circle */
                    break;
                }
                p.entry[depth] = path_entry(c, &p, entry);
                known = depth;
            }
            p.block[depth] = (uint16_t)block;
            p.rec[depth] = (uint16_t)r.rec;
            entry = p.entry[depth];
            slot = unit_base(block) + (entry >> 5 & 3u);
            continue;
        }
        adamb_rank_ball(c, &r, word, action | entry << 16);
        if (--left == 0) { /* what one call may cost has a bound, however fine the partition is */
            break;
        }
        action += (uint32_t)1 << (entry & 31u); /* the carry counts on in the blocks above */
        slot++;
        while (depth != 0 && (action >> (entry & 31u) & (entry >> 7 & 3u)) == 0) { /* all of this block is done */
            depth--;
            entry = p.entry[depth];
            r.rec = p.rec[depth];
            slot = unit_base(p.block[depth]) + (entry >> 5 & 3u) + (action >> (entry & 31u) & (entry >> 7 & 3u));
        }
        if (depth == 0) {
            break;
        }
    }
    best->level = (uint8_t)(p.entry[known] >> 9 & 15u);
    rank_end(c, &r, best);
}
