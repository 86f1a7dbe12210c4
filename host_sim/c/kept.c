#include "kept.h"

#include <string.h>

void kept_piece(kept_row *row, void *piece, size_t size)
{
    if (row->wrong || size == 0)
        return;
    if (row->bytes != NULL && (int64_t)size > row->size - row->at) {
        row->wrong = 1;
        return;
    }
    if (row->bytes != NULL && row->back)
        memcpy(piece, &row->bytes[row->at], size);
    else if (row->bytes != NULL)
        memcpy(&row->bytes[row->at], piece, size);
    row->at += (int64_t)size;
}

void kept_count(kept_row *row, int32_t *count, size_t size)
{
    kept_piece(row, count, sizeof *count);
    if (kept_is_read(row))
        kept_check(row, *count >= 0 && *count <= (row->size - row->at) / (int64_t)size);
}

int kept_is_read(const kept_row *row)
{
    return row->back && !row->wrong;
}

void kept_check(kept_row *row, int holds)
{
    if (kept_is_read(row) && !holds)
        row->wrong = 1;
}
