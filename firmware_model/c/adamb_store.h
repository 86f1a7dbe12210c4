/* AdaMB store: saves of a controller on flash or EEPROM that survive a power cut at any moment. Format: SPEC 12.
 *
 * The storage is a ring of slots, each large enough for one save; a save goes to the slot after the last attempt. The
 * newest completed save is never erased or written to, so
 *   - after a cut anywhere, restore gives the last completed save, or the one that was just being completed, bit for bit;
 *   - every sector is erased equally often, once for every (slots) saves; after a cut the ring moves on, too;
 *   - a save is complete when it was read back and its CRC is right: else, as on a worn sector, the next place is used;
 *   - while a place cannot be read, a save may be there: nothing is erased, every call answers DEVICE and looks again.
 *
 *     enum { WORDS = 2048, PAGE_BYTES = 256, SECTOR_BYTES = 4096, SECTORS = 4 };
 *     static uint16_t block[WORDS];
 *     static uint8_t page[PAGE_BYTES];
 *     static const adamb_flash flash = {0, PAGE_BYTES, SECTOR_BYTES, SECTORS, my_read, my_prog, my_erase};
 *     static adamb_store store;
 *     static adamb_config config;                                   // the one of adamb_init
 *     adamb_store_open(&store, &flash, page, WORDS);
 *     int code = adamb_store_restore(&store, &config, block, WORDS);
 *     if (code == ADAMB_STORE_DEVICE) { stop(); }                   // what was learnt may still be there: start again
 *     if (code < 0 && adamb_init(&config, block, WORDS) < 0) { stop(); }
 *     adamb_store_save(&store, block); // every so many episodes: endurance * slots / saves per day is the life in days
 *
 * Nothing is allocated; the store uses one page of the caller's RAM. No call may run while another one works on the same
 * store or block; none is meant for interrupt handlers. */
#ifndef ADAMB_STORE_H
#define ADAMB_STORE_H
#include <stdint.h>

#include "adamb.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cffi begin */
enum {
    ADAMB_STORE_EMPTY = -6,  /* the store holds no completed save */
    ADAMB_STORE_DEVICE = -7  /* the storage refused, or did not keep what it was given */
};

/* The storage. The three functions return 0, or anything else when they failed, and not before the storage has done its
 * work. A read that fails for good, until the place is erased (an ECC error that cannot be corrected), returns
 * ADAMB_BAD_BLOCK: the place holds no save. Any other failure of a read may pass, and the store waits until it has.
 * A function that says 0 and has done nothing: a prog or erase is noticed by reading back; bytes that a read does not
 * deliver count as 0, so what is restored is a sound save whatever it does, but a save that it hides may be erased. */
typedef struct {
    void *context;         /* handed to the functions; 0 is fine */
    uint32_t page_bytes;   /* written at once, 1..: a multiple of what the storage can write. RAM: one page */
    uint32_t sector_bytes; /* erased at once: a multiple of page_bytes */
    uint32_t sectors;      /* at least twice as many as a save of 32 + 2 * words bytes needs; more live longer */
    int (*read)(void *context, uint32_t address, uint8_t *data, uint32_t bytes);
    int (*prog)(void *context, uint32_t address, const uint8_t *data, uint32_t bytes); /* one page, erased before */
    int (*erase)(void *context, uint32_t address); /* one sector: all its bytes become 0xFF */
} adamb_flash;

/* Opaque; written by open. */
typedef struct {
    const adamb_flash *flash;
    uint8_t *page;
    uint32_t slot_bytes, slots;
    uint32_t group_bytes, group_slots; /* what is erased together, and the slots in it */
    uint32_t newest;                   /* slot of the last completed save; `slots` when there is none */
    uint32_t last;                     /* slot of the last attempt, complete or not; `slots` when there is none */
    uint32_t sequence;                 /* the highest ever given to a save */
    uint32_t scanned;                  /* 0 while something could not be read */
} adamb_store;

/* Look for saves. `page` has flash->page_bytes and belongs to the store from now on, as does `flash`; `words` is the
 * size of the block. Use the same geometry and words every time: they say where the slots are. An empty or foreign
 * storage is no error.
 * Errors: BAD_ARGUMENT (null), BAD_CONFIG (geometry: see adamb_flash), DEVICE (something could not be read; the calls
 * below look again).
 * Work: reads a head of every slot and all of the newest save; every damaged save that is newer costs one more such
 * round. Changes nothing on the storage. */
int adamb_store_open(adamb_store *store, const adamb_flash *flash, uint8_t *page, uint32_t words);

/* Save the block. When it returns 0 the save is complete: it was read back, and restore takes it. A block that fails
 * adamb_check is refused.
 * Errors: BAD_ARGUMENT (null), BAD_BLOCK, NO_MEMORY (more words are in use than open was told), DEVICE (something could
 * not be read, or no slot keeps the save). What was saved before is still there.
 * Work: one adamb_check, at most one erase of a slot's sectors, one write and one reading of the save; as much again
 * for every slot that fails; that of open after a failure of a read. */
int adamb_store_save(adamb_store *store, const uint16_t *block);

/* Make the block what it was at the last completed save; words behind its used part are 0. A save that was damaged
 * since, belongs to another version, or has other dimensions or another horizon than `config`, is passed over for the
 * one before it: after an update of the program its arrays may be shorter than those of the saved controller.
 * Errors: BAD_ARGUMENT (null, or config overlaps the block), EMPTY (no save), NO_MEMORY (the block has fewer words than
 * the saved one), DEVICE (something could not be read); where saves are there, but none fits: BAD_BLOCK (of another
 * version) or BAD_DIMENSIONS. The block is unchanged, except where saves have passed the CRC but not adamb_check or a
 * second reading: then all of it is 0, which every call answers with BAD_BLOCK.
 * Work: as open, and once more reading the save, and adamb_check. */
int adamb_store_restore(adamb_store *store, const adamb_config *config, uint16_t *block, uint32_t words);
/* cffi end */

#ifdef __cplusplus
}
#endif

#endif
