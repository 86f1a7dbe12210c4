/* A tree's pool as bytes. Every node that is read belongs to one tree or one free list, or nothing is trusted. */
#include <stdlib.h>

#include "rivals/tree_pool.h"

typedef struct {
    const rivals_tree *tree;
    rivals_learner *learner;
    uint8_t *taken; /* per node */
    int32_t found;
} owners;

static int take(owners *all, int32_t first, int32_t nodes)
{
    if (first < 0 || first > all->learner->top - nodes)
        return 0;
    for (int32_t i = 0; i < nodes; i++)
        if (all->taken[first + i]++)
            return 0;
    all->found += nodes;
    return 1;
}

/* A node and all below it; a node is taken once, so this ends. */
static int take_tree(owners *all, int32_t at, int level, int part)
{
    const rivals_node *node = &all->learner->nodes[at];
    if (node->kind == RIVALS_LEAF)
        return 1;
    int kind = part ? RIVALS_ACTION : all->tree->config.lazy ? RIVALS_STATE : RIVALS_WHOLE;
    int32_t fan = all->tree->fan[kind];
    if (node->kind != kind || level >= RIVALS_LEVELS - 1 || !take(all, node->child, fan))
        return 0;
    all->learner->inner++;
    for (int32_t i = 0; i < fan; i++)
        if (!take_tree(all, node->child + i, level + (kind != RIVALS_STATE), kind == RIVALS_STATE))
            return 0;
    return 1;
}

static int take_all(owners *all)
{
    rivals_learner *learner = all->learner;
    learner->inner = 0;
    if (!take(all, 0, all->tree->roots))
        return 0;
    for (int32_t root = 0; root < all->tree->roots; root++)
        if (!take_tree(all, root, 0, 0))
            return 0;
    learner->live = all->found;
    for (int kind = RIVALS_WHOLE; kind < RIVALS_KINDS; kind++)
        for (int32_t block = learner->free_block[kind]; block != -1; block = learner->nodes[block].child)
            if (!take(all, block, all->tree->fan[kind]))
                return 0;
    return all->found == learner->top && learner->peak >= learner->live && learner->peak <= learner->top;
}

static int counts_hold(const rivals_learner *learner)
{
    for (int32_t i = 0; i < learner->top; i++) {
        const rivals_node *node = &learner->nodes[i];
        if (node->n < 0 || node->n > RIVALS_COUNT_MAX || node->seen < 0 || node->seen > learner->clock)
            return 0;
    }
    return learner->refused >= 0 && learner->refused < INT64_MAX / 2 && learner->merges >= 0
           && learner->merges < INT64_MAX / 2;
}

static void check(const rivals_tree *tree, rivals_learner *learner, kept_row *row)
{
    owners all = {tree, learner, calloc((size_t)learner->top, 1), 0};
    if (all.taken == NULL)
        row->wrong = -1;
    else
        kept_check(row, take_all(&all) && counts_hold(learner));
    free(all.taken);
}

static void learner_kept(const rivals_tree *tree, rivals_learner *learner, kept_row *row)
{
    int32_t top = learner->top;
    size_t values = (size_t)tree->values * sizeof *learner->q;
    kept_count(row, &top, sizeof *learner->nodes + values);
    kept_check(row, top >= tree->roots && top <= tree->config.max_nodes);
    if (kept_is_read(row) && !rivals_reserve(tree, learner, top - learner->top))
        row->wrong = -1;
    if (row->wrong)
        return;
    learner->top = top;
    kept_piece(row, learner->nodes, (size_t)top * sizeof *learner->nodes);
    kept_piece(row, learner->q, (size_t)top * values);
    kept_piece(row, &learner->peak, sizeof learner->peak);
    kept_piece(row, learner->free_block, sizeof learner->free_block);
    kept_piece(row, &learner->clock, sizeof learner->clock);
    kept_piece(row, &learner->refused, sizeof learner->refused);
    kept_piece(row, &learner->merges, sizeof learner->merges);
    kept_piece(row, &learner->rng, sizeof learner->rng);
    if (kept_is_read(row))
        check(tree, learner, row);
}

void rivals_tree_kept(void *all, kept_row *row)
{
    const rivals_tree *tree = all;
    for (int32_t i = 0; i < tree->config.n && !row->wrong; i++)
        learner_kept(tree, &tree->learners[i], row);
}
