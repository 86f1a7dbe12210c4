/* Snapshots and stores on a simulated flash that tears pages, loses power at any operation, flips bits and wears out.
 *
 *   store_driver cuts PAGE SECTOR SECTORS WORDS SAVES SEED TEARS [OPERATION [TEAR]]   power lost at every operation
 *   store_driver runs PAGE SECTOR SECTORS WORDS BOOTS SEED                            cut after cut after cut
 *   store_driver wear PAGE SECTOR SECTORS WORDS ENDURANCE SEED                        sectors that stop keeping data
 *   store_driver flips WORDS SEED                                                     every bit of a snapshot
 *   store_driver rot PAGE SECTOR SECTORS WORDS SEED                                   every bit of the newest save
 *   store_driver forge PAGE SECTOR SECTORS WORDS CASES SEED                           wrong content, right CRCs
 *
 * Exit code 1 and a line that begins with FAILED and holds the arguments of a replay when a promise is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_snapshot.h"
#include "adamb_internal.h"
#include "adamb_store.h"

#define SIM_SPACE (1 << 15)
#include "sim_flash.h"

enum { WORDS = 4096 };

static char replay[200];

static void fail(const char *what)
{
    printf("FAILED %s: store_driver %s\n", what, replay);
    exit(1);
}

static void sim_misuse(const char *what)
{
    fail(what);
}

/* One run: a controller, its store, and what the last two saves were. */
static sim_flash main_flash, other_flash;
static uint8_t main_page[8192], other_page[8192];
static adamb_store main_store, other_store;
static uint16_t block[WORDS], found[WORDS], completed[WORDS], coming[WORDS];
static uint32_t words, run_random;
static int any_completed;
static adamb_config config = {.d_s = 1, .d_a = 1, .horizon = 4, .share = 2, .detect = 1, .auto_bonus = 1};

static void setup(sim_flash *f, char **a, uint32_t seed)
{
    sim_setup(f, (uint32_t)atoi(a[0]), (uint32_t)atoi(a[1]), (uint32_t)atoi(a[2]), seed * 2654435761u);
    for (uint32_t i = 0; i < SIM_SPACE; i++) {
        f->data[i] = (uint8_t)draw(&f->random); /* whatever was on the storage before */
    }
}

static void new_block(uint32_t seed)
{
    config.seed = (uint16_t)seed;
    adamb_thresholds(&config, 2, 1, 1);
    run_random = seed * 2654435761u | 1;
    if (adamb_init(&config, block, words) != 0) {
        fail("init");
    }
}

static void play(int episodes)
{
    for (int step = 0; step < 4 * episodes; step++) {
        uint16_t state = (uint16_t)draw(&run_random), action;
        if (adamb_act(block, step % 4, &state, &action) != 0) {
            fail("act");
        }
        state = (uint16_t)(action + (draw(&run_random) & 8191));
        if (adamb_observe(block, step % 4, (uint16_t)draw(&run_random), &state) != 0) {
            fail("observe");
        }
        if (step % 4 == 3 && adamb_end_episode(block) != 0) {
            fail("end_episode");
        }
    }
}

/* Whether `found` is the used part of a block, and nothing behind it. */
static int is(const uint16_t *wanted)
{
    uint32_t used = 4u * wanted[ADAMB_H_FRESH];
    for (uint32_t i = used; i < words; i++) {
        if (found[i] != 0) {
            return 0;
        }
    }
    return memcmp(found, wanted, 2 * used) == 0;
}

static void open_store(adamb_store *store, sim_flash *f, uint8_t *page)
{
    f->dead = 0;
    f->cut_at = 0;
    if (adamb_store_open(store, &f->face, page, words) != 0) {
        fail("open");
    }
}

/* After a cut: 0 when the store has the last completed save, 1 when it has the one that was on its way; else FAILED. */
static int judge(adamb_store *store, int saved, const uint16_t *last, const uint16_t *next)
{
    int code;
    memset(found, 0x5A, sizeof found);
    code = adamb_store_restore(store, &config, found, words);
    if (code == ADAMB_STORE_EMPTY && !saved) {
        return found[0] == 0x5A5A ? 0 : (fail("a store without a save changed the block"), 0);
    }
    if (code != 0) {
        fail("a completed save is lost");
    }
    if (saved && is(last)) {
        return 0;
    }
    if (!is(next)) {
        fail("restored neither the last nor the coming save");
    }
    return 1;
}

