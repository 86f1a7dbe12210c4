/* Drives the core from random numbers under the sanitizers. One line on stdout for what was done; a failure is a
 * line with the case that replays it and exit code 1. The block is allocated to the word, so that the address
 * sanitizer sees any access beside it.
 *
 *     driver runs SEED CASES STEPS    random configurations, budgets and calls, wrong calls among them
 *     driver damage SEED CASES STEPS   damaged blocks: the check ends, and what it accepts can be used
 *     driver refuse SEED STEPS         the pool refuses its k-th request, for every k
 *     driver long SEED BYTES STEPS     one small controller for a long time
 *
 * The build renames the pool's own allocation to real_pool_alloc, so that requests pass through here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adamb.h"
#include "adamb_internal.h"
#include "draw.h"

uint16_t real_pool_alloc(uint16_t *w);

static long requests, refuse_at;

uint16_t adamb_pool_alloc(uint16_t *w)
{
    requests++;
    return requests == refuse_at ? 0 : real_pool_alloc(w);
}

/* A build that calls this in the place of adamb_pool_free leaks; the inspection must see it. */
void forgotten_free(uint16_t *w, uint16_t unit);
void forgotten_free(uint16_t *w, uint16_t unit)
{
    (void)w;
    (void)unit;
}

static uint32_t rng;

static uint32_t below(uint32_t n)
{
    return draw(&rng) % n;
}

typedef struct {
    adamb_config config;
    uint16_t *block;
    uint32_t words;
    uint32_t seed; /* of the case */
    uint16_t state[3];
    int habit; /* how states and rewards come about */
} trial;

static void fail(const trial *one, const char *what, long step)
{
    const adamb_config *g = &one->config;
    printf("FAILED %s: case %u step %ld: dims %d+%d H %d paper %d own %d share %d freeze %d random %d detect %d words %u\n",
           what, (unsigned)one->seed, step, g->d_s, g->d_a, g->horizon, g->paper, g->own, g->share, g->freeze,
           g->random_action, g->detect, (unsigned)one->words);
    exit(1);
}

static void random_config(adamb_config *g)
{
    static const uint8_t horizons[] = {1, 2, 3, 5, 7, 8, 15, 16, 31};
    memset(g, 0, sizeof *g);
    g->d_s = (uint8_t)(1 + below(3));
    g->d_a = (uint8_t)(1 + below(3));
    g->horizon = horizons[below(sizeof horizons)];
    g->paper = (uint8_t)below(2);
    g->own = (uint8_t)below(2);
    g->share = (uint8_t)below(3);
    g->freeze = below(3) == 0;
    g->random_action = below(4) == 0;
    g->detect = (uint8_t)below(2);
    g->auto_bonus = (uint8_t)below(2);
    g->bonus = (uint16_t)(below(4) == 0 ? below(32768) : below(4096));
    g->seed = (uint16_t)draw(&rng);
    /* One draw a statement, here and below: the same on every compiler. */
    uint16_t phi_den = (uint16_t)(1 + below(3)), phi_num = (uint16_t)(1 + below(6));
    adamb_thresholds(g, (uint8_t)(1 + below(3)), phi_num, phi_den);
    if (below(4) == 0) { /* any table that does not decrease */
        uint32_t n = 1;
        for (int i = 0; i < 15; i++) {
            g->thresholds[i] = (uint16_t)(n > 65535 ? 65535 : n);
            n += below(4) == 0 ? below(3000) : below(6);
        }
    }
}

static void begin(trial *one, uint32_t seed)
{
    one->seed = seed;
    rng = seed * 2654435761u | 1u;
    for (int i = 0; i < 8; i++) {
        draw(&rng);
    }
    random_config(&one->config);
    int32_t required = adamb_required_words(&one->config);
    if (required <= 0) {
        fail(one, "required_words", 0);
    }
    uint32_t extra = below(3) == 0 ? below(8) : below(3) == 0 ? below(20000) : below(1200);
    one->words = (uint32_t)required + extra;
    one->block = malloc(one->words * sizeof *one->block);
    memset(one->block, 0xA5, one->words * sizeof *one->block);
    one->habit = (int)below(6);
    one->state[0] = one->state[1] = one->state[2] = 0x8000;
    requests = refuse_at = 0;
    if (one->words > (uint32_t)required && adamb_init(&one->config, one->block, (uint32_t)required - 1) != ADAMB_NO_MEMORY) {
        fail(one, "one word less than required was accepted", 0);
    }
    if (adamb_init(&one->config, one->block, one->words) != 0) {
        fail(one, "init", 0);
    }
}

static uint32_t digest; /* of the blocks that were left: the same on every machine */

static void end(trial *one)
{
    for (uint32_t i = 0; i < one->words; i++) {
        digest = (digest ^ one->block[i]) * 16777619u;
    }
    free(one->block);
}

