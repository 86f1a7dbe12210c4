/* Flips bits of live blocks under the sanitizers: whatever has flipped, every call comes back and stays inside the
 * block, which is allocated to the word. Counts how often adamb_check and a pass of adamb_scrub tell, by the kind of word.
 *
 *     flips run CONFIG SEED FLIPS CALLS    lines "KIND: FLIPS CHECK SCRUB" of a configuration, then a summary
 *     flips configs                        how many configurations there are
 *
 * A failure is a line that replays it and exit code 1; a call that takes longer than 20 s is one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adamb.h"
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "draw.h"

static const struct {
    const char *name;
    int d_s, d_a, horizon, share, paper, random, freeze, gamma;
    uint32_t extra; /* words above the smallest block */
    long steps;     /* played before the first flip */
} configs[] = {
    {"1+1 shared, pool full", 1, 1, 5, 2, 0, 0, 0, 2, 200, 6000},
    {"1+1 shared, room left", 1, 1, 5, 2, 0, 0, 0, 2, 4000, 3000},
    {"1+1 per step, pool full", 1, 1, 5, 0, 0, 0, 0, 2, 300, 6000},
    {"1+1 paper, pool full", 1, 1, 5, 0, 1, 0, 0, 1, 400, 4000},
    {"1+1 one step, smallest block", 1, 1, 1, 0, 0, 0, 0, 1, 0, 2000},
    {"2+2 shared, pool full", 2, 2, 5, 1, 0, 0, 0, 2, 900, 8000},
    {"2+2 per step, room left", 2, 2, 3, 0, 0, 1, 0, 1, 9000, 5000},
    {"2+2 paper, pool full", 2, 2, 3, 1, 1, 0, 0, 1, 900, 2500},
    {"3+3 shared, frozen", 3, 3, 4, 1, 0, 0, 1, 1, 1200, 5000},
    {"2+1 testing, just begun", 2, 1, 16, 2, 0, 1, 0, 2, 1000, 40},
};

enum { SCRUBBED_UNITS = 4 }; /* of the free list: FREE_UNITS of adamb_guard.c */
enum { SEALED, LAYOUT, POOL, SUMS, LINK, FREE, TAIL, MEAN, VALUE, SURPLUS, ACTION, COUNT, REWARD, STEP, TABLE, UNUSED, KINDS };

static const char *const kinds[KINDS] = {
    "sealed header", "rest of the configuration", "pool words of the header", "sums and counters", "links",
    "next free units", "other free units", "means of values", "values of states", "surpluses", "action codes", "counts",
    "mean rewards", "step words", "table of the sharing test", "unused words",
};

typedef struct {
    uint16_t *w;
    uint32_t words;
    uint8_t *kind;
    adamb_call c;
} map;

static uint32_t rng;
static char replay[200];

static uint32_t below(uint32_t n)
{
    return draw(&rng) % n;
}

static void fail(const char *what)
{
    printf("FAILED %s: %s\n", what, replay);
    fflush(stdout);
    _exit(1);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    fail("a call did not come back");
}

static void mark(map *m, uint32_t from, uint32_t n, int kind)
{
    memset(m->kind + from, kind, n);
}

/* Kinds of the words of a healthy block; recursion is fine on a host. */
static void mark_value(map *m, uint32_t slot)
{
    if (is_value(m->w[slot])) {
        m->kind[slot] = VALUE;
        m->kind[slot + 2] = ACTION;
        return;
    }
    m->kind[slot] = LINK;
    m->kind[slot + 2] = MEAN;
    mark_value(m, at(m->w[slot]));
    mark_value(m, at(m->w[slot]) + 1);
}

static void mark_counts(map *m, uint32_t word)
{
    m->kind[word] = m->w[word] == 0 || is_value(m->w[word]) ? COUNT : LINK;
    if (m->kind[word] == LINK) {
        mark(m, at(m->w[word]), 4, COUNT);
        if (has_flag(m->w, ADAMB_FLAG_PAPER)) {
            mark_counts(m, at(m->w[word]));
        }
    }
}

