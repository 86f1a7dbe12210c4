#include "baselines/tree.h"

#include <string.h>
#include <math.h>
#include <stdlib.h>

#include "exact.h"
#include "baselines/tree_pool.h"

static double *q_of(const baselines_tree *tree, const baselines_learner *learner, int32_t node)
{
    return &learner->q[(size_t)node * (size_t)tree->values];
}

static int root_of(const baselines_tree *tree, int h)
{
    return tree->roots == 1 ? 0 : h;
}

static int value_of(const baselines_tree *tree, int h)
{
    return tree->values == 1 ? 0 : h;
}

/* No return is larger: all steps that are left, or a discounted run without end. */
static double largest_return(const baselines_tree_config *config, int h)
{
    if (config->zoom)
        return 1;
    return config->stepless ? 1 / (1 - config->discount) : config->horizon - h;
}

static int learner_init(const baselines_tree *tree, baselines_learner *learner, uint64_t seed)
{
    sim_rng_seed(&learner->rng, seed);
    learner->played = calloc((size_t)tree->config.horizon, sizeof *learner->played);
    if (learner->played == NULL || !baselines_reserve(tree, learner, tree->roots))
        return 0;
    for (int kind = 0; kind < BASELINES_KINDS; kind++)
        learner->free_block[kind] = -1;
    for (int32_t root = 0; root < tree->roots; root++) {
        learner->nodes[root] = (baselines_node){-1, 0, 0, BASELINES_LEAF};
        for (int32_t v = 0; v < tree->values; v++) {
            int h = tree->roots == 1 ? v : root;
            q_of(tree, learner, root)[v] = largest_return(&tree->config, h);
        }
    }
    learner->top = learner->live = learner->peak = tree->roots;
    return 1;
}

baselines_tree *baselines_tree_new(const baselines_tree_config *config, const uint64_t *seeds)
{
    baselines_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return NULL;
    tree->config = *config;
    tree->roots = config->share || config->stepless ? 1 : config->horizon;
    tree->values = config->share && !config->zoom ? config->horizon : 1;
    tree->fan[BASELINES_WHOLE] = 1 << (config->d_s + config->d_a);
    tree->fan[BASELINES_STATE] = 1 << config->d_s;
    tree->fan[BASELINES_ACTION] = 1 << config->d_a;
    for (int level = 0; level <= BASELINES_LEVELS; level++)
        tree->threshold[level] = config->phi * exact_exp2(config->gamma * level);
    tree->learners = calloc((size_t)config->n, sizeof *tree->learners);
    for (int32_t i = 0; tree->learners != NULL && i < config->n; i++) {
        if (!learner_init(tree, &tree->learners[i], seeds[i])) {
            baselines_tree_free(tree);
            return NULL;
        }
    }
    if (tree->learners == NULL) {
        free(tree);
        return NULL;
    }
    return tree;
}

void baselines_tree_free(baselines_tree *tree)
{
    for (int32_t i = 0; i < tree->config.n; i++) {
        free(tree->learners[i].nodes);
        free(tree->learners[i].q);
        free(tree->learners[i].played);
    }
    free(tree->learners);
    free(tree);
}

static double optimism(const baselines_tree *tree, const baselines_learner *learner, int32_t node, int value)
{
    double q = q_of(tree, learner, node)[value];
    if (!tree->config.zoom)
        return q;
    int32_t n = learner->nodes[node].n;
    return n == 0 ? 1.0 + tree->config.bonus : q + baselines_bonus(tree->config.bonus, n);
}

static baselines_place best_ball(const baselines_tree *tree, baselines_learner *learner, int h, const double *state)
{
    baselines_choice choice = {0, 0};
    baselines_place leaf, best = {0, 0, 0, {0}};
    baselines_walk walk;
    baselines_walk_start(&walk, tree, learner, root_of(tree, h), state);
    while (baselines_walk_next(&walk, &leaf))
        if (baselines_take(&choice, optimism(tree, learner, leaf.node, value_of(tree, h)), &learner->rng))
            best = leaf;
    return best;
}

/* A part that is played for the first time gets its action side; without room it is played as one ball. */
static void divide_part(const baselines_tree *tree, baselines_learner *learner, baselines_place *place)
{
    if (!place->part || place->level >= BASELINES_LEVELS - 1
        || baselines_split(tree, learner, place->node, BASELINES_ACTION) != 1)
        return;
    int32_t digit = (int32_t)(sim_rng_next(&learner->rng) % (uint32_t)tree->fan[BASELINES_ACTION]);
    place->node = learner->nodes[place->node].child + digit;
    place->level++;
    place->part = 0;
    for (int i = 0; i < tree->config.d_a && i < BASELINES_MAX_DIM; i++)
        place->action[i] = place->action[i] * 2 + (uint32_t)(digit >> i & 1);
}

int baselines_tree_act(void *all, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const baselines_tree *tree = all;
    const baselines_tree_config *config = &tree->config;
    for (int32_t i = 0; i < n; i++) {
        baselines_learner *learner = &tree->learners[first + i];
        baselines_place place = best_ball(tree, learner, h, &states[(int64_t)i * config->d_s]);
        divide_part(tree, learner, &place);
        learner->played[h] = place;
        double side = ldexp(1.0, -place.level);
        for (int k = 0; k < config->d_a; k++) {
            double within = config->random_action ? sim_rng_uniform(&learner->rng) : 0.5;
            actions[i * config->d_a + k] = (place.action[k] + within) * side;
        }
    }
    return 0;
}