/* A state: anywhere, in a corner, on a border, or where the action led. */
static void move(trial *one, const uint16_t *action)
{
    for (int i = 0; i < 3; i++) {
        uint16_t target = (uint16_t)(action[i % one->config.d_a] + below(512));
        uint16_t any = (uint16_t)draw(&rng), low = (uint16_t)below(64), middle = (uint16_t)(0x8000u - below(2));
        uint16_t high = (uint16_t)(0xFFFFu - below(3)), choices[] = {any, target, low, middle, high, target};
        one->state[i] = choices[one->habit == 0 ? 0 : one->habit == 1 ? 1 : below(6)];
    }
}

static uint16_t reward_of(const trial *one, const uint16_t *action)
{
    switch (one->habit) {
    case 2:
        return 0;
    case 3:
        return 65535;
    case 4:
        return (uint16_t)draw(&rng);
    default:
        return (uint16_t)(65535 - abs((int)action[0] - (int)one->state[0]));
    }
}

/* One act and one observe; 0 or the first error. */
static int play(trial *one, int h)
{
    uint16_t action[3] = {0, 0, 0};
    int error = adamb_act(one->block, h, one->state, action);
    if (error != 0) {
        return error;
    }
    uint16_t reward = reward_of(one, action);
    move(one, action);
    return adamb_observe(one->block, h, reward, one->state);
}

/* A call that must be refused without touching a word. */
static void wrong_call(const trial *one, long step)
{
    uint16_t *copy = malloc(one->words * sizeof *copy), out[3] = {1, 2, 3};
    uint16_t *w = one->block;
    int h = (int)below(one->config.horizon), bad_h = below(2) ? one->config.horizon : -1 - (int)below(9), code = 0, wanted;
    adamb_statistics stats;
    memcpy(copy, w, one->words * sizeof *copy);
    wanted = ADAMB_BAD_ARGUMENT;
    switch (below(9)) {
    case 0:
        code = adamb_act(w, bad_h, one->state, out);
        break;
    case 1:
        code = adamb_act(w, h, 0, out);
        break;
    case 2:
        code = adamb_act(w, h, one->state, 0);
        break;
    case 3:
        code = adamb_observe(w, bad_h, 5, one->state);
        break;
    case 4:
        code = adamb_observe(w, h, 5, 0);
        break;
    case 5:
        code = below(2) ? adamb_act(0, h, one->state, out) : adamb_observe(0, h, 5, one->state);
        break;
    case 6:
        code = below(2) ? adamb_end_episode(0) : adamb_stats(0, &stats);
        break;
    case 7:
        code = below(2) ? adamb_stats(w, 0) : adamb_check(0, one->words);
        break;
    default:
        wanted = ADAMB_BAD_ORDER;
        code = ADAMB_BAD_ORDER;
        if (w[w[ADAMB_H_STEPS_AT] + h * ADAMB_S_WORDS + ADAMB_S_ACTION] == 0) {
            code = adamb_observe(w, h, 5, one->state);
        }
    }
    if (code != wanted || memcmp(copy, w, one->words * sizeof *copy) != 0 || out[0] != 1) {
        fail(one, "a wrong call", step);
    }
    free(copy);
}

/* Everything must be accounted for: by the check, and by the counters. */
static void inspect(const trial *one, long step)
{
    adamb_statistics s;
    if (adamb_check(one->block, one->words) != 0) {
        fail(one, "check", step);
    }
    if (adamb_stats(one->block, &s) != 0 || s.units_used > s.units_peak || s.units_peak + s.units_header > s.units ||
        s.units_used + s.units_header + adamb_pool_room(one->block) != s.units || s.units > one->words / 4) {
        fail(one, "stats", step);
    }
}

static void runs(uint32_t seed, uint32_t cases, long steps)
{
    long total = 0;
    for (uint32_t i = 0; i < cases; i++) {
        trial one;
        begin(&one, seed + i);
        for (long step = 0, h = 0; step < steps; step++, total++) {
            if (below(64) == 0) {
                wrong_call(&one, step);
            }
            if (below(40) == 0) { /* steps may be left out, repeated, or acted on without an observation */
                uint16_t action[3];
                h = (long)below(one.config.horizon);
                if (adamb_act(one.block, (int)h, one.state, action) != 0) {
                    fail(&one, "act", step);
                }
            }
            if (play(&one, (int)h) != 0) {
                fail(&one, "play", step);
            }
            h++;
            if (h == one.config.horizon || below(50) == 0) {
                h = 0;
                if (adamb_end_episode(one.block) != 0) {
                    fail(&one, "end_episode", step);
                }
            }
            if (step < 40 || step % 97 == 0) {
                inspect(&one, step);
            }
        }
        inspect(&one, steps);
        end(&one);
    }
    printf("%u runs, %ld steps, seeds %u to %u, digest %08x\n", (unsigned)cases, total, (unsigned)seed,
           (unsigned)(seed + cases - 1), (unsigned)digest);
}