static void mark_tree(map *m, uint32_t slot, uint32_t chunk)
{
    uint32_t word = m->w[slot];
    m->kind[slot] = is_value(m->w[slot]) ? SURPLUS : LINK;
    if (is_value(m->w[slot])) {
        return;
    }
    if (chunk == 0) {
        m->kind[at(word) + ADAMB_R_N] = COUNT;
        m->kind[at(word) + ADAMB_R_REWARD] = REWARD;
        mark_counts(m, at(word) + ADAMB_R_COUNTS);
        m->kind[at(word)] = is_value(m->w[at(word)]) ? SURPLUS : LINK;
        if (is_value(m->w[at(word)])) {
            return;
        }
        word = m->w[at(word)];
    }
    uint32_t slots = 1u << (adamb_code_state_bits(&m->c, chunk) + adamb_code_action_bits(&m->c, chunk));
    for (uint32_t i = 0; i < slots; i++) {
        mark_tree(m, at(word) + i, chunk + 1 == m->c.chunks ? 0 : chunk + 1);
    }
}

static void mark_all(map *m)
{
    uint16_t *w = m->w;
    mark(m, 0, m->words, UNUSED);
    mark(m, 0, ADAMB_H_WORDS, SUMS);
    mark(m, ADAMB_H_BITS, 6, LAYOUT);
    mark(m, ADAMB_H_WORDS, (w[ADAMB_H_SCALE] >> 8) + 1u, LAYOUT);
    mark(m, ADAMB_H_RNG, ADAMB_H_TABLE - ADAMB_H_RNG + 1, POOL);
    m->kind[ADAMB_H_SPLITS] = POOL;
    static const uint8_t sealed[] = {ADAMB_H_MAGIC, ADAMB_H_HASH, ADAMB_H_UNITS, ADAMB_H_DIMS, ADAMB_H_SCALE, ADAMB_H_POOL_AT};
    for (uint32_t i = 0; i < sizeof sealed; i++) {
        m->kind[sealed[i]] = SEALED;
    }
    for (uint8_t h = 0; h < w[ADAMB_H_DIMS] >> 8; h++) {
        adamb_call_decode(&m->c, w, h);
        mark(m, m->c.step, ADAMB_S_WORDS, STEP);
        mark_value(m, m->c.step + ADAMB_S_V_SLOT);
        if (h == 0 || !m->c.shared) {
            mark_tree(m, m->c.step + ADAMB_S_ROOT, 0);
        }
    }
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING) {
        mark(m, at(w[ADAMB_H_POOL_AT]), 4 * ADAMB_SHARE_TABLE_UNITS, TABLE);
    }
    uint32_t before = 0;
    for (uint32_t unit = w[ADAMB_H_FREE_HEAD]; unit != 0; unit = w[at(unit)], before++) {
        mark(m, at(unit), 4, before < SCRUBBED_UNITS ? FREE : TAIL);
    }
}

static void move(uint16_t *state, const uint16_t *action, int d_a)
{
    for (int i = 0; i < 3; i++) {
        state[i] = (uint16_t)(below(3) == 0 ? below(65536) : action[i % d_a] + below(2048));
    }
}

/* Some calls, with arguments of exactly the size that the configuration says. */
static void live(map *m, int number, long calls, uint16_t *state, int sound)
{
    int d_s = configs[number].d_s, d_a = configs[number].d_a, horizon = configs[number].horizon;
    uint16_t *point = malloc(2 * (size_t)d_s), *action = malloc(2 * (size_t)d_a);
    memset(action, 0, 2 * (size_t)d_a);
    for (long i = 0; i < calls; i++) {
        int h = (int)(i % horizon), code;
        memcpy(point, state, 2 * (size_t)d_s);
        code = adamb_act(m->w, h, point, action);
        uint16_t reward = (uint16_t)(65535 - abs((int)action[0] - (int)state[0]));
        move(state, action, d_a);
        memcpy(point, state, 2 * (size_t)d_s);
        code |= adamb_observe(m->w, h, below(16) == 0 ? (uint16_t)below(65536) : reward, point);
        if (h + 1 == horizon) {
            code |= adamb_end_episode(m->w);
        }
        if (sound && code != 0) {
            fail("a sound block was refused");
        }
    }
    free(point);
    free(action);
}

/* The calls that only read. */
static int read_only(map *m)
{
    adamb_statistics stats;
    uint8_t *out = malloc(2 * m->words + 64);
    int found = adamb_check(m->w, m->words);
    int32_t length = adamb_snapshot_save(m->w, out, 2 * m->words + 64);
    adamb_stats(m->w, &stats);
    if ((found == 0) != (length > 0)) {
        fail("a snapshot of a block that fails its check");
    }
    free(out);
    return found;
}

/* A whole pass in slices, as they come between calls; stops at the damage it finds. */
static int scrub_pass(map *m)
{
    adamb_place place = {0, 0, 0};
    int code = 0;
    for (uint32_t calls = 0; code == 0; calls++) {
        code = adamb_scrub(m->w, m->words, &place);
        if (calls > m->words) {
            fail("a pass in slices that does not end");
        }
    }
    return code < 0;
}

