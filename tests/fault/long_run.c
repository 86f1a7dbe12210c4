/* A thousand million calls on a few controllers, with counters that begin near their ends.
 *
 *     long_run CALLS SEED      shared by the kinds below
 *
 * Most calls are `act`, which a control loop makes most often and which is cheap: of 16 calls one is `observe`; an
 * episode ends after its last step. After every SPAN calls the block is checked, no counter may have fallen or passed its
 * end, and a snapshot of it, restored into other memory, must be the same controller: the same words after more calls.
 * Exit code 1 and a line that begins with FAILED when something is not so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_snapshot.h"
#include "adamb_spec.h"
#include "draw.h"

enum { WORDS = 2048, SPAN = 1 << 20, ACTS = 15, TRIAL = 2000, COUNTERS = 5 };

typedef struct {
    const char *name;
    uint8_t d_s, d_a, horizon, paper, share, freeze;
    uint32_t words;
} kind;

static const kind KINDS[] = {
    {"1+1, 1 KiB", 1, 1, 5, 0, 2, 0, 512},
    {"2+1 frozen, 3 KiB", 2, 1, 5, 0, 0, 1, 1536},
    {"2+1, 2 KiB", 2, 1, 3, 0, 1, 0, 1024},
    {"1+1 paper, 3 KiB", 1, 1, 5, 1, 0, 0, 1536},
};
static const uint32_t COUNTED[COUNTERS] = {ADAMB_H_REFUSED, ADAMB_H_NO_ROOM, ADAMB_H_RECLAIMS, ADAMB_H_SATURATIONS,
                                           ADAMB_H_RESTARTS};

typedef struct {
    uint16_t block[WORDS];
    uint16_t state[3], action[3];
    uint32_t random, h;
} trial;

static const kind *k;
static trial one, other;
static uint64_t seed;

static void fail(const char *what, uint64_t calls)
{
    printf("FAILED %s: %s, call %llu, seed %llu\n", what, k->name, (unsigned long long)calls, (unsigned long long)seed);
    exit(1);
}

/* ACTS calls of act, one of observe; where the task's best action is changes now and then. */
static uint32_t step(trial *m, uint64_t calls)
{
    uint32_t best = (uint32_t)(calls >> 24) * 40503u & 0xFFFFu, x = draw(&m->random);
    for (uint32_t i = 0; i < ACTS; i++) {
        m->state[0] = (uint16_t)(m->state[0] + 2057u);
        if (adamb_act(m->block, (int)m->h, m->state, m->action) != 0) {
            fail("act", calls);
        }
    }
    int reward = 65535 - abs((int)m->action[0] - (int)best) - (int)(x & 4095u);
    m->state[0] = (uint16_t)(m->action[0] + (x >> 20));
    m->state[1] = (uint16_t)(x >> 8);
    if (adamb_observe(m->block, (int)m->h, (uint16_t)(reward < 0 ? 0 : reward), m->state) != 0) {
        fail("observe", calls);
    }
    if (++m->h < k->horizon) {
        return ACTS + 1;
    }
    m->h = 0;
    if (adamb_end_episode(m->block) != 0) {
        fail("end_episode", calls);
    }
    return ACTS + 2;
}

/* A copy by way of a snapshot must go on as the original does; the original is left as it was. */
static void try_copy(uint64_t calls)
{
    static uint8_t bytes[2 * WORDS + 16];
    static trial kept;
    int32_t length = adamb_snapshot_save(one.block, bytes, sizeof bytes);
    other = kept = one;
    memset(other.block, 0xA5, sizeof other.block);
    adamb_config g = {.d_s = k->d_s, .d_a = k->d_a, .horizon = k->horizon};
    if (length < 0 || adamb_snapshot_restore(bytes, (uint32_t)length, &g, other.block, k->words) != 0) {
        fail("snapshot", calls);
    }
    for (uint32_t i = 0; i < TRIAL; i++) {
        step(&one, calls + i);
        step(&other, calls + i);
    }
    if (memcmp(one.block, other.block, 8u * one.block[ADAMB_H_FRESH]) != 0) { /* behind it, a restart leaves old words */
        fail("the restored controller went another way", calls);
    }
    one = kept;
}

static void inspect(uint64_t calls, uint16_t *before, uint32_t *episodes)
{
    adamb_statistics s;
    if (adamb_check(one.block, k->words) != 0 || adamb_stats(one.block, &s) != 0) {
        fail("check", calls);
    }
    for (uint32_t i = 0; i < COUNTERS; i++) {
        if (one.block[COUNTED[i]] < before[i]) {
            fail("a counter fell", calls);
        }
        before[i] = one.block[COUNTED[i]];
    }
    if (s.episodes < *episodes) {
        fail("the number of episodes fell", calls);
    }
    *episodes = s.episodes;
}

static void begin(void)
{
    adamb_config g = {.d_s = k->d_s, .d_a = k->d_a, .horizon = k->horizon, .paper = k->paper, .share = k->share,
                      .freeze = k->freeze, .detect = 1, .auto_bonus = 1, .seed = (uint16_t)seed};
    adamb_thresholds(&g, 2, 1, 1);
    memset(&one, 0, sizeof one);
    one.random = (uint32_t)seed * 2654435761u | 1u;
    if (adamb_init(&g, one.block, k->words) != 0) {
        fail("init", 0);
    }
    for (uint32_t i = 0; i < COUNTERS; i++) {
        one.block[COUNTED[i]] = 65000; /* each is at its end long before the run is */
    }
    one.block[ADAMB_H_EPISODES_HIGH] = 0xFFFF;
    one.block[ADAMB_H_EPISODES] = 60000;
}

int main(int n, char **a)
{
    uint64_t total = 0, share = n > 1 ? strtoull(a[1], 0, 10) / (sizeof KINDS / sizeof *KINDS) : 0;
    if (n != 3 || share == 0) {
        fprintf(stderr, "usage: long_run CALLS SEED\n");
        return 2;
    }
    seed = strtoull(a[2], 0, 10);
    for (k = KINDS; k < KINDS + sizeof KINDS / sizeof *KINDS; k++) {
        uint16_t before[COUNTERS] = {0};
        uint32_t episodes = 0, checks = 0;
        uint64_t calls = 0, next = 0;
        begin();
        while (calls < share) {
            calls += step(&one, calls);
            if (calls >= next) {
                next += SPAN;
                checks++;
                inspect(calls, before, &episodes);
                try_copy(calls);
            }
        }
        inspect(calls, before, &episodes);
        printf("%s: %llu calls, %u checks; episodes %u, refused %u, no room %u, reclaims %u, saturations %u, restarts %u\n",
               k->name, (unsigned long long)calls, (unsigned)checks, (unsigned)episodes, before[0], before[1], before[2],
               before[3], before[4]);
        total += calls;
    }
    printf("%llu calls, nothing broken, seed %llu\n", (unsigned long long)total, (unsigned long long)seed);
    return 0;
}
