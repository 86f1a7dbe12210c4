/* The store for any storage: whatever its functions return and read, heads, page and block are not left, and calls end. */
#include "contracts.h"
#include "adamb_store.h"
#include "adamb_number.c"
#define adamb_number_divide contract_divide

#include "contract_check.h"
#define adamb_snapshot_head contract_snapshot_head
#define CUT_adamb_snapshot_finish_1                                                             \
    CUT_AT(1, HOLDS(i >= keep && i < words) HOLDS(keep == 0 || seal_kept(block, checked)),      \
           i = any32(); clear_some(block, keep), words - i)
#include "adamb_snapshot.c"
#undef adamb_snapshot_head

/* snapshot.c: a head of a block that adamb_check accepts, and the length of what is in use. */
static int32_t contract_snapshot(const uint16_t *block, uint8_t *head)
{
    CHECK(__CPROVER_w_ok(head, ADAMB_SNAPSHOT_HEAD_BYTES));
    if (any8()) {
        return ADAMB_BAD_BLOCK;
    }
    ASSUME(block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS]);
    return ADAMB_SNAPSHOT_HEAD_BYTES + 2 * ADAMB_UNIT_WORDS * (int32_t)block[ADAMB_H_FRESH];
}
#define adamb_snapshot_head contract_snapshot

/* A storage that reads anything, and fails whenever it likes. */
static int any_read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    CHECK(__CPROVER_w_ok(data, bytes));
    __CPROVER_havoc_object(data);
    return any_int();
}

static int any_prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    CHECK(__CPROVER_r_ok(data, bytes));
    return any_int();
}

static int any_erase(void *context, uint32_t address)
{
    return any_int();
}

#define CHANGE_PAGE            \
    s->scanned = any32();      \
    __CPROVER_havoc_object(s->page)
#define CUT_fetch_1 CUT_AT(1, HOLDS(i < bytes), i = any32(); __CPROVER_havoc_object(data), bytes - i)
#define CUT_head_crc_1 CUT_AT(1, HOLDS(i < HEADS), i = any32(); crc = any32(), HEADS - i)
#define CUT_read_snapshot_1 \
    CUT_AT(1, HOLDS(i >= HEAD && i < HEAD + ADAMB_SNAPSHOT_AT_CRC), i = any32(); crc = any32(), HEADS - i)
#define CUT_read_snapshot_2                                                                     \
    CUT_AT(2, HOLDS(from >= HEADS && from < end) HOLDS(end <= s->slot_bytes),                   \
           from = any32(); crc = any32(); n = any32(); CHANGE_PAGE; change_words(block), end - from)
#define CUT_read_snapshot_3                                                                     \
    CUT_AT(3, HOLDS(i < n), i = any32(); crc = any32(); change_words(block), n - i)
#define CUT_find_1 CUT_AT(1, HOLDS(*number <= asked), *number = any32(); CHANGE_PAGE, (uint64_t)*number + 1)
#define CUT_find_2                                                                              \
    CUT_AT(2, HOLDS(slot < s->slots) HOLDS((best == s->slots) == (best_number == 0) && best <= s->slots) \
           HOLDS(best_number <= *number),                                                       \
           slot = any32(); best = any32(); best_number = any32(); s->scanned = any32();         \
           __CPROVER_havoc_object(heads), s->slots - slot)
#define CUT_scan_1                                                                              \
    CUT_AT(1, HOLDS(slot < s->slots), slot = any32(); highest = any32(); s->last = any32(); s->scanned = any32(), \
           s->slots - slot)
#define CUT_erase_group_1                                                                       \
    CUT_AT(1, HOLDS(offset < s->group_bytes), offset = any32(), (uint64_t)s->group_bytes - offset)
#define CUT_is_blank_1 CUT_AT(1, HOLDS(from < s->slot_bytes), from = any32(); CHANGE_PAGE, (uint64_t)s->slot_bytes - from)
#define CUT_is_blank_2 CUT_AT(2, HOLDS(i < page), i = any32(), page - i)
#define CUT_write_slot_1 \
    CUT_AT(1, HOLDS(from < end), from = any32(); __CPROVER_havoc_object(s->page), (uint64_t)end - from)
#define CUT_write_slot_2 CUT_AT(2, HOLDS(i < page), i = any32(); __CPROVER_havoc_object(s->page), page - i)
#define CUT_adamb_store_save_1                                                                  \
    CUT_AT(1, HOLDS(tries < store->slots), tries = any32(); slot = any32(); store->last = any32(); \
           store->sequence = any32(), store->slots - tries)
