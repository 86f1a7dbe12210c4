/* One execution: the bytes of an input become calls of the core, valid or not. The first byte chooses what is attacked:
 *
 *   restore   any bytes as a snapshot, also with the CRC made right
 *   config    any configuration, block size and split rule
 *   calls     any calls in any order with any arguments, among them saves, power cuts and restores
 *   storage   any bytes and any geometry under a store
 *   damage    words of a live block change between calls
 *
 * What must hold is checked here: the result of every call, refused calls change nothing, the full check passes,
 * restored words are the saved ones. The sanitizers add their own: no access beside the block.
 *
 * LLVMFuzzerTestOneInput is what libFuzzer calls; fuzz_main.c drives it without libFuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "sim_flash.h"

#include <sanitizer/asan_interface.h>

enum { GUARD = 64, ROOM = 2048, STEPS_FEW = 48, STEPS_MANY = 600, OPS_MOST = 24, KINDS = 8 };
enum { SNAPSHOT_MOST = 16 + 2 * ROOM };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A block between words that are poisoned: the address sanitizer sees an access. */
typedef struct {
    uint16_t memory[GUARD + ROOM + GUARD];
    uint32_t words;
} arena;

static _Alignas(8) arena ours, theirs;
static sim_flash flash;
static uint8_t page[SIM_SPACE], bytes[SNAPSHOT_MOST];

static void fail(const char *what)
{
    fprintf(stderr, "FAILED %s\n", what);
    abort();
}

static void sim_misuse(const char *what)
{
    fail(what);
}

static uint16_t *words_of(arena *a)
{
    return a->memory + GUARD;
}

static void open_arena(arena *a, uint32_t words)
{
    a->words = words;
    __asan_unpoison_memory_region(a->memory, sizeof a->memory);
    __asan_poison_memory_region(a->memory, 2 * GUARD);
    __asan_poison_memory_region(a->memory + GUARD + words, 2 * (ROOM + GUARD - words));
}

/* --- what the input says; zeros behind its end --- */

static const uint8_t *input;
static size_t left;

static uint32_t take(void)
{
    if (left == 0) {
        return 0;
    }
    left--;
    return *input++;
}

static uint32_t take2(void)
{
    uint32_t low = take();
    return low | take() << 8;
}

static uint32_t take4(void)
{
    uint32_t low = take2();
    return low | take2() << 16;
}

/* --- a controller and what it is asked to do --- */

static adamb_config config;
static uint16_t state[3];
static uint32_t steps, steps_most, next_h, noise;

static void take_config(void)
{
    static const uint8_t horizons[] = {1, 2, 3, 5, 5, 8, 16, 31};
    uint32_t a = take(), b = take(), c = take();
    memset(&config, 0, sizeof config);
    config.d_s = (uint8_t)(1 + a % 3);
    config.d_a = (uint8_t)(1 + a / 3 % 3);
    config.horizon = horizons[a / 9 % 8];
    config.mode = b & 1;
    config.split_counts = b >> 1 & 1;
    config.when_full = b >> 2 & 1;
    config.random_action = b >> 3 & 1;
    config.detect = b >> 4 & 1;
    config.auto_bonus = b >> 5 & 1;
    config.share = (uint8_t)((b >> 6) % 3);
    config.bonus = (uint16_t)(c << 7 & 0x7FFF);
    config.seed = (uint16_t)(a ^ c);
    adamb_thresholds(&config, (uint8_t)(1 + c % 3), (uint16_t)(1 + (c >> 2) % 4), (uint16_t)(1 + (c >> 4) % 2));
}

/* A new controller in our arena, with as much room to spare as the input says. */
static void begin(void)
{
    take_config();
    int32_t required = adamb_required_words(&config);
    uint32_t extra = 2 * take();
    if (required <= 0 || required + extra > ROOM) {
        fail("required_words");
    }
    open_arena(&ours, (uint32_t)required + extra);
    if (adamb_init(&config, words_of(&ours), ours.words) != 0) {
        fail("init");
    }
    steps = next_h = 0;
    steps_most = take() % 32 == 31 ? STEPS_MANY : STEPS_FEW; /* a long run now and then: most must be cheap */
    noise = 1 + extra;
}

static void inspect(arena *a)
{
    adamb_statistics s;
    uint16_t *w = words_of(a);
    if (adamb_check(w, a->words) != 0) {
        fail("check");
    }
    if (adamb_stats(w, &s) != 0 || s.units > a->words / 4 || s.units_used + s.units_header + adamb_pool_room(w) != s.units) {
        fail("stats");
    }
}

