/* A ring of slots. Two CRCs alone decide whether a save is complete: there is no flag for it. */
#include "adamb_store.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"

#define HEAD ADAMB_STORE_HEAD_BYTES
#define HEADS (ADAMB_STORE_HEAD_BYTES + ADAMB_SNAPSHOT_HEAD_BYTES) /* of the save, then of the snapshot in it */

enum { AT_VERSION = 2, AT_SEQUENCE = 4, AT_BYTES = 8, AT_CRC = 12 };
enum { NEXT_SLOT = 1, NEXT_GROUP = 2 };

static uint32_t address_of(const adamb_store *s, uint32_t slot)
{
    uint32_t group = adamb_number_divide(slot, s->group_slots);
    return group * s->group_bytes + (slot - group * s->group_slots) * s->slot_bytes;
}

/* The CRC in the head of a save covers the head of its snapshot, hence every byte: parts of two saves never match. */
static uint32_t head_crc(const uint8_t *heads)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < HEADS; i++) {
        if (i < AT_CRC || i >= HEAD) {
            crc = adamb_snapshot_crc(crc, heads[i]);
        }
    }
    return ~crc;
}

/* Read; what the function leaves unwritten is 0, never what the buffer held before. 1 when it could be read. */
static int fetch(adamb_store *s, uint32_t address, uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = 0;
    }
    int code = s->flash->read(s->flash->context, address, data, bytes);
    if (code != 0 && code != ADAMB_BAD_BLOCK) {
        s->scanned = 0; /* a save may be there: look again before anything is erased */
    }
    return code == 0;
}

/* The number of the save in a slot, 0 when there is none. */
static uint32_t read_heads(adamb_store *s, uint32_t slot, uint8_t *heads)
{
    int good = fetch(s, address_of(s, slot), heads, HEADS) && adamb_snapshot_get16(heads) == ADAMB_STORE_MAGIC &&
               adamb_snapshot_get16(heads + AT_VERSION) == ADAMB_STORE_VERSION &&
               adamb_snapshot_get32(heads + AT_CRC) == head_crc(heads) &&
               adamb_snapshot_get32(heads + AT_BYTES) <= s->slot_bytes - HEAD;
    return good ? adamb_snapshot_get32(heads + AT_SEQUENCE) : 0;
}

/* Read the snapshot of a slot, into the block if there is one; 1 when its CRC is right. */
static int read_snapshot(adamb_store *s, uint32_t slot, const uint8_t *heads, uint16_t *block)
{
    uint32_t end = HEAD + adamb_snapshot_get32(heads + AT_BYTES), crc = 0xFFFFFFFFu, n;
    for (uint32_t i = HEAD; i < HEAD + ADAMB_SNAPSHOT_AT_CRC; i++) {
        crc = adamb_snapshot_crc(crc, heads[i]);
    }
    for (uint32_t from = HEADS; from < end; from += n) {
        n = end - from < s->flash->page_bytes ? end - from : s->flash->page_bytes;
        if (!fetch(s, address_of(s, slot) + from, s->page, n)) {
            return 0;
        }
        for (uint32_t i = 0; i < n; i++) {
            crc = adamb_snapshot_crc(crc, s->page[i]);
            if (block != 0) {
                adamb_snapshot_put(block, from - HEAD + i, s->page[i]);
            }
        }
    }
    return ~crc == adamb_snapshot_get32(heads + HEAD + ADAMB_SNAPSHOT_AT_CRC);
}

/* Whether a slot holds the save of this number, sound: what a restore would take, and nothing else, is saved. */
static int holds(adamb_store *s, uint32_t slot, uint32_t number, uint8_t *heads)
{
    return read_heads(s, slot, heads) == number && read_snapshot(s, slot, heads, 0);
}

/* The newest sound save with a number of at most *number, which becomes its number; `slots` when there is none. */
static uint32_t find(adamb_store *s, uint32_t *number, uint8_t *heads)
{
    for (;;) {
        uint32_t best = s->slots, best_number = 0;
        for (uint32_t slot = 0; slot < s->slots; slot++) {
            uint32_t found = read_heads(s, slot, heads);
            if (found > best_number && found <= *number) {
                best = slot;
                best_number = found;
            }
        }
        *number = best_number;
        if (best == s->slots || holds(s, best, best_number, heads)) {
            return best;
        }
        *number = best_number - 1; /* so the search ends, whatever the storage returns */
    }
}

