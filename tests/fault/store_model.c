/* Every sequence of saves and resets of the store on a small storage, with a fault at any call of the storage, tried
 * one by one: the newest completed save is never lost, and no number is given twice.
 *
 *   store_model PAGE SECTOR SECTORS OPERATIONS FAULTS
 *
 * tries all sequences of up to OPERATIONS saves and resets, with up to FAULTS faults, at most one in an operation.
 * Exit code 1 and a line that begins with FAILED and names the operations when a promise is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "adamb.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "adamb_store.h"

enum { SPACE = 4096, WORDS = 240, MOST_CALLS = 200, MOST_OPERATIONS = 8 };
enum { READ, PROG, ERASE, KINDS };
enum {
    NONE,
    FAILS,      /* this call fails; a prog or erase that fails has done nothing */
    FAILS_DONE, /* a prog or erase fails and has done its work */
    SILENT,     /* says 0, and has done nothing: a read delivers no byte */
    MUTE,       /* this call and all others of the operation do so */
    FROM_HERE,  /* this read and all others of the operation fail */
    FLIP_LINK,  /* a bit of the block flips that adamb_check finds */
    FLIP_VALUE, /* a bit of the block flips that nothing finds */
    CUT_BEFORE, /* power is lost: nothing is done, */
    CUT_HALF,   /* a half, */
    CUT_LOST,   /* what was there cannot be read until it is erased, */
    CUT_AFTER,  /* all is done */
    FAULTS
};
static const char *const NAMES[FAULTS] = {"", "fails", "fails done", "silent", "silent from here", "fails from here",
                                          "flips a link", "flips a value", "cut before", "cut half", "cut lost", "cut after"};
static const int SUITS[KINDS][FAULTS] = {
    {0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0},
    {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1},
};

/* All that a sequence changes. */
static struct world {
    uint8_t data[SPACE], lost[SPACE];
    adamb_store store;
    uint16_t block[WORDS];
    uint32_t completed, coming[2 * MOST_OPERATIONS]; /* what a restore must give, or may give: by their digests */
    int coming_n, trusted;                           /* not trusted: a read has hidden something */
    uint16_t states;                                 /* how many were saved: makes each another */
} now;

static adamb_flash face;
static uint8_t page[SPACE];
static adamb_config config;

static int calls, kinds[MOST_CALLS], fault_at, fault, dead; /* of the operation that runs */
static struct step {
    char what;
    int at, fault;
} way[MOST_OPERATIONS];
static int depth;
static unsigned long sequences, operations;

static void fail(const char *what)
{
    printf("FAILED %s:", what);
    for (int i = 0; i < depth; i++) {
        printf(" %s", way[i].what == 's' ? "save" : "reset");
        if (way[i].fault != NONE) {
            printf(" (%s at call %d)", NAMES[way[i].fault], way[i].at);
        }
    }
    printf("\n");
    exit(1);
}

static uint32_t digest(const uint16_t *block)
{
    uint32_t mix = 2166136261u;
    for (uint32_t i = 0; i < unit_base(block[ADAMB_H_FRESH]); i++) {
        mix = (mix ^ block[i]) * 16777619u;
    }
    return mix;
}

/* What happens to this call: NONE, or the fault, which it has begun with where power or the block is concerned. */
static int met(int kind)
{
    if (calls < MOST_CALLS) {
        kinds[calls] = kind;
    }
    int here = calls++ == fault_at ? fault : NONE;
    if (here == FLIP_LINK || here == FLIP_VALUE) {
        now.block[here == FLIP_LINK ? ADAMB_H_FREE_N : ADAMB_H_RETURN_SUM] ^= 4;
        now.coming[now.coming_n++] = digest(now.block);
        here = NONE;
    }
    fault_at += here == FROM_HERE || here == MUTE;
    return here == MUTE ? SILENT : here;
}

static int read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    (void)context;
    int here = met(READ);
    if (dead || here == FAILS || here == FROM_HERE) {
        return -1;
    }
    if (here == SILENT) {
        now.trusted = 0;
        return 0;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        if (now.lost[address + i]) {
            return ADAMB_BAD_BLOCK;
        }
        data[i] = now.data[address + i];
    }
    return 0;
}

/* Write or erase: data 0 erases. */
static int change(int kind, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    int here = met(kind);
    dead = dead || here >= CUT_BEFORE;
    uint32_t half = here == CUT_HALF ? bytes / 2 : bytes;
    if ((dead && here == NONE) || here == FAILS || here == CUT_BEFORE || here == SILENT) {
        return here == SILENT ? 0 : -1;
    }
    for (uint32_t i = address; i < address + half; i++) {
        now.data[i] = data == 0 ? 0xFF : now.data[i] & data[i - address];
        now.lost[i] = here == CUT_LOST || (data != 0 && now.lost[i]);
    }
    return here == NONE ? 0 : -1;
}

static int prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    return change(PROG, address, data, bytes);
}

static int erase(void *context, uint32_t address)
{
    (void)context;
    return change(ERASE, address, 0, face.sector_bytes);
}

/* What a reset without a fault would restore now: its digest, or 0 without a save. */
static uint32_t restored(void)
{
    static uint16_t found[WORDS];
    adamb_store other;
    int code, was_calls = calls, was_at = fault_at, was_dead = dead;
    fault_at = -1, dead = 0;
    if (adamb_store_open(&other, &face, page, WORDS) != 0) {
        fail("a storage that can be read is not opened");
    }
    code = adamb_store_restore(&other, &config, found, WORDS);
    calls = was_calls, fault_at = was_at, dead = was_dead;
    if (code != 0 && code != ADAMB_STORE_EMPTY) {
        fail("restore");
    }
    return code == 0 ? digest(found) : 0;
}