static void step_of(uint16_t *w, uint32_t h, uint16_t reward, int strict)
{
    uint16_t action[3] = {0, 0, 0};
    int first = adamb_act(w, (int)h, state, action);
    for (int i = 0; i < 3; i++) {
        uint32_t random = draw(&noise);
        state[i] = (uint16_t)(random & 3 ? action[i % config.d_a] + (random >> 20) : random >> 16);
    }
    int second = adamb_observe(w, (int)h, reward, state);
    if (strict && (first != 0 || second != 0)) {
        fail("act or observe");
    }
}

/* So many steps in the right order; the kind says how they are paid. */
static void play(uint16_t *w, uint32_t n, uint32_t kind, int strict)
{
    for (; n != 0 && steps < steps_most; n--, steps++) {
        uint16_t pay[4] = {0, 65535, (uint16_t)draw(&noise), (uint16_t)(65535 - abs(state[0] - 0x4000))};
        step_of(w, next_h, pay[kind & 3], strict);
        next_h++;
        if (next_h >= config.horizon) {
            next_h = 0;
            if (adamb_end_episode(w) != 0 && strict) {
                fail("end_episode");
            }
        }
        if (kind & 4) {
            state[0] = state[1] = state[2] = (uint16_t)(kind << 8);
        }
    }
}

/* --- target: restore --- */

static void repair_crc(uint8_t *snapshot, uint32_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < length; i++) {
        crc = i >= 12 && i < 16 ? crc : adamb_snapshot_crc(crc, snapshot[i]);
    }
    adamb_snapshot_set32(snapshot + ADAMB_SNAPSHOT_AT_CRC, ~crc);
}

/* The seal of the words that say how large a block is (SPEC 3.5), made right again in the bytes of a snapshot. */
static void repair_seal(uint8_t *words)
{
    static const uint8_t sealed[] = {ADAMB_H_UNITS, ADAMB_H_DIMS, ADAMB_H_SCALE, ADAMB_H_POOL_AT};
    uint32_t mix = 0;
    for (uint32_t i = 0; i < sizeof sealed; i++) {
        mix = mix * 11u + adamb_snapshot_get16(words + 2 * sealed[i]);
    }
    mix *= 11u;
    adamb_snapshot_set16(words + 2 * ADAMB_H_HASH, ADAMB_SPEC_HASH ^ ((mix ^ mix >> 13) & 0xFFFFu));
}

/* Bytes change, as the input says; the result is the length, which may change too. */
static uint32_t patch(uint8_t *data, uint32_t length, uint32_t most)
{
    for (uint32_t n = take() % 8; n != 0; n--) {
        uint32_t where = take(), what = take();
        where = (where & 1 ? where >> 1 : where << 4 | what) % length; /* often in the first bytes, where most is decided */
        data[where] = (uint8_t)(what & 1 ? what >> 1 : data[where] ^ 1u << (what >> 1 & 7));
    }
    uint32_t change = take();
    if (change < 8) {
        return length - (change < length ? change : 0);
    }
    return change > 250 && length + 8 < most ? length + change - 250 : length;
}

/* Restore must refuse and leave no half of a block, or give one that passes the check and works. */
static void restore_into(arena *a, const uint8_t *data, uint32_t length)
{
    uint16_t *w = words_of(a);
    memset(w, 0x5A, 2 * a->words);
    adamb_config expected = config; /* as of a program of these dimensions */
    if (length >= 16 + 2 * ADAMB_H_WORDS) {
        uint16_t dims = adamb_snapshot_get16(data + 16 + 2 * ADAMB_H_DIMS);
        expected.d_s = dims & 15, expected.d_a = dims >> 4 & 15, expected.horizon = (uint8_t)(dims >> 8);
    }
    int code = adamb_snapshot_restore(data, length, &expected, w, a->words);
    if (code == 0) {
        inspect(a);
        config.horizon = (uint8_t)(w[ADAMB_H_DIMS] >> 8);
        config.d_a = (uint8_t)(w[ADAMB_H_DIMS] >> 4 & 15);
        config.d_s = (uint8_t)(w[ADAMB_H_DIMS] & 15);
        next_h = steps = 0;
        steps_most = STEPS_FEW;
        play(w, 24, take(), 1);
        inspect(a);
    } else if (code != ADAMB_BAD_BLOCK && code != ADAMB_NO_MEMORY && code != ADAMB_BAD_DIMENSIONS) {
        fail("restore answers");
    } else {
        for (uint32_t i = 1; i < a->words; i++) {
            if (w[i] != w[0] || (w[i] != 0x5A5A && w[i] != 0)) {
                fail("a refused restore left something behind");
            }
        }
    }
}