static void damage(uint32_t seed, uint32_t cases, long steps)
{
    uint32_t found = 0, accepted = 0;
    for (uint32_t i = 0; i < cases; i++) {
        trial one;
        begin(&one, seed + i);
        for (long step = 0; step < steps; step++) {
            int h = (int)(step % one.config.horizon);
            if (play(&one, h) != 0 || (h + 1 == one.config.horizon && adamb_end_episode(one.block) != 0)) {
                fail(&one, "play", step);
            }
        }
        uint16_t *healthy = malloc(one.words * sizeof *healthy);
        memcpy(healthy, one.block, one.words * sizeof *healthy);
        uint32_t used = (uint32_t)one.block[ADAMB_H_FRESH] * 4, header = (uint32_t)one.block[ADAMB_H_POOL_AT] * 4;
        for (int round = 0; round < 60; round++) {
            for (uint32_t n = below(round < 40 ? 1 : 4) + 1; n != 0; n--) {
                uint32_t at_word = below(3) == 0 ? below(header) : below(used);
                uint16_t flipped = (uint16_t)(1u << below(16) ^ one.block[at_word]), any = (uint16_t)draw(&rng);
                uint16_t unit = (uint16_t)below(used / 4), other = one.block[below(used)];
                uint16_t values[] = {0, flipped, any, unit, other};
                one.block[at_word] = values[below(5)];
            }
            int code = adamb_check(one.block, one.words);
            if (code != 0 && code != ADAMB_BAD_BLOCK) {
                fail(&one, "the check of a damaged block", round);
            }
            found += code != 0;
            if (code == 0) {
                accepted++;
                for (long step = 0; step < 150; step++) { /* whatever they return, they must stay in the block */
                    play(&one, (int)(step % one.config.horizon));
                    if (step % one.config.horizon == one.config.horizon - 1) {
                        adamb_end_episode(one.block);
                    }
                }
            }
            memcpy(one.block, healthy, one.words * sizeof *healthy);
        }
        free(healthy);
        end(&one);
    }
    printf("%u damaged blocks found, %u harmless, seeds %u to %u, digest %08x\n", (unsigned)found, (unsigned)accepted,
           (unsigned)seed, (unsigned)(seed + cases - 1), (unsigned)digest);
}

/* The same run again and again; in the k-th the k-th request for a unit is refused. */
static void refuse(uint32_t seed, long steps)
{
    long k = 1;
    for (;; k++) {
        trial one;
        begin(&one, seed);
        requests = 0;
        for (long step = 0; step < steps; step++) {
            int h = (int)(step % one.config.horizon);
            long before = requests;
            refuse_at = k;
            int error = play(&one, h);
            if (error != 0) {
                fail(&one, "play", step);
            }
            if (before < k && k <= requests) {
                inspect(&one, step);
            }
            long counted = requests;
            refuse_at = 0; /* a restart takes its units from an empty pool, where none can be refused */
            if (h + 1 == one.config.horizon && adamb_end_episode(one.block) != 0) {
                fail(&one, "end_episode", step);
            }
            requests = counted;
        }
        inspect(&one, steps);
        end(&one);
        if (requests < k) {
            break;
        }
    }
    printf("every one of %ld requests refused once, case %u, digest %08x\n", k - 1, (unsigned)seed, (unsigned)digest);
}

static void long_life(uint32_t seed, uint32_t bytes, long steps)
{
    trial one;
    begin(&one, seed);
    end(&one);
    adamb_config g = {.d_s = 1, .d_a = 1, .horizon = 5, .share = 2, .detect = 1, .auto_bonus = 1, .seed = (uint16_t)seed};
    adamb_thresholds(&g, 2, 1, 1);
    one.config = g;
    one.words = bytes / 2;
    one.habit = 5;
    one.block = malloc(bytes);
    if (adamb_init(&g, one.block, one.words) != 0) {
        fail(&one, "init", 0);
    }
    for (long step = 0; step < steps; step++) {
        int h = (int)(step % 5);
        if (step % 200000 == 0) {
            one.habit = (int)below(6); /* the environment changes now and then */
        }
        if (play(&one, h) != 0 || (h == 4 && adamb_end_episode(one.block) != 0)) {
            fail(&one, "play", step);
        }
        if (step % 1000 == 0) {
            inspect(&one, step);
        }
    }
    inspect(&one, steps);
    adamb_statistics s;
    adamb_stats(one.block, &s);
    printf("%ld steps in %u bytes, seed %u: %u episodes, %u reclaims, %u restarts, peak %u of %u units\n", steps,
           (unsigned)bytes, (unsigned)seed, (unsigned)s.episodes, s.reclaims, s.restarts, s.units_peak + s.units_header,
           s.units);
    end(&one);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "runs") == 0) {
        runs((uint32_t)atol(argv[2]), (uint32_t)atol(argv[3]), atol(argv[4]));
    } else if (argc == 5 && strcmp(argv[1], "damage") == 0) {
        damage((uint32_t)atol(argv[2]), (uint32_t)atol(argv[3]), atol(argv[4]));
    } else if (argc == 4 && strcmp(argv[1], "refuse") == 0) {
        refuse((uint32_t)atol(argv[2]), atol(argv[3]));
    } else if (argc == 5 && strcmp(argv[1], "long") == 0) {
        long_life((uint32_t)atol(argv[2]), (uint32_t)atol(argv[3]), atol(argv[4]));
    } else {
        fprintf(stderr, "see the comment at the top of driver.c\n");
        return 2;
    }
    return 0;
}
