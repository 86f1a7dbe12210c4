/* Stores in every order that a compiler may give them: V is whole at every moment (SPEC 15).
 *
 * The core is compiled with a call before each of its loads and stores, the functions below, and its fence is a call too.
 * Stores are a run as long as no fence and no load of the block comes between them; what follows a load may depend on it.
 * The stores of a run may come in any order. So behind each of them V must be whole also if one of those before it was not
 * done yet, or none of them.
 *
 * An engine that nobody makes wait walks meanwhile. It reads in every cycle, and no processor stores in two cycles one after
 * the other: so it goes on by two to four reads from store to store and from call to call, and ends with an action, too.
 *
 * orders STEPS SEED plays so many steps of noise with each of several controllers. One line on stdout; one that begins with
 * BROKEN and exit code 1 when V was not whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_internal.h"
#include "draw.h"

enum { WORDS_MAX = 2048, RUN_MAX = 64, HORIZON = 3, TURN = 900 };

static uint16_t block[WORDS_MAX], copy[WORDS_MAX];
static uint32_t words_n, run_n, looks, walks, rng;
static int watching;
static struct {
    uint32_t word;
    uint16_t before;
} run[RUN_MAX];

/* Some bits, then d_a ones on the border of a level, then zeros. */
static int is_action(const uint16_t *w, uint32_t code)
{
    uint32_t d_a = w[ADAMB_H_DIMS] >> 4 & 15u, finest = w[ADAMB_H_SCALE] >> 8, ones = (1u << d_a) - 1u;
    for (uint32_t level = 0; level <= finest; level++) {
        uint32_t bits = d_a * level;
        if ((code & (0xFFFFu >> bits)) == ones << (16 - bits - d_a)) {
            return 1;
        }
    }
    return 0;
}

/* Do all links below a slot lead to units of the pool, and all ways to actions? */
static int whole_below(const uint16_t *w, uint32_t slot, uint32_t depth)
{
    uint32_t word = w[slot];
    if (word >= w[ADAMB_H_UNITS]) {
        return is_action(w, w[slot + 2]);
    }
    return depth < ADAMB_LEVEL_MAX && word >= w[ADAMB_H_POOL_AT] && whole_below(w, word << 2, depth + 1) &&
           whole_below(w, (word << 2) + 1, depth + 1);
}

static void look(const uint16_t *w)
{
    looks++;
    for (uint32_t h = 0; h < HORIZON; h++) {
        uint32_t step = w[ADAMB_H_STEPS_AT] + h * ADAMB_S_WORDS;
        if (!whole_below(w, step + ADAMB_S_V_SLOT, 0)) {
            printf("BROKEN V of step %u after %u looks: stores at words", (unsigned)h, (unsigned)looks);
            for (uint32_t i = 0; i < run_n; i++) {
                printf(" %u", (unsigned)run[i].word);
            }
            printf(" in another order\n");
            exit(1);
        }
    }
}

/* The last store of the run has been done: look at the block without one of those before it, and without all of them. */
static void settle(void)
{
    if (run_n < 2) {
        return;
    }
    uint32_t last = run[run_n - 1].word;
    for (uint32_t i = 0; i + 1 < run_n; i++) {
        int again = 0; /* stores to one word keep their order */
        for (uint32_t k = i + 1; k < run_n; k++) {
            again |= run[k].word == run[i].word;
        }
        if (!again) {
            memcpy(copy, block, 2u * words_n);
            copy[run[i].word] = run[i].before;
            look(copy);
        }
    }
    memcpy(copy, block, 2u * words_n);
    for (uint32_t i = run_n - 1; i-- > 0;) {
        if (run[i].word != last) {
            copy[run[i].word] = run[i].before;
        }
    }
    look(copy);
}

static struct {
    uint32_t slot, depth, stores;
    uint16_t code;
    int on, at_action;
} walk;

static void begin_walk(void)
{
    memset(&walk, 0, sizeof walk);
    walk.on = 1;
    walk.slot = block[ADAMB_H_STEPS_AT] + (draw(&rng) >> 16) % HORIZON * ADAMB_S_WORDS + ADAMB_S_V_SLOT;
    walk.code = (uint16_t)(draw(&rng) >> 16);
}

