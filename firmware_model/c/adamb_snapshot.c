/* A block as bytes and back. Fields are put together byte by byte: no alignment, no byte order of the machine. */
#include "adamb_snapshot.h"
#include "adamb_internal.h"
#include "adamb_store.h"

enum { PIECE_BYTES = 32 }; /* the first of them holds all words of the header that restore compares */

/* The CRC of each half byte: 64 bytes instead of the usual 1 KiB. */
static const uint32_t CRC_OF[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

uint32_t adamb_snapshot_crc(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    crc = crc >> 4 ^ CRC_OF[crc & 15];
    return crc >> 4 ^ CRC_OF[crc & 15];
}

uint16_t adamb_snapshot_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | (uint32_t)at[1] << 8);
}

uint32_t adamb_snapshot_get32(const uint8_t *at)
{
    return adamb_snapshot_get16(at) | (uint32_t)adamb_snapshot_get16(at + 2) << 16;
}

void adamb_snapshot_set16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value & 0xFF);
    at[1] = (uint8_t)(value >> 8 & 0xFF);
}

void adamb_snapshot_set32(uint8_t *at, uint32_t value)
{
    adamb_snapshot_set16(at, value & 0xFFFF);
    adamb_snapshot_set16(at + 2, value >> 16);
}

int32_t adamb_snapshot_bytes(const uint16_t *block)
{
    if (block == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (!adamb_config_usable(block) || block[ADAMB_H_FRESH] > block[ADAMB_H_UNITS]) {
        return ADAMB_BAD_BLOCK;
    }
    return ADAMB_SNAPSHOT_HEAD_BYTES + 2 * ADAMB_UNIT_WORDS * (int32_t)block[ADAMB_H_FRESH];
}

uint8_t adamb_snapshot_byte(const uint16_t *block, const uint8_t *head, uint32_t index)
{
    if (index < ADAMB_SNAPSHOT_HEAD_BYTES) {
        return head[index];
    }
    index -= ADAMB_SNAPSHOT_HEAD_BYTES;
    return (uint8_t)(block[index >> 1] >> (8 * (index & 1)) & 0xFF);
}

void adamb_snapshot_put(uint16_t *block, uint32_t index, uint8_t byte)
{
    uint32_t word = (index - ADAMB_SNAPSHOT_HEAD_BYTES) >> 1;
    block[word] = (uint16_t)(index & 1 ? block[word] | (uint32_t)byte << 8 : byte);
}

int32_t adamb_snapshot_head(const uint16_t *block, uint8_t *head)
{
    int32_t length = adamb_snapshot_bytes(block);
    uint32_t crc = 0xFFFFFFFFu;
    if (length < 0) {
        return length;
    }
    adamb_snapshot_set16(head, ADAMB_SNAPSHOT_MAGIC);
    adamb_snapshot_set16(head + ADAMB_SNAPSHOT_AT_VERSION, ADAMB_SNAPSHOT_VERSION);
    adamb_snapshot_set16(head + ADAMB_SNAPSHOT_AT_HASH, ADAMB_SPEC_HASH);
    adamb_snapshot_set16(head + ADAMB_SNAPSHOT_AT_UNITS, block[ADAMB_H_UNITS]);
    adamb_snapshot_set32(head + ADAMB_SNAPSHOT_AT_WORDS, unit_base(block[ADAMB_H_FRESH]));
    for (uint32_t i = 0; i < (uint32_t)length; i++) {
        if (i < ADAMB_SNAPSHOT_AT_CRC || i >= ADAMB_SNAPSHOT_HEAD_BYTES) {
            crc = adamb_snapshot_crc(crc, adamb_snapshot_byte(block, head, i));
        }
    }
    adamb_snapshot_set32(head + ADAMB_SNAPSHOT_AT_CRC, ~crc);
    /* After the CRC: a bit that flips from here on makes it wrong, and one that flipped before is seen. */
    return adamb_check(block, unit_base(block[ADAMB_H_UNITS])) != 0 ? ADAMB_BAD_BLOCK : length;
}

int32_t adamb_snapshot_save(const uint16_t *block, uint8_t *out, uint32_t capacity)
{
    uint8_t head[ADAMB_SNAPSHOT_HEAD_BYTES];
    int32_t length;
    if (out == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    length = adamb_snapshot_head(block, head);
    if (length > 0 && (uint32_t)length > capacity) {
        return ADAMB_NO_MEMORY;
    }
    if (length > 0 && adamb_config_overlaps(block, unit_base(block[ADAMB_H_UNITS]), out, (uint32_t)length)) {
        return ADAMB_BAD_ARGUMENT;
    }
    for (int32_t i = 0; i < length; i++) {
        out[i] = adamb_snapshot_byte(block, head, (uint32_t)i);
    }
    return length;
}

int32_t adamb_snapshot_write(const uint16_t *block, adamb_writer write, void *context)
{
    uint8_t head[ADAMB_SNAPSHOT_HEAD_BYTES], piece[PIECE_BYTES];
    uint32_t n = 0;
    int32_t length;
    if (write == 0) {
        return ADAMB_BAD_ARGUMENT;
    }
    length = adamb_snapshot_head(block, head);
    for (int32_t i = 0; i < length; i++) {
        piece[n++] = adamb_snapshot_byte(block, head, (uint32_t)i);
        if (n == PIECE_BYTES || i + 1 == length) {
            if (write(context, piece, n) != 0) {
                return ADAMB_STORE_DEVICE;
            }
            n = 0;
        }
    }
    return length;
}

int adamb_snapshot_head_check(const uint8_t *head, uint32_t length)
{
    uint32_t words = adamb_snapshot_get32(head + ADAMB_SNAPSHOT_AT_WORDS);
    uint32_t units = adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_UNITS);
    if (adamb_snapshot_get16(head) != ADAMB_SNAPSHOT_MAGIC ||
        adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_VERSION) != ADAMB_SNAPSHOT_VERSION ||
        adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_HASH) != ADAMB_SPEC_HASH || units > ADAMB_UNITS_MAX ||
        words < ADAMB_H_WORDS || words > unit_base(units) || length != ADAMB_SNAPSHOT_HEAD_BYTES + 2 * words) {
        return ADAMB_BAD_BLOCK;
    }
    return 0;
}

