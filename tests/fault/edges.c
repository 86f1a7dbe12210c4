/* The calls that no run makes: null pointers and other wrong arguments one by one, memory that overlaps. The fuzzer reaches
 * the rest of the core.
 *
 * One line on stdout; a line that begins with FAILED and exit code 1 when an answer is not the documented one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "sim_flash.h"

enum { WORDS = 1600, LARGE = 140000 };

static uint16_t block[LARGE], other[WORDS];
static uint16_t state[3], action[3];
static uint8_t bytes[2 * WORDS + 16], page[256];
static adamb_config config;
static uint32_t rng = 1, answers;

static void sim_misuse(const char *what)
{
    printf("FAILED %s\n", what);
    exit(1);
}

static void expect_at(int line, long found, long wanted)
{
    answers++;
    if (found != wanted) {
        printf("FAILED edges.c:%d answered %ld, not %ld\n", line, found, wanted);
        exit(1);
    }
}
#define EXPECT(found, wanted) expect_at(__LINE__, (found), (wanted))

static void configure(uint8_t d_s, uint8_t d_a, uint8_t horizon, uint8_t paper, uint8_t share)
{
    memset(&config, 0, sizeof config);
    config.d_s = d_s;
    config.d_a = d_a;
    config.horizon = horizon;
    config.mode = paper;
    config.share = share;
    config.auto_bonus = 1;
    config.seed = 7;
    adamb_thresholds(&config, 2, 1, 1);
}

static uint32_t begin(uint32_t extra)
{
    uint32_t words = (uint32_t)adamb_required_words(&config) + extra;
    EXPECT(adamb_init(&config, block, words), 0);
    return words;
}

/* Steps in order; what is paid and where it leads is random. */
static void play(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        int h = (int)(i % config.horizon);
        EXPECT(adamb_act(block, h, state, action), 0);
        for (int k = 0; k < 3; k++) {
            state[k] = (uint16_t)(draw(&rng) >> 7);
        }
        EXPECT(adamb_observe(block, h, (uint16_t)draw(&rng), state), 0);
        if (h + 1 == config.horizon) {
            EXPECT(adamb_end_episode(block), 0);
        }
    }
}

/* The default is a configuration that init takes, whatever was in the structure; every code has a text of its own. */
static void defaults_and_texts(void)
{
    adamb_config usual;
    memset(&usual, 0xFF, sizeof usual);
    adamb_config_default(&usual, 2, 1, 5);
    configure(2, 1, 5, ADAMB_MODE_TRACKING, ADAMB_SHARE_TESTING);
    config.detect = 1;
    config.seed = 1;
    EXPECT(memcmp(&usual, &config, sizeof usual), 0);
    EXPECT(adamb_init(&usual, block, WORDS), 0);
    for (int code = -10; code <= 1; code++) {
        for (int before = -10; before < code; before++) {
            int known = code <= 0 && code >= ADAMB_BAD_DIMENSIONS;
            int alike = !known && (before < ADAMB_BAD_DIMENSIONS || before > 0);
            EXPECT(strcmp(adamb_error_text(code), adamb_error_text(before)) == 0, alike);
        }
    }
}

