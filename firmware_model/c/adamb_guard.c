/* The check in slices, and how damage is handled. */
#include "adamb_guard.h"
#include "adamb_internal.h"

#define PATH_BITS 28u /* as many as a path can have: two bits a block, a path of at most 14 */
#define FREE_UNITS 4  /* of the free list a slice looks at those that come next */

static int in_use(const adamb_call *c, uint32_t unit)
{
    return is_link(c, unit) && unit < c->w[ADAMB_H_FRESH];
}

/* Bits of the path that lead to a cell of V, -1 for damage on the way. */
static int scrub_value(const adamb_call *c, uint32_t path)
{
    const uint16_t *w = c->w;
    uint32_t slot = c->step + ADAMB_S_V_SLOT;
    for (int depth = 0;; depth++) {
        if (is_value(w[slot])) {
            return adamb_words_cell(c, slot) ? depth : -1;
        }
        if (depth == c->d_s * c->finest || !in_use(c, w[slot])) {
            return -1;
        }
        uint32_t node = unit_base(w[slot]);
        if (w[slot + 2] != adamb_value_mean(w, node)) {
            return -1;
        }
        slot = node + (path >> (PATH_BITS - 1 - (uint32_t)depth) & 1u);
    }
}

static int scrub_record(const adamb_call *c, uint32_t rec, uint32_t level)
{
    uint16_t unit = c->w[unit_base(rec) + ADAMB_R_COUNTS];
    int good = adamb_words_record(c, rec, level);
    for (uint32_t left = c->links; good && unit != 0 && !is_value(unit); left--) {
        good = left != 0 && in_use(c, unit) && adamb_words_counts(c, unit, level);
        unit = good ? c->w[unit_base(unit)] : 0;
    }
    return good;
}

/* Bits of the path that lead to a ball, -1 for damage on the way. */
static int scrub_ball(const adamb_call *c, uint32_t path)
{
    const uint16_t *w = c->w;
    uint32_t slot = adamb_tree_root(c), used = 0;
    for (uint32_t level = 0;; level++) {
        uint32_t block = w[slot];
        if (is_value(w[slot])) {
            return (int)used;
        }
        if (!in_use(c, block) || !scrub_record(c, block, level)) {
            return -1;
        }
        block = w[unit_base(block)];
        if (block >= ADAMB_TAG) {
            return (int)used;
        }
        for (uint32_t bits = c->bits; bits != 0; bits >>= 4) {
            uint32_t n = (bits & 3u) + (bits >> 2 & 3u);
            if (level == c->finest || !in_use(c, block)) {
                return -1;
            }
            used += n;
            slot = unit_base(block) + (path >> (PATH_BITS - used) & ((1u << n) - 1u));
            block = w[slot];
            if (is_value(w[slot])) {
                return (int)used;
            }
        }
    }
}

static int scrub_free(const uint16_t *w, const adamb_call *c)
{
    uint32_t unit = w[ADAMB_H_FREE_HEAD];
    int good = (unit == 0) == (w[ADAMB_H_FREE_N] == 0);
    for (int i = 0; i < FREE_UNITS && unit != 0 && good; i++) {
        good = in_use(c, unit) && (w[unit_base(unit) + 1] | w[unit_base(unit) + 2] | w[unit_base(unit) + 3]) == 0;
        unit = good ? w[unit_base(unit)] : 0;
    }
    return good;
}

int adamb_scrub(const uint16_t *block, uint32_t words, adamb_place *place)
{
    adamb_call c;
    if (block == 0 || place == 0 || words < ADAMB_H_WORDS) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_words_header(&c, block, words) || !scrub_free(block, &c)) {
        return ADAMB_BAD_BLOCK;
    }
    if (place->h > c.horizon || place->path >> PATH_BITS != 0) {
        *place = (adamb_place){0, 0, 0};
    }
    adamb_call_decode(&c, (uint16_t *)(uintptr_t)block, place->h); /* only to be read */
    int used = place->part == 0 ? scrub_value(&c, place->path) : scrub_ball(&c, place->path);
    if (used < 0) {
        return ADAMB_BAD_BLOCK;
    }
    place->path = (place->path | (((uint32_t)1 << PATH_BITS) - 1u) >> used) + 1u;
    if (place->path >> PATH_BITS == 0) {
        return 0;
    }
    place->path = 0;
    place->part = (uint8_t)(place->part == 0 && (place->h == 0 || !c.shared));
    place->h = (uint8_t)(place->h + (place->part == 0));
    if (place->h <= block[ADAMB_H_DIMS] >> 8) {
        return 0;
    }
    place->h = 0;
    return 1;
}

/* Restore the newest save that fits the configuration, else initialise. */
static int begin(adamb_guard *g)
{
    g->place = (adamb_place){0, 0, 0};
    if (g->store != 0 && adamb_store_restore(g->store, g->config, g->block, g->words) == 0) {
        for (uint32_t h = 0; h < g->config->horizon; h++) { /* those that were pending when it was saved */
            g->block[adamb_call_step(g->block, h) + ADAMB_S_ACTION] = 0;
        }
        return ADAMB_GUARD_RESTORED;
    }
    int error = adamb_init(g->config, g->block, g->words);
    if (error < 0 && g->words != 0) {
        g->block[ADAMB_H_MAGIC] = 0; /* whatever it held is not for this program: every call refuses it */
    }
    return error < 0 ? error : ADAMB_GUARD_REINITIALISED;
}

static void up(uint16_t *counter)
{
    *counter = (uint16_t)(*counter + (*counter != 0xFFFFu));
}

int adamb_guard_open(adamb_guard *guard, const adamb_config *config, uint16_t *block, uint32_t words, adamb_store *store)
{
    if (guard == 0 || config == 0 || block == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    *guard = (adamb_guard){.block = block, .words = words, .config = config, .store = store};
    return begin(guard);
}

int adamb_guard_handle(adamb_guard *guard, int code)
{
    if (code != ADAMB_BAD_BLOCK) {
        return code;
    }
    up(&guard->damages);
    code = begin(guard);
    if (code > 0) {
        up(code == ADAMB_GUARD_RESTORED ? &guard->restored : &guard->reinitialised);
    }
    return code;
}

int adamb_guard_tick(adamb_guard *guard)
{
    int code = adamb_scrub(guard->block, guard->words, &guard->place);
    if (code == 1) {
        up(&guard->passes);
        return 0;
    }
    return adamb_guard_handle(guard, code);
}

int adamb_guard_save(adamb_guard *guard)
{
    return guard->store == 0 ? ADAMB_STORE_EMPTY : adamb_guard_handle(guard, adamb_store_save(guard->store, guard->block));
}