/* A fresh block of one of the configurations. */
static map begin(int number, uint32_t seed)
{
    adamb_config g = {.d_s = (uint8_t)configs[number].d_s, .d_a = (uint8_t)configs[number].d_a,
                      .horizon = (uint8_t)configs[number].horizon, .share = (uint8_t)configs[number].share,
                      .paper = (uint8_t)configs[number].paper, .own = (uint8_t)configs[number].paper,
                      .random_action = (uint8_t)configs[number].random, .freeze = (uint8_t)configs[number].freeze,
                      .detect = 1, .auto_bonus = 1, .seed = (uint16_t)seed};
    map m;
    adamb_thresholds(&g, (uint8_t)configs[number].gamma, 1, 1);
    m.words = (uint32_t)adamb_required_words(&g) + configs[number].extra;
    m.w = malloc(2 * m.words);
    m.kind = malloc(m.words);
    rng = seed * 2654435761u | 1u;
    snprintf(replay, sizeof replay, "flips run %d %u (before any flip)", number, (unsigned)seed);
    if (adamb_init(&g, m.w, m.words) != 0) {
        fail("init");
    }
    return m;
}

/* Changes a bit of a sound block, more often than by chance in its header, and `more` others; returns the word. */
static uint32_t flip(map *m, int more)
{
    uint32_t used = at(m->w[ADAMB_H_FRESH]), head = at(m->w[ADAMB_H_POOL_AT]);
    uint32_t word = below(4) == 0 ? below(head) : below(16) == 0 ? below(m->words) : below(used);
    m->w[word] ^= (uint16_t)(1u << below(16));
    for (int k = 0; k < more; k++) {
        m->w[below(used)] ^= (uint16_t)(1u << below(16));
    }
    return word;
}

static void run(int number, uint32_t seed, long flips, long calls)
{
    long made[KINDS] = {0}, found[KINDS] = {0}, scrubbed[KINDS] = {0}, hidden = 0;
    map m = begin(number, seed);
    uint16_t *healthy = malloc(2 * m.words), state[3] = {0x8000, 0x8000, 0x8000};
    live(&m, number, configs[number].steps, state, 1);
    if (read_only(&m) != 0 || scrub_pass(&m) != 0) {
        fail("the check of a sound block");
    }
    memcpy(healthy, m.w, 2 * m.words);
    mark_all(&m);
    for (long i = 0; i < flips; i++) {
        int more = i % 8 == 7 ? 1 + (int)below(3) : 0; /* a storm now and then */
        snprintf(replay, sizeof replay, "flips run %d %u %ld %ld", number, (unsigned)seed, i + 1, calls);
        memcpy(m.w, healthy, 2 * m.words);
        rng = (seed + (uint32_t)i) * 2654435761u | 1u;
        below(2);
        uint32_t word = flip(&m, more);
        alarm(20);
        int bad = read_only(&m) != 0;
        if (more == 0) {
            made[m.kind[word]]++;
            found[m.kind[word]] += bad;
            scrubbed[m.kind[word]] += scrub_pass(&m);
        }
        hidden += !bad;
        live(&m, number, calls, state, 0);
        read_only(&m);
        scrub_pass(&m);
        alarm(0);
        if (i % 500 == 499) { /* flips shall meet different blocks */
            memcpy(m.w, healthy, 2 * m.words);
            live(&m, number, 200, state, 1);
            memcpy(healthy, m.w, 2 * m.words);
            mark_all(&m);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        printf("%s: %ld %ld %ld\n", kinds[kind], made[kind], found[kind], scrubbed[kind]);
    }
    printf("%s: seed %u: %ld flips, %ld calls after each, %ld not found at once\n", configs[number].name, (unsigned)seed, flips,
           calls, hidden);
    free(m.w);
    free(m.kind);
    free(healthy);
}

int main(int argc, char **argv)
{
    int count = (int)(sizeof configs / sizeof configs[0]);
    signal(SIGALRM, on_alarm);
    if (argc == 2 && strcmp(argv[1], "configs") == 0) {
        printf("%d\n", count);
    } else if (argc == 6 && strcmp(argv[1], "run") == 0 && atoi(argv[2]) < count) {
        run(atoi(argv[2]), (uint32_t)atol(argv[3]), atol(argv[4]), atol(argv[5]));
    } else {
        fprintf(stderr, "see the comment at the top of flips.c\n");
        return 2;
    }
    return 0;
}
