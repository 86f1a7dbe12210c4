/* AdaMB snapshots: a controller as a run of bytes that any machine can read back. Format: SPEC.md, Snapshots.
 *
 * A snapshot holds the used part of a block, low byte first, behind a head that says what it is, and a CRC-32 over
 * everything. Every single wrong bit, and every run of up to 32 wrong bits, is found.
 *
 *     static uint8_t bytes[16 + 2 * 2048];
 *     int32_t length = adamb_snapshot_save(block, bytes, sizeof bytes);      // negative: an error
 *     ...
 *     if (adamb_snapshot_restore(bytes, (uint32_t)length, block, 2048) != 0) { ... start anew ... }
 *
 * Results are 0 or a length on success, a negative code of adamb.h otherwise. No call may run while another one works
 * on the same block; none is meant for interrupt handlers. */
#ifndef ADAMB_SNAPSHOT_H
#define ADAMB_SNAPSHOT_H
#include <stdint.h>

/* cffi begin */
/* Bytes that a snapshot of the block takes now: 16 + 8 * (units ever used). It never exceeds 16 + 2 * words.
 * Errors: BAD_ARGUMENT (null), BAD_BLOCK. Work: constant. Changes nothing. */
int32_t adamb_snapshot_bytes(const uint16_t *block);

/* Write a snapshot of the block to `out`; the result is its length. A block that fails adamb_check is refused, so a
 * damaged controller never replaces a sound one. Errors: BAD_ARGUMENT (null), BAD_BLOCK, NO_MEMORY (capacity is less than
 * adamb_snapshot_bytes); nothing is written then. Work: O(units). Touches that many bytes of `out`. */
int32_t adamb_snapshot_save(const uint16_t *block, uint8_t *out, uint32_t capacity);

/* Make the block what it was when saved, words behind the used part 0; `length` is the exact length of the snapshot,
 * `words` the size of the caller's block, which may be larger than the saved one was.
 * Verified before the first word changes: head, length, CRC, that the head agrees with the saved words, that the block
 * is large enough. An error among these changes nothing. Verified after: adamb_check, because it walks a block. Only a
 * snapshot forged with a right CRC gets so far (save refuses what fails the check); the whole block then is 0, which
 * every call answers with BAD_BLOCK.
 * Errors: BAD_ARGUMENT (null), BAD_BLOCK (not a snapshot, of another version, or damaged), NO_MEMORY (the block has
 * fewer words than the saved one).
 * Work: O(length + words). Touches the whole block. */
int adamb_snapshot_restore(const uint8_t *data, uint32_t length, uint16_t *block, uint32_t words);
/* cffi end */

/* The parts, for code that moves a snapshot in pieces; adamb_store.c does. */

/* Take a byte into a CRC-32 (the polynomial of zlib), which starts and ends inverted: 0xFFFFFFFF, then ~crc. */
uint32_t adamb_snapshot_crc(uint32_t crc, uint8_t byte);

/* The head of a snapshot of the block. Result: as adamb_snapshot_bytes; also refuses what fails adamb_check. */
int32_t adamb_snapshot_head(const uint16_t *block, uint8_t *head);

/* Byte `index` of the snapshot whose head this is. */
uint8_t adamb_snapshot_byte(const uint16_t *block, const uint8_t *head, uint32_t index);

/* 0 when a head is one of this version and of a snapshot of this length; else BAD_BLOCK. */
int adamb_snapshot_head_check(const uint8_t *head, uint32_t length);

/* Byte `index` >= the head's, into the block. Low bytes first. */
void adamb_snapshot_put(uint16_t *block, uint32_t index, uint8_t byte);

/* After the last put: clear the rest, check all; on an error the whole block becomes 0. */
int adamb_snapshot_finish(const uint8_t *head, uint16_t *block, uint32_t words);

/* Little-endian fields. */
uint16_t adamb_snapshot_get16(const uint8_t *at);
uint32_t adamb_snapshot_get32(const uint8_t *at);
void adamb_snapshot_set16(uint8_t *at, uint32_t value);
void adamb_snapshot_set32(uint8_t *at, uint32_t value);

/* Where the fields of the head lie. */
enum {
    ADAMB_SNAPSHOT_AT_VERSION = 2,
    ADAMB_SNAPSHOT_AT_HASH = 4,
    ADAMB_SNAPSHOT_AT_UNITS = 6,
    ADAMB_SNAPSHOT_AT_WORDS = 8,
    ADAMB_SNAPSHOT_AT_CRC = 12
};

#endif
