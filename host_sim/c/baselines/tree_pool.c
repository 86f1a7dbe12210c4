#include "baselines/tree_pool.h"

#include <stdlib.h>
#include <string.h>

enum { PROBES = 8, AGE_STEPS = 64, AGES = 3 };

void baselines_walk_start(baselines_walk *walk, const baselines_tree *tree, const baselines_learner *learner, int root,
                       const double *state)
{
    walk->tree = tree;
    walk->learner = learner;
    walk->depth = 1;
    memset(&walk->stack[0], 0, sizeof walk->stack[0]);
    walk->stack[0].node = root;
    for (int i = 0; i < tree->config.d_s; i++) {
        double x = state[i] < 0 ? 0 : state[i];
        walk->state[i] = x >= 1 ? (1u << BASELINES_LEVELS) - 1 : (uint32_t)(x * (1u << BASELINES_LEVELS));
    }
}

static int32_t state_digit(const baselines_walk *walk, int level)
{
    int32_t digit = 0;
    for (int i = 0; i < walk->tree->config.d_s; i++)
        digit = digit * 2 + (int32_t)(walk->state[i] >> (BASELINES_LEVELS - 1 - level) & 1u);
    return digit;
}

static void push_actions(baselines_walk *walk, const baselines_place *from, int32_t first)
{
    for (int32_t digit = 0; digit < walk->tree->fan[BASELINES_ACTION]; digit++) {
        baselines_place *child = &walk->stack[walk->depth++];
        *child = *from;
        child->node = first + digit;
        child->level = from->level + 1;
        child->part = 0;
        for (int i = 0; i < walk->tree->config.d_a; i++)
            child->action[i] = from->action[i] * 2 + (uint32_t)(digit >> i & 1);
    }
}

int baselines_walk_next(baselines_walk *walk, baselines_place *leaf)
{
    while (walk->depth > 0) {
        baselines_place at = walk->stack[--walk->depth];
        const baselines_node *node = &walk->learner->nodes[at.node];
        if (node->kind == BASELINES_LEAF) {
            *leaf = at;
            return 1;
        }
        if (node->kind == BASELINES_ACTION) {
            push_actions(walk, &at, node->child);
            continue;
        }
        int32_t digit = state_digit(walk, at.level);
        if (node->kind == BASELINES_WHOLE) {
            push_actions(walk, &at, node->child + digit * walk->tree->fan[BASELINES_ACTION]);
        } else {
            at.node = node->child + digit;
            at.part = 1;
            walk->stack[walk->depth++] = at;
        }
    }
    return 0;
}

int baselines_reserve(const baselines_tree *tree, baselines_learner *learner, int32_t nodes)
{
    if (learner->top + nodes <= learner->capacity)
        return 1;
    int32_t capacity = 2 * (learner->top + nodes);
    baselines_node *grown = realloc(learner->nodes, (size_t)capacity * sizeof *grown);
    if (grown == NULL)
        return 0;
    learner->nodes = grown;
    double *q = realloc(learner->q, (size_t)capacity * (size_t)tree->values * sizeof *q);
    if (q == NULL)
        return 0;
    learner->q = q;
    learner->capacity = capacity;
    return 1;
}

/* Blocks of one size share a free list, whichever kind of split they came from. */
static int size_class(const baselines_tree *tree, int kind)
{
    for (int other = BASELINES_WHOLE; other < kind; other++)
        if (tree->fan[other] == tree->fan[kind])
            return other;
    return kind;
}

static int mergeable(const baselines_tree *tree, const baselines_learner *learner, const baselines_node *node)
{
    for (int32_t i = 0; i < tree->fan[node->kind]; i++)
        if (learner->nodes[node->child + i].kind != BASELINES_LEAF)
            return 0;
    return 1;
}

/* Age in periods, no more than two bits can tell. */
static int block_age(const baselines_tree *tree, const baselines_learner *learner, const baselines_node *node)
{
    int32_t period = AGE_STEPS * tree->config.horizon, latest = 0;
    for (int32_t i = 0; i < tree->fan[node->kind]; i++) {
        int32_t seen = learner->nodes[node->child + i].seen;
        latest = seen > latest ? seen : latest;
    }
    int32_t age = learner->clock / period - latest / period;
    return age > AGES ? AGES : age;
}