static void wrong_configurations(void)
{
    configure(1, 1, 5, 0, 2);
    adamb_thresholds(&config, 1, 1, 0);
    EXPECT(adamb_required_words(&config), ADAMB_BAD_CONFIG);
    configure(1, 1, 5, 0, 2);
    EXPECT(adamb_required_words(0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(0, block, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(&config, 0, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(&config, block, LARGE), 0);
    EXPECT(block[ADAMB_H_UNITS], ADAMB_UNITS_MAX);
}

static void wrong_calls(void)
{
    adamb_statistics s;
    uint32_t words;
    configure(2, 1, 5, 0, 2);
    words = begin(100);
    play(20);
    EXPECT(adamb_act(0, 0, state, action), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_act(block, 0, 0, action), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_act(block, 0, state, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_act(block, -1, state, action), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_act(block, 5, state, action), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_observe(block, 0, 0, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_observe(block, 0, 0, state), ADAMB_BAD_ORDER);
    EXPECT(adamb_end_episode(0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_stats(0, &s), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_stats(block, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_check(0, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_check(block, ADAMB_H_WORDS - 1), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_bytes(0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_save(0, bytes, sizeof bytes), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_save(block, 0, sizeof bytes), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_save(block, bytes, 20), ADAMB_NO_MEMORY);
    int32_t length = adamb_snapshot_save(block, bytes, sizeof bytes);
    EXPECT(length, adamb_snapshot_bytes(block));
    EXPECT(adamb_snapshot_restore(0, (uint32_t)length, &config, other, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_restore(bytes, (uint32_t)length, &config, 0, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_restore(bytes, (uint32_t)length, 0, other, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_restore(bytes, 15, &config, other, WORDS), ADAMB_BAD_BLOCK);
    uint8_t *few = malloc(3); /* the sanitizer sees a read behind its end */
    few[0] = few[1] = few[2] = 0;
    EXPECT(adamb_snapshot_restore(few, 3, &config, other, WORDS), ADAMB_BAD_BLOCK);
    free(few);
    EXPECT(adamb_snapshot_restore(bytes, (uint32_t)length, &config, other, words - 4), ADAMB_NO_MEMORY);
    EXPECT(adamb_snapshot_restore(bytes, (uint32_t)length, &config, other, WORDS), 0);
    for (int word = 0; word < 2; word++) { /* of another version */
        block[word] ^= 1;
        EXPECT(adamb_act(block, 0, state, action), ADAMB_BAD_BLOCK);
        EXPECT(adamb_observe(block, 0, 0, state), ADAMB_BAD_BLOCK);
        EXPECT(adamb_end_episode(block), ADAMB_BAD_BLOCK);
        EXPECT(adamb_stats(block, &s), ADAMB_BAD_BLOCK);
        EXPECT(adamb_check(block, words), ADAMB_BAD_BLOCK);
        EXPECT(adamb_snapshot_bytes(block), ADAMB_BAD_BLOCK);
        EXPECT(adamb_snapshot_save(block, bytes, sizeof bytes), ADAMB_BAD_BLOCK);
        block[word] ^= 1;
    }
    EXPECT(adamb_check(block, words), 0);
}

/* --- storage --- */

static sim_flash flash;
static void wrong_storages(adamb_store *store, uint32_t words)
{
    static const uint32_t geometries[][3] = {{0, 512, 4},  {64, 32, 4},         {64, 500, 4},
                                             {64, 512, 1}, {64, 0x20000000, 2}, {64, 512, 0x7FFFFFFF}};
    for (uint32_t i = 0; i < sizeof geometries / sizeof *geometries; i++) {
        sim_setup(&flash, 64, 512, 2, 1);
        flash.face.page_bytes = geometries[i][0];
        flash.face.sector_bytes = geometries[i][1];
        flash.face.sectors = geometries[i][2];
        EXPECT(adamb_store_open(store, &flash.face, page, words), ADAMB_BAD_CONFIG);
    }
    sim_setup(&flash, 64, 512, 8, 1);
    EXPECT(adamb_store_open(store, &flash.face, page, ADAMB_H_WORDS - 1), ADAMB_BAD_CONFIG);
    EXPECT(adamb_store_open(store, &flash.face, page, 0xFFFFFFFFu), ADAMB_BAD_CONFIG);
    EXPECT(adamb_store_open(0, &flash.face, page, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_open(store, 0, page, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_open(store, &flash.face, 0, words), ADAMB_BAD_ARGUMENT);
    flash.face.read = 0;
    EXPECT(adamb_store_open(store, &flash.face, page, words), ADAMB_BAD_ARGUMENT);
    flash.face.read = sim_read;
    flash.face.prog = 0;
    EXPECT(adamb_store_open(store, &flash.face, page, words), ADAMB_BAD_ARGUMENT);
    flash.face.prog = sim_prog;
    flash.face.erase = 0;
    EXPECT(adamb_store_open(store, &flash.face, page, words), ADAMB_BAD_ARGUMENT);
}

static void storages(void)
{
    adamb_store store;
    uint32_t words;
    configure(1, 1, 5, 0, 2);
    words = begin(40);
    wrong_storages(&store, words);
    sim_setup(&flash, 64, 1024, 4, 1);
    memset(flash.data, 0, sizeof flash.data);
    EXPECT(adamb_store_open(&store, &flash.face, page, words), 0);
    EXPECT(adamb_store_restore(&store, &config, other, words), ADAMB_STORE_EMPTY);
    EXPECT(adamb_store_save(0, block), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_save(&store, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_restore(&store, 0, other, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_restore(0, &config, other, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_restore(&store, &config, 0, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_store_save(&store, block), 0);
    EXPECT(adamb_store_restore(&store, &config, other, words - 4), ADAMB_NO_MEMORY);
    store.sequence = 0xFFFFFFFFu;
    EXPECT(adamb_store_save(&store, block), ADAMB_STORE_DEVICE);
    EXPECT(adamb_store_open(&store, &flash.face, page, 60), 0); /* told of a smaller block than this one */
    EXPECT(adamb_store_save(&store, block), ADAMB_NO_MEMORY);
}

/* A link to the unit behind a full block: the sanitizer sees a read there. */
static void behind_the_end(void)
{
    configure(1, 1, 1, 0, 0);
    uint32_t bytes_of_block = 2u * (begin(40) & ~3u);
    uint16_t *w = malloc(bytes_of_block);
    memcpy(w, block, bytes_of_block);
    w[ADAMB_H_FRESH] = w[ADAMB_H_UNITS];
    w[ADAMB_H_USED_PEAK] = (uint16_t)(w[ADAMB_H_UNITS] - w[ADAMB_H_POOL_AT]);
    w[w[ADAMB_H_STEPS_AT] + ADAMB_S_ROOT] = w[ADAMB_H_UNITS];
    EXPECT(adamb_check(w, bytes_of_block / 2), ADAMB_BAD_BLOCK);
    free(w);
}

/* Memory that overlaps the block, and saves of a program whose arrays have other lengths. */
static void other_programs(void)
{
    static uint16_t kept[WORDS];
    adamb_store store;
    configure(1, 1, 5, 0, 2);
    uint32_t words = begin(40);
    play(50);
    uint32_t length = (uint32_t)adamb_snapshot_save(block, bytes, sizeof bytes);
    EXPECT(adamb_snapshot_save(block, (uint8_t *)(block + 8), length), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_restore((uint8_t *)(block + 8), 16, &config, block, words), ADAMB_BAD_ARGUMENT);
    adamb_config *inside = (adamb_config *)(void *)(block + 100);
    *inside = config;
    memcpy(kept, block, sizeof kept);
    EXPECT(adamb_init(inside, block, words), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_restore(bytes, length, inside, block, words), ADAMB_BAD_ARGUMENT);
    sim_setup(&flash, 64, 1024, 4, 1);
    memset(flash.data, 0, sizeof flash.data);
    EXPECT(adamb_store_open(&store, &flash.face, page, words), 0);
    EXPECT(adamb_store_restore(&store, inside, block, words), ADAMB_BAD_ARGUMENT);
    EXPECT(memcmp(kept, block, sizeof kept), 0);
    adamb_config wrong = config;
    for (uint8_t d_s = 2; d_s < 18; d_s += 15) { /* 17 has no room in the header, and is not 1 */
        wrong.d_s = d_s;
        EXPECT(adamb_snapshot_restore(bytes, length, &wrong, block, words), ADAMB_BAD_DIMENSIONS);
    }
    EXPECT(memcmp(kept, block, sizeof kept), 0);
    EXPECT(adamb_snapshot_restore(bytes, length, &config, block, words), 0);
    EXPECT(adamb_snapshot_finish(bytes, adamb_config_dims(&wrong), block, words), ADAMB_BAD_BLOCK);
}

/* Bytes that touch the block at either end, and bytes that share one with it. */
static void neighbours(void)
{
    configure(1, 1, 5, 0, 2);
    uint16_t *w = block + WORDS;
    EXPECT(adamb_init(&config, w, (uint32_t)adamb_required_words(&config) + 40), 0);
    uint32_t length = (uint32_t)adamb_snapshot_bytes(w);
    uint8_t *first = (uint8_t *)w, *end = (uint8_t *)(w + unit_base(w[ADAMB_H_UNITS]));
    EXPECT(adamb_snapshot_save(w, first - length, length), (long)length);
    EXPECT(adamb_snapshot_save(w, first - length + 1, length), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_snapshot_save(w, end, length), (long)length);
    EXPECT(adamb_snapshot_save(w, end - 1, length), ADAMB_BAD_ARGUMENT);
}

/* --- the guard --- */

static void guards(void)
{
    adamb_guard guard;
    adamb_place place = {0, 0, 0};
    adamb_store store;
    uint32_t words;
    configure(1, 1, 5, 0, 2);
    words = (uint32_t)adamb_required_words(&config) + 40;
    EXPECT(adamb_guard_open(0, &config, block, words, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_guard_open(&guard, 0, block, words, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_guard_open(&guard, &config, 0, words, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_guard_open(&guard, &config, block, 0, 0), ADAMB_NO_MEMORY);
    EXPECT(adamb_guard_open(&guard, &config, block, words - 41, 0), ADAMB_NO_MEMORY);
    EXPECT(adamb_guard_handle(&guard, ADAMB_BAD_BLOCK), ADAMB_NO_MEMORY);
    EXPECT(guard.reinitialised, 0);
    EXPECT(adamb_guard_open(&guard, &config, block, words, 0), ADAMB_GUARD_REINITIALISED);
    EXPECT(adamb_guard_save(&guard), ADAMB_STORE_EMPTY);
    EXPECT(adamb_scrub(0, words, &place), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_scrub(block, words, 0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_scrub(block, ADAMB_H_WORDS - 1, &place), ADAMB_BAD_ARGUMENT);
    sim_setup(&flash, 64, 1024, 4, 1);
    memset(flash.data, 0, sizeof flash.data);
    EXPECT(adamb_store_open(&store, &flash.face, page, words), 0);
    EXPECT(adamb_guard_open(&guard, &config, block, words, &store), ADAMB_GUARD_REINITIALISED); /* nothing saved yet */
    EXPECT(adamb_guard_save(&guard), 0);
    configure(2, 1, 3, 0, 2); /* what is saved is of other dimensions */
    EXPECT(adamb_guard_open(&guard, &config, block, WORDS, &store), ADAMB_GUARD_REINITIALISED);
}

int main(void)
{
    defaults_and_texts();
    wrong_configurations();
    wrong_calls();
    storages();
    other_programs();
    neighbours();
    behind_the_end();
    guards();
    printf("%u answers as documented\n", (unsigned)answers);
    return 0;
}
