/* The partition: records joined by blocks of up to four slots.
 *
 * A slot is a link, or a value that stands for an unvisited ball. No Q is stored: a leaf keeps by how much its Q
 * exceeded the expected value of its next state when it was last visited (its surplus), and Q for any step is that
 * surplus plus the current expectation. An unvisited ball refers to its parent's next states. */
#include "adamb_internal.h"

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
uint16_t adamb_tree_create(const adamb_call *c, uint32_t slot)
{
    uint16_t rec = adamb_pool_alloc(c->w);
    if (rec != 0) {
        c->w[at(rec)] = c->w[slot];
        c->w[at(rec) + ADAMB_R_N] = ADAMB_CREDIT_FULL << ADAMB_CREDIT_SHIFT;
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
        w[at(unit) + i] = w[at(rec)];
    }
    w[at(rec)] = unit;
    w[ADAMB_H_SPLITS]++;
    return 1;
}

/* Make a record whose children are all unvisited a leaf again; `best` is the word of the best of them.
 * It keeps at most a part of its threshold of samples, so that the next split needs new samples. */
void adamb_tree_unsplit(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t best)
{
    uint16_t *w = c->w;
    uint16_t most = (uint16_t)(((uint32_t)w[ADAMB_H_WORDS + level] + (1u << ADAMB_UNSPLIT_SHIFT) - 1u) >> ADAMB_UNSPLIT_SHIFT);
    uint16_t n = min16(own_n(w, rec), most);
    adamb_pool_free(w, w[at(rec)]);
    w[at(rec)] = best;
    w[at(rec) + ADAMB_R_N] = (uint16_t)((w[at(rec) + ADAMB_R_N] & ~(uint32_t)ADAMB_N_MAX) | n);
    w[ADAMB_H_SPLITS]--;
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
 * every action branch, lowest code first. */
void adamb_tree_scan(adamb_call *c, uint16_t state_code)
{
    const uint16_t *w = c->w;
    adamb_path p;
    adamb_ranking r;
    uint32_t slot = c->tree + ADAMB_S_ROOT, action = 0, depth = 0, known = 0, entry = ROOT_ENTRY;
    adamb_rank_start(c, &r, state_code);
    p.rest = adamb_code_path(c, state_code, 0);
    p.bits = c->bits;
    p.entry[0] = ROOT_ENTRY, p.block[0] = p.rec[0] = 0; /* looked at when the walk is back at the root */
    for (;;) {
        uint32_t word = w[slot], units = w[ADAMB_H_UNITS], block = word; /* values are above all links */
        ADAMB_WORK();
        if (word < units && entry < ENTRY_MORE) {
            block = w[at(word)];
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
            slot = at(block) + (entry >> 5 & 3u);
            continue;
        }
        adamb_rank_ball(c, &r, word, action | entry << 16);
        action += (uint32_t)1 << (entry & 31u); /* the carry counts on in the blocks above */
        slot++;
        while (depth != 0 && (action >> (entry & 31u) & (entry >> 7 & 3u)) == 0) { /* all of this block is done */
            depth--;
            entry = p.entry[depth];
            r.rec = p.rec[depth];
            slot = at(p.block[depth]) + (entry >> 5 & 3u) + (action >> (entry & 31u) & (entry >> 7 & 3u));
        }
        if (depth == 0) {
            break;
        }
    }
    c->best_level = (uint8_t)(p.entry[known] >> 9 & 15u);
    adamb_rank_end(c, &r);
}