/* Look at every slot. Until all of them could be read nothing is restored, written or erased. */
static int scan(adamb_store *s)
{
    uint8_t heads[HEADS];
    uint32_t highest = 0;
    s->scanned = 1;
    s->last = s->slots;
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        uint32_t found = read_heads(s, slot, heads);
        if (found > highest) {
            highest = found;
            s->last = slot;
        }
    }
    s->sequence = highest > s->sequence ? highest : s->sequence;
    s->newest = find(s, &highest, heads);
    return s->scanned ? 0 : ADAMB_STORE_DEVICE;
}

int adamb_store_open(adamb_store *store, const adamb_flash *flash, uint8_t *page, uint32_t words)
{
    uint32_t slot_pages, sectors;
    if (store == 0 || flash == 0 || page == 0 || flash->read == 0 || flash->prog == 0 || flash->erase == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (flash->page_bytes == 0 || flash->sector_bytes < flash->page_bytes || words < ADAMB_H_WORDS ||
        flash->sector_bytes > 0x10000000u ||
        adamb_number_divide(flash->sector_bytes, flash->page_bytes) * flash->page_bytes != flash->sector_bytes ||
        flash->sectors > adamb_number_divide(0x7FFFFFFFu, flash->sector_bytes)) {
        return ADAMB_BAD_CONFIG;
    }
    words = words < unit_base(ADAMB_UNITS_MAX) ? words : unit_base(ADAMB_UNITS_MAX);
    slot_pages = adamb_number_divide(HEADS + 2 * words + flash->page_bytes - 1, flash->page_bytes);
    store->flash = flash;
    store->page = page;
    store->slot_bytes = slot_pages * flash->page_bytes;
    sectors = adamb_number_divide(store->slot_bytes + flash->sector_bytes - 1, flash->sector_bytes);
    store->group_bytes = sectors * flash->sector_bytes;
    store->group_slots = adamb_number_divide(store->group_bytes, store->slot_bytes);
    store->slots = adamb_number_divide(flash->sectors, sectors) * store->group_slots;
    if (store->slots < 2 * store->group_slots) {
        return ADAMB_BAD_CONFIG;
    }
    store->sequence = 0;
    return scan(store);
}

/* Erase all that is erased together with a slot. */
static int erase_group(const adamb_store *s, uint32_t slot)
{
    for (uint32_t offset = 0; offset < s->group_bytes; offset += s->flash->sector_bytes) {
        if (s->flash->erase(s->flash->context, address_of(s, slot) + offset) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Whether all of a slot reads as erased. */
static int is_blank(adamb_store *s, uint32_t slot)
{
    uint32_t page = s->flash->page_bytes;
    for (uint32_t from = 0; from < s->slot_bytes; from += page) {
        if (!fetch(s, address_of(s, slot) + from, s->page, page)) {
            return 0;
        }
        for (uint32_t i = 0; i < page; i++) {
            if (s->page[i] != 0xFF) {
                return 0;
            }
        }
    }
    return 1;
}

/* The heads of the next save, which gets a number of its own; the length of its snapshot, or an error. */
static int32_t make_heads(adamb_store *s, const uint16_t *block, uint8_t *heads)
{
    int32_t length = adamb_snapshot_head(block, heads + HEAD);
    if (length < 0) {
        return length;
    }
    if ((uint32_t)length > s->slot_bytes - HEAD) {
        return ADAMB_NO_MEMORY;
    }
    if (s->sequence == 0xFFFFFFFFu) {
        return ADAMB_STORE_DEVICE; /* older than any storage */
    }
    s->sequence++;
    adamb_snapshot_set16(heads, ADAMB_STORE_MAGIC);
    adamb_snapshot_set16(heads + AT_VERSION, ADAMB_STORE_VERSION);
    adamb_snapshot_set32(heads + AT_SEQUENCE, s->sequence);
    adamb_snapshot_set32(heads + AT_BYTES, (uint32_t)length);
    adamb_snapshot_set32(heads + AT_CRC, head_crc(heads));
    return length;
}

static uint8_t save_byte(const uint16_t *block, const uint8_t *heads, uint32_t index)
{
    return index < HEAD ? heads[index] : adamb_snapshot_byte(block, heads + HEAD, index - HEAD);
}

static int write_slot(const adamb_store *s, uint32_t slot, const uint16_t *block, const uint8_t *heads, uint32_t end)
{
    uint32_t page = s->flash->page_bytes;
    for (uint32_t from = 0; from < end; from += page) {
        for (uint32_t i = 0; i < page; i++) {
            s->page[i] = from + i < end ? save_byte(block, heads, from + i) : 0xFF;
        }
        if (s->flash->prog(s->flash->context, address_of(s, slot) + from, s->page, page) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The slot after this one, or the first of what is erased together after it. */
static uint32_t next_slot(const adamb_store *s, uint32_t slot, int way)
{
    uint32_t first = adamb_number_divide(slot, s->group_slots) * s->group_slots;
    slot = way == NEXT_GROUP ? first + s->group_slots : slot + 1;
    return slot < s->slots ? slot : 0;
}

/* Save to this slot: 0, NEXT_SLOT or NEXT_GROUP where another may do, or an error. */
static int save_to(adamb_store *s, uint32_t slot, const uint16_t *block)
{
    uint8_t heads[HEADS];
    uint32_t group = adamb_number_divide(slot, s->group_slots);
    int first = slot == group * s->group_slots;
    if (first && group == adamb_number_divide(s->newest, s->group_slots)) {
        return NEXT_GROUP; /* the newest save is never erased */
    }
    int32_t length = make_heads(s, block, heads); /* at every try: the block may have changed while a page was written */
    if (length < 0) {
        return (int)length;
    }
    if (first && !erase_group(s, slot)) {
        return NEXT_GROUP;
    }
    s->last = slot;
    /* Behind the first slot a torn save may lie; a page is written once between two erases. */
    if ((!first && !is_blank(s, slot)) || !write_slot(s, slot, block, heads, HEAD + (uint32_t)length) ||
        !holds(s, slot, s->sequence, heads)) {
        return NEXT_SLOT;
    }
    s->newest = slot;
    return 0;
}

int adamb_store_save(adamb_store *store, const uint16_t *block)
{
    if (store == 0 || block == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!store->scanned && scan(store) != 0) {
        return ADAMB_STORE_DEVICE;
    }
    uint32_t slot = store->last == store->slots ? 0 : next_slot(store, store->last, NEXT_SLOT);
    for (uint32_t tries = 0; tries < store->slots && store->scanned; tries++) {
        int code = save_to(store, slot, block);
        if (code <= 0) {
            return code;
        }
        slot = next_slot(store, slot, code);
    }
    return ADAMB_STORE_DEVICE;
}

/* Whether the snapshot of a slot has these dimensions and this horizon. */
static int has_dims(adamb_store *s, uint32_t slot, uint32_t dims)
{
    uint8_t word[2];
    return fetch(s, address_of(s, slot) + HEADS + 2 * ADAMB_H_DIMS, word, 2) && adamb_snapshot_get16(word) == dims;
}

int adamb_store_restore(adamb_store *store, const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint8_t heads[HEADS];
    uint32_t number, slot;
    int error = ADAMB_STORE_EMPTY;
    if (store == 0 || config == 0 || block == 0 ||
        adamb_config_overlaps(block, words, (const uint8_t *)config, sizeof *config)) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!store->scanned && scan(store) != 0) {
        return ADAMB_STORE_DEVICE;
    }
    for (number = store->sequence; (slot = find(store, &number, heads)) != store->slots && store->scanned; number--) {
        const uint8_t *head = heads + HEAD;
        if (adamb_snapshot_head_check(head, adamb_snapshot_get32(heads + AT_BYTES)) != 0) {
            error = ADAMB_BAD_BLOCK;
            continue;
        }
        if (!has_dims(store, slot, adamb_config_dims(config))) {
            error = ADAMB_BAD_DIMENSIONS;
            continue;
        }
        if (unit_base(adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_UNITS)) > words) {
            return ADAMB_NO_MEMORY;
        }
        if (!read_snapshot(store, slot, heads, block)) {
            block[ADAMB_H_MAGIC] = 0; /* the check below then refuses and clears */
        }
        error = adamb_snapshot_finish(head, adamb_config_dims(config), block, words);
        if (error == 0) {
            store->newest = slot;
            return 0;
        }
    }
    return store->scanned ? error : ADAMB_STORE_DEVICE;
}