#define CUT_adamb_store_restore_1                                                               \
    CUT_AT(1, HOLDS(number >= 1) HOLDS(heads_ok(store, heads)),                                 \
           number = any32(); slot = any32(); error = any_int(); store->scanned = any32();       \
           __CPROVER_havoc_object(heads); __CPROVER_havoc_object(block), number)
static uint32_t asked;       /* the number that a search began with */
static uint32_t block_words; /* the size of the block that is restored */

static void change_words(uint16_t *block)
{
    if (block != 0) {
        __CPROVER_havoc_object(block);
    }
}
#define BEFORE_address_of "store_state.h"
#define BEFORE_holds "store_find.h"
#define BEFORE_scan "store_open.h"
#define BEFORE_save_to "store_save.h"
#include "adamb_store.c"
#undef read_heads
#undef read_snapshot
#undef find
#undef erase_group
#undef is_blank
#undef write_slot

static adamb_flash flash;

/* Any geometry, a page of its size, any place in the ring. */
static adamb_store any_store(void)
{
    adamb_store s;
    adamb_flash any;
    flash = any;
    flash.read = any_read, flash.prog = any_prog, flash.erase = any_erase;
    s.flash = &flash;
    s.page = malloc(flash.page_bytes);
    ASSUME(s.page != 0 && store_ok(&s));
    return s;
}

void prove_read_heads(void)
{
    adamb_store s = any_store();
    uint8_t heads[HEADS];
    CHECK(read_heads(&s, any32(), heads) == 0 || heads_ok(&s, heads));
    REACHED;
}

void prove_read_snapshot(void)
{
    adamb_store s = any_store();
    uint8_t heads[HEADS];
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    ASSUME(heads_ok(&s, heads) && snapshot_fits(heads, block, words));
    read_snapshot(&s, any32(), heads, block);
    REACHED;
}

void prove_search(void)
{
    adamb_store s = any_store();
    uint8_t heads[HEADS];
    uint32_t number = any32();
    asked = number;
    uint32_t slot = find(&s, &number, heads);
    CHECK(number <= asked && slot <= s.slots && (slot == s.slots || (number >= 1 && heads_ok(&s, heads))));
    REACHED;
}

/* What the other proofs take of a store, for a kind of storage: its page and sector, any number of sectors. */
static void open_with(uint32_t page_bytes, uint32_t sector_bytes)
{
    adamb_store s;
    flash.page_bytes = page_bytes;
    flash.sector_bytes = sector_bytes;
    flash.sectors = any32();
    flash.read = any_read, flash.prog = any_prog, flash.erase = any_erase;
    given = 1;
    adamb_store_open(&s, &flash, malloc(page_bytes), any32());
    REACHED;
}

void prove_open_flash(void)
{
    open_with(256, 4096);
}

void prove_open_large(void)
{
    open_with(8, 131072);
}

void prove_open_eeprom(void)
{
    open_with(32, 32);
}

void prove_open(void)
{
    adamb_store s;
    adamb_flash f;
    f.read = any8() ? any_read : 0, f.prog = any8() ? any_prog : 0, f.erase = any8() ? any_erase : 0;
    uint8_t *page = any8() ? malloc(f.page_bytes) : 0;
    adamb_store_open(any8() ? &s : 0, any8() ? &f : 0, page, any32());
    REACHED;
}

void prove_erase_group(void)
{
    adamb_store s = any_store();
    erase_group(&s, any32());
    REACHED;
}

/* A block that was checked, and as many bytes as a save of it has. */
static uint16_t *any_saved(uint32_t *end)
{
    uint16_t *block = sealed_block();
    ASSUME(block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS]);
    *end = any32();
    ASSUME(*end <= HEADS + 2 * unit_base(block[ADAMB_H_FRESH]));
    return block;
}

void prove_is_blank(void)
{
    adamb_store s = any_store();
    is_blank(&s, any32());
    REACHED;
}

void prove_write_slot(void)
{
    adamb_store s = any_store();
    uint8_t heads[HEADS];
    uint32_t end;
    uint16_t *block = any_saved(&end);
    write_slot(&s, any32(), block, heads, end);
    REACHED;
}

void prove_store_save(void)
{
    adamb_store s = any_store();
    uint16_t *block = sealed_block();
    adamb_store_save(any8() ? &s : 0, any8() ? block : 0);
    REACHED;
}

void prove_store_restore(void)
{
    adamb_store s = any_store();
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    block_words = words;
    adamb_config config;
    int result = adamb_store_restore(any8() ? &s : 0, any8() ? &config : 0, block, words);
    CHECK(result != 0 || (words >= ADAMB_H_WORDS && sealed(block, words) && block[ADAMB_H_DIMS] == adamb_config_dims(&config)));
    REACHED;
}