int adamb_snapshot_finish(const uint8_t *head, uint32_t dims, uint16_t *block, uint32_t words)
{
    uint32_t saved = adamb_snapshot_get32(head + ADAMB_SNAPSHOT_AT_WORDS);
    uint32_t keep = adamb_check(block, words) == 0 && block[ADAMB_H_DIMS] == dims && unit_base(block[ADAMB_H_FRESH]) == saved &&
                            block[ADAMB_H_UNITS] == adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_UNITS)
                        ? saved
                        : 0;
    for (uint32_t i = keep; i < words; i++) {
        block[i] = 0;
    }
    return keep != 0 ? 0 : ADAMB_BAD_BLOCK;
}

int adamb_snapshot_restore(const uint8_t *data, uint32_t length, const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint32_t crc = 0xFFFFFFFFu;
    const uint8_t *saved;
    if (data == 0 || config == 0 || block == 0 || adamb_config_overlaps(block, words, data, length) ||
        adamb_config_overlaps(block, words, (const uint8_t *)config, sizeof *config)) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (length < ADAMB_SNAPSHOT_HEAD_BYTES || adamb_snapshot_head_check(data, length) != 0) {
        return ADAMB_BAD_BLOCK;
    }
    saved = data + ADAMB_SNAPSHOT_HEAD_BYTES;
    for (uint32_t i = 0; i < length; i++) {
        if (i < ADAMB_SNAPSHOT_AT_CRC || i >= ADAMB_SNAPSHOT_HEAD_BYTES) {
            crc = adamb_snapshot_crc(crc, data[i]);
        }
    }
    if (~crc != adamb_snapshot_get32(data + ADAMB_SNAPSHOT_AT_CRC) ||
        adamb_snapshot_get16(saved + 2 * ADAMB_H_UNITS) != adamb_snapshot_get16(data + ADAMB_SNAPSHOT_AT_UNITS) ||
        unit_base(adamb_snapshot_get16(saved + 2 * ADAMB_H_FRESH)) != adamb_snapshot_get32(data + ADAMB_SNAPSHOT_AT_WORDS)) {
        return ADAMB_BAD_BLOCK;
    }
    if (adamb_snapshot_get16(saved + 2 * ADAMB_H_DIMS) != adamb_config_dims(config)) {
        return ADAMB_BAD_DIMENSIONS;
    }
    if (unit_base(adamb_snapshot_get16(data + ADAMB_SNAPSHOT_AT_UNITS)) > words) {
        return ADAMB_NO_MEMORY;
    }
    for (uint32_t i = ADAMB_SNAPSHOT_HEAD_BYTES; i < length; i++) {
        adamb_snapshot_put(block, i, data[i]);
    }
    return adamb_snapshot_finish(data, adamb_config_dims(config), block, words);
}