static void walk_on(void)
{
    if (!walk.on) {
        begin_walk();
    }
    for (uint32_t reads = 2 + (draw(&rng) >> 16) % 3; reads != 0 && walk.on; reads--) {
        uint32_t word = block[walk.slot];
        if (walk.at_action) { /* a read of its own: a store may come between a slot and its action */
            walk.on = 0;
            walks += walk.stores != 0;
            if (!is_action(block, block[walk.slot + 2])) {
                printf("BROKEN a walk over %u stores ended with no action\n", (unsigned)walk.stores);
                exit(1);
            }
        } else if (walk.depth < 16 && word < block[ADAMB_H_UNITS]) {
            walk.slot = (word << 2) + (walk.code >> (15 - walk.depth) & 1u);
            walk.depth++;
        } else {
            walk.at_action = 1;
        }
    }
    walk.stores++;
}

static void end_run(void)
{
    settle();
    run_n = 0;
}

static int inside(const void *address)
{
    const uint16_t *word = (const uint16_t *)address;
    return watching && word >= block && word < block + words_n;
}

static void on_load(const void *address)
{
    if (inside(address)) {
        end_run();
    }
}

static void on_store(const void *address)
{
    if (!inside(address)) {
        return;
    }
    walk_on();
    settle();
    if (run_n == RUN_MAX) {
        memmove(run, run + 1, sizeof run - sizeof run[0]);
        run_n--;
    }
    run[run_n].word = (uint32_t)((const uint16_t *)address - block);
    run[run_n].before = *(const uint16_t *)address;
    run_n++;
}

void orders_fence(void)
{
    end_run();
}

/* What gcc -fsanitize=thread calls. A word has two bytes; what is larger or smaller is not in the block. */
void __tsan_init(void) {}
void __tsan_func_entry(void *a) { (void)a; }
void __tsan_func_exit(void) {}
void __tsan_read1(void *a) { (void)a; }
void __tsan_read2(void *a) { on_load(a); }
void __tsan_read4(void *a) { (void)a; }
void __tsan_read8(void *a) { (void)a; }
void __tsan_read16(void *a) { (void)a; }
void __tsan_write1(void *a) { (void)a; }
void __tsan_write2(void *a) { on_store(a); }
void __tsan_write4(void *a) { (void)a; }
void __tsan_write8(void *a) { (void)a; }
void __tsan_write16(void *a) { (void)a; }
void __tsan_read_range(void *a, unsigned long n) { (void)a, (void)n; }
void __tsan_write_range(void *a, unsigned long n) { (void)a, (void)n; }

static void random_point(uint16_t *point)
{
    for (int i = 0; i < 3; i++) {
        uint32_t kind = draw(&rng) >> 30;
        point[i] = (uint16_t)(kind == 0 ? 0 : kind == 1 ? 65535 : draw(&rng) >> 16);
    }
}

static int play(const adamb_config *config, uint32_t steps)
{
    uint16_t state[3], next[3], action[3];
    int code = adamb_init(config, block, words_n);
    walk.on = 0;
    random_point(state);
    for (uint32_t step = 0; step < steps && code == 0;) {
        for (int h = 0; h < HORIZON && code == 0; h++, step++) {
            code = adamb_act(block, h, state, action);
            uint32_t far = (uint32_t)(action[0] > state[0] ? action[0] - state[0] : state[0] - action[0]);
            random_point(next);
            watching = 1;
            /* Now and then rewards turn round, so that the detector restarts. */
            code = code != 0 ? code : adamb_observe(block, h, (uint16_t)(step / TURN % 2 ? far / 8 : 65535u - far), next);
            end_run();
            watching = 0;
            memcpy(state, next, sizeof state);
        }
        watching = 1;
        code = code != 0 ? code : adamb_end_episode(block);
        end_run();
        watching = 0;
    }
    return code;
}

int main(int argc, char **argv)
{
    uint32_t steps = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000, reclaims = 0, restarts = 0;
    rng = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    for (uint32_t kind = 0; kind < 12; kind++) {
        adamb_config config;
        adamb_config_default(&config, (uint8_t)(kind & 1 ? 2 : 1), 1, HORIZON);
        config.mode = kind >> 1 & 1;
        config.share = (uint8_t)(kind >> 2);
        words_n = (uint32_t)adamb_required_words(&config) + 8;
        int code = play(&config, steps);
        if (code != 0) {
            printf("BROKEN code %d\n", code);
            return 1;
        }
        reclaims += block[ADAMB_H_RECLAIMS];
        restarts += block[ADAMB_H_RESTARTS];
    }
    printf("V was whole in %u orders and for %u walks, with %u reclaims and %u restarts\n", (unsigned)looks, (unsigned)walks,
           (unsigned)reclaims, (unsigned)restarts);
    return 0;
}