static void attack_restore(void)
{
    uint32_t mode = take(), length = 0;
    if (mode & 1) { /* a true snapshot, then changed */
        begin();
        play(words_of(&ours), 2 * take(), take(), 1);
        length = (uint32_t)adamb_snapshot_save(words_of(&ours), bytes, sizeof bytes);
        length = patch(bytes, length, sizeof bytes);
    } else {
        while (left != 0 && length < sizeof bytes) {
            bytes[length++] = (uint8_t)take();
        }
    }
    if (mode & 16 && length >= 16 + 2 * ADAMB_H_WORDS) {
        repair_seal(bytes + 16);
    }
    if (mode & 2 && length >= 16) {
        repair_crc(bytes, length);
    }
    uint32_t words = mode & 4 ? (mode >> 3) * 16u : ROOM;
    open_arena(&theirs, words < 8 ? 8 : words);
    restore_into(&theirs, bytes, length);
}

/* --- target: config --- */

static void attack_config(void)
{
    if (take() & 1) {
        take_config(); /* near something valid */
        uint8_t *raw = (uint8_t *)&config;
        uint32_t where = take();
        raw[where % sizeof config] = (uint8_t)take();
    } else {
        uint8_t *raw = (uint8_t *)&config;
        for (uint32_t i = 0; i < sizeof config; i++) {
            raw[i] = (uint8_t)take();
        }
    }
    uint32_t rule = take();
    if (rule & 1) {
        uint32_t gamma = take(), num = take2();
        adamb_thresholds(&config, (uint8_t)gamma, (uint16_t)num, (uint16_t)take2());
    }
    int32_t required = adamb_required_words(&config);
    uint32_t words = rule & 2 ? take2() % ROOM : (uint32_t)(required > 0 ? required : 100);
    open_arena(&ours, words);
    int code = adamb_init(&config, words_of(&ours), words);
    int wanted = required < 0 ? ADAMB_BAD_CONFIG : words < (uint32_t)required ? ADAMB_NO_MEMORY : 0;
    if (code != wanted || required > ROOM || (required < 0 && required != ADAMB_BAD_CONFIG)) {
        fail("init answers");
    }
    if (code == 0) {
        steps = next_h = 0;
        steps_most = STEPS_FEW;
        noise = 1 + words;
        play(words_of(&ours), 12 + take() % 32, take(), 1);
        inspect(&ours);
    }
}

/* --- target: calls --- */

static adamb_store store;
static int store_open, store_holds, store_coming, tampered;
static uint16_t completed[ROOM], coming[ROOM], before[ROOM];

static int same_used(const uint16_t *found, const uint16_t *wanted)
{
    return memcmp(found, wanted, 8u * wanted[ADAMB_H_FRESH]) == 0;
}

/* Any h, any order, null pointers: the result is as documented and a refused call changes no word. */
static void any_call(uint32_t op)
{
    uint16_t *w = words_of(&ours), out[3] = {7, 7, 7}, reward = (uint16_t)(take() * 257);
    int h = (int8_t)take(), in_range = h >= 0 && h < config.horizon, code, wanted = in_range ? 0 : ADAMB_BAD_ARGUMENT;
    adamb_statistics s;
    memcpy(before, w, 2 * ours.words);
    switch (op) {
    case 0: code = adamb_act(w, h == 100 ? 0x7FFFFFFF : h, state, out); break;
    case 1: code = adamb_observe(w, h, reward, state);
        if (in_range && before[w[ADAMB_H_STEPS_AT] + h * ADAMB_S_WORDS + ADAMB_S_ACTION] == 0) {
            wanted = ADAMB_BAD_ORDER;
        }
        break;
    case 2: code = adamb_end_episode(w), wanted = 0; break;
    case 3: code = adamb_act(h & 1 ? w : 0, h, h & 1 ? 0 : state, out), wanted = ADAMB_BAD_ARGUMENT; break;
    case 4: code = adamb_act(w, h, state, 0), wanted = ADAMB_BAD_ARGUMENT; break;
    case 5: code = adamb_observe(h & 1 ? w : 0, h, reward, h & 1 ? 0 : state), wanted = ADAMB_BAD_ARGUMENT; break;
    case 6:
        code = h & 1 ? adamb_end_episode(0) : adamb_stats(h & 2 ? w : 0, h & 2 ? 0 : &s);
        wanted = ADAMB_BAD_ARGUMENT;
        break;
    default: code = h & 1 ? adamb_check(0, 99) : adamb_check(w, reward % ADAMB_H_WORDS), wanted = ADAMB_BAD_ARGUMENT; break;
    }
    if (code != wanted) {
        fail("a call's result");
    }
    if (code != 0 && (memcmp(before, w, 2 * ours.words) != 0 || out[0] != 7)) {
        fail("a refused call changed something");
    }
}

