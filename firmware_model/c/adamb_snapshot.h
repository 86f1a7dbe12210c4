/* AdaMB snapshots: a controller as a run of bytes that any machine can read back. Format: SPEC 11.
 *
 * A snapshot holds the used part of a block, low byte first, behind a head that says what it is, and a CRC-32 over
 * everything. Every single wrong bit, and every run of up to 32 wrong bits, is found.
 *
 *     enum { WORDS = 2048 };
 *     static uint16_t block[WORDS];
 *     static uint8_t bytes[16 + 2 * WORDS];
 *     static adamb_config config;                                   // the one of adamb_init
 *     int32_t length = adamb_snapshot_save(block, bytes, sizeof bytes);
 *     if (length < 0) { stop(); }
 *     if (adamb_snapshot_restore(bytes, (uint32_t)length, &config, block, WORDS) != 0) { stop(); }
 *
 * Results are 0 or a length on success, a negative code of adamb.h otherwise. No call may run while another one works
 * on the same block; none is meant for interrupt handlers. */
#ifndef ADAMB_SNAPSHOT_H
#define ADAMB_SNAPSHOT_H
#include <stdint.h>

#include "adamb.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cffi begin */
enum { ADAMB_BAD_DIMENSIONS = -8 }; /* a save of other dimensions or another horizon than the program's */

/* A snapshot in pieces: a function of yours takes or gives them, and returns 0 when it has. */
typedef int (*adamb_writer)(void *context, const uint8_t *data, uint32_t bytes);
typedef int (*adamb_reader)(void *context, uint32_t at, uint8_t *data, uint32_t bytes);

/* Bytes that a snapshot of the block takes now: 16 + 8 * (units ever used). It never exceeds 16 + 2 * words.
 * Errors: BAD_ARGUMENT (null), BAD_BLOCK. Work: constant. Changes nothing. */
int32_t adamb_snapshot_bytes(const uint16_t *block);

/* Write a snapshot of the block to `out`; the result is its length. A block that fails adamb_check is refused, so a
 * damaged controller never replaces a sound one. Errors: BAD_ARGUMENT (null, or `out` overlaps the block), BAD_BLOCK,
 * NO_MEMORY (capacity is less than adamb_snapshot_bytes); nothing is written then. Work: O(units). Touches that many
 * bytes of `out`. */
int32_t adamb_snapshot_save(const uint16_t *block, uint8_t *out, uint32_t capacity);

/* The same without a second buffer: pieces of at most 32 bytes, in their order.
 * Errors: BAD_ARGUMENT (null), BAD_BLOCK, and nothing is written then; -7 (ADAMB_STORE_DEVICE) where the function failed,
 * after which it is not called again. Work: O(units), and one call for every 32 bytes. Changes nothing. */
int32_t adamb_snapshot_write(const uint16_t *block, adamb_writer write, void *context);

/* Make the block what it was when saved, words behind the used part 0; `length` is the exact length of the snapshot,
 * `words` the size of the caller's block, which may be larger than the saved one was. Of `config` the dimensions and the
 * horizon count: they say how long the program's arrays are, and another snapshot is refused. All else is as it was saved.
 * Verified before the first word changes: head, length, CRC, that the head agrees with the saved words, the dimensions,
 * that the block is large enough. An error among these changes nothing. Verified after: adamb_check, because it walks a
 * block. Only a snapshot forged with a right CRC gets so far (save refuses what fails the check); the whole block then
 * is 0, which every call answers with BAD_BLOCK.
 * Errors: BAD_ARGUMENT (null, or the block overlaps data or config), BAD_BLOCK (not a snapshot, of another version, or
 * damaged), BAD_DIMENSIONS, NO_MEMORY (the block has fewer words than the saved one).
 * Work: O(length + words). Touches the whole block. */
int adamb_snapshot_restore(const uint8_t *data, uint32_t length, const adamb_config *config, uint16_t *block, uint32_t words);

/* The same without a second buffer: `at` is the place in the snapshot, a piece has at most 32 bytes. All of it is read twice:
 * verified, then taken. What lies behind the snapshot is not looked at.
 * Errors: those of restore, and -7 (ADAMB_STORE_DEVICE) where the function failed; the block is unchanged. Only where the
 * second reading fails or differs all of it is 0, which every call answers with BAD_BLOCK.
 * Work: O(length + words), and two calls for every 32 bytes. Touches the whole block. */
int adamb_snapshot_read(adamb_reader read, void *context, const adamb_config *config, uint16_t *block, uint32_t words);
/* cffi end */

#ifdef __cplusplus
}
#endif

#endif
