/* The full self-check and the counters. Nothing in the block is trusted before it has been compared. */
#include "adamb_internal.h"

#define MIX 0x9E3779B1u /* odd: products of different units differ */

/* What the walk has met so far: each unit must come up exactly once, so their number, sum and mix must be those of
 * all units; a unit met twice for another one missed changes them. */
typedef struct {
    const uint16_t *w;
    adamb_call c;
    uint32_t met, sum, mix, splits;
    int bad;
} adamb_walk;

static int meet(adamb_walk *k, uint16_t unit)
{
    k->met++;
    k->sum += unit;
    k->mix ^= unit * MIX;
    if (unit < k->w[ADAMB_H_POOL_AT] || unit >= k->w[ADAMB_H_FRESH] || k->met > k->w[ADAMB_H_UNITS]) {
        k->bad = 1;
    }
    return !k->bad;
}

static void walk_counts(adamb_walk *k, uint16_t rec, uint8_t level)
{
    uint16_t unit = k->w[at(rec) + ADAMB_R_COUNTS];
    k->bad |= !adamb_words_record(&k->c, rec, level);
    while (unit != 0 && !is_value(unit) && meet(k, unit)) {
        k->bad |= !adamb_words_counts(&k->c, unit, level);
        unit = k->w[at(unit)];
    }
}

/* Depth first through a partition; slot and block of every depth are kept, so no recursion. */
static void walk_tree(adamb_walk *k, uint32_t root)
{
    const uint16_t *w = k->w;
    uint16_t block[ADAMB_PATH_MAX];
    uint8_t next[ADAMB_PATH_MAX];
    uint8_t depth = 0, most = (uint8_t)(k->c.finest * k->c.chunks);
    uint32_t slot = root;
    for (;;) {
        uint16_t word = w[slot], below = 0;
        uint8_t level = (uint8_t)adamb_number_divide(depth, k->c.chunks), chunk = (uint8_t)(depth - level * k->c.chunks);
        if (!is_value(word)) {
            if (!meet(k, word)) {
                return;
            }
            below = word;
            if (chunk == 0) {
                walk_counts(k, word, level);
                below = is_value(w[at(word)]) ? 0 : w[at(word)];
                k->bad |= w[at(word)] == 0; /* neither a leaf's value nor a link */
                k->splits += below != 0;
                if (k->bad || (below != 0 && (depth >= most || !meet(k, below)))) {
                    k->bad = 1;
                    return;
                }
            }
        }
        if (below != 0) {
            block[depth] = below;
            next[depth++] = 0;
        }
        for (;;) { /* to the next slot, up where a block is done */
            if (depth == 0) {
                return;
            }
            level = (uint8_t)adamb_number_divide(depth - 1u, k->c.chunks);
            chunk = (uint8_t)(depth - 1 - level * k->c.chunks);
            if (next[depth - 1] < 1u << (adamb_code_state_bits(&k->c, chunk) + adamb_code_action_bits(&k->c, chunk))) {
                slot = at(block[depth - 1]) + next[depth - 1]++;
                break;
            }
            depth--;
        }
    }
}

/* Depth first through a value tree; means are checked against both sides on the way. */
static void walk_value(adamb_walk *k)
{
    const uint16_t *w = k->w;
    uint32_t path[ADAMB_PATH_MAX];
    uint32_t slot = k->c.step + ADAMB_S_V_SLOT;
    uint8_t depth = 0;
    for (;;) {
        if (!is_value(w[slot])) {
            if (depth >= k->c.d_s * k->c.finest || !meet(k, w[slot])) {
                k->bad = 1;
                return;
            }
            uint32_t node = at(w[slot]);
            k->bad |= w[slot + 2] != adamb_value_mean(w, node);
            path[depth++] = slot;
            slot = node;
            continue;
        }
        k->bad |= !adamb_words_cell(&k->c, slot);
        while (depth != 0 && slot == at(w[path[depth - 1]]) + 1) {
            slot = path[--depth];
        }
        if (depth == 0) {
            return;
        }
        slot++;
    }
}

int adamb_check(const uint16_t *block, uint32_t words)
{
    adamb_walk k = {.w = block};
    if (block == 0 || words < ADAMB_H_WORDS) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_words_header(&k.c, block, words)) {
        return ADAMB_BAD_BLOCK;
    }
    uint32_t free_n = 0, first = block[ADAMB_H_POOL_AT], last = block[ADAMB_H_FRESH];
    for (uint8_t h = 0; h < block[ADAMB_H_DIMS] >> 8 && !k.bad; h++) {
        adamb_call_decode(&k.c, (uint16_t *)(uintptr_t)block, h); /* the walk only reads */
        walk_value(&k);
        if (!k.bad && (h == 0 || !k.c.shared)) {
            walk_tree(&k, k.c.step + ADAMB_S_ROOT);
        }
    }
    for (uint16_t i = 0; i < ADAMB_SHARE_TABLE_UNITS && block[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING; i++) {
        meet(&k, (uint16_t)(block[ADAMB_H_TABLE] + i));
    }
    for (uint16_t unit = block[ADAMB_H_FREE_HEAD]; unit != 0 && meet(&k, unit); unit = block[at(unit)]) {
        k.bad |= (block[at(unit) + 1] | block[at(unit) + 2] | block[at(unit) + 3]) != 0;
        free_n++;
    }
    for (uint32_t unit = first; unit < last; unit++) {
        k.met--;
        k.sum -= unit;
        k.mix ^= unit * MIX;
    }
    k.bad |= free_n != block[ADAMB_H_FREE_N] || k.splits != block[ADAMB_H_SPLITS];
    return k.bad || k.met != 0 || k.sum != 0 || k.mix != 0 ? ADAMB_BAD_BLOCK : 0;
}

int adamb_stats(const uint16_t *block, adamb_statistics *stats)
{
    const uint16_t *w = block;
    adamb_call c;
    if (w == 0 || stats == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_config_usable(w)) {
        return ADAMB_BAD_BLOCK;
    }
    adamb_call_decode(&c, (uint16_t *)(uintptr_t)w, 0); /* only reads */
    stats->episodes = (uint32_t)w[ADAMB_H_EPISODES_HIGH] << 16 | w[ADAMB_H_EPISODES];
    stats->units = w[ADAMB_H_UNITS];
    stats->units_used = (uint16_t)(w[ADAMB_H_FRESH] - w[ADAMB_H_POOL_AT] - w[ADAMB_H_FREE_N]);
    stats->units_peak = w[ADAMB_H_USED_PEAK];
    stats->units_header = w[ADAMB_H_POOL_AT];
    stats->splits = w[ADAMB_H_SPLITS];
    stats->trees = c.shared ? 1 : c.horizon;
    stats->finest = c.finest;
    stats->share = w[ADAMB_H_SHARE];
    stats->bonus = (uint16_t)(adamb_adapt_factor(&c) << (12 - c.fraction));
    stats->refused = w[ADAMB_H_REFUSED];
    stats->no_room = w[ADAMB_H_NO_ROOM];
    stats->reclaims = w[ADAMB_H_RECLAIMS];
    stats->saturations = w[ADAMB_H_SATURATIONS];
    stats->restarts = w[ADAMB_H_RESTARTS];
    return 0;
}