/* Out as bytes and back, into another block; the run continues in the first. */
static void snapshot_round(void)
{
    uint16_t *w = words_of(&ours);
    int32_t length = adamb_snapshot_bytes(w);
    uint32_t capacity = take() & 1 ? take2() % sizeof bytes : (uint32_t)length;
    uint32_t words = take() & 3 ? ours.words : take2() % ROOM;
    int32_t code = adamb_snapshot_save(w, bytes, capacity);
    if (code != (capacity < (uint32_t)length ? ADAMB_NO_MEMORY : length)) {
        fail("snapshot");
    }
    if (code > 0) {
        open_arena(&theirs, words);
        int back = adamb_snapshot_restore(bytes, (uint32_t)length, &config, words_of(&theirs), words);
        if (back != (words < 4u * w[ADAMB_H_UNITS] ? ADAMB_NO_MEMORY : 0)) {
            fail("restore of a sound snapshot");
        }
        if (back == 0 && !same_used(words_of(&theirs), w)) {
            fail("restored words differ from the saved ones");
        }
    }
}

/* A sound block stays one in the eyes of the check in slices, however the slices lie between the calls. */
static void scrub(uint32_t slices)
{
    adamb_place place = {0, 0, 0}; /* a place that makes no sense is one, too */
    place.h = (uint8_t)take();
    place.part = (uint8_t)(place.h >> 7);
    place.path = take4();
    for (; slices != 0; slices--) {
        int code = adamb_scrub(words_of(&ours), ours.words, &place);
        if (code != 0 && code != 1) {
            fail("the scrub finds damage in a sound block");
        }
        if (slices % 8 == 0) {
            play(words_of(&ours), 1, slices, 1);
        }
    }
}

static void open_flash(void)
{
    static const uint8_t pages[] = {1, 8, 16, 64};
    uint32_t a = take(), page_bytes = pages[a & 3], slot = 32 + 2 * ours.words;
    uint32_t sector = page_bytes * (1 + take() % 32), sectors = (slot + page_bytes + sector - 1) / sector * (2 + (a >> 2 & 3));
    if (sector * sectors > SIM_SPACE) {
        return;
    }
    sim_setup(&flash, page_bytes, sector, sectors, a);
    memset(flash.data, a & 128 ? 0xFF : (int)a, sector * sectors);
    sim_settle(&flash);
    store_open = adamb_store_open(&store, &flash.face, page, ours.words) == 0;
    store_holds = store_coming = tampered = 0;
    if (!store_open) {
        fail("open of a sound geometry");
    }
}

static void save(void)
{
    memcpy(coming, words_of(&ours), 2 * ours.words);
    flash.operations = 0;
    flash.cut_at = take() % 64;
    flash.tear = (int)(take() % SIM_TEARS);
    int code = adamb_store_save(&store, words_of(&ours));
    if (code == 0) {
        memcpy(completed, coming, 2 * ours.words);
        store_holds = 1;
    } else if (!flash.dead || code != ADAMB_STORE_DEVICE) {
        fail("save on a sound storage");
    } else {
        store_coming = 1;
    }
}

