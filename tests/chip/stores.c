/* Act between any two stores of observe and end_episode, as an interrupt handler would.
 *
 * The core is compiled with a call before every store. The block is then as all stores before have left it; act runs
 * on a copy of it, and what it chose is compared with what it would have chosen before and after the whole call.
 * The engine does not wait between two stores. For it a walk goes on from store to store and from call to call, with two to
 * four reads in between: the engine reads in every cycle, and no processor stores in two cycles one after the other.
 *
 * stores_open, _before, _seen and _after do the same for a block elsewhere, as in an emulated processor. */
#include <stdint.h>
#include <string.h>

#include "adamb.h"
#include "adamb_internal.h"

#define PLAIN __attribute__((no_sanitize("coverage")))

enum { WORDS_MAX = 8192, PROBES = 4, SEEN_MAX = 4096, CODES = 65536 };

typedef struct {
    uint64_t calls, stores, acts;
    uint64_t as_before, as_after, in_a_tree; /* what act chose: as before or after the call; else a choice of some cell */
    uint64_t passing;                        /* a centre, but of no cell of the step before or after: one in between */
    uint64_t wrong;                          /* no centre at all: a word that is no choice */
    uint64_t refused;                        /* an error code */
    uint64_t walks, walks_wrong;             /* begun and ended at different stores; with a word that is no choice */
    uint64_t first_wrong_call;               /* from 1; 0 without one */
} stores_report;

typedef struct {
    uint8_t h;
    uint16_t state[3];
} probe;

static uint16_t before[WORDS_MAX], copy[WORDS_MAX], *watched;
static uint32_t words_n;
static int inside;
static probe probes[PROBES];
static struct {
    uint8_t probe;
    uint16_t code;
} seen[SEEN_MAX * PROBES];
static uint32_t seen_n;
static stores_report *report;

/* The code that act chooses in a block, the random point of its cell left out; 0 for an error. */
PLAIN static uint16_t choice(const uint16_t *block, const probe *p, int *error)
{
    uint16_t action[3];
    memcpy(copy, block, 2u * words_n);
    copy[ADAMB_H_FLAGS] &= (uint16_t)~ADAMB_FLAG_RANDOM;
    *error = adamb_act(copy, p->h, p->state, action);
    return copy[adamb_call_step(copy, p->h) + ADAMB_S_ACTION];
}

static uint32_t noise;

PLAIN static uint32_t random_below(uint32_t n)
{
    noise ^= noise << 13;
    noise ^= noise >> 17;
    noise ^= noise << 5;
    return (uint32_t)((uint64_t)noise * n >> 32);
}

static struct {
    uint32_t slot, depth, stores;
    uint16_t code;
    int on, at_value;
} walk;

/* Could a scan have chosen it: some bits, then d_a ones on the border of a level, then zeros? */
PLAIN static int is_centre(const uint16_t *w, uint16_t code)
{
    uint32_t d_a = w[ADAMB_H_DIMS] >> 4 & 15u, finest = w[ADAMB_H_SCALE] >> 8;
    for (uint32_t bits = 0; bits <= d_a * finest; bits += d_a) {
        uint32_t rest = code & (0xFFFFu >> bits);
        if (rest == adamb_code_centre(0, bits, d_a)) {
            return 1;
        }
    }
    return 0;
}

/* So many reads of a walk in the block as it is now; the last read is that of the choice. */
PLAIN static void walk_on(uint32_t reads)
{
    if (!walk.on) {
        walk.on = 1;
        walk.at_value = 0;
        walk.depth = walk.stores = 0;
        const probe *p = &probes[random_below(PROBES)];
        walk.slot = adamb_call_step(watched, p->h) + ADAMB_S_V_SLOT;
        walk.code = adamb_code_pack(p->state, (uint8_t)(watched[ADAMB_H_DIMS] & 15));
    }
    for (; reads != 0 && walk.on; reads--) {
        uint16_t word = watched[walk.slot];
        if (walk.at_value) { /* a read of its own: a store may come between a slot and its aux */
            walk.on = 0;
            report->walks += walk.stores != 0;
            report->walks_wrong += walk.stores != 0 && !is_centre(watched, watched[walk.slot + 2]);
        } else if (walk.depth < 16 && word < watched[ADAMB_H_UNITS]) {
            walk.slot = ((uint32_t)word << 2) + ((uint32_t)walk.code >> (15 - walk.depth) & 1u);
            walk.depth++;
        } else {
            walk.at_value = 1;
        }
    }
    walk.stores++;
}

PLAIN static void look(void)
{
    report->stores++;
    walk_on(2 + random_below(3));
    for (uint8_t i = 0; i < PROBES && seen_n < SEEN_MAX * PROBES; i++) {
        int error;
        uint16_t code = choice(watched, &probes[i], &error);
        report->acts++;
        report->refused += error != 0;
        seen[seen_n].probe = i;
        seen[seen_n++].code = code;
    }
}

PLAIN static void on_store(const void *address)
{
    const uint16_t *at_word = (const uint16_t *)address;
    if (inside || watched == 0 || at_word < watched || at_word >= watched + words_n) {
        return;
    }
    inside = 1;
    look();
    inside = 0;
}

