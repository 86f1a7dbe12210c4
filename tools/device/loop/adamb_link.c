#include "adamb_link.h"

#include "adamb.h"
#include "adamb_spec.h"

enum { HEAD = 3, CRC = 4, ANSWER = 0x80 };
typedef char adamb_link_fits[sizeof(adamb_link) <= 512 ? 1 : -1]; /* what the emulator sets aside */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Half a byte at a time: sixteen numbers instead of 256. */
static uint32_t crc_more(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    crc = ~crc;
    for (uint32_t i = 0; i < count; i++) {
        crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15u];
        crc = crc >> 4 ^ table[(crc ^ (uint32_t)bytes[i] >> 4) & 15u];
    }
    return ~crc;
}

static uint32_t get16(const uint8_t *in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8;
}

static uint32_t get32(const uint8_t *in)
{
    return get16(in) | get16(in + 2) << 16;
}

static void put16(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *out, uint32_t value)
{
    put16(out, value);
    put16(out + 2, value >> 16);
}

static void get_words(uint16_t *to, const uint8_t *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, in += 2) {
        to[i] = (uint16_t)get16(in);
    }
}

static void put_words(uint8_t *out, const uint16_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, out += 2) {
        put16(out, from[i]);
    }
}

static uint32_t digit(uint8_t letter)
{
    uint32_t upper = letter - (uint32_t)'A', lower = letter - (uint32_t)'a', number = letter - (uint32_t)'0';
    return upper < 26     ? upper
           : lower < 26   ? lower + 26
           : number < 10  ? number + 52
           : letter == '+' ? 62
           : letter == '/' ? 63
                           : 64;
}

/* Decode a line in its place; bytes of the body, 0 where it is none. */
static uint32_t decode(uint8_t *line, uint32_t count)
{
    uint32_t bytes = 0, bits = 0, held = 0;
    while (count != 0 && line[count - 1] == '=') {
        count--;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = digit(line[i]);
        if (value == 64) {
            return 0;
        }
        held = held << 6 | value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            line[bytes++] = (uint8_t)(held >> bits);
        }
    }
    return bytes <= ADAMB_LINK_BODY ? bytes : 0;
}

/* The body as a line in link->reply. */
static void encode(adamb_link *link, const uint8_t *body, uint32_t count)
{
    uint32_t at = 0, held = 0, bits = 0;
    link->reply[at++] = '~';
    for (uint32_t i = 0; i < count; i++) {
        held = held << 8 | body[i];
        for (bits += 8; bits >= 6; bits -= 6) {
            link->reply[at++] = (uint8_t)digits[held >> (bits - 6) & 63u];
        }
    }
    if (bits != 0) {
        link->reply[at++] = (uint8_t)digits[held << (6 - bits) & 63u];
    }
    while ((at & 3u) != 1u) {
        link->reply[at++] = '=';
    }
    link->reply[at++] = '\n';
    link->reply_bytes = at;
}

static uint32_t hello(const adamb_link *link, uint8_t *out)
{
    static const char name[] = "C core";
    out[0] = ADAMB_LINK_VERSION;
    put16(out + 1, ADAMB_SPEC_HASH);
    put16(out + 3, ADAMB_LEARNER_HASH);
    out[5] = link->unit;
    put32(out + 6, 2u * link->capacity);
    for (uint32_t i = 0; i + 1 < sizeof name; i++) {
        out[10 + i] = (uint8_t)name[i];
    }
    return 10 + (uint32_t)sizeof name - 1;
}

static int start_controller(adamb_link *link, const uint8_t *in, uint32_t count)
{
    adamb_config config;
    uint32_t words = get32(in);
    if (count != 4 + sizeof config) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (words > link->capacity) {
        return ADAMB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < sizeof config; i++) {
        ((uint8_t *)&config)[i] = in[4 + i];
    }
    int code = adamb_init(&config, link->block, words);
    link->words = code == 0 ? words : 0;
    return code;
}

static uint32_t now(const adamb_link *link)
{
    return link->clock == 0 ? 0 : link->clock();
}

static int act(adamb_link *link, const uint8_t *in, uint32_t count, uint8_t *out, uint32_t *more)
{
    uint16_t state[ADAMB_DIM_MAX], action[ADAMB_DIM_MAX];
    uint32_t d_s = link->block[ADAMB_H_DIMS] & 15u, d_a = link->block[ADAMB_H_DIMS] >> 4 & 15u;
    if (count != 1 + 2 * d_s) {
        return ADAMB_BAD_ARGUMENT;
    }
    get_words(state, in + 1, d_s);
    uint32_t start = now(link);
    int code = adamb_act(link->block, in[0], state, action);
    put32(out + 1, now(link) - start);
    put_words(out + 5, action, code == 0 ? d_a : 0);
    *more = 4 + (code == 0 ? 2 * d_a : 0);
    return code;
}

static int observe(adamb_link *link, const uint8_t *in, uint32_t count, uint8_t *out, uint32_t *more)
{
    uint16_t next[ADAMB_DIM_MAX];
    uint32_t d_s = link->block[ADAMB_H_DIMS] & 15u;
    if (count != 3 + 2 * d_s) {
        return ADAMB_BAD_ARGUMENT;
    }
    get_words(next, in + 3, d_s);
    uint32_t start = now(link);
    int code = adamb_observe(link->block, in[0], (uint16_t)get16(in + 1), next);
    put32(out + 1, now(link) - start);
    *more = 4;
    return code;
}

