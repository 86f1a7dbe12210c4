/* The calls that no run makes: wrong arguments one by one, storage that fails once, values at the ends of their range,
 * counters that wrap, blocks that are a little wrong. Random runs and the fuzzer reach the rest of the core; together
 * they take every branch, which test_coverage.py measures.
 *
 * One line on stdout; a line that begins with FAILED and exit code 1 when an answer is not the documented one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "adamb_unit.h"
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
    config.paper = paper;
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

static int hurt; /* a damaged block may play action 0, which means none */

/* Steps in order; what is paid and where it leads is random. */
static void play(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        int h = (int)(i % config.horizon);
        EXPECT(adamb_act(block, h, state, action), 0);
        for (int k = 0; k < 3; k++) {
            state[k] = (uint16_t)(draw(&rng) >> 7);
        }
        int code = adamb_observe(block, h, (uint16_t)draw(&rng), state);
        EXPECT(code == 0 || (hurt && code == ADAMB_BAD_ORDER), 1);
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
    static const uint8_t fields[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; /* d_s to auto_bonus, as they follow each other */
    for (uint32_t i = 0; i < sizeof fields; i++) {
        for (uint32_t value = 0; value < 256; value++) {
            configure(1, 1, 5, 0, 2);
            ((uint8_t *)&config)[fields[i]] = (uint8_t)value;
            uint32_t most = i < 2 ? 3 : i == 2 ? 31 : i == 5 ? 2 : 1, least = i < 3;
            EXPECT(adamb_required_words(&config) > 0, value >= least && value <= most);
        }
    }
    for (int level = 0; level < 15; level++) {
        configure(1, 1, 5, 0, 2);
        config.thresholds[level] = 0;
        EXPECT(adamb_required_words(&config), ADAMB_BAD_CONFIG);
        configure(1, 1, 5, 0, 2);
        config.thresholds[level] = level == 0 ? 0xFFFF : config.thresholds[level - 1] - 1u;
        EXPECT(adamb_required_words(&config), ADAMB_BAD_CONFIG);
    }
    configure(1, 1, 5, 0, 2);
    config.bonus = 32768;
    EXPECT(adamb_required_words(&config), ADAMB_BAD_CONFIG);
    configure(1, 1, 5, 0, 2);
    adamb_thresholds(&config, 1, 1, 0);
    EXPECT(adamb_required_words(&config), ADAMB_BAD_CONFIG);
    configure(1, 1, 5, 0, 2);
    EXPECT(adamb_required_words(0), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(0, block, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(&config, 0, WORDS), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_init(&config, block, (uint32_t)adamb_required_words(&config) - 1), ADAMB_NO_MEMORY);
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

/* The seal of the words that say how large the block is (SPEC 3.5), so that the check looks at their values. */
static void reseal(void)
{
    uint32_t mix = (block[ADAMB_H_UNITS] * 11u + block[ADAMB_H_DIMS]) * 11u + block[ADAMB_H_SCALE];
    mix = (mix * 11u + block[ADAMB_H_POOL_AT]) * 11u;
    block[ADAMB_H_HASH] = (uint16_t)(ADAMB_SPEC_HASH ^ ((mix ^ mix >> 13) & 0xFFFFu));
}

/* Every word of the header at every value that a field of it could take: the check refuses or the value is harmless. */
static void wrong_headers(void)
{
    uint32_t refused = 0, words;
    configure(2, 2, 5, 0, 2);
    words = begin(100);
    play(100);
    EXPECT(adamb_snapshot_save(block, bytes, sizeof bytes) > 0, 1);
    for (uint32_t word = 0; word < ADAMB_H_WORDS; word++) {
        uint16_t kept = block[word];
        for (uint32_t low = 0; low < 256; low++) {
            for (uint32_t high = 0; high < 40; high++) {
                block[word] = (uint16_t)(low | high << 8);
                if (word > ADAMB_H_HASH) {
                    reseal();
                }
                int code = adamb_check(block, words);
                EXPECT(code == 0 || code == ADAMB_BAD_BLOCK, 1);
                refused += code != 0;
            }
        }
        block[word] = kept;
        reseal();
    }
    EXPECT(refused > 9 * 256 * 39, 1);
    block[ADAMB_H_FRESH] = (uint16_t)(block[ADAMB_H_UNITS] + 1);
    EXPECT(adamb_snapshot_bytes(block), ADAMB_BAD_BLOCK);
    EXPECT(adamb_check(block, words), ADAMB_BAD_BLOCK);
    begin(100);
    block[ADAMB_H_FREE_N]++;
    EXPECT(adamb_snapshot_save(block, bytes, sizeof bytes), ADAMB_BAD_BLOCK);
    EXPECT(adamb_init(&config, block, LARGE), 0);
    block[ADAMB_H_UNITS] = ADAMB_UNITS_MAX + 1;
    reseal();
    EXPECT(adamb_check(block, LARGE), ADAMB_BAD_BLOCK);
}

/* A level finer than the codes of three actions have bits for. */
static void too_fine(void)
{
    configure(1, 3, 2, 0, 0); /* two steps: a word is left in their last unit */
    uint32_t words = begin(100), finest = 4, steps = ADAMB_H_WORDS + finest + 1;
    EXPECT(block[ADAMB_H_SCALE] >> 8, finest);
    memmove(block + steps + 1, block + steps, 2 * 2 * ADAMB_S_WORDS);
    block[steps] = block[steps - 1];
    block[ADAMB_H_SCALE] = (uint16_t)(block[ADAMB_H_SCALE] + 0x100);
    block[ADAMB_H_STEPS_AT] = (uint16_t)(steps + 1);
    EXPECT(block[ADAMB_H_POOL_AT], (steps + 1 + 2 * ADAMB_S_WORDS + 3) >> 2);
    reseal();
    EXPECT(adamb_check(block, words), ADAMB_BAD_BLOCK);
}

/* Three links to units a, b, c with a + c = 2b, all made links to b: number and sum of the units met stay right. Some of
 * the words tried are no links and may be anything. */
static void doubled_units(void)
{
    uint32_t words, refused = 0;
    configure(1, 1, 1, 0, 0);
    words = begin(400);
    play(60);
    uint32_t first = 4u * block[ADAMB_H_POOL_AT], end = 4u * block[ADAMB_H_FRESH];
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t j = i + 1; j < end; j++) {
            for (uint32_t k = j + 1; k < end; k++) {
                uint16_t a = block[i], b = block[j], c = block[k];
                if (a == 0 || b == 0 || c == 0 || is_value(a | b | c) || a == b || a + c != 2 * b) {
                    continue;
                }
                block[i] = block[k] = b;
                int code = adamb_check(block, words);
                EXPECT(code == 0 || code == ADAMB_BAD_BLOCK, 1);
                refused += code != 0;
                block[i] = a;
                block[k] = c;
            }
        }
    }
    EXPECT(refused > 100, 1);
    EXPECT(adamb_check(block, words), 0);
}

/* A list of free units that never ends, inside the pool. */
static void endless_list(void)
{
    uint32_t words;
    configure(1, 1, 1, 0, 2);
    words = begin(0);
    block[ADAMB_H_FREE_HEAD] = block[at(block[ADAMB_H_POOL_AT])] = block[ADAMB_H_POOL_AT];
    EXPECT(adamb_check(block, words), ADAMB_BAD_BLOCK);
}

/* A step that was played once and never again keeps its root, however often its tree is asked for units. */
static void forgotten_root(void)
{
    uint32_t words;
    configure(1, 1, 2, 0, 0);
    adamb_thresholds(&config, 2, 4, 1);
    words = begin(40);
    play(2);
    uint32_t root = block[ADAMB_H_STEPS_AT] + ADAMB_S_WORDS + ADAMB_S_ROOT;
    uint16_t record = block[root];
    EXPECT(is_value(record), 0);
    for (int i = 0; i < 3000; i++) {
        state[0] = (uint16_t)draw(&rng);
        EXPECT(adamb_act(block, 0, state, action), 0);
        EXPECT(adamb_observe(block, 0, (uint16_t)draw(&rng), state), 0);
        EXPECT(adamb_end_episode(block), 0);
    }
    EXPECT(block[root], record);
    EXPECT(block[at(record) + ADAMB_R_N] >> ADAMB_CREDIT_SHIFT, 0);
    EXPECT(adamb_check(block, words), 0);
}

/* A link of V that damage led into the header: the action that is followed is not written there. */
static void followed_into_the_header(void)
{
    configure(1, 1, 5, 0, 0);
    config.auto_bonus = 0;
    adamb_thresholds(&config, 2, 4, 1);
    begin(40);
    uint16_t *step = block + block[ADAMB_H_STEPS_AT] + 2 * ADAMB_S_WORDS, units = block[ADAMB_H_UNITS];
    state[0] = 0;
    EXPECT(adamb_act(block, 2, state, action), 0);
    step[ADAMB_S_V_SLOT] = 0;
    step[ADAMB_S_ACTION] = units; /* the cell at the end of that link seems to play it, */
    step[ADAMB_S_LAST] = 0x4000;
    uint32_t value = (block[ADAMB_H_MAGIC] & ADAMB_VALUE_MASK) - (2u << 12); /* and to be worth what is earned now */
    EXPECT(adamb_observe(block, 2, (uint16_t)(value << 4), state), 0);
    EXPECT(block[ADAMB_H_UNITS], units);
}

static void counters(void)
{
    uint32_t words;
    configure(1, 1, 1, 0, 0);
    config.thresholds[0] = 0xFFFF; /* a single ball, whose samples reach their end */
    for (int i = 0; i < 15; i++) {
        config.thresholds[i] = 0xFFFF;
    }
    words = begin(0);
    play(ADAMB_N_MAX + 9);
    EXPECT(own_n(block, block[block[ADAMB_H_STEPS_AT] + ADAMB_S_ROOT]), ADAMB_N_MAX);
    for (int i = 0; i < 40; i++) { /* more steps than the horizon has */
        EXPECT(adamb_act(block, 0, state, action), 0);
        EXPECT(adamb_observe(block, 0, 65535, state), 0);
    }
    EXPECT(block[ADAMB_H_RETURN_SUM], 65535);
    block[ADAMB_H_SEEN] = 65535;
    EXPECT(adamb_act(block, 0, state, action), 0);
    EXPECT(adamb_observe(block, 0, 65535, state), 0);
    EXPECT(block[ADAMB_H_SEEN], 65535);
    for (uint32_t i = 0; i < 65536; i++) {
        EXPECT(adamb_end_episode(block), 0);
    }
    EXPECT(block[ADAMB_H_EPISODES_HIGH], 1);
    block[ADAMB_H_EPISODES] = block[ADAMB_H_EPISODES_HIGH] = 65535;
    EXPECT(adamb_end_episode(block), 0);
    EXPECT(block[ADAMB_H_EPISODES] + block[ADAMB_H_EPISODES_HIGH], 2 * 65535);
    EXPECT(adamb_check(block, words), 0);
}

/* More balls at one state than a comparison takes into its sums: the rest is ranked all the same. */
static void crowded_state(void)
{
    adamb_call c;
    adamb_ranking all;
    configure(1, 1, 2, 0, 0);
    begin(0);
    play(2);
    adamb_call_decode(&c, block, 0);
    adamb_rank_start(&c, &all, 0);
    all.n = ADAMB_RANK_MOST;
    adamb_rank_ball(&c, &all, block[adamb_tree_root(&c)], 0);
    EXPECT(all.balls, 0);
    EXPECT(all.n, ADAMB_RANK_MOST);
    EXPECT(all.best >= 0, 1);
}

/* Values, samples and counts at the ends of their range, as a damaged memory may hold them: calls go on. */
static void extremes(void)
{
    for (uint32_t round = 0; round < 1200; round++) {
        uint8_t horizon = (uint8_t)(round & 1 ? 7 : 1 + round % 6); /* seven steps have the largest values */
        configure((uint8_t)(1 + round % 3), (uint8_t)(1 + round / 3 % 3), horizon, round / 9 & 1, (uint8_t)(round / 18 % 2));
        begin(round % 5 * 60);
        for (int again = 0; again < 6; again++) {
            play(40);
            uint32_t words = 4u * block[ADAMB_H_FRESH], first = 4u * block[ADAMB_H_POOL_AT];
            for (uint32_t i = first; i < words; i++) {
                uint32_t random = draw(&rng) >> 8;
                if (is_value(block[i]) && (random & 3) == 0) {
                    block[i] = random & 4 ? 0xFFFF : ADAMB_TAG;
                }
            }
        }
    }
}

/* The words of all records below a slot become what `change` makes of them. */
static void each_record(uint32_t slot, const adamb_call *c, uint8_t depth, void (*change)(uint16_t *record, uint8_t depth))
{
    uint16_t word = block[slot];
    if (!is_link(c, word) || depth > c->finest * c->chunks) {
        return;
    }
    if (depth % c->chunks == 0) {
        uint16_t below = block[at(word)];
        change(block + at(word), depth);
        if (!is_link(c, below)) {
            return;
        }
        word = below;
    }
    uint32_t slots = 1u << (adamb_code_state_bits(c, depth % c->chunks) + adamb_code_action_bits(c, depth % c->chunks));
    for (uint32_t i = 0; i < slots; i++) {
        each_record(at(word) + i, c, (uint8_t)(depth + 1), change);
    }
}

static void no_samples(uint16_t *record, uint8_t depth)
{
    (void)depth;
    record[ADAMB_R_N] = 0;
}

static void no_counts(uint16_t *record, uint8_t depth)
{
    (void)depth;
    if (record[ADAMB_R_COUNTS] != 0 && !is_value(record[ADAMB_R_COUNTS])) {
        uint16_t *unit = block + at(record[ADAMB_R_COUNTS]);
        for (int i = 0; i < 4; i++) {
            unit[i] = is_value(unit[i]) ? 0 : unit[i];
        }
    } else {
        record[ADAMB_R_COUNTS] = 0;
    }
}

/* Records that lost their samples, credit or counts: calls go on. */
static void empty_records(void)
{
    static void (*const changes[])(uint16_t *, uint8_t) = {no_samples, no_counts};
    for (uint32_t round = 0; round < 400; round++) {
        adamb_call c;
        configure((uint8_t)(1 + round % 2), 1, (uint8_t)(1 + round / 2 % 5), round / 10 & 1, (uint8_t)(round / 20 % 2));
        begin(round % 7 * 40);
        for (int again = 0; again < 6; again++) {
            play(40 + round % 60);
            for (uint8_t h = 0; h < (config.share ? 1 : config.horizon); h++) {
                adamb_call_decode(&c, block, h);
                each_record(adamb_tree_root(&c), &c, 0, changes[round / 40 % 2]);
            }
        }
    }
}

/* --- damage: links that lead in circles, too deep, or out of the pool; calls come back and write inside --- */

static void circle_of_counts(uint16_t *record, uint8_t depth)
{
    uint16_t head = record[ADAMB_R_COUNTS];
    (void)depth;
    if (head != 0 && head < block[ADAMB_H_UNITS]) {
        uint16_t *unit = block + at(head);
        unit[0] = head;
        unit[1] = unit[2] = 0xFFFF; /* full, so that they are halved */
    } else if (head != 0) {
        record[ADAMB_R_COUNTS] = 0xFFFF;
    }
}

static uint16_t deep_link;

/* A leaf at the finest level that claims to have children. */
static void too_deep(uint16_t *record, uint8_t depth)
{
    if (depth != 0) {
        record[ADAMB_R_LINK] = deep_link;
    }
}

static void damaged_trees(void)
{
    static void (*const changes[])(uint16_t *, uint8_t) = {circle_of_counts, too_deep};
    for (uint32_t round = 0; round < 400; round++) {
        adamb_call c;
        int deep = round / 40 % 2;
        configure((uint8_t)(1 + round % 2), 1, (uint8_t)(1 + round / 2 % 3), round / 10 & 1, (uint8_t)(round / 20 % 2));
        if (deep) { /* the finest level is the first */
            for (int i = 1; i < 15; i++) {
                config.thresholds[i] = 0xFFFF;
            }
        }
        begin(round % 7 * 40);
        for (int again = 0; again < 4; again++) {
            play(40 + round % 60);
            for (uint8_t h = 0; h < (config.share ? 1 : config.horizon); h++) {
                adamb_call_decode(&c, block, h);
                uint16_t root = block[adamb_tree_root(&c)];
                deep_link = is_link(&c, root) ? block[at(root)] : root;
                each_record(adamb_tree_root(&c), &c, 0, changes[deep]);
            }
        }
        play(200);
    }
}

/* A tree of values that never ends. */
static void damaged_values(void)
{
    for (uint32_t round = 0; round < 60; round++) {
        configure((uint8_t)(1 + round % 3), 1, 2, round & 1, 0);
        begin(round % 4 * 40);
        play(60);
        for (int again = 0; again < 20; again++) {
            uint32_t step = block[ADAMB_H_STEPS_AT] + (uint32_t)(again & 1) * ADAMB_S_WORDS;
            uint16_t unit = (uint16_t)(block[ADAMB_H_POOL_AT] + 3);
            block[step + ADAMB_S_V_SLOT] = block[at(unit)] = block[at(unit) + 1] = unit;
            play(20);
        }
    }
}

/* A tree of values in which every side of a node leads to the same next one: few units, more cells than units. */
static void folded_values(void)
{
    configure(1, 1, 2, 1, 0);
    for (int i = 0; i < 15; i++) {
        config.thresholds[i] = 0xFFFF;
    }
    begin(200);
    play(2);
    uint16_t unit = (uint16_t)(block[ADAMB_H_POOL_AT] + 5);
    block[block[ADAMB_H_STEPS_AT] + ADAMB_S_V_SLOT] = unit;
    for (int depth = 0; depth < ADAMB_LEVEL_MAX; depth++, unit++) {
        uint16_t next = depth + 1 == ADAMB_LEVEL_MAX ? ADAMB_TAG : (uint16_t)(unit + 1);
        block[at(unit)] = block[at(unit) + 1] = next;
        block[at(unit) + 2] = block[at(unit) + 3] = 0x8000;
    }
    play(2);
}

/* A link of V to unit 0, whose words then look like a cell: no finer action is written there. */
static void value_in_the_header(void)
{
    configure(1, 1, 4, 0, 0);
    config.auto_bonus = 0; /* the value of the sample is that of the next state: the first word of a block */
    for (int i = 0; i < 15; i++) {
        config.thresholds[i] = 0xFFFF;
    }
    begin(200);
    uint32_t step = block[ADAMB_H_STEPS_AT];
    block[step + ADAMB_S_V_SLOT] = 0;
    block[step + ADAMB_S_WORDS + ADAMB_S_V_SLOT] = ADAMB_TAG | ADAMB_MAGIC;
    state[0] = 0;
    EXPECT(adamb_act(block, 0, state, action), 0);
    EXPECT(action[0], block[ADAMB_H_UNITS]);
    block[step + ADAMB_S_LAST] = 0x7FFF;
    uint16_t units = block[ADAMB_H_UNITS];
    EXPECT(adamb_observe(block, 0, 0, state), 0);
    EXPECT(block[ADAMB_H_UNITS], units);
}

/* A test of sharing that a flipped bit began, or whose table lies elsewhere. */
static void damaged_table(void)
{
    configure(1, 1, 1, 0, 0);
    begin(0);
    EXPECT(block[ADAMB_H_UNITS] - block[ADAMB_H_POOL_AT] < ADAMB_SHARE_TABLE_UNITS, 1);
    block[ADAMB_H_SHARE] = ADAMB_SHARE_TESTING;
    play(50);
    block[ADAMB_H_OTHER_TOTAL] = ADAMB_SHARE_PAIRS_MAX;
    EXPECT(adamb_end_episode(block), 0);
    play(50);
    configure(1, 1, 5, 0, 2);
    begin(40);
    play(20);
    block[ADAMB_H_TABLE] = 0x7FF0;
    play(20);
    block[ADAMB_H_OTHER_TOTAL] = ADAMB_SHARE_PAIRS_MAX;
    block[ADAMB_H_SAME_N] = 0;
    EXPECT(adamb_end_episode(block), 0);
    EXPECT(block[ADAMB_H_SHARE], ADAMB_SHARE_ON);
    play(200);
}

/* --- storage --- */

static sim_flash flash;
static uint32_t reads, fail_at;

static int failing_read(void *context, uint32_t address, uint8_t *data, uint32_t size)
{
    return ++reads == fail_at ? -1 : sim_read(context, address, data, size);
}

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

/* Any one read fails: open or restore says so, the block is as it was or cleared, and the next call finds the save. */
static void failing_reads(adamb_store *store, uint32_t words)
{
    uint32_t total = 1;
    for (uint32_t k = 1; k <= total; k++) {
        memset(other, 0x5A, sizeof other);
        reads = 0;
        fail_at = k;
        flash.face.read = failing_read;
        int opened = adamb_store_open(store, &flash.face, page, words);
        EXPECT(opened, fail_at <= reads ? ADAMB_STORE_DEVICE : 0);
        int code = adamb_store_restore(store, &config, other, words);
        EXPECT(code, opened == 0 && fail_at <= reads ? ADAMB_STORE_DEVICE : 0);
        if (code != 0) {
            EXPECT(other[0] == 0x5A5A || other[0] == 0, 1);
            EXPECT(adamb_store_restore(store, &config, other, words), 0);
        }
        EXPECT(adamb_check(other, words), 0);
        total = reads > total ? reads : total;
    }
    fail_at = 0;
    EXPECT(total > 10, 1);
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
    for (int i = 0; i < 3; i++) {
        play(50);
        EXPECT(adamb_store_save(&store, block), 0);
    }
    EXPECT(adamb_store_restore(&store, &config, other, words - 4), ADAMB_NO_MEMORY);
    failing_reads(&store, words);
    flash.data[store.newest * 1024 + 20] ^= 1; /* in the heads, which a CRC of their own covers */
    EXPECT(adamb_store_open(&store, &flash.face, page, words), 0);
    EXPECT(adamb_store_restore(&store, &config, other, words), 0);
    block[ADAMB_H_FREE_N]++;
    EXPECT(adamb_store_save(&store, block), ADAMB_BAD_BLOCK);
    block[ADAMB_H_FREE_N]--;
    store.sequence = 0xFFFFFFFFu;
    EXPECT(adamb_store_save(&store, block), ADAMB_STORE_DEVICE);
    EXPECT(adamb_store_open(&store, &flash.face, page, 60), 0); /* told of a smaller block than this one */
    EXPECT(adamb_store_save(&store, block), ADAMB_NO_MEMORY);
}

/* A snapshot whose head and words differ, with a right CRC. */
static void forged_snapshots(void)
{
    configure(1, 1, 5, 0, 2);
    uint32_t words = begin(40);
    for (uint32_t forged = 0; forged < 3; forged++) {
        uint32_t crc = 0xFFFFFFFFu, length = (uint32_t)adamb_snapshot_save(block, bytes, sizeof bytes);
        if (forged == 1) {
            bytes[ADAMB_SNAPSHOT_AT_UNITS]--; /* of a smaller block */
        } else if (forged == 2) {
            bytes[16 + 2 * ADAMB_H_FRESH]++; /* with one unit more in use */
        }
        for (uint32_t i = 0; i < length; i++) {
            crc = i >= ADAMB_SNAPSHOT_AT_CRC && i < 16 ? crc : adamb_snapshot_crc(crc, bytes[i]);
        }
        adamb_snapshot_set32(bytes + ADAMB_SNAPSHOT_AT_CRC, ~crc);
        EXPECT(adamb_snapshot_restore(bytes, length, &config, other, words), forged == 0 ? 0 : ADAMB_BAD_BLOCK);
    }
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

/* The head of a snapshot and the words behind it must speak of the same block. */
static void heads(void)
{
    uint8_t head[ADAMB_SNAPSHOT_HEAD_BYTES];
    uint32_t words;
    configure(1, 1, 5, 0, 2);
    words = begin(40);
    EXPECT(adamb_snapshot_head(block, head) > 0, 1);
    EXPECT(adamb_snapshot_finish(head, adamb_config_dims(&config), block, words), 0);
    head[ADAMB_SNAPSHOT_AT_UNITS]++;
    EXPECT(adamb_snapshot_finish(head, adamb_config_dims(&config), block, words), ADAMB_BAD_BLOCK);
    EXPECT(block[0], 0);
    begin(40);
    EXPECT(adamb_snapshot_head(block, head) > 0, 1);
    for (uint32_t field = 0; field < ADAMB_SNAPSHOT_AT_UNITS; field += 2) { /* magic, version, hash */
        head[field] ^= 1;
        EXPECT(adamb_snapshot_head_check(head, 16 + 8u * block[ADAMB_H_FRESH]), ADAMB_BAD_BLOCK);
        head[field] ^= 1;
    }
    EXPECT(adamb_snapshot_head_check(head, 16 + 8u * block[ADAMB_H_FRESH]), 0);
    head[ADAMB_SNAPSHOT_AT_UNITS + 1] |= 0x80; /* more units than a link can tell apart */
    EXPECT(adamb_snapshot_head_check(head, 16 + 8u * block[ADAMB_H_FRESH]), ADAMB_BAD_BLOCK);
    EXPECT(adamb_snapshot_head(block, head) > 0, 1);
    adamb_snapshot_set32(head + ADAMB_SNAPSHOT_AT_WORDS, ADAMB_H_WORDS - 1); /* not even a header */
    EXPECT(adamb_snapshot_head_check(head, 16 + 2 * (ADAMB_H_WORDS - 1)), ADAMB_BAD_BLOCK);
    EXPECT(adamb_snapshot_head(block, head) > 0, 1);
    head[ADAMB_SNAPSHOT_AT_WORDS] ^= 4;
    EXPECT(adamb_snapshot_finish(head, adamb_config_dims(&config), block, words), ADAMB_BAD_BLOCK);
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
    begin(40);
    EXPECT(adamb_store_save(&store, block), 0);
    flash.face.read = failing_read;
    reads = store.scanned = 0;
    fail_at = 1;
    EXPECT(adamb_store_save(&store, block), ADAMB_STORE_DEVICE);
    fail_at = 0;
    EXPECT(adamb_store_save(&store, block), 0);
    flash.face.read = sim_read;
}

/* --- the guard --- */

static void guards(void)
{
    adamb_guard guard;
    adamb_place place = {0, 0, 0};
    adamb_store store;
    uint32_t words, slices = 0;
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
    play(100);
    while (guard.passes == 0) {
        EXPECT(adamb_guard_tick(&guard), 0);
        slices++;
    }
    EXPECT(slices <= 4u * block[ADAMB_H_UNITS] + 10u, 1);
    sim_setup(&flash, 64, 1024, 4, 1);
    memset(flash.data, 0, sizeof flash.data);
    EXPECT(adamb_store_open(&store, &flash.face, page, words), 0);
    EXPECT(adamb_guard_open(&guard, &config, block, words, &store), ADAMB_GUARD_REINITIALISED); /* nothing saved yet */
    play(100);
    EXPECT(adamb_guard_save(&guard), 0);
    memcpy(other, block, 2 * words);
    play(50);
    EXPECT(adamb_guard_handle(&guard, ADAMB_BAD_ORDER), ADAMB_BAD_ORDER);
    block[ADAMB_H_UNITS] ^= 64;
    EXPECT(adamb_guard_handle(&guard, adamb_act(block, 0, state, action)), ADAMB_GUARD_RESTORED);
    EXPECT(memcmp(other, block, 8u * other[ADAMB_H_FRESH]), 0);
    EXPECT(guard.damages, 1);
    EXPECT(guard.restored, 1);
    guard.damages = 0xFFFF;
    block[ADAMB_H_SPLITS]++; /* only the full check sees this, hence every save */
    EXPECT(adamb_guard_save(&guard), ADAMB_GUARD_RESTORED);
    EXPECT(guard.damages, 0xFFFF);
    configure(2, 1, 3, 0, 2); /* what is saved is of other dimensions */
    EXPECT(adamb_guard_open(&guard, &config, block, WORDS, &store), ADAMB_GUARD_REINITIALISED);
}

/* A node of values deeper than the finest level, with every mean right. */
static void deep_value(void)
{
    adamb_place place = {0, 0, 0};
    int code = 0;
    configure(1, 1, 1, 1, 0); /* tracking has finer levels than those with a threshold */
    for (int i = 1; i < 15; i++) {
        config.thresholds[i] = 0xFFFF;
    }
    uint32_t words = begin(100);
    play(60);
    uint32_t root = block[ADAMB_H_STEPS_AT] + ADAMB_S_V_SLOT, side = at(block[root]);
    EXPECT(is_value(block[root]), 0);
    block[side + 2] = block[side] & ADAMB_VALUE_MASK;
    block[side] = block[root];
    for (int i = 0; i < 9 && code == 0; i++) {
        code = adamb_scrub(block, words, &place);
    }
    EXPECT(code, ADAMB_BAD_BLOCK);
    EXPECT(adamb_check(block, words), ADAMB_BAD_BLOCK);
}

/* A chain of counts that never ends; each unit of it is sound. */
static void endless_chain(void)
{
    configure(1, 1, 2, 1, 0);
    uint32_t words = begin(800), tried = 0;
    play(3000);
    for (uint32_t rec = block[ADAMB_H_POOL_AT]; rec < block[ADAMB_H_FRESH]; rec++) {
        uint16_t unit = block[at(rec) + ADAMB_R_COUNTS];
        if (unit < block[ADAMB_H_POOL_AT] || unit >= block[ADAMB_H_FRESH]) {
            continue; /* a leaf, or no record */
        }
        adamb_place place = {0, 0, 0};
        uint16_t kept = block[at(unit)];
        int code = 0;
        block[at(unit)] = unit;
        while (code == 0) {
            code = adamb_scrub(block, words, &place);
        }
        tried += code == ADAMB_BAD_BLOCK;
        block[at(unit)] = kept;
    }
    EXPECT(tried > 0, 1);
    EXPECT(adamb_check(block, words), 0);
}

/* One wrong word anywhere: a pass of the scrub ends, with or without finding it. */
static void wrong_words(void)
{
    uint32_t found = 0;
    for (uint32_t round = 0; round < 8; round++) {
        configure((uint8_t)(1 + round % 3), 1, (uint8_t)(1 + round % 2), round >> 2, (uint8_t)(round >> 1 & 1));
        uint32_t words = begin(round % 3 * 60);
        play(900);
        uint32_t used = 4u * block[ADAMB_H_FRESH];
        for (uint32_t i = ADAMB_H_FREE_HEAD; i < used; i++) {
            uint16_t kept = block[i], far = (uint16_t)(block[ADAMB_H_UNITS] - 1);
            uint16_t values[] = {0, kept ^ 1, 0xFFFF, far, block[ADAMB_H_POOL_AT], 0x8000};
            for (uint32_t k = 0; k < sizeof values / sizeof *values; k++) {
                adamb_place place = {0, 0, 0};
                int code = 0;
                block[i] = values[k];
                for (uint32_t left = 4 * words; left != 0 && code == 0; left--) {
                    code = adamb_scrub(block, words, &place);
                }
                EXPECT(code == 1 || code == ADAMB_BAD_BLOCK, 1);
                found += code != 1;
            }
            block[i] = kept;
        }
        EXPECT(adamb_check(block, words), 0);
    }
    EXPECT(found > 2000, 1);
}

/* Ranges that rise and fall, that touch the ends of 32 bits, and a counter at its end. */
static void units(void)
{
    adamb_unit unit = {0, 1, 7, 0};
    EXPECT(adamb_unit_init(0, 0, 1), ADAMB_BAD_ARGUMENT);
    EXPECT(adamb_unit_init(&unit, 5, 5), ADAMB_BAD_CONFIG);
    EXPECT(adamb_unit_init(&unit, INT32_MIN, INT32_MAX), ADAMB_BAD_CONFIG);
    EXPECT(adamb_unit_init(&unit, 65535, -1), ADAMB_BAD_CONFIG);
    EXPECT((long)unit.out_of_range, 7);
    const int32_t ends[][2] = {{INT32_MIN, INT32_MIN + 65535}, {INT32_MAX, INT32_MAX - 9}, {-1, 0}, {0, 4000}, {1000, 0}};
    for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int32_t zero = ends[i][0], full = ends[i][1];
        EXPECT(adamb_unit_init(&unit, zero, full), 0);
        EXPECT(adamb_unit_code(&unit, zero), 0);
        EXPECT(adamb_unit_code(&unit, full), 65535);
        EXPECT(adamb_unit_value(&unit, 0), zero);
        EXPECT(adamb_unit_value(&unit, 65535), full);
        EXPECT((long)unit.out_of_range + unit.outside, 0);
        if (zero > INT32_MIN && zero < INT32_MAX) {
            EXPECT(adamb_unit_code(&unit, INT32_MIN), zero < full ? 0 : 65535);
            EXPECT(adamb_unit_code(&unit, INT32_MAX), zero < full ? 65535 : 0);
            EXPECT((long)unit.out_of_range + unit.outside, 3);
        }
    }
    unit.out_of_range = 0x3FFFFFFE;
    for (int i = 0; i < 3; i++) {
        EXPECT(adamb_unit_code(&unit, 1001), 0);
    }
    EXPECT((long)unit.out_of_range, 0x3FFFFFFF);
}

int main(void)
{
    units();
    defaults_and_texts();
    wrong_configurations();
    wrong_calls();
    wrong_headers();
    too_fine();
    doubled_units();
    endless_list();
    forgotten_root();
    followed_into_the_header();
    counters();
    crowded_state();
    extremes();
    empty_records();
    hurt = 1;
    damaged_trees();
    damaged_values();
    folded_values();
    value_in_the_header();
    damaged_table();
    hurt = 0;
    storages();
    heads();
    forged_snapshots();
    other_programs();
    behind_the_end();
    guards();
    deep_value();
    endless_chain();
    wrong_words();
    printf("%u answers as documented\n", (unsigned)answers);
    return 0;
}