PLAIN void __sanitizer_cov_store1(void *a) { on_store(a); }
PLAIN void __sanitizer_cov_store2(void *a) { on_store(a); }
PLAIN void __sanitizer_cov_store4(void *a) { on_store(a); }
PLAIN void __sanitizer_cov_store8(void *a) { on_store(a); }
PLAIN void __sanitizer_cov_store16(void *a) { on_store(a); }

/* Is `code` the choice of a cell below this slot? Depth is bounded as in act. */
PLAIN static int chosen_below(const uint16_t *w, uint32_t slot, uint32_t depth, uint16_t code)
{
    if (depth == 16 || w[slot] >= w[ADAMB_H_UNITS]) {
        return w[slot + 2] == code;
    }
    uint32_t node = (uint32_t)w[slot] << 2;
    return chosen_below(w, node, depth + 1, code) || chosen_below(w, node + 1, depth + 1, code);
}

PLAIN static int in_tree(const uint16_t *w, uint8_t h, uint16_t code)
{
    return chosen_below(w, adamb_call_step(w, h) + ADAMB_S_V_SLOT, 0, code);
}

PLAIN static void judge(const uint16_t *block)
{
    uint16_t first[PROBES], last[PROBES];
    int error;
    for (uint8_t i = 0; i < PROBES; i++) {
        first[i] = choice(before, &probes[i], &error);
        last[i] = choice(block, &probes[i], &error);
    }
    for (uint32_t k = 0; k < seen_n; k++) {
        uint8_t i = seen[k].probe;
        uint16_t code = seen[k].code;
        if (code == first[i]) {
            report->as_before++;
        } else if (code == last[i]) {
            report->as_after++;
        } else if (in_tree(before, probes[i].h, code) || in_tree(block, probes[i].h, code)) {
            report->in_a_tree++;
        } else {
            int good = is_centre(block, code);
            report->passing += good;
            report->wrong += !good;
            if (!good && report->first_wrong_call == 0) {
                report->first_wrong_call = report->calls;
            }
        }
    }
}

PLAIN static void random_point(uint16_t *point)
{
    for (int i = 0; i < 3; i++) {
        uint32_t kind = random_below(4);
        point[i] = (uint16_t)(kind == 0 ? 0 : kind == 1 ? 65535 : random_below(65536));
    }
}

PLAIN static void begin(const uint16_t *block)
{
    memcpy(before, block, 2u * words_n);
    seen_n = 0;
    report->calls++;
}

/* Where the call works, at this step and the next, and two places by chance. */
PLAIN static void choose_probes(uint8_t horizon, uint8_t h, const uint16_t *state, const uint16_t *next)
{
    probes[0].h = h;
    memcpy(probes[0].state, state, sizeof probes[0].state);
    probes[1].h = (uint8_t)((h + 1) % horizon);
    memcpy(probes[1].state, next, sizeof probes[1].state);
    for (int i = 2; i < PROBES; i++) {
        probes[i].h = (uint8_t)random_below(horizon);
        random_point(probes[i].state);
    }
}

PLAIN static void open_report(uint32_t words, uint32_t seed, stores_report *out)
{
    memset(out, 0, sizeof *out);
    report = out;
    words_n = words;
    noise = seed * 2654435761u + 1u;
    watched = 0;
    inside = walk.on = 0;
}

PLAIN void stores_open(uint32_t words, uint32_t seed, stores_report *out)
{
    open_report(words, seed, out);
    inside = 1; /* stores of this library are of no interest */
}

PLAIN void stores_before(const uint16_t *block, uint8_t horizon, uint8_t h, const uint16_t *state, const uint16_t *next)
{
    choose_probes(horizon, h, state, next);
    begin(block);
}

PLAIN void stores_seen(uint16_t *block)
{
    watched = block;
    look();
}

PLAIN void stores_after(const uint16_t *block)
{
    judge(block);
}

/* Play `steps` steps of noise. `which`: 1 watches observe, 2 end_episode, 3 both. Returns the last error code. */
PLAIN int stores_run(const adamb_config *config, uint16_t *block, uint32_t words, uint32_t seed, uint64_t steps, int which,
                     stores_report *out)
{
    uint16_t state[3], next[3], action[3];
    open_report(words, seed, out);
    int code = adamb_init(config, block, words);
    random_point(state);
    for (uint64_t step = 0; step < steps && code == 0;) {
        /* Now and then rewards turn round, so that the detector restarts. */
        int turned = step / 900 % 2 != 0;
        for (uint8_t h = 0; h < config->horizon && code == 0; h++, step++) {
            code = adamb_act(block, h, state, action);
            random_point(next);
            uint32_t far = (uint32_t)(action[0] > state[0] ? action[0] - state[0] : state[0] - action[0]);
            uint16_t reward = (uint16_t)(turned ? far / 8 : 65535u - far);
            choose_probes(config->horizon, h, state, next);
            if ((which & 1) != 0) {
                begin(block);
                watched = block;
            }
            code = code != 0 ? code : adamb_observe(block, h, reward, next);
            watched = 0;
            if ((which & 1) != 0) {
                judge(block);
            }
            memcpy(state, next, sizeof state);
        }
        if ((which & 2) != 0) {
            begin(block);
            watched = block;
        }
        code = code != 0 ? code : adamb_end_episode(block);
        watched = 0;
        if ((which & 2) != 0) {
            judge(block);
        }
    }
    return code;
}
