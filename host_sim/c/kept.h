/* The memory of compiled learners as a row of bytes, and back. A kind of learner names its pieces once, in a function
 * `PREFIX_kept`: the same order counts the bytes, writes and reads them. Pointers are no pieces; what is an index is
 * checked when it has been read, because the bytes may come from anywhere. */
#ifndef KEPT_H
#define KEPT_H
#include <stddef.h>
#include <stdint.h>

/* cffi begin */
typedef struct {
    uint8_t *bytes; /* NULL: they are only counted */
    int64_t size, at;
    int32_t back;  /* 1: from the bytes into the learners */
    int32_t wrong; /* 1: the bytes are not of such learners; -1: no memory. The learners can then only be freed. */
} kept_row;
/* cffi end */

/* What is between two episodes: the last actions are no part of it. */
void kept_piece(kept_row *row, void *piece, size_t size);

/* How many things a pool holds, as bytes of which each takes so many follow. */
void kept_count(kept_row *row, int32_t *count, size_t size);

/* Have bytes been read, without anything wrong so far? Then this must hold. */
int kept_is_read(const kept_row *row);
void kept_check(kept_row *row, int holds);

#endif