/* The value of `state` at step h, no more than the rewards that are left. */
static double state_value(const baselines_tree *tree, const baselines_learner *learner, int h, const double *state)
{
    if (h >= tree->config.horizon && !tree->config.stepless)
        return 0;
    double best = 0, most = largest_return(&tree->config, h);
    baselines_place leaf;
    baselines_walk walk;
    baselines_walk_start(&walk, tree, learner, root_of(tree, h), state);
    while (baselines_walk_next(&walk, &leaf)) {
        double q = q_of(tree, learner, leaf.node)[value_of(tree, h)];
        best = q > best ? q : best;
    }
    return best < most ? best : most;
}

static void learn(const baselines_tree *tree, baselines_learner *learner, int h, double reward, const double *next)
{
    const baselines_tree_config *config = &tree->config;
    int32_t at = learner->played[h].node;
    baselines_node *node = &learner->nodes[at];
    if (node->n < (config->reclaim ? BASELINES_COUNT_AGED_MAX : BASELINES_COUNT_MAX))
        node->n++;
    learner->clock += learner->clock < INT32_MAX;
    node->seen = learner->clock;
    double *q = q_of(tree, learner, at);
    if (config->zoom) {
        *q += (reward - *q) / node->n;
        return;
    }
    double rate = baselines_rate(config->horizon, node->n), bonus = baselines_bonus(config->bonus, node->n);
    int from = config->share ? 0 : h, to = config->share ? config->horizon : h + 1;
    for (int step = from; step < to; step++) {
        double left = state_value(tree, learner, step + 1, next);
        double target = reward + bonus + (config->stepless ? config->discount : 1) * left;
        double *value = &q[value_of(tree, step)];
        *value += rate * (target - *value);
    }
}

int baselines_tree_observe(void *all, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const baselines_tree *tree = all;
    int kind = tree->config.lazy ? BASELINES_STATE : BASELINES_WHOLE;
    for (int32_t i = 0; i < n; i++) {
        baselines_learner *learner = &tree->learners[first + i];
        const baselines_place *place = &learner->played[h];
        learn(tree, learner, h, rewards[i], &next[(int64_t)i * tree->config.d_s]);
        int due = learner->nodes[place->node].n >= tree->threshold[place->level];
        if (!place->part && due && place->level < BASELINES_LEVELS - 1
            && baselines_split(tree, learner, place->node, kind) < 0)
            return -1;
    }
    return 0;
}

void baselines_tree_counters(const baselines_tree *tree, int64_t *counters)
{
    for (int32_t i = 0; i < tree->config.n; i++) {
        const baselines_learner *learner = &tree->learners[i];
        int64_t *out = &counters[(int64_t)5 * i];
        out[0] = learner->live;
        out[1] = learner->peak;
        out[2] = learner->live - learner->inner;
        out[3] = learner->refused;
        out[4] = learner->merges;
    }
}

void baselines_tree_played(const baselines_tree *tree, int index, int h, double *ball)
{
    const baselines_learner *learner = &tree->learners[index];
    const baselines_place *place = &learner->played[h];
    ball[0] = q_of(tree, learner, place->node)[value_of(tree, h)];
    ball[1] = learner->nodes[place->node].n;
    ball[2] = place->level;
}

static int holds(const baselines_place *place, int d_a, const double *action)
{
    double cells = ldexp(1.0, place->level);
    for (int k = 0; k < d_a; k++) {
        double at = floor(action[k] * cells);
        if (place->action[k] != (uint32_t)(at < cells ? at : cells - 1))
            return 0;
    }
    return 1;
}

void baselines_tree_balls(const baselines_tree *tree, int index, int h, int pairs, const double *states,
                       const double *actions, double *found)
{
    const baselines_tree_config *config = &tree->config;
    const baselines_learner *learner = &tree->learners[index];
    for (size_t i = 0; i < (size_t)pairs; i++) {
        baselines_place leaf;
        baselines_walk walk;
        baselines_walk_start(&walk, tree, learner, root_of(tree, h), &states[i * (size_t)config->d_s]);
        while (baselines_walk_next(&walk, &leaf) && !holds(&leaf, config->d_a, &actions[i * (size_t)config->d_a]))
            continue;
        found[3 * i] = q_of(tree, learner, leaf.node)[value_of(tree, h)];
        found[3 * i + 1] = leaf.level;
        found[3 * i + 2] = learner->nodes[leaf.node].n;
    }
}

int baselines_held_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const baselines_held *all = learners;
    double *held = all->action + (int64_t)first * all->d_a;
    int error = h == 0 ? baselines_tree_act(all->tree, first, n, 0, states, held) : 0;
    memcpy(actions, held, (size_t)n * (size_t)all->d_a * sizeof *actions);
    return error;
}

int baselines_held_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const baselines_held *all = learners;
    for (int32_t i = 0; i < n; i++) {
        double *sum = all->sum + first + i;
        *sum += rewards[i];
        if (h + 1 < all->horizon)
            continue;
        double mean = *sum / all->horizon;
        *sum = 0.0;
        int error = baselines_tree_observe(all->tree, first + i, 1, 0, &mean, next);
        if (error < 0)
            return error;
    }
    return 0;
}