static char **arguments; /* geometry and words, of the replay */
static uint32_t cuts, advanced, only_operation;
static int tears, only_tear = -1;

/* Save a block on the other flash, perhaps losing power in one of the operations; what must be there then? */
static void save_again(uint16_t *last, int *saved, uint32_t cut_at)
{
    static uint16_t next[WORDS];
    int code;
    memcpy(next, completed, sizeof next);
    next[ADAMB_H_RNG] = (uint16_t)(draw(&other_flash.random) | 1); /* a word that any value suits: tells saves apart */
    other_flash.operations = 0;
    other_flash.cut_at = cut_at;
    code = adamb_store_save(&other_store, next);
    if (code != 0 && !other_flash.dead) {
        fail("save on a sound storage");
    }
    cuts += (uint32_t)other_flash.dead;
    open_store(&other_store, &other_flash, other_page);
    if (judge(&other_store, *saved || code == 0, code == 0 ? next : last, next)) {
        code = 0;
    }
    if (code == 0) {
        memcpy(last, next, sizeof next);
        *saved = 1;
    }
}

/* Lose power in the coming operation, on a copy; look; save again with a second cut; look; save in peace; look. */
static void cut_here(int kind, uint32_t address, const uint8_t *data)
{
    static uint16_t last[WORDS];
    int saved = any_completed;
    sprintf(replay, "cuts %s %s %s %s %s %s %d %u %d", arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
            arguments[5], tears, (unsigned)main_flash.operations, kind);
    memcpy(&other_flash, &main_flash, sizeof main_flash);
    other_flash.face.context = &other_flash;
    other_flash.before = 0;
    other_flash.tear = kind;
    other_flash.operations = 0;
    other_flash.cut_at = 1;
    other_flash.random = (main_flash.operations * 8u + (uint32_t)kind) * 2654435761u | 1;
    if (data != 0) {
        sim_prog(&other_flash, address, data, other_flash.face.page_bytes);
    } else {
        sim_erase(&other_flash, address);
    }
    cuts++;
    open_store(&other_store, &other_flash, other_page);
    memcpy(last, completed, sizeof last);
    if (judge(&other_store, saved, completed, coming)) {
        memcpy(last, coming, sizeof last);
        saved = 1;
        advanced++;
    }
    if (any_completed) {
        save_again(last, &saved, 1 + draw(&other_flash.random) % 24);
        save_again(last, &saved, 0);
    }
}

static void every_operation(uint32_t address, const uint8_t *data)
{
    if (only_operation != 0 && main_flash.operations != only_operation) {
        return;
    }
    for (int i = 0; i < tears; i++) {
        int kind = tears == SIM_TEARS ? i : (int)(main_flash.operations % SIM_TEARS);
        if (only_tear < 0 || kind == only_tear) {
            cut_here(kind, address, data);
        }
    }
}

static void print_wear(const sim_flash *f, uint32_t used)
{
    uint32_t least = f->erases[0], most = f->erases[0];
    for (uint32_t i = 0; i < used; i++) {
        least = f->erases[i] < least ? f->erases[i] : least;
        most = f->erases[i] > most ? f->erases[i] : most;
    }
    printf("erases %u to %u\n", (unsigned)least, (unsigned)most);
}

static uint32_t used_sectors(const adamb_store *s)
{
    return s->slots / s->group_slots * (s->group_bytes / s->flash->sector_bytes);
}

static void run_cuts(int saves)
{
    open_store(&main_store, &main_flash, main_page);
    main_flash.before = every_operation;
    for (int i = 0; i < saves; i++) {
        play(1 + i % 7);
        memcpy(coming, block, sizeof block);
        if (adamb_store_save(&main_store, block) != 0) {
            fail("save");
        }
        memcpy(completed, block, sizeof block);
        any_completed = 1;
        if (judge(&main_store, 1, completed, completed)) {
            fail("a completed save is not the one restored");
        }
    }
    printf("%d saves in %u slots, %u operations, %u cuts, %u of them left the coming save complete, 0 losses\n", saves,
           (unsigned)main_store.slots, (unsigned)main_flash.operations, (unsigned)cuts, (unsigned)advanced);
    print_wear(&main_flash, used_sectors(&main_store));
}