static int end_episode(adamb_link *link, uint8_t *out, uint32_t *more)
{
    uint32_t start = now(link);
    int code = adamb_end_episode(link->block);
    put32(out + 1, now(link) - start);
    *more = 4;
    return code;
}

static int read_words(const adamb_link *link, const uint8_t *in, uint32_t count, uint8_t *out, uint32_t *more)
{
    uint32_t at = count == 5 ? get32(in) : link->words, n = count == 5 ? in[4] : 1u;
    if (n > ADAMB_LINK_WORDS || at > link->words || n > link->words - at) {
        return ADAMB_BAD_ARGUMENT;
    }
    put_words(out + 1, link->block + at, n);
    *more = 2 * n;
    return 0;
}

static int write_words(adamb_link *link, const uint8_t *in, uint32_t count)
{
    uint32_t at = count >= 4 ? get32(in) : link->words, n = count >= 4 ? (count - 4) / 2 : 1u;
    if (at > link->words || n > link->words - at) {
        return ADAMB_BAD_ARGUMENT;
    }
    get_words(link->block + at, in + 4, n);
    return 0;
}

/* Do what a request asks for; the answer's payload is a status and what `more` counts after it. */
static uint32_t execute(adamb_link *link, uint8_t op, const uint8_t *in, uint32_t count, uint8_t *out)
{
    int code = ADAMB_BAD_ARGUMENT;
    uint32_t more = 0;
    if (op == 'I') {
        code = start_controller(link, in, count);
    } else if (link->words == 0) {
        code = ADAMB_BAD_ORDER;
    } else if (op == 'A') {
        code = act(link, in, count, out, &more);
    } else if (op == 'O') {
        code = observe(link, in, count, out, &more);
    } else if (op == 'E') {
        code = end_episode(link, out, &more);
    } else if (op == 'C') {
        put32(out + 1, crc_more(0, (const uint8_t *)link->block, 2 * link->words));
        code = 0;
        more = 4;
    } else if (op == 'R') {
        code = read_words(link, in, count, out, &more);
    } else if (op == 'W') {
        code = write_words(link, in, count);
    }
    out[0] = (uint8_t)code;
    return 1 + more;
}

static uint32_t answer(adamb_link *link, uint8_t *body, uint32_t seed, uint8_t op, uint32_t payload)
{
    body[2] = op | ANSWER;
    put32(body + HEAD + payload, crc_more(seed, body, HEAD + payload));
    encode(link, body, HEAD + payload + CRC);
    return link->reply_bytes;
}

/* A new session forgets the old one; a repeated greeting is answered by the caller's rule for repeats. */
static uint32_t greet(adamb_link *link, const uint8_t *in, uint32_t count, uint8_t *body)
{
    if (count != HEAD + 5 + CRC || crc_more(0, in, HEAD + 5) != get32(in + HEAD + 5)) {
        return 0;
    }
    uint32_t session = get32(in + HEAD + 1);
    if (link->open && session == link->session) {
        return get16(in) == link->last ? link->reply_bytes : 0;
    }
    link->open = 1;
    link->session = session;
    link->seed = crc_more(0, in + HEAD + 1, 4);
    link->last = (uint16_t)get16(in);
    link->words = 0;
    return answer(link, body, 0, 'H', hello(link, body + HEAD));
}

static uint32_t respond(adamb_link *link, const uint8_t *in, uint32_t count)
{
    uint8_t body[ADAMB_LINK_BODY];
    if (count < HEAD + CRC || (in[2] & ANSWER) != 0) {
        return 0;
    }
    put16(body, get16(in));
    if (in[2] == 'H') {
        return greet(link, in, count, body);
    }
    count -= CRC;
    if (!link->open || crc_more(link->seed, in, count) != get32(in + count)) {
        return 0;
    }
    uint16_t number = (uint16_t)get16(in);
    if (number == link->last) {
        return link->reply_bytes;
    }
    if (number != (uint16_t)(link->last + 1u)) {
        return 0; /* a late copy of an older request, whose answer nobody waits for */
    }
    uint32_t payload = execute(link, in[2], in + HEAD, count - HEAD, body + HEAD);
    link->last = number;
    return answer(link, body, link->seed, in[2], payload);
}

void adamb_link_start(adamb_link *link, uint16_t *block, uint32_t capacity, uint32_t (*clock)(void), uint8_t unit)
{
    link->block = block;
    link->capacity = capacity;
    link->words = 0;
    link->clock = clock;
    link->unit = clock == 0 ? (uint8_t)ADAMB_LINK_NO_CLOCK : unit;
    link->open = 0;
    link->taken = -1;
    link->reply_bytes = 0;
}

uint32_t adamb_link_take(adamb_link *link, uint8_t byte)
{
    if (byte == '~') {
        link->taken = 0;
    } else if (byte == '\n' && link->taken > 0) {
        uint32_t count = (uint32_t)link->taken;
        link->taken = -1;
        return respond(link, link->line, decode(link->line, count));
    } else if (link->taken >= 0 && byte != '\r') {
        if (link->taken >= ADAMB_LINK_LINE) {
            link->taken = -1;
        } else {
            link->line[link->taken++] = byte;
        }
    }
    return 0;
}

uint32_t adamb_link_take_all(adamb_link *link, const uint8_t *bytes, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ready = adamb_link_take(link, bytes[i]);
        found = ready != 0 ? ready : found;
    }
    return found;
}
