/* The hot part of reading text traces: whole lines of the simple formats, strictly. */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H
#include <stdint.h>

/* cffi begin */
enum { TRACE_RAMULATOR, TRACE_LOAD_STORE, TRACE_CPU, TRACE_DRAMSIM3, TRACE_DRAMSYS, TRACE_IDS };

typedef struct {
    int64_t time;
    uint64_t address;
    uint32_t size, write;
    int64_t next;
} trace_record;

typedef struct {
    int64_t instructions; /* of a CPU trace so far; the caller keeps it between calls */
    int64_t time; /* of the last line with a cycle, likewise: no later line may be before it */
    int64_t bytes, lines, records; /* taken by the last call */
} trace_progress;

/* Reads lines from text[0..n) into records (room for `most`) and stops before the first line that is not plainly of
 * the format: a comment, a blank or bad line, the last one without an end, or one that has no room left. The
 * caller looks at that line itself. O(n). */
void trace_text_read(int32_t kind, const char *text, int64_t n, trace_record *records, int64_t most,
                     trace_progress *progress);
/* cffi end */

#endif
