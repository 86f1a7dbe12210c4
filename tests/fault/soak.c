/* A long run with drift, changes, a full pool and power cuts; afterwards nothing may show that power was ever lost.
 *
 *     soak EPISODES SEED      the first controller runs all episodes, the others a tenth each
 *
 * Every controller runs twice. The first run has no cuts; after every SPAN episodes the used words of the block are
 * hashed into a chain: each link hashes the one before it and the words. The second run saves to a store at the same
 * places and loses power again and again, in a save or between two: its memory is filled with garbage, the store is
 * opened, and the restored words must be those of the first run at the last completed save (or at the one that was
 * being made). It goes on from there, repeats the lost episodes, and must reach every link of the chain.
 *
 * The environment depends on the episode, the step and the action alone, so a lost episode can be repeated.
 * Exit code 1 and a line that begins with FAILED when a promise is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "adamb.h"
#include "adamb_snapshot.h"
#include "adamb_spec.h"
#include "sim_flash.h"

enum { SPAN = 250, WORDS_MOST = 2048, JUMP = 3000 };

typedef struct {
    const char *name;
    uint8_t d_s, d_a, horizon, paper, share, random_action;
    uint32_t words, page, sector, sectors;
} kind;

static const kind KINDS[] = {
    {"1+1, 1 KiB", 1, 1, 5, 0, 2, 0, 512, 64, 512, 8},
    {"2+1, 2 KiB", 2, 1, 5, 0, 1, 0, 1024, 256, 2304, 4},
    {"2+2 random, 2 KiB", 2, 2, 3, 0, 0, 1, 1024, 16, 512, 16},
    {"1+1 paper, 3 KiB", 1, 1, 5, 1, 0, 0, 1536, 64, 4096, 3},
};

static const kind *k;
static adamb_config config;
static uint16_t block[WORDS_MOST];
static uint32_t seed;
static uint64_t *words_at, *chain_at; /* by place: hash of the used words, and the chain, of the run without cuts */

static void fail(const char *what, uint32_t episode)
{
    printf("FAILED %s: %s, episode %u, seed %u\n", what, k->name, (unsigned)episode, (unsigned)seed);
    exit(1);
}

static void sim_misuse(const char *what)
{
    fail(what, 0);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* A number that depends on nothing but its arguments. */
static uint16_t noise(uint32_t episode, uint32_t step, uint32_t use)
{
    return (uint16_t)mix((uint64_t)seed << 48 ^ (uint64_t)use << 40 ^ (uint64_t)step << 32 ^ episode);
}

/* The best action drifts a little all the time and jumps now and then; before a jump nothing pays for a while. */
static uint16_t reward_of(uint32_t episode, uint32_t h, uint16_t state, uint16_t action)
{
    uint32_t era = episode / JUMP;
    uint16_t target = (uint16_t)(noise(era, 0, 1) + episode % JUMP * 5 + (state >> 2));
    int distance = abs((int)action - (int)target);
    int reward = 60000 - 2 * distance - (noise(episode, h, 2) >> 4);
    return (uint16_t)(episode % JUMP > JUMP - 200 || reward < 0 ? 0 : reward);
}

static void live_episode(uint32_t episode)
{
    uint16_t state[3], action[3] = {0, 0, 0};
    for (uint32_t i = 0; i < 3; i++) {
        state[i] = noise(episode, 31, 3 + i);
    }
    for (uint32_t h = 0; h < k->horizon; h++) {
        if (adamb_act(block, (int)h, state, action) != 0) {
            fail("act", episode);
        }
        uint16_t reward = reward_of(episode, h, state[0], action[0]);
        for (uint32_t i = 0; i < 3; i++) {
            state[i] = (uint16_t)((3u * state[i] + action[i % k->d_a]) / 4u + (noise(episode, h, 6 + i) >> 6));
        }
        if (adamb_observe(block, (int)h, reward, state) != 0) {
            fail("observe", episode);
        }
    }
    if (adamb_end_episode(block) != 0) {
        fail("end_episode", episode);
    }
}

static uint64_t hash_of_words(void)
{
    uint64_t hash = 0xCBF29CE484222325ull;
    for (uint32_t i = 0; i < 4u * block[ADAMB_H_FRESH]; i++) {
        hash = (hash ^ block[i]) * 0x100000001B3ull;
    }
    return mix(hash);
}

static void new_block(void)
{
    memset(&config, 0, sizeof config);
    config.d_s = k->d_s;
    config.d_a = k->d_a;
    config.horizon = k->horizon;
    config.paper = k->paper;
    config.share = k->share;
    config.random_action = k->random_action;
    config.detect = config.auto_bonus = 1;
    config.seed = (uint16_t)seed;
    adamb_thresholds(&config, 2, 1, 1);
    if (adamb_init(&config, block, k->words) != 0) {
        fail("init", 0);
    }
}

static uint32_t episodes_of_block(void)
{
    adamb_statistics s;
    return adamb_stats(block, &s) == 0 ? s.episodes : 0xFFFFFFFFu;
}

/* Defined where an emulator's own memory would be measured: it grows with what was translated. */
#ifndef PEAK_KIB
#define PEAK_KIB usage.ru_maxrss
#endif

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return PEAK_KIB;
}

