#include "paper/cells.h"

#include <math.h>
#include <stdlib.h>

void *paper_grow(void *array, int32_t *capacity, int32_t wanted, size_t size)
{
    if (wanted <= *capacity)
        return array;
    int32_t larger = *capacity > wanted / 2 ? *capacity * 2 : wanted;
    void *moved = realloc(array, (size_t)larger * size);
    if (moved != NULL)
        *capacity = larger;
    return moved;
}

static int reserve(paper_cells *cells, int32_t wanted)
{
    void *moved = paper_grow(cells->cell, &cells->capacity, wanted, sizeof *cells->cell);
    if (moved == NULL)
        return 0;
    cells->cell = moved;
    return 1;
}

int paper_cells_init(paper_cells *cells, int d_s, double value)
{
    *cells = (paper_cells){NULL, 0, 0, d_s};
    if (!reserve(cells, 16))
        return 0;
    cells->cell[0] = (paper_cell){1, value, {0.5, 0.5, 0.5}, 0, -1, -1};
    cells->count = 1;
    return 1;
}

int paper_cells_split(paper_cells *cells, int32_t at)
{
    int32_t parts = 1 << cells->d_s, first = cells->count;
    if (!reserve(cells, first + parts))
        return 0;
    paper_cell *cell = &cells->cell[at];
    for (int32_t i = 0; i < parts; i++) {
        paper_cell *part = &cells->cell[first + i];
        *part = (paper_cell){cell->key << cells->d_s | (uint64_t)i, cell->mean, {0}, cell->level + 1, -1, at};
        paper_centre_of_key(part->key, part->level, cells->d_s, part->centre);
    }
    cell->child = first;
    cells->count += parts;
    return 1;
}

void paper_cells_set(paper_cells *cells, int32_t at, double value)
{
    int32_t parts = 1 << cells->d_s;
    if (cells->cell[at].mean == value)
        return;
    cells->cell[at].mean = value;
    while ((at = cells->cell[at].parent) >= 0) {
        const paper_cell *part = &cells->cell[cells->cell[at].child];
        double sum = part[0].mean;
        for (int32_t i = 1; i < parts; i++)
            sum += part[i].mean;
        cells->cell[at].mean = sum / parts;
    }
}

double paper_cells_envelope(const paper_cells *cells, const double *point, double lipschitz)
{
    double least = HUGE_VAL;
    for (int32_t at = 0; at < cells->count; at++) {
        const paper_cell *cell = &cells->cell[at];
        if (cell->child >= 0)
            continue;
        double distance = 0;
        for (int i = 0; i < cells->d_s; i++) {
            double apart = fabs(point[i] - cell->centre[i]);
            distance = apart > distance ? apart : distance;
        }
        double value = cell->mean + lipschitz * distance;
        least = value < least ? value : least;
    }
    return least;
}

void paper_centre_of_key(uint64_t key, int level, int d, double *centre)
{
    uint8_t path[PAPER_LEVELS];
    paper_path_of_key(key, level, d, path);
    for (int i = 0; i < d; i++) {
        double corner = 0;
        for (int j = 0; j < level; j++)
            corner = 2 * corner + (path[j] >> (d - 1 - i) & 1);
        centre[i] = ldexp(corner + 0.5, -level);
    }
}

int32_t paper_cells_descend(const paper_cells *cells, int32_t from, uint64_t key, int level)
{
    const paper_cell *cell = &cells->cell[from];
    uint64_t mask = ((uint64_t)1 << cells->d_s) - 1;
    while (cell->child >= 0 && cell->level < level) {
        from = cell->child + (int32_t)(key >> cells->d_s * (level - 1 - cell->level) & mask);
        cell = &cells->cell[from];
    }
    return from;
}

void paper_path_of_key(uint64_t key, int level, int d, uint8_t *path)
{
    uint64_t mask = ((uint64_t)1 << d) - 1;
    for (int j = 0; j < level; j++)
        path[j] = (uint8_t)(key >> d * (level - 1 - j) & mask);
}

void paper_path_of_point(const double *point, int d, uint8_t *path)
{
    enum { BITS = 30 };
    uint32_t fixed[PAPER_MAX_DIM];
    for (int i = 0; i < d; i++) {
        double scaled = point[i] * (1 << BITS);
        fixed[i] = scaled <= 0 ? 0 : scaled >= (1 << BITS) ? (1u << BITS) - 1 : (uint32_t)scaled;
    }
    for (int level = 0; level < PAPER_LEVELS; level++) {
        uint32_t bits = 0;
        for (int i = 0; i < d; i++)
            bits = bits << 1 | (fixed[i] >> (BITS - 1 - level) & 1);
        path[level] = (uint8_t)bits;
    }
}

uint64_t paper_key_of_path(const uint8_t *path, int level, int d)
{
    uint64_t key = 1;
    for (int j = 0; j < level; j++)
        key = key << d | path[j];
    return key;
}

static int add(paper_support *support, int32_t first, uint64_t key, double samples, int level, int d)
{
    for (int32_t at = first; at < support->count; at++) {
        if (support->mass[at].key == key) {
            support->mass[at].mass += samples;
            return 1;
        }
    }
    void *moved = paper_grow(support->mass, &support->capacity, support->count + 1, sizeof *support->mass);
    if (moved == NULL)
        return 0;
    support->mass = moved;
    paper_mass *made = &support->mass[support->count++];
    *made = (paper_mass){key, samples, {0}};
    paper_centre_of_key(key, level, d, made->centre);
    return 1;
}

int paper_support_spread(paper_support *support, int32_t first, uint64_t key, double samples, int level, int d)
{
    for (uint64_t part = 0; part < (uint64_t)1 << d; part++)
        if (!add(support, first, key << d | part, samples / (1 << d), level, d))
            return 0;
    return 1;
}

double paper_support_sum(const paper_support *support, int32_t first, int32_t count, const paper_cells *cells,
                         double lipschitz)
{
    double sum = 0;
    for (int32_t at = first; at < first + count; at++)
        sum += support->mass[at].mass * paper_cells_envelope(cells, support->mass[at].centre, lipschitz);
    return sum;
}