/* Down from a random root through random divided children to a node with nothing but leaves below. */
static int32_t random_mergeable(const baselines_tree *tree, baselines_learner *learner)
{
    int32_t at = (int32_t)(sim_rng_next(&learner->rng) % (uint32_t)tree->roots);
    while (learner->nodes[at].kind != BASELINES_LEAF) {
        const baselines_node *node = &learner->nodes[at];
        if (mergeable(tree, learner, node))
            return at;
        int32_t fan = tree->fan[node->kind];
        int32_t offset = (int32_t)(sim_rng_next(&learner->rng) % (uint32_t)fan);
        while (learner->nodes[node->child + offset].kind == BASELINES_LEAF)
            offset = (offset + 1) % fan;
        at = node->child + offset;
    }
    return -1;
}

static int32_t find_victim(const baselines_tree *tree, baselines_learner *learner, int32_t keep, int kind)
{
    int32_t victim = -1;
    int oldest = 0;
    for (int probe = 0; probe < PROBES; probe++) {
        int32_t at = random_mergeable(tree, learner);
        if (at < 0)
            continue;
        const baselines_node *node = &learner->nodes[at];
        int32_t fan = tree->fan[node->kind];
        if (fan != tree->fan[kind] || (keep >= node->child && keep < node->child + fan))
            continue;
        int age = block_age(tree, learner, node);
        if (age > oldest) {
            oldest = age;
            victim = at;
        }
    }
    return victim;
}

/* The merged ball is worth its best played child; children never played still hold an old inherited Q. */
static void merge(const baselines_tree *tree, baselines_learner *learner, int32_t at)
{
    baselines_node *node = &learner->nodes[at], *child = &learner->nodes[node->child];
    int32_t fan = tree->fan[node->kind], least = child[0].n, most = child[0].n;
    for (int32_t i = 1; i < fan; i++) {
        least = child[i].n < least ? child[i].n : least;
        most = child[i].n > most ? child[i].n : most;
    }
    for (int32_t v = 0; v < tree->values; v++) {
        double best = -1;
        for (int32_t i = 0; i < fan; i++) {
            double q = learner->q[(size_t)(node->child + i) * (size_t)tree->values + (size_t)v];
            if ((child[i].n > least || most == least) && q > best)
                best = q;
        }
        learner->q[(size_t)at * (size_t)tree->values + (size_t)v] = best;
    }
    int list = size_class(tree, node->kind);
    int32_t block = node->child;
    node->kind = BASELINES_LEAF;
    node->n = least;
    node->seen = child[0].seen;
    learner->nodes[block].child = learner->free_block[list];
    learner->free_block[list] = block;
    learner->live -= fan;
    learner->inner--;
    learner->merges++;
}

static int32_t take_block(const baselines_tree *tree, baselines_learner *learner, int32_t keep, int kind)
{
    int list = size_class(tree, kind);
    if (learner->free_block[list] < 0 && learner->top + tree->fan[kind] > tree->config.max_nodes
        && tree->config.reclaim) {
        int32_t victim = find_victim(tree, learner, keep, kind);
        if (victim >= 0)
            merge(tree, learner, victim);
    }
    int32_t block = learner->free_block[list];
    if (block >= 0) {
        learner->free_block[list] = learner->nodes[block].child;
        return block;
    }
    if (learner->top + tree->fan[kind] > tree->config.max_nodes)
        return -1;
    if (!baselines_reserve(tree, learner, tree->fan[kind]))
        return -2;
    block = learner->top;
    learner->top += tree->fan[kind];
    return block;
}

int baselines_split(const baselines_tree *tree, baselines_learner *learner, int32_t at, int kind)
{
    int32_t block = take_block(tree, learner, at, kind);
    if (block == -2)
        return -1;
    if (block < 0) {
        learner->refused++;
        return 0;
    }
    baselines_node *node = &learner->nodes[at];
    size_t values = (size_t)tree->values;
    for (int32_t i = 0; i < tree->fan[kind]; i++) {
        learner->nodes[block + i] = *node;
        memcpy(&learner->q[(size_t)(block + i) * values], &learner->q[(size_t)at * values],
               values * sizeof *learner->q);
    }
    node->kind = kind;
    node->child = block;
    learner->inner++;
    learner->live += tree->fan[kind];
    if (learner->live > learner->peak)
        learner->peak = learner->live;
    return 1;
}
