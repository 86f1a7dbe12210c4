/* adamb_snapshot_restore for any bytes of any length and any block. */
#include "contracts.h"

#include "contract_check.h"
#define CUT_adamb_snapshot_restore_1 CUT_AT(1, HOLDS(i < length), i = any32(); crc = any32(), length - i)
#define CUT_adamb_snapshot_restore_2                             \
    CUT_AT(2, HOLDS(i >= ADAMB_SNAPSHOT_HEAD_BYTES && i < length), \
           i = any32(); __CPROVER_havoc_object(block), length - i)
#define CUT_adamb_snapshot_head_1 \
    CUT_AT(1, HOLDS(i < (uint32_t)length), i = any32(); crc = any32(), (uint32_t)length - i)
#define CUT_adamb_snapshot_save_1 \
    CUT_AT(1, HOLDS(i >= 0 && i < length), i = any_int(); __CPROVER_havoc_object(out), length - i)
#define CUT_adamb_snapshot_write_1                                          \
    CUT_AT(1, HOLDS(i >= 0 && i < length) HOLDS(n < PIECE_BYTES),           \
           i = any_int(); n = any32(); __CPROVER_havoc_object(piece), length - i)
#define CUT_read_words_1 CUT_AT(1, HOLDS(i < ADAMB_SNAPSHOT_AT_CRC), i = any32(); crc = any32(), ADAMB_SNAPSHOT_AT_CRC - i)
#define CUT_read_words_2                                                    \
    CUT_AT(2, HOLDS(at >= ADAMB_SNAPSHOT_HEAD_BYTES && at < end),           \
           at = any32(); crc = any32(); CHANGE_TAKEN, end - at)
#define CUT_read_words_3 CUT_AT(3, HOLDS(i < n), i = any32(); crc = any32(); CHANGE_TAKEN, n - i)
#define CHANGE_TAKEN                       \
    __CPROVER_havoc_object(first);         \
    if (block != 0) {                      \
        __CPROVER_havoc_object(block);     \
    }
#define CUT_adamb_snapshot_finish_1                                                             \
    CUT_AT(1, HOLDS(i >= keep && i < words) HOLDS(keep == 0 || seal_kept(block, checked)),      \
           i = any32(); clear_some(block, keep), words - i)
#include "adamb_snapshot.c"

static uint8_t *any_bytes(uint32_t length)
{
    uint8_t *bytes = malloc(length);
    ASSUME(bytes != 0);
    return bytes;
}

void prove_restore(void)
{
    uint32_t length = any32(), words = any32();
    uint8_t *data = any8() ? any_bytes(length) : 0;
    uint16_t *block = any8() ? any_block(words) : 0;
    adamb_config config;
    int result = adamb_snapshot_restore(data, length, any8() ? &config : 0, block, words);
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK || result == ADAMB_NO_MEMORY ||
          result == ADAMB_BAD_DIMENSIONS);
    CHECK(result != 0 || (words >= ADAMB_H_WORDS && sealed(block, words) && block[ADAMB_H_DIMS] == adamb_config_dims(&config)));
    REACHED;
}

void prove_save(void)
{
    uint16_t *block = sealed_block();
    uint32_t capacity = any32();
    uint8_t *out = any8() ? any_bytes(capacity) : 0;
    int32_t length = adamb_snapshot_save(block, out, capacity);
    CHECK(length < 0 || (uint32_t)length <= capacity);
    REACHED;
}

static int any_taken(void *context, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    CHECK(bytes >= 1 && bytes <= PIECE_BYTES && __CPROVER_r_ok(data, bytes));
    return any_int();
}

static int any_given(void *context, uint32_t at, uint8_t *data, uint32_t bytes)
{
    (void)context, (void)at;
    CHECK(bytes >= 1 && bytes <= PIECE_BYTES && __CPROVER_w_ok(data, bytes));
    __CPROVER_havoc_slice(data, bytes);
    return any_int();
}

void prove_write(void)
{
    uint16_t *block = sealed_block();
    int32_t length = adamb_snapshot_write(any8() ? block : 0, any8() ? any_taken : 0, 0);
    CHECK(length > 0 || length == ADAMB_BAD_ARGUMENT || length == ADAMB_BAD_BLOCK || length == ADAMB_STORE_DEVICE);
    REACHED;
}

void prove_read(void)
{
    uint32_t words = any32();
    uint16_t *block = any8() ? any_block(words) : 0;
    adamb_config config;
    int result = adamb_snapshot_read(any8() ? any_given : 0, 0, any8() ? &config : 0, block, words);
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK || result == ADAMB_NO_MEMORY ||
          result == ADAMB_BAD_DIMENSIONS || result == ADAMB_STORE_DEVICE);
    CHECK(result != 0 || (words >= ADAMB_H_WORDS && sealed(block, words) && block[ADAMB_H_DIMS] == adamb_config_dims(&config)));
    REACHED;
}
