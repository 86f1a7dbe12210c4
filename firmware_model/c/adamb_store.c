/* A ring of slots. Two CRCs alone decide whether a save is complete: there is no flag for it. */
#include "adamb_store.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"

#define HEAD ADAMB_STORE_HEAD_BYTES
#define HEADS (ADAMB_STORE_HEAD_BYTES + ADAMB_SNAPSHOT_HEAD_BYTES) /* of the save, then of the snapshot in it */

enum { AT_VERSION = 2, AT_SEQUENCE = 4, AT_BYTES = 8, AT_CRC = 12 };

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

/* The number of the save in a slot, 0 when there is none. */
static uint32_t read_heads(const adamb_store *s, uint32_t slot, uint8_t *heads)
{
    int sound = s->flash->read(s->flash->context, address_of(s, slot), heads, HEADS) == 0 &&
                adamb_snapshot_get16(heads) == ADAMB_STORE_MAGIC &&
                adamb_snapshot_get16(heads + AT_VERSION) == ADAMB_STORE_VERSION &&
                adamb_snapshot_get32(heads + AT_CRC) == head_crc(heads) &&
                adamb_snapshot_get32(heads + AT_BYTES) <= s->slot_bytes - HEAD;
    return sound ? adamb_snapshot_get32(heads + AT_SEQUENCE) : 0;
}

