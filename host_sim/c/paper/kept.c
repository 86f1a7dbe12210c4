/* A learner's balls, counts and cells as bytes. What is read must be such as splits make it: parts come behind what
 * they are parts of, in whole blocks, and the cells are at least as fine as the balls. */
#include "paper/ball.h"

enum { MOST = 1 << 29 }; /* samples: two such numbers can be added */

/* From `roots` on in blocks of `parts`: is this the first of one, behind `at`? */
static int begins_block(int32_t child, int32_t at, int32_t count, int32_t roots, int32_t parts)
{
    return child > at && child >= roots && child <= count - parts && (child - roots) % parts == 0;
}

static int cells_hold(const paper_cells *cells)
{
    int32_t parts = 1 << cells->d_s;
    const paper_cell *cell = cells->cell;
    if (cell[0].key != 1 || cell[0].level != 0 || cell[0].parent != -1 || (cells->count - 1) % parts != 0)
        return 0;
    for (int32_t at = 0; at < cells->count; at++) {
        int32_t child = cell[at].child, above = cell[at].parent, part = (at - 1) % parts;
        if (child != -1 && (!begins_block(child, at, cells->count, 1, parts) || cell[child].parent != at))
            return 0;
        if (at == 0)
            continue;
        if (above < 0 || above >= at || cell[above].child != at - part || cell[at].level != cell[above].level + 1
            || cell[at].level >= PAPER_LEVELS || cell[at].key != (cell[above].key << cells->d_s | (uint64_t)part))
            return 0;
    }
    return 1;
}

/* Counts of next states follow one another, none in two lists. */
static int counts_hold(paper_learner *one, const paper_ball *ball, int32_t *found)
{
    int32_t before = -1;
    for (int32_t at = ball->first; at != -1; at = one->count[at].link) {
        if (at <= before || at >= one->counts || one->count[at].samples < 0 || one->count[at].samples > MOST)
            return 0;
        one->count[at].cell = 0; /* found again by the first look */
        before = at;
        ++*found;
    }
    return *found <= one->counts && ball->last == before;
}

static int is_child(const paper_config *config, const paper_learner *one, int h, int32_t at, int32_t i)
{
    const paper_ball *ball = &one->ball[at], *above = &one->ball[ball->parent];
    if (ball->level != above->level + 1 || ball->level >= PAPER_LEVELS)
        return 0;
    for (int k = 0; k < config->d_a; k++)
        if (ball->action[k] != 2 * above->action[k] + (uint32_t)(i >> (config->d_a - 1 - k) & 1))
            return 0;
    int32_t cell = one->cells[h].cell[above->cell].child;
    return cell != -1 && ball->cell == cell + (i >> config->d_a);
}

static int is_root(const paper_ball *ball)
{
    return ball->parent == -1 && ball->level == 0 && ball->cell == 0 && !ball->action[0] && !ball->action[1]
           && !ball->action[2];
}

static int balls_hold(const paper_config *config, paper_learner *one)
{
    int32_t roots = config->horizon, parts = 1 << (config->d_s + config->d_a), found = 0;
    if ((one->balls - roots) % parts != 0)
        return 0;
    one->leaves = one->deepest = 0;
    for (int32_t at = 0; at < one->balls; at++) {
        const paper_ball *ball = &one->ball[at];
        int32_t child = ball->child, above = ball->parent, i = (at - roots) % parts, h = at;
        if (child != -1 && (!begins_block(child, at, one->balls, roots, parts) || one->ball[child].parent != at))
            return 0;
        if (at < roots ? !is_root(ball) : above < 0 || above >= at || one->ball[above].child != at - i)
            return 0;
        while (one->ball[h].parent >= 0)
            h = one->ball[h].parent;
        if (at >= roots && !is_child(config, one, h, at, i))
            return 0;
        if (ball->n < 0 || ball->n > MOST || ball->prior_n < 0 || ball->prior_n > MOST || ball->support < 0
            || ball->supports < 0 || ball->supports > one->support.count - ball->support
            || !counts_hold(one, ball, &found))
            return 0;
        one->leaves += child == -1;
        one->deepest = ball->level > one->deepest ? ball->level : one->deepest;
    }
    return found == one->counts;
}

/* A pool that grows; where it lies now, NULL where there is no memory for it. */
static void *pool(kept_row *row, void *array, int32_t *count, int32_t *capacity, size_t size)
{
    int32_t there = *count;
    kept_count(row, &there, size);
    if (row->wrong)
        return array;
    void *moved = paper_grow(array, capacity, there, size);
    if (there > 0 && moved == NULL) {
        row->wrong = -1;
        return array;
    }
    *count = there;
    kept_piece(row, moved, (size_t)there * size);
    return moved;
}

static void learner_kept(const paper_config *config, paper_learner *one, kept_row *row)
{
    one->ball = pool(row, one->ball, &one->balls, &one->ball_capacity, sizeof *one->ball);
    one->count = pool(row, one->count, &one->counts, &one->count_capacity, sizeof *one->count);
    paper_support *support = &one->support;
    support->mass = pool(row, support->mass, &support->count, &support->capacity, sizeof *support->mass);
    for (int h = 0; h < config->horizon; h++) {
        paper_cells *cells = &one->cells[h];
        cells->cell = pool(row, cells->cell, &cells->count, &cells->capacity, sizeof *cells->cell);
        if (kept_is_read(row))
            kept_check(row, cells->count > 0 && cells_hold(cells));
    }
    kept_piece(row, &one->rng, sizeof one->rng);
    if (kept_is_read(row))
        kept_check(row, one->balls >= config->horizon && balls_hold(config, one));
}

void paper_kept(void *learners, kept_row *row)
{
    const paper_learners *all = learners;
    for (int32_t i = 0; i < all->config.n && !row->wrong; i++)
        learner_kept(&all->config, &all->learner[i], row);
}
