/* The target's side of the link: a host plays the environment, the controller here decides and learns.
 *
 *     static adamb_link link;
 *     adamb_link_start(&link, block, WORDS, 0, ADAMB_LINK_NO_CLOCK);
 *     for (;;) {
 *         uint32_t count = adamb_link_take(&link, uart_read());
 *         uart_write(link.reply, count);
 *     }
 *
 * A frame is a line of text: `~`, the base64 of its body, a line feed. The body is a sequence number (16 bits), an
 * operation (8 bits, the high bit set in an answer), a payload, and the CRC-32 of the session's number and all before.
 * Numbers are little-endian. A request with the number of the last one is answered again and not executed again; one
 * that is not the next is refused. docs/in-the-loop.md lists the operations. */
#ifndef ADAMB_LINK_H
#define ADAMB_LINK_H
#include <stdint.h>

enum {
    ADAMB_LINK_VERSION = 1,
    ADAMB_LINK_WORDS = 48, /* most words of the block in one frame */
    ADAMB_LINK_BODY = 112, /* most bytes of a body */
    ADAMB_LINK_LINE = 152  /* most characters of a line */
};
/* The unit of `clock`. */
enum { ADAMB_LINK_NO_CLOCK = 0, ADAMB_LINK_MICROSECONDS = 1, ADAMB_LINK_CYCLES = 2 };

typedef struct {
    uint8_t reply[ADAMB_LINK_LINE];
    uint8_t line[ADAMB_LINK_LINE];
    uint16_t *block;
    uint32_t capacity; /* words there are for a block */
    uint32_t words;    /* words of the controller; 0 before there is one */
    uint32_t (*clock)(void);
    uint32_t session, seed; /* number of the session, and the CRC state that it leads to */
    uint32_t reply_bytes;
    uint16_t last; /* number of the last request */
    int16_t taken; /* characters of the line received; -1 before its start */
    uint8_t unit;
    uint8_t open; /* a session has begun */
} adamb_link;

/* Begin to wait for a session. The block holds at most `capacity` words; `clock` may be null. Work: constant. */
void adamb_link_start(adamb_link *link, uint16_t *block, uint32_t capacity, uint32_t (*clock)(void), uint8_t unit);

/* Take a byte from the line. Returns how many bytes of link->reply are to be sent now: 0 unless the byte completes a
 * request. Work: that of the call that is asked for; the CRC of the block is O(words). */
uint32_t adamb_link_take(adamb_link *link, uint8_t byte);

/* The same for several bytes, of which only the last may complete a request. */
uint32_t adamb_link_take_all(adamb_link *link, const uint8_t *bytes, uint32_t count);

#endif