/* Boot, restore, live, save, and lose power somewhere, again and again on the same storage. */
static void run_boots(int boots)
{
    uint32_t saves = 0, lost_power = 0;
    for (int boot = 0; boot < boots; boot++) {
        open_store(&main_store, &main_flash, main_page);
        if (judge(&main_store, any_completed, completed, coming)) {
            memcpy(completed, found, sizeof found);
            any_completed = 1;
        }
        if (any_completed) {
            memcpy(block, found, sizeof found);
        }
        main_flash.operations = 0;
        main_flash.cut_at = 1 + draw(&main_flash.random) % (4 * main_store.slot_bytes / main_flash.face.page_bytes + 20);
        main_flash.tear = (int)(draw(&main_flash.random) % SIM_TEARS);
        for (int i = 0; i < 20 && !main_flash.dead; i++) {
            play(1);
            memcpy(coming, block, sizeof block);
            if (adamb_store_save(&main_store, block) == 0) {
                memcpy(completed, block, sizeof block);
                any_completed = 1;
                saves++;
            }
        }
        lost_power += (uint32_t)main_flash.dead;
    }
    printf("%d boots, %u cuts, %u saves, 0 losses\n", boots, (unsigned)lost_power, (unsigned)saves);
    print_wear(&main_flash, used_sectors(&main_store));
}

static void run_wear(uint32_t endurance)
{
    uint32_t saves = 0;
    main_flash.endurance = endurance;
    open_store(&main_store, &main_flash, main_page);
    for (;; saves++) {
        int code;
        play(1);
        code = adamb_store_save(&main_store, block);
        if (code == 0) {
            memcpy(completed, block, sizeof block);
        } else if (code != ADAMB_STORE_DEVICE || saves == 0) {
            fail("a worn storage answers");
        }
        open_store(&main_store, &main_flash, main_page);
        if (judge(&main_store, 1, completed, completed) || code != 0) {
            break;
        }
    }
    printf("%u saves in %u slots before the storage was worn out, the last one is there\n", (unsigned)saves,
           (unsigned)main_store.slots);
}

static void run_flips(void)
{
    static uint8_t bytes[2 * WORDS + 16];
    uint32_t flips = 0;
    int32_t length;
    while (block[ADAMB_H_FRESH] < block[ADAMB_H_UNITS]) {
        play(1);
    }
    length = adamb_snapshot_save(block, bytes, sizeof bytes);
    memset(found, 0x5A, sizeof found);
    memcpy(coming, found, sizeof found);
    for (uint32_t i = 0; i < 8u * (uint32_t)length; i++, flips++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        if (adamb_snapshot_restore(bytes, (uint32_t)length, &config, found, words) >= 0) {
            fail("a flipped bit was accepted");
        }
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        if (found[0] != 0x5A5A || (i % 1024 == 0 && memcmp(found, coming, sizeof found) != 0)) {
            fail("a refused snapshot changed the block");
        }
    }
    for (int32_t i = 0; i < length; i++) {
        if (adamb_snapshot_restore(bytes, (uint32_t)i, &config, found, words) >= 0) {
            fail("a shortened snapshot was accepted");
        }
    }
    if (memcmp(found, coming, sizeof found) != 0) {
        fail("a refused snapshot changed the block");
    }
    if (adamb_snapshot_restore(bytes, (uint32_t)length, &config, found, words) != 0 || !is(block)) {
        fail("the sound snapshot was refused");
    }
    printf("%d bytes, %u flips and %d shortened ones found\n", (int)length, (unsigned)flips, (int)length);
}

/* A bit of the newest save flips on the storage: the one before it is restored. */
static void run_rot(void)
{
    uint32_t at, bits;
    open_store(&main_store, &main_flash, main_page);
    for (int i = 0; i < 5; i++) {
        memcpy(completed, block, sizeof block);
        play(9);
        if (adamb_store_save(&main_store, block) != 0) {
            fail("save");
        }
    }
    at = main_store.newest / main_store.group_slots * main_store.group_bytes +
         main_store.newest % main_store.group_slots * main_store.slot_bytes;
    bits = 8u * (16u + (uint32_t)adamb_snapshot_bytes(block));
    for (uint32_t i = 0; i < bits; i++) {
        main_flash.data[at + i / 8] ^= (uint8_t)(1u << i % 8);
        open_store(&main_store, &main_flash, main_page);
        if (judge(&main_store, 1, completed, completed)) {
            fail("rot");
        }
        main_flash.data[at + i / 8] ^= (uint8_t)(1u << i % 8);
    }
    open_store(&main_store, &main_flash, main_page);
    judge(&main_store, 1, block, block);
    printf("%u flips in the newest save, each time the one before it was restored\n", (unsigned)bits);
}