/* Power comes back, the block is gone; what was saved last must be there. */
static void boot(void)
{
    uint16_t *w = words_of(&ours);
    sim_boot(&flash);
    if (adamb_store_open(&store, &flash.face, page, ours.words) != 0) {
        fail("open");
    }
    memset(w, 0xA5, 2 * ours.words);
    int code = adamb_store_restore(&store, &config, w, ours.words);
    int is_old = code == 0 && store_holds && same_used(w, completed);
    if (!tampered && !is_old && !(code == 0 && store_coming && same_used(w, coming)) &&
        !(code == ADAMB_STORE_EMPTY && !store_holds)) {
        fail("restored neither the last nor the coming save");
    }
    if (code == 0) {
        inspect(&ours);
        memcpy(completed, w, 2 * ours.words);
        store_holds = 1;
    } else {
        store_holds = 0;
        if (adamb_init(&config, w, ours.words) != 0) {
            fail("init");
        }
    }
    store_coming = tampered = 0;
}

static void attack_calls(void)
{
    begin();
    store_open = 0;
    for (int ops = 0; left != 0 && ops < OPS_MOST; ops++) {
        uint32_t op = take();
        if (op < 96) {
            play(words_of(&ours), 1 + op % 48, take(), 1);
        } else if (op < 176) {
            any_call(op % 8);
        } else if (op < 184) {
            snapshot_round();
        } else if (op < 192) {
            scrub(1 + take() % 64);
        } else if (!store_open) {
            open_flash();
        } else if (op < 224) {
            save();
            if (flash.dead) {
                boot();
            }
        } else if (op < 244) {
            boot();
        } else {
            uint32_t bit = take2() % (8 * flash.face.sector_bytes * flash.face.sectors);
            flash.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            sim_settle(&flash);
            tampered = 1;
            boot();
        }
    }
    inspect(&ours);
}

/* --- target: storage --- */

static void any_geometry(void)
{
    uint32_t page_bytes = take() & 1 ? take4() : take(), sector = take() & 1 ? take4() : take2();
    uint32_t sectors = take4(), words = take4();
    sim_setup(&flash, 1, 1, 1, 1);
    flash.face.page_bytes = page_bytes;
    flash.face.sector_bytes = sector;
    flash.face.sectors = sectors;
    flash.dead = 1; /* every read fails; only the arithmetic is looked at */
    uint32_t kept = words < 4u * ADAMB_UNITS_MAX ? words : 4u * ADAMB_UNITS_MAX;
    if (sectors > 4096 && sector != 0 && sectors <= 0x7FFFFFFFu / sector &&
        (uint64_t)sector * sectors > 4096ull * (32 + 2 * kept)) {
        return; /* valid, and long */
    }
    int code = adamb_store_open(&store, &flash.face, page, words);
    if (code != 0 && code != ADAMB_BAD_CONFIG) {
        fail("open answers");
    }
    if (code == 0 && (store.slots < 2 ||
                      (uint64_t)store.slots / store.group_slots * store.group_bytes > (uint64_t)sector * sectors ||
                      store.slot_bytes < 32 + 2 * kept || store.newest != store.slots)) {
        fail("places of the slots");
    }
    flash.face.read = 0;
    if (adamb_store_open(&store, &flash.face, page, words) != ADAMB_BAD_ARGUMENT ||
        adamb_store_open(0, &flash.face, page, words) != ADAMB_BAD_ARGUMENT) {
        fail("open without a function");
    }
}

/* True saves, then changed bytes, perhaps with CRCs made right: what is restored passes the check, a new save is kept. */
static void any_content(uint32_t mode)
{
    uint32_t space;
    begin();
    open_flash();
    if (!store_open) {
        return;
    }
    space = flash.face.sector_bytes * flash.face.sectors;
    for (uint32_t n = mode >> 1 & 3; n != 0; n--) {
        play(words_of(&ours), 20, mode, 1);
        save();
        sim_boot(&flash);
    }
    for (uint32_t i = 0; mode & 8 && left > 8 && i < space; i++) {
        flash.data[i] = (uint8_t)take();
    }
    patch(flash.data, space, space);
    if (mode & 16) { /* the first slot: the CRC of its snapshot, then of its heads */
        uint32_t length = adamb_snapshot_get32(flash.data + 8);
        if (length >= 16 && length <= store.slot_bytes - 16) {
            repair_crc(flash.data + 16, length);
        }
        repair_crc(flash.data, 32);
    }
    sim_settle(&flash);
    tampered = 1;
    boot();
    int last = store.sequence == 0xFFFFFFFFu;
    coming[0] = 0;
    memcpy(coming, words_of(&ours), 2 * ours.words);
    if (adamb_store_save(&store, words_of(&ours)) != (last ? ADAMB_STORE_DEVICE : 0)) {
        fail("save over foreign content");
    }
    if (!last) {
        memcpy(completed, coming, 2 * ours.words);
        store_holds = 1;
        boot();
    }
}