static void first_life(uint32_t places)
{
    new_block();
    words_at[0] = chain_at[0] = hash_of_words();
    for (uint32_t episode = 0; episode < places * SPAN; episode++) {
        live_episode(episode);
        if ((episode + 1) % SPAN == 0) {
            uint32_t place = (episode + 1) / SPAN;
            if (adamb_check(block, k->words) != 0) {
                fail("check", episode);
            }
            words_at[place] = hash_of_words();
            chain_at[place] = mix(chain_at[place - 1] ^ words_at[place]);
        }
    }
}

static sim_flash flash;
static uint8_t page[256];
static adamb_store store;
static uint32_t random_state, saves, cuts, again;

/* Power comes back: everything but the storage is lost. Returns the place from which the run continues. */
static uint32_t boot(uint32_t completed, uint32_t coming)
{
    for (uint32_t i = 0; i < WORDS_MOST; i++) {
        block[i] = (uint16_t)draw(&random_state);
    }
    memset(page, 0xA5, sizeof page);
    memset(&store, 0xA5, sizeof store);
    sim_boot(&flash);
    if (adamb_store_open(&store, &flash.face, page, k->words) != 0) {
        fail("open", completed * SPAN);
    }
    int code = adamb_store_restore(&store, &config, block, k->words);
    if (code == ADAMB_STORE_EMPTY && completed == 0) {
        new_block();
    } else if (code != 0) {
        fail("a completed save is lost", completed * SPAN);
    }
    uint32_t episode = episodes_of_block(), place = episode / SPAN;
    if (episode % SPAN != 0 || (place != completed && place != coming) || hash_of_words() != words_at[place]) {
        fail("restored neither the last nor the coming save", episode);
    }
    flash.operations = 0;
    flash.tear = (int)(draw(&random_state) % SIM_TEARS);
    return place;
}

/* Save at a place, perhaps losing power in it; 1 when it was completed. */
static int save(uint32_t place)
{
    int code = adamb_store_save(&store, block);
    if (code != 0 && !flash.dead) {
        fail("save on a sound storage", place * SPAN);
    }
    saves += code == 0;
    return code == 0;
}

static void second_life(uint32_t places)
{
    uint32_t pages = (32 + 2 * k->words) / k->page + 4, completed = 0, coming = 0;
    sim_setup(&flash, k->page, k->sector, k->sectors, seed);
    for (uint32_t i = 0; i < SIM_SPACE; i++) {
        flash.data[i] = (uint8_t)draw(&flash.random);
    }
    random_state = seed * 2654435761u | 1;
    saves = cuts = again = 0;
    while (completed < places) {
        uint32_t place = boot(completed, coming);
        uint64_t chain = chain_at[place];
        uint32_t pulled = draw(&random_state) % (6 * SPAN); /* power may also go between two saves */
        completed = coming = place;
        flash.cut_at = 1 + draw(&random_state) % (4 * pages);
        for (uint32_t episode = place * SPAN; completed < places; episode++) {
            if (pulled-- == 0) {
                again += episode % SPAN;
                break;
            }
            live_episode(episode);
            if ((episode + 1) % SPAN != 0) {
                continue;
            }
            coming = (episode + 1) / SPAN;
            chain = mix(chain ^ hash_of_words());
            if (chain != chain_at[coming]) {
                fail("a run with cuts differs from the run without", episode);
            }
            if (!save(coming)) {
                again += SPAN;
                break;
            }
            completed = coming;
        }
        cuts += completed < places;
    }
}

int main(int n, char **a)
{
    if (n != 3 || atol(a[1]) < 10 * SPAN) {
        fprintf(stderr, "see the comment at the top of soak.c; at least %d episodes\n", 10 * SPAN);
        return 2;
    }
    seed = (uint32_t)atol(a[2]);
    uint32_t all = (uint32_t)(atol(a[1]) / SPAN);
    words_at = calloc(all + 1, sizeof *words_at);
    chain_at = calloc(all + 1, sizeof *chain_at);
    if (words_at == 0 || chain_at == 0) {
        return 2;
    }
    memset(words_at, 1, (all + 1) * sizeof *words_at); /* so that memory is in use from the start */
    memset(chain_at, 1, (all + 1) * sizeof *chain_at);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        adamb_statistics s;
        k = &KINDS[i];
        uint32_t places = i == 0 ? all : all / 10;
        first_life(all / 10); /* everything has been touched once */
        second_life(all / 10);
        long before = peak_kib();
        first_life(places);
        second_life(places);
        long after = peak_kib();
        adamb_stats(block, &s);
        printf("%s: %u episodes, %u cuts, %u saves, %u episodes lived again, %u restarts, %u reclaims, chain %016llx, "
               "peak memory %ld KiB, then %ld KiB\n",
               k->name, (unsigned)s.episodes, (unsigned)cuts, (unsigned)saves, (unsigned)again, s.restarts, s.reclaims,
               (unsigned long long)chain_at[places], before, after);
        fflush(stdout);
        if (after > before) {
            fail("memory grew", places * SPAN);
        }
    }
    printf("seed %u: every run with cuts equals the run without, link by link\n", (unsigned)seed);
    free(words_at);
    free(chain_at);
    return 0;
}