/* Read the snapshot of a slot, into the block if there is one; 1 when its CRC is right. */
static int read_snapshot(const adamb_store *s, uint32_t slot, const uint8_t *heads, uint16_t *block)
{
    uint32_t end = HEAD + adamb_snapshot_get32(heads + AT_BYTES), crc = 0xFFFFFFFFu, n;
    for (uint32_t i = HEAD; i < HEAD + ADAMB_SNAPSHOT_AT_CRC; i++) {
        crc = adamb_snapshot_crc(crc, heads[i]);
    }
    for (uint32_t from = HEADS; from < end; from += n) {
        n = end - from < s->flash->page_bytes ? end - from : s->flash->page_bytes;
        if (s->flash->read(s->flash->context, address_of(s, slot) + from, s->page, n) != 0) {
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

/* The newest sound save with a number of at most *number, which becomes its number; `slots` when there is none. */
static uint32_t find(const adamb_store *s, uint32_t *number, uint8_t *heads)
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
        if (best == s->slots || (read_heads(s, best, heads) == best_number && read_snapshot(s, best, heads, 0))) {
            return best;
        }
        *number = best_number - 1; /* so the search ends, whatever the storage returns */
    }
}

int adamb_store_open(adamb_store *store, const adamb_flash *flash, uint8_t *page, uint32_t words)
{
    uint8_t heads[HEADS];
    uint32_t slot_pages, sectors, number;
    if (store == 0 || flash == 0 || page == 0 || flash->read == 0 || flash->prog == 0 || flash->erase == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (flash->page_bytes == 0 || flash->sector_bytes < flash->page_bytes || words < ADAMB_H_WORDS ||
        flash->sector_bytes > 0x10000000u ||
        adamb_number_divide(flash->sector_bytes, flash->page_bytes) * flash->page_bytes != flash->sector_bytes ||
        flash->sectors > adamb_number_divide(0x7FFFFFFFu, flash->sector_bytes)) {
        return ADAMB_BAD_CONFIG;
    }
    words = words < at(ADAMB_UNITS_MAX) ? words : at(ADAMB_UNITS_MAX);
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
    store->last = store->slots;
    for (uint32_t slot = 0; slot < store->slots; slot++) {
        uint32_t found = read_heads(store, slot, heads);
        if (found > store->sequence) {
            store->sequence = found;
            store->last = slot;
        }
    }
    number = store->sequence;
    store->newest = find(store, &number, heads);
    return 0;
}

static uint8_t save_byte(const uint16_t *block, const uint8_t *heads, uint32_t index)
{
    return index < HEAD ? heads[index] : adamb_snapshot_byte(block, heads + HEAD, index - HEAD);
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

/* Whether a slot reads as heads and block say from byte 0 to `end`, and as erased from there on. */
static int holds(const adamb_store *s, uint32_t slot, const uint16_t *block, const uint8_t *heads, uint32_t end)
{
    uint32_t page = s->flash->page_bytes;
    for (uint32_t from = 0; from < s->slot_bytes; from += page) {
        if (s->flash->read(s->flash->context, address_of(s, slot) + from, s->page, page) != 0) {
            return 0;
        }
        for (uint32_t i = 0; i < page; i++) {
            if (s->page[i] != (from + i < end ? save_byte(block, heads, from + i) : 0xFF)) {
                return 0;
            }
        }
    }
    return 1;
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

/* The first slot behind `slot` that starts what is erased together, or simply the next one. */
static uint32_t next_slot(const adamb_store *s, uint32_t slot, int whole)
{
    uint32_t first = adamb_number_divide(slot, s->group_slots) * s->group_slots;
    slot = whole ? first + s->group_slots : slot + 1;
    return slot < s->slots ? slot : 0;
}

int adamb_store_save(adamb_store *store, const uint16_t *block)
{
    uint8_t heads[HEADS];
    int32_t length;
    uint32_t slot, end, kept;
    if (store == 0 || block == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    length = adamb_snapshot_head(block, heads + HEAD);
    if (length < 0) {
        return (int)length;
    }
    end = HEAD + (uint32_t)length;
    if (end > store->slot_bytes) {
        return ADAMB_NO_MEMORY;
    }
    if (store->sequence == 0xFFFFFFFFu) {
        return ADAMB_STORE_DEVICE; /* older than any storage */
    }
    store->sequence++; /* also when this fails: two different saves never have the same number */
    adamb_snapshot_set16(heads, ADAMB_STORE_MAGIC);
    adamb_snapshot_set16(heads + AT_VERSION, ADAMB_STORE_VERSION);
    adamb_snapshot_set32(heads + AT_SEQUENCE, store->sequence);
    adamb_snapshot_set32(heads + AT_BYTES, (uint32_t)length);
    adamb_snapshot_set32(heads + AT_CRC, head_crc(heads));
    kept = adamb_number_divide(store->newest, store->group_slots); /* never erased; no group when there is no save */
    slot = store->last == store->slots ? 0 : next_slot(store, store->last, 0);
    for (uint32_t tries = 0; tries < store->slots; tries++) {
        uint32_t group = adamb_number_divide(slot, store->group_slots);
        int first = slot == group * store->group_slots;
        if (first && (group == kept || !erase_group(store, slot))) {
            slot = next_slot(store, slot, 1);
            continue;
        }
        store->last = slot;
        /* Behind the first slot a torn save may lie; a page is written once between two erases. */
        if ((first || holds(store, slot, block, heads, 0)) && write_slot(store, slot, block, heads, end) &&
            holds(store, slot, block, heads, end)) {
            store->newest = slot;
            return 0;
        }
        slot = next_slot(store, slot, 0);
    }
    return ADAMB_STORE_DEVICE;
}

/* Whether the snapshot of a slot has these dimensions and this horizon. */
static int has_dims(const adamb_store *s, uint32_t slot, uint32_t dims)
{
    uint8_t word[2];
    uint32_t from = address_of(s, slot) + HEADS + 2 * ADAMB_H_DIMS;
    return s->flash->read(s->flash->context, from, word, 2) == 0 && adamb_snapshot_get16(word) == dims;
}

int adamb_store_restore(adamb_store *store, const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint8_t heads[HEADS];
    uint32_t number, slot;
    int error = ADAMB_STORE_EMPTY;
    if (store == 0 || config == 0 || block == 0 || adamb_config_overlaps(block, words, (const uint8_t *)config, sizeof *config)) {
        return ADAMB_BAD_ARGUMENT;
    }
    for (number = store->sequence; (slot = find(store, &number, heads)) != store->slots; number--) {
        const uint8_t *head = heads + HEAD;
        if (adamb_snapshot_head_check(head, adamb_snapshot_get32(heads + AT_BYTES)) != 0) {
            error = ADAMB_BAD_BLOCK;
            continue;
        }
        if (!has_dims(store, slot, adamb_config_dims(config))) {
            error = ADAMB_BAD_DIMENSIONS;
            continue;
        }
        if (at(adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_UNITS)) > words) {
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
    return error;
}