static void attack_storage(void)
{
    uint32_t mode = take();
    store_open = 0;
    if (mode & 1) {
        any_geometry();
    } else {
        any_content(mode);
    }
}

/* --- target: damage --- */

/* The words that say how large the block is, and their seal: one flipped bit of them is noticed by every call. */
static int is_sealed(uint32_t word)
{
    return word <= ADAMB_H_DIMS || word == ADAMB_H_SCALE || word == ADAMB_H_POOL_AT;
}

/* One change as the input says: any value for any word, one bit for a sealed one. Returns 1 for the latter. */
static int harm(uint16_t *w, uint32_t used)
{
    uint32_t how = take(), where = take2() % (how & 1 || used == 0 ? ours.words : used), what = take2();
    if (is_sealed(where)) {
        w[where] ^= (uint16_t)(1u << (what & 15));
        return 1;
    }
    w[where] = (uint16_t)(how & 2 ? what : how & 4 ? what % (ours.words / 4) : w[where] ^ 1u << (what & 15));
    return 0;
}

static void expect_refusals(uint16_t *w)
{
    uint16_t action[3];
    adamb_statistics s;
    if (adamb_act(w, 0, state, action) != ADAMB_BAD_BLOCK || adamb_observe(w, 0, 5, state) != ADAMB_BAD_BLOCK ||
        adamb_end_episode(w) != ADAMB_BAD_BLOCK || adamb_stats(w, &s) != ADAMB_BAD_BLOCK ||
        adamb_check(w, ours.words) != ADAMB_BAD_BLOCK || adamb_snapshot_bytes(w) != ADAMB_BAD_BLOCK) {
        fail("a flipped bit of a sealed word was not noticed");
    }
}

/* Whatever became of the block, the guard's answer to damage is a block that passes the check. */
static void guard_it(uint32_t slices)
{
    adamb_guard guard = {.block = words_of(&ours), .words = ours.words, .config = &config};
    int code = 0;
    for (; slices != 0 && code == 0; slices--) {
        code = adamb_guard_tick(&guard);
    }
    if (code == 0 && adamb_check(words_of(&ours), ours.words) != 0) {
        code = adamb_guard_handle(&guard, ADAMB_BAD_BLOCK);
    }
    if (code != 0 && (code != ADAMB_GUARD_REINITIALISED || guard.damages != 1 || guard.reinitialised != 1)) {
        fail("the guard's answer to damage");
    }
    inspect(&ours);
}

/* Words of a live block change; whatever the calls then answer, they end and stay inside. */
static void attack_damage(void)
{
    begin();
    uint16_t *w = words_of(&ours);
    play(w, 2 * take(), take(), 1);
    for (int round = 0; round < 4; round++) {
        uint32_t used = 4u * w[ADAMB_H_FRESH] < ours.words ? 4u * w[ADAMB_H_FRESH] : ours.words;
        for (uint32_t n = 1 + take() % 4; n != 0; n--) {
            if (harm(w, used)) {
                expect_refusals(w);
                guard_it(1);
                return;
            }
        }
        int sound = adamb_check(w, ours.words) == 0;
        steps = 0;
        play(w, 1 + take() % 32, take(), 0);
        adamb_statistics s;
        if (adamb_stats(w, &s) != 0 || adamb_end_episode(w) != 0) {
            fail("a call that only a flipped bit of a sealed word can stop");
        }
        int32_t length = adamb_snapshot_save(w, bytes, sizeof bytes);
        if (length > 0 && adamb_check(w, ours.words) != 0) {
            fail("a damaged block was saved");
        }
        if (sound && adamb_check(w, ours.words) != 0) {
            fail("what the check accepts does not stay sound");
        }
        if (left == 0) {
            break;
        }
    }
    guard_it(take() % 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const targets[])(void) = {attack_restore, attack_config, attack_calls, attack_storage, attack_damage};
    const uint32_t most = sizeof targets / sizeof *targets;
    input = data;
    left = size;
    memset(&config, 0, sizeof config); /* an input must do the same whatever ran before it */
    state[0] = state[1] = state[2] = 0x8000;
    steps = next_h = 0;
    noise = 1;
    open_arena(&theirs, 8);
    targets[take() % most]();
    return 0;
}
