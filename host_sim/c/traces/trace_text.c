#include "traces/trace_text.h"
#include <string.h>

/* A cursor in one line; every reader returns 0 when the text is not what it expects. */
typedef struct {
    const char *at, *end;
} cursor;

static int blanks(cursor *c)
{
    const char *from = c->at;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
    return c->at > from;
}

static int word(cursor *c, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
        return 0;
    c->at += n;
    return 1;
}

/* At most 18 digits, so that nothing overflows. */
static int decimal(cursor *c, uint64_t *value)
{
    const char *from = c->at;
    *value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        *value = *value * 10 + (uint64_t)(*c->at - '0');
    return c->at > from && c->at - from <= 18;
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static int hexadecimal(cursor *c, uint64_t *value, int longest)
{
    if (!word(c, "0x") && !word(c, "0X"))
        return 0;
    const char *from = c->at;
    *value = 0;
    for (; c->at < c->end && digit(*c->at) >= 0; c->at++)
        *value = *value << 4 | (uint64_t)digit(*c->at);
    return c->at > from && c->at - from <= longest;
}

static int read_or_write(cursor *c, const char *reading, const char *writing, uint32_t *write)
{
    *write = 0;
    if (word(c, reading))
        return 1;
    *write = 1;
    return word(c, writing);
}

static int dramsys(cursor *c, trace_record *r)
{
    uint64_t cycle, length, data;
    if (!decimal(c, &cycle) || !word(c, ":"))
        return 0;
    blanks(c);
    if (word(c, "(")) {
        if (!decimal(c, &length) || length > 999999999 || !word(c, ")"))
            return 0;
        r->size = (uint32_t)length;
        blanks(c);
    }
    if (!read_or_write(c, "read", "write", &r->write) || !blanks(c) || !hexadecimal(c, &r->address, 16))
        return 0;
    r->time = (int64_t)cycle;
    if (blanks(c) && c->at < c->end && *c->at == '0')
        return hexadecimal(c, &data, INT32_MAX);
    return 1;
}

/* Records of one line without its end: 1, or 2 for an access with a write-back, or 0. */
static int read_line(int32_t kind, cursor *c, trace_record *r, const trace_progress *progress)
{
    uint64_t number;
    int good = 0, count = 1;
    memset(r, 0, sizeof *r);
    r->size = kind == TRACE_IDS ? 1 : 64;
    blanks(c);
    switch (kind) {
    case TRACE_RAMULATOR:
        good = hexadecimal(c, &r->address, 16) && blanks(c) && read_or_write(c, "R", "W", &r->write);
        break;
    case TRACE_LOAD_STORE:
        good = read_or_write(c, "LD", "ST", &r->write) && blanks(c) && hexadecimal(c, &r->address, 16);
        break;
    case TRACE_DRAMSIM3:
        good = hexadecimal(c, &r->address, 16) && blanks(c) && read_or_write(c, "READ", "WRITE", &r->write) &&
               blanks(c) && decimal(c, &number);
        r->time = good ? (int64_t)number : 0;
        break;
    case TRACE_DRAMSYS:
        good = dramsys(c, r);
        break;
    case TRACE_IDS:
        good = decimal(c, &r->address);
        break;
    case TRACE_CPU:
        good = decimal(c, &number) && number < 1000000000 && blanks(c) && decimal(c, &r->address);
        r->time = good ? progress->instructions + (int64_t)number + 1 : 0;
        if (good && blanks(c) && c->at < c->end && *c->at != '\r') {
            r[1] = r[0];
            r[1].write = 1;
            count = 2;
            good = decimal(c, &r[1].address);
        }
        break;
    default: /* a kind that no caller has: not a line of it */
        break;
    }
    blanks(c);
    word(c, "\r");
    if (kind == TRACE_DRAMSIM3 || kind == TRACE_DRAMSYS)
        good = good && r->time >= progress->time;
    return good && c->at == c->end ? count : 0;
}

void trace_text_read(int32_t kind, const char *text, int64_t n, trace_record *records, int64_t most,
                     trace_progress *progress)
{
    const char *at = text, *stop = text + n;
    progress->lines = progress->records = 0;
    while (progress->records + 2 <= most) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        if (end == NULL)
            break;
        cursor line = {at, end};
        trace_record *record = &records[progress->records];
        int count = read_line(kind, &line, record, progress);
        if (count == 0)
            break;
        if (kind == TRACE_CPU)
            progress->instructions = record->time;
        else
            progress->time = record->time;
        progress->records += count;
        progress->lines++;
        at = end + 1;
    }
    progress->bytes = at - text;
}