static int expected(uint32_t got)
{
    for (int i = 0; i < now.coming_n; i++) {
        if (got == now.coming[i]) {
            return 1;
        }
    }
    return got == now.completed;
}

/* Two good heads with one number and different snapshots. */
static int number_twice(void)
{
    const uint8_t *heads[SPACE / 64];
    int n = 0;
    for (uint32_t slot = 0; slot < now.store.slots; slot++) {
        uint32_t group = slot / now.store.group_slots;
        const uint8_t *one = now.data + group * now.store.group_bytes + slot % now.store.group_slots * now.store.slot_bytes;
        uint32_t crc = 0xFFFFFFFFu;
        for (uint32_t i = 0; i < 32; i++) {
            crc = i >= 12 && i < 16 ? crc : adamb_snapshot_crc(crc, one[i]);
        }
        if (!now.lost[one - now.data] && adamb_snapshot_get16(one) == ADAMB_STORE_MAGIC &&
            adamb_snapshot_get32(one + 12) == ~crc) {
            for (int i = 0; i < n; i++) {
                if (memcmp(heads[i] + 4, one + 4, 4) == 0 && memcmp(heads[i], one, 32) != 0) {
                    return 1;
                }
            }
            heads[n++] = one;
        }
    }
    return 0;
}

/* A state that was never saved. */
static void live(void)
{
    now.block[ADAMB_H_RNG] = ++now.states;
}

static void save(void)
{
    live();
    now.coming[now.coming_n++] = digest(now.block);
    int trusted = now.trusted && now.store.scanned; /* a read that lies in here must not make a save complete */
    int code = adamb_store_save(&now.store, now.block);
    if (code == 0 && (now.trusted || trusted)) {
        uint32_t got = restored();
        if (got == now.completed || !expected(got)) {
            fail("a save that was said to be complete is not restored");
        }
        now.completed = got;
        now.coming_n = 0;
    } else if (fault == NONE && code != 0 && adamb_check(now.block, WORDS) == 0 && now.trusted) {
        fail("a save without a fault");
    }
}

/* Start again and restore; where nothing can be restored, initialise, as a program does that does not wait. */
static void reset(void)
{
    dead = 0;
    memset(now.block, 0xA5, sizeof now.block);
    memset(page, 0xA5, sizeof page);
    adamb_store_open(&now.store, &face, page, WORDS);
    int code = adamb_store_restore(&now.store, &config, now.block, WORDS);
    if (code == 0) {
        uint32_t got = digest(now.block);
        if (now.trusted && !expected(got)) {
            fail("a reset restored something else");
        }
        now.completed = got;
        now.coming_n = 0;
        return;
    }
    if (code == ADAMB_STORE_EMPTY && now.completed != 0 && now.trusted) {
        fail("a reset found no save");
    }
    if (adamb_init(&config, now.block, WORDS) != 0) {
        fail("init");
    }
}

static void follow(const char *which, int left, int faults);

/* One operation with a fault or none, and what must hold after it. */
static int operation(char what, int at, int with)
{
    way[depth++] = (struct step){what, at, with};
    calls = 0, fault_at = at, fault = with, dead = 0;
    operations++;
    if (what == 's') {
        save();
    } else {
        reset();
    }
    int made = calls < MOST_CALLS ? calls : MOST_CALLS;
    if (now.trusted && !expected(restored())) {
        fail("the newest completed save is lost");
    }
    if (now.trusted && number_twice()) {
        fail("a number was given twice");
    }
    return made;
}

/* An operation without and with every fault, each with all that may follow: after a cut that is a reset. */
static void each(char what, int left, int faults)
{
    struct world was = now;
    int own = depth, seen[MOST_CALLS], n = operation(what, -1, NONE);
    memcpy(seen, kinds, sizeof seen);
    follow("sr", left - 1, faults);
    for (int at = 0; faults > 0 && at < n; at++) {
        for (int with = 1; with < FAULTS; with++) {
            if (SUITS[seen[at]][with] && (what == 's' || (with != FLIP_LINK && with != FLIP_VALUE))) {
                now = was, depth = own;
                operation(what, at, with);
                follow(dead ? "r" : "sr", left - 1, faults - 1);
            }
        }
    }
    now = was, depth = own;
}

static void follow(const char *which, int left, int faults)
{
    sequences += left == 0;
    for (; left > 0 && *which != 0; which++) {
        each(*which, left, faults);
    }
}

int main(int n, char **a)
{
    if (n != 6) {
        return 2;
    }
    face = (adamb_flash){0, (uint32_t)atoi(a[1]), (uint32_t)atoi(a[2]), (uint32_t)atoi(a[3]), read, prog, erase};
    if (face.sector_bytes * face.sectors > SPACE || atoi(a[4]) > MOST_OPERATIONS) {
        return 2;
    }
    adamb_config_default(&config, 1, 1, 1);
    memset(now.data, 0x3C, SPACE); /* whatever was there before */
    fault_at = -1, now.trusted = 1;
    if (adamb_store_open(&now.store, &face, page, WORDS) != 0 || adamb_init(&config, now.block, WORDS) != 0) {
        return 2;
    }
    follow("sr", atoi(a[4]), atoi(a[5]));
    printf("%lu sequences, %lu operations in %u slots, 0 losses\n", sequences, operations, (unsigned)now.store.slots);
    return 0;
}
