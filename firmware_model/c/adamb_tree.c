/* The partition: records joined by blocks of up to four slots.
 *
 * A slot is a link, or a value that stands for an unvisited ball. No Q is stored: a leaf keeps by how much its Q
 * exceeded the value of its typical next state when it was last visited (its surplus), and Q for any step is that
 * surplus plus today's value of that next state. An unvisited ball refers to its parent's next states. */
#include "adamb_internal.h"

uint32_t adamb_tree_root(const adamb_call *c)
{
    return (c->shared ? adamb_core_step(c->w, 0) : c->step) + ADAMB_S_ROOT;
}

/* Between nothing and the most that can still be earned. */
uint16_t adamb_tree_clip(const adamb_call *c, int32_t q)
{
    int32_t most = adamb_number_initial(c, c->h);
    return (uint16_t)(q < 0 ? 0 : q > most ? most : q);
}

/* Q of step c->h from a surplus word and the record (at `level`) whose next states it refers to. */
uint16_t adamb_tree_q(const adamb_call *c, uint16_t surplus, uint16_t rec, uint8_t level)
{
    int32_t q = (surplus & ADAMB_VALUE_MASK) - ADAMB_SURPLUS_ZERO;
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
 * It keeps half a threshold of samples at most, so that it must earn its next split. */
void adamb_tree_unsplit(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t best)
{
    uint16_t *w = c->w;
    uint16_t most = (uint16_t)((w[ADAMB_H_WORDS + level] + 1u) >> 1);
    uint16_t n = min16(own_n(w, rec), most);
    adamb_pool_free(w, w[at(rec)]);
    w[at(rec)] = best;
    w[at(rec) + ADAMB_R_N] = (uint16_t)((w[at(rec) + ADAMB_R_N] & ~ADAMB_N_MAX) | n);
    w[ADAMB_H_SPLITS]--;
}

/* How the blocks along one state's paths are entered, by depth; index 0 is the root, all 0. */
typedef struct {
    uint16_t block[ADAMB_PATH_MAX];
    uint16_t rec[ADAMB_PATH_MAX];   /* the record a block belongs to */
    uint16_t entry[ADAMB_PATH_MAX]; /* first slot for the state | its action bits << 2 | their place in the code << 4 */
} adamb_path;

/* Fill in one more depth of a state's path. */
static uint16_t path_entry(const adamb_call *c, uint32_t level, uint32_t chunk, uint32_t state_code)
{
    uint32_t state_n = adamb_code_state_bits(c, chunk), action_n = adamb_code_action_bits(c, chunk);
    uint32_t s_bits = level * c->d_s + (2 * chunk < c->d_s ? 2 * chunk : c->d_s);
    uint32_t a_bits = level * c->d_a + (2 * chunk < c->d_s ? 0 : 2 * chunk - c->d_s);
    uint32_t part = (state_code >> (16 - s_bits - state_n)) & ((1u << state_n) - 1u);
    return (uint16_t)(part << action_n | ((1u << action_n) - 1u) << 2 | (16 - a_bits - action_n) << 4);
}

/* Best and finest of the balls whose state side contains the point: the walk follows the state bits and takes
 * every action branch, lowest code first. Ties go to the first. */
void adamb_tree_scan(adamb_call *c, uint16_t state_code)
{
    const uint16_t *w = c->w;
    adamb_path p;
    uint32_t slot = adamb_tree_root(c), action = 0, depth = 0, known = 0, chunk = 0, level = 0, finest = 0, entry = 0;
    int32_t best = -1, inherited = 2 * ADAMB_VALUE_MAX; /* above the root there is only hope */
    uint32_t rec = 0, inherited_of = 0; /* nearest record above, and the one whose expectation is at hand */
    uint32_t units = w[ADAMB_H_UNITS];  /* values are above all links */
    c->best_action = 0xE000; /* an action like any other, should damage end the scan before the first ball */
    p.entry[0] = p.block[0] = p.rec[0] = 0; /* looked at when the walk is back at the root */
    for (;;) {
        uint32_t word = w[slot], block = word;
        int32_t q;
        ADAMB_WORK();
        if (word >= units) {
            if (rec != inherited_of) {
                inherited_of = rec;
                inherited = (int32_t)adamb_counts_expect(c, rec, level - (chunk == 0));
            }
            q = (int32_t)(word & ADAMB_VALUE_MASK) + inherited;
        } else {
            if (chunk == 0) {
                block = w[at(word)];
            }
            if (block < units) { /* further down */
                depth++;
                if (depth > known) {
                    if (depth > (uint32_t)c->finest * c->chunks) { /* only damage leads there, perhaps in a circle */
                        break;
                    }
                    p.entry[depth] = path_entry(c, level, chunk, state_code);
                    known = depth;
                }
                if (chunk == 0) {
                    rec = word;
                }
                p.block[depth] = (uint16_t)block;
                p.rec[depth] = (uint16_t)rec;
                entry = p.entry[depth];
                slot = at(block) + (entry & 3u);
                chunk++;
                if (chunk == c->chunks) {
                    chunk = 0;
                    level++;
                }
                continue;
            }
            q = (int32_t)(block & ADAMB_VALUE_MASK) + (int32_t)adamb_counts_expect(c, word, level);
        }
        uint32_t ball = level + (chunk != 0);
        if (q > best) {
            best = q;
            c->best_action = adamb_code_centre(action, ball * c->d_a, c->d_a);
        }
        if (ball > finest) {
            finest = ball;
        }
        action += (uint32_t)1 << (entry >> 4); /* the carry counts on in the blocks above */
        slot++;
        while (depth != 0 && (action >> (entry >> 4) & (entry >> 2 & 3u)) == 0) { /* all of this block is done */
            depth--;
            entry = p.entry[depth];
            rec = p.rec[depth];
            slot = at(p.block[depth]) + (entry & 3u) + (action >> (entry >> 4) & (entry >> 2 & 3u));
            if (chunk == 0) {
                chunk = c->chunks;
                level--;
            }
            chunk--;
        }
        if (depth == 0) {
            break;
        }
    }
    c->best_level = (uint8_t)finest;
    c->best_q = adamb_tree_clip(c, best - ADAMB_SURPLUS_ZERO);
}