/* Read what is behind the head, into the block if there is one; 0 when its CRC is right. `first`: the words of the header. */
static int read_words(adamb_reader read, void *context, const uint8_t *head, uint16_t *block, uint8_t *first)
{
    uint32_t end = ADAMB_SNAPSHOT_HEAD_BYTES + 2 * adamb_snapshot_get32(head + ADAMB_SNAPSHOT_AT_WORDS);
    uint32_t at = ADAMB_SNAPSHOT_HEAD_BYTES, crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < ADAMB_SNAPSHOT_AT_CRC; i++) {
        crc = adamb_snapshot_crc(crc, head[i]);
    }
    while (at < end) {
        uint8_t piece[PIECE_BYTES] = {0};
        uint32_t n = end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        if (read(context, at, piece, n) != 0) {
            return ADAMB_STORE_DEVICE;
        }
        for (uint32_t i = 0; i < n; i++) {
            crc = adamb_snapshot_crc(crc, piece[i]);
            if (block != 0) {
                adamb_snapshot_put(block, at + i, piece[i]);
            }
            if (at == ADAMB_SNAPSHOT_HEAD_BYTES) {
                first[i] = piece[i];
            }
        }
        at += n;
    }
    return ~crc == adamb_snapshot_get32(head + ADAMB_SNAPSHOT_AT_CRC) ? 0 : ADAMB_BAD_BLOCK;
}

int adamb_snapshot_read(adamb_reader read, void *context, const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint8_t head[ADAMB_SNAPSHOT_HEAD_BYTES] = {0}, first[PIECE_BYTES] = {0};
    uint32_t used, units;
    int error;
    if (read == 0 || config == 0 || block == 0 ||
        adamb_config_overlaps(block, words, (const uint8_t *)config, sizeof *config)) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (read(context, 0, head, ADAMB_SNAPSHOT_HEAD_BYTES) != 0) {
        return ADAMB_STORE_DEVICE;
    }
    used = adamb_snapshot_get32(head + ADAMB_SNAPSHOT_AT_WORDS);
    units = adamb_snapshot_get16(head + ADAMB_SNAPSHOT_AT_UNITS);
    if (adamb_snapshot_head_check(head, ADAMB_SNAPSHOT_HEAD_BYTES + 2 * used) != 0) {
        return ADAMB_BAD_BLOCK;
    }
    error = read_words(read, context, head, 0, first);
    if (error != 0) {
        return error;
    }
    if (adamb_snapshot_get16(first + 2 * ADAMB_H_UNITS) != units ||
        unit_base(adamb_snapshot_get16(first + 2 * ADAMB_H_FRESH)) != used) {
        return ADAMB_BAD_BLOCK;
    }
    if (adamb_snapshot_get16(first + 2 * ADAMB_H_DIMS) != adamb_config_dims(config)) {
        return ADAMB_BAD_DIMENSIONS;
    }
    if (unit_base(units) > words) {
        return ADAMB_NO_MEMORY;
    }
    error = read_words(read, context, head, block, first);
    if (error != 0) {
        block[ADAMB_H_MAGIC] = 0; /* the check below then refuses and clears */
    }
    return adamb_snapshot_finish(head, adamb_config_dims(config), block, words) != 0 && error == 0 ? ADAMB_BAD_BLOCK : error;
}