static uint32_t crc_of(const uint8_t *data, uint32_t gap, uint32_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < length; i++) {
        crc = i >= gap && i < gap + 4 ? crc : adamb_snapshot_crc(crc, data[i]);
    }
    return ~crc;
}

/* Saves whose bytes were changed and whose CRCs were made right again: refused, or a block that passes the check. */
static void run_forge(int forgeries)
{
    static uint8_t sound[SIM_SPACE];
    uint32_t random = main_flash.random, taken = 0, cleared = 0;
    open_store(&main_store, &main_flash, main_page);
    play(9);
    if (adamb_store_save(&main_store, block) != 0) {
        fail("save");
    }
    memcpy(sound, main_flash.data, SIM_SPACE);
    for (int i = 0; i < forgeries; i++) {
        uint8_t *save = main_flash.data;
        uint32_t length = 16 + (uint32_t)adamb_snapshot_bytes(block), claimed;
        int code;
        memcpy(main_flash.data, sound, SIM_SPACE);
        for (uint32_t k = draw(&random) % 3 + 1; k != 0; k--) {
            uint32_t any = draw(&random), at = any % (draw(&random) & 1 ? 32 : draw(&random) & 1 ? 140 : length);
            save[at] = (uint8_t)(draw(&random) & 1 ? draw(&random) : save[at] ^ 1u << draw(&random) % 8);
        }
        claimed = adamb_snapshot_get32(save + 8);
        claimed = claimed < 16 || claimed > main_store.slot_bytes - 16 ? length - 16 : claimed;
        adamb_snapshot_set32(save + 28, crc_of(save + 16, 12, claimed));
        adamb_snapshot_set32(save + 12, crc_of(save, 12, 32));
        open_store(&main_store, &main_flash, main_page);
        memset(found, 0x5A, sizeof found);
        code = adamb_store_restore(&main_store, &config, found, words);
        if (code == 0 && adamb_check(found, words) != 0) {
            fail("a forged save was taken that does not pass the check");
        }
        if (code != 0 && found[0] != 0x5A5A && found[0] != 0) {
            fail("a refused save left something behind");
        }
        if (found[words] != 0x5A5A) {
            fail("a word behind the block was written");
        }
        taken += code == 0;
        cleared += code != 0 && found[0] == 0;
    }
    printf("%d forgeries, %u passed the check, %u left a cleared block\n", forgeries, (unsigned)taken, (unsigned)cleared);
}

int main(int n, char **a)
{
    int used = 0;
    uint32_t seed;
    for (int i = 1; i < n && used < 150; i++) {
        used += sprintf(replay + used, "%.20s ", a[i]);
    }
    if (n == 4 && strcmp(a[1], "flips") == 0) {
        words = (uint32_t)atoi(a[2]);
        new_block((uint32_t)atoi(a[3]));
        run_flips();
        return 0;
    }
    if (n < 7) {
        return 2;
    }
    arguments = a + 2;
    words = (uint32_t)atoi(a[5]);
    seed = (uint32_t)atoi(a[n > 7 ? 7 : 6]);
    setup(&main_flash, a + 2, seed);
    if (main_flash.face.sector_bytes * main_flash.face.sectors > SIM_SPACE || words > WORDS) {
        return 2;
    }
    new_block(seed);
    if (strcmp(a[1], "cuts") == 0 && n >= 9) {
        tears = atoi(a[8]);
        only_operation = n > 9 ? (uint32_t)atoi(a[9]) : 0;
        only_tear = n > 10 ? atoi(a[10]) : -1;
        run_cuts(atoi(a[6]));
    } else if (strcmp(a[1], "runs") == 0 && n == 8) {
        run_boots(atoi(a[6]));
    } else if (strcmp(a[1], "wear") == 0 && n == 8) {
        run_wear((uint32_t)atoi(a[6]));
    } else if (strcmp(a[1], "forge") == 0 && n == 8) {
        run_forge(atoi(a[6]));
    } else if (strcmp(a[1], "rot") == 0) {
        run_rot();
    } else {
        return 2;
    }
    return 0;
}
