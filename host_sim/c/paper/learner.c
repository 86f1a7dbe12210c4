#include "paper/learner.h"

#include <math.h>
#include <stdlib.h>

#include "paper/cells.h"
#include "sim_rng.h"

typedef struct {
    int32_t child; /* first of the children, by state bits, then action bits; -1 for an active ball */
    int32_t parent, cell, level;
    int32_t n, prior_n; /* own samples, those of the ancestors */
    uint32_t action[PAPER_MAX_DIM];
    double reward_sum, prior_reward, q;
    int32_t first, last; /* its counts of next states, in the order of their first sample; -1 for none */
    int32_t support, supports; /* with the envelope: the range of its ancestors' next states */
} paper_ball;

typedef struct {
    uint64_t key; /* of a cell as fine as the ball */
    int32_t cell; /* the finest one known of those that hold it: cells only ever divide */
    int32_t samples, link;
} paper_count;

typedef struct {
    paper_ball *ball; /* the first `horizon` are the roots */
    paper_count *count;
    paper_support support;
    paper_cells *cells; /* per step */
    int32_t *played;    /* per step */
    int32_t balls, ball_capacity, counts, count_capacity, leaves, deepest;
    sim_rng rng;
} paper_learner;

struct paper_learners {
    paper_config config;
    paper_learner *learner;
};

/* ---- memory --------------------------------------------------------------------------------------------- */

static int learner_init(const paper_config *config, paper_learner *one, uint64_t seed)
{
    sim_rng_seed(&one->rng, seed);
    size_t steps = (size_t)config->horizon;
    one->cells = calloc(steps, sizeof *one->cells);
    one->played = calloc(steps, sizeof *one->played);
    one->ball = paper_grow(NULL, &one->ball_capacity, config->horizon, sizeof *one->ball);
    if (one->cells == NULL || one->played == NULL || one->ball == NULL)
        return 0;
    for (int h = 0; h < config->horizon; h++) {
        double most = config->horizon - h;
        one->ball[h] = (paper_ball){-1, -1, 0, 0, 0, 0, {0}, 0, 0, most, -1, -1, 0, 0};
        if (!paper_cells_init(&one->cells[h], config->d_s, most))
            return 0;
    }
    one->balls = one->leaves = config->horizon;
    return 1;
}

paper_learners *paper_new(const paper_config *config, const uint64_t *seeds)
{
    paper_learners *all = calloc(1, sizeof *all);
    if (all == NULL)
        return NULL;
    all->config = *config;
    all->learner = calloc((size_t)config->n, sizeof *all->learner);
    for (int32_t i = 0; all->learner != NULL && i < config->n; i++) {
        if (!learner_init(config, &all->learner[i], seeds[i])) {
            paper_free(all);
            return NULL;
        }
    }
    if (all->learner == NULL) {
        free(all);
        return NULL;
    }
    return all;
}

void paper_free(paper_learners *all)
{
    for (int32_t i = 0; i < all->config.n; i++) {
        paper_learner *one = &all->learner[i];
        for (int h = 0; one->cells != NULL && h < all->config.horizon; h++)
            free(one->cells[h].cell);
        free(one->cells);
        free(one->played);
        free(one->ball);
        free(one->count);
        free(one->support.mass);
    }
    free(all->learner);
    free(all);
}

/* ---- the relevant balls --------------------------------------------------------------------------------- */

/* The active ball with the largest Q on a path; of equals the one with the lowest action. */
static int32_t best_ball(const paper_config *config, const paper_learner *one, int32_t at, const uint8_t *path)
{
    const paper_ball *ball = &one->ball[at];
    if (ball->child < 0)
        return at;
    int32_t actions = 1 << config->d_a, first = ball->child + path[ball->level] * actions;
    int32_t best = best_ball(config, one, first, path);
    for (int32_t a = 1; a < actions; a++) {
        int32_t other = best_ball(config, one, first + a, path);
        if (one->ball[other].q > one->ball[best].q)
            best = other;
    }
    return best;
}

int paper_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const paper_learners *all = learners;
    const paper_config *config = &all->config;
    uint8_t path[PAPER_LEVELS];
    for (int32_t i = 0; i < n; i++) {
        paper_learner *one = &all->learner[first + i];
        paper_path_of_point(&states[(int64_t)i * config->d_s], config->d_s, path);
        one->played[h] = best_ball(config, one, h, path);
        const paper_ball *ball = &one->ball[one->played[h]];
        double side = ldexp(1.0, -ball->level);
        for (int k = 0; k < config->d_a; k++) {
            double within = config->random_action ? sim_rng_uniform(&one->rng) : 0.5;
            actions[(int64_t)i * config->d_a + k] = (ball->action[k] + within) * side;
        }
    }
    return 0;
}

/* ---- Compute Estimates ---------------------------------------------------------------------------------- */

static double bonus(const paper_config *config, int h, int level, double n)
{
    if (!config->theory)
        return config->bonus / sqrt(n);
    double diameter = ldexp(1.0, -level);
    double reward = sqrt(8 * config->log_r / n) + 4 * config->l_r * diameter;
    if (h + 1 == config->horizon)
        return reward;
    double spread = 4 * sqrt(config->log_t / n), moves;
    if (config->d_s > 2)
        moves = (5 * config->l_t + 4) * diameter + spread + config->c_t * pow(n, -1.0 / config->d_s);
    else
        moves = (5 * config->l_t + 6) * diameter + spread + config->c_t * sqrt(ldexp(1.0, config->d_s * level) / n);
    return reward + config->l_v * moves;
}

/* Samples of the ball's next states times V there; a coarser cell has the mean of V over it. */
static double expected_sum(paper_learner *one, const paper_cells *cells, const paper_ball *ball, double sum)
{
    for (int32_t at = ball->first; at >= 0; at = one->count[at].link) {
        paper_count *count = &one->count[at];
        count->cell = paper_cells_descend(cells, count->cell, count->key, ball->level);
        sum += count->samples * cells->cell[count->cell].mean;
    }
    return sum;
}

/* The same with V of Equation (def-V), read at the centres of cells as fine as the ball. */
static double envelope_sum(const paper_config *config, const paper_learner *one, const paper_cells *cells,
                           const paper_ball *ball)
{
    double sum = paper_support_sum(&one->support, ball->support, ball->supports, cells, config->l_v);
    for (int32_t at = ball->first; at >= 0; at = one->count[at].link) {
        double centre[PAPER_MAX_DIM];
        paper_centre_of_key(one->count[at].key, ball->level, config->d_s, centre);
        sum += one->count[at].samples * paper_cells_envelope(cells, centre, config->l_v);
    }
    return sum;
}

/* Equation (q_update) for a ball of step h, before any clipping. */
static double estimate(const paper_config *config, paper_learner *one, int h, int32_t at)
{
    const paper_ball *ball = &one->ball[at];
    int32_t chain[PAPER_LEVELS], length = 0;
    double n = ball->n, reward = ball->reward_sum, played = ball->n + ball->prior_n;
    chain[length++] = at;
    if (!config->fresh) {
        n += ball->prior_n;
        reward = ball->prior_reward + ball->reward_sum;
        for (int32_t above = ball->parent; above >= 0; above = one->ball[above].parent)
            chain[length++] = above;
    }
    double value = reward / n + bonus(config, h, ball->level, played);
    if (h + 1 == config->horizon)
        return value;
    if (config->envelope)
        return value + envelope_sum(config, one, &one->cells[h + 1], ball) / n;
    double sum = 0;
    while (length > 0)
        sum = expected_sum(one, &one->cells[h + 1], &one->ball[chain[--length]], sum);
    return value + sum / n;
}

static void set_q(const paper_config *config, paper_ball *ball, double value)
{
    if (config->decreasing && value > ball->q)
        value = ball->q;
    ball->q = config->decreasing && value > config->horizon ? config->horizon : value;
}

static void refresh_value(const paper_config *config, paper_learner *one, int h, int32_t at)
{
    const paper_cell *cell = &one->cells[h].cell[at];
    uint8_t path[PAPER_LEVELS];
    paper_path_of_key(cell->key, cell->level, config->d_s, path);
    double value = one->ball[best_ball(config, one, h, path)].q;
    paper_cells_set(&one->cells[h], at, value < cell->mean ? value : cell->mean);
}

/* V of a cell cannot fall where it is not above the new Q. */
static void lower_values(const paper_config *config, paper_learner *one, int h, int32_t at, double q)
{
    const paper_cell *cell = &one->cells[h].cell[at];
    if (cell->child < 0) {
        if (cell->mean > q)
            refresh_value(config, one, h, at);
        return;
    }
    int32_t first = cell->child;
    for (int32_t i = 0; i < 1 << config->d_s; i++)
        lower_values(config, one, h, first + i, q);
}

/* ---- Update Counts, Refine Partition -------------------------------------------------------------------- */

static int count_next(const paper_config *config, paper_learner *one, paper_ball *ball, const double *next)
{
    uint8_t path[PAPER_LEVELS];
    paper_path_of_point(next, config->d_s, path);
    uint64_t key = paper_key_of_path(path, ball->level, config->d_s);
    for (int32_t at = ball->first; at >= 0; at = one->count[at].link) {
        if (one->count[at].key == key) {
            one->count[at].samples++;
            return 1;
        }
    }
    void *moved = paper_grow(one->count, &one->count_capacity, one->counts + 1, sizeof *one->count);
    if (moved == NULL)
        return 0;
    one->count = moved;
    one->count[one->counts] = (paper_count){key, 0, 1, -1};
    if (ball->first < 0)
        ball->first = one->counts;
    else
        one->count[ball->last].link = one->counts;
    ball->last = one->counts++;
    return 1;
}

static int due(const paper_config *config, const paper_ball *ball)
{
    double threshold = config->threshold[ball->level];
    if (ball->level + 1 >= PAPER_LEVELS)
        return 0;
    if (config->fresh)
        return ball->n >= threshold;
    if (config->own)
        return ball->n + 1 >= threshold;
    double before = ball->level > 0 ? config->threshold[ball->level - 1] : 0;
    return (ball->prior_n < before ? ball->prior_n : before) + ball->n >= threshold;
}

/* Next states that the children of a ball take over: its own next states and those of its ancestors. */
static int spread(const paper_config *config, paper_learner *one, const paper_ball *ball, paper_ball *made)
{
    int32_t first = one->support.count;
    for (int32_t i = 0; i < ball->supports; i++) {
        paper_mass from = one->support.mass[ball->support + i];
        if (!paper_support_spread(&one->support, first, from.key, from.mass, made->level, config->d_s))
            return 0;
    }
    for (int32_t i = ball->first; i >= 0; i = one->count[i].link) {
        const paper_count *from = &one->count[i];
        if (!paper_support_spread(&one->support, first, from->key, from->samples, made->level, config->d_s))
            return 0;
    }
    made->support = first;
    made->supports = one->support.count - first;
    return 1;
}

static int split(const paper_config *config, paper_learner *one, int h, int32_t at)
{
    int32_t states = 1 << config->d_s, actions = 1 << config->d_a, first = one->balls;
    void *moved = paper_grow(one->ball, &one->ball_capacity, first + states * actions, sizeof *one->ball);
    if (moved == NULL)
        return 0;
    one->ball = moved;
    paper_ball *ball = &one->ball[at];
    if (one->cells[h].cell[ball->cell].child < 0 && !paper_cells_split(&one->cells[h], ball->cell))
        return 0;
    paper_ball made = *ball;
    made.child = made.first = made.last = -1;
    made.parent = at;
    made.level++;
    made.prior_n += ball->n;
    made.prior_reward += ball->reward_sum;
    made.n = 0;
    made.reward_sum = 0;
    if (config->fresh)
        made.q = config->horizon - h;
    else if (config->envelope && !spread(config, one, ball, &made))
        return 0;
    for (int32_t i = 0; i < states * actions; i++) {
        paper_ball *child = &one->ball[first + i];
        *child = made;
        child->cell = one->cells[h].cell[ball->cell].child + i / actions;
        for (int k = 0; k < config->d_a; k++)
            child->action[k] = 2 * ball->action[k] + (uint32_t)(i % actions >> (config->d_a - 1 - k) & 1);
    }
    ball->child = first;
    one->balls += states * actions;
    one->leaves += states * actions - 1;
    one->deepest = made.level > one->deepest ? made.level : one->deepest;
    return 1;
}

static int learn(const paper_config *config, paper_learner *one, int h, double reward, const double *next)
{
    int32_t at = one->played[h], visited = at, alike = 1;
    paper_ball *ball = &one->ball[at];
    ball->n++;
    ball->reward_sum += reward;
    if (!count_next(config, one, ball, next))
        return 0;
    if (due(config, ball)) {
        if (!split(config, one, h, at))
            return 0;
        ball = &one->ball[at];
        visited = ball->child;
        alike = 1 << (config->d_s + config->d_a);
    }
    if (config->full || (config->fresh && visited != at))
        return 1;
    double value = estimate(config, one, h, visited);
    for (int32_t i = 0; i < alike; i++)
        set_q(config, &one->ball[visited + i], value);
    lower_values(config, one, h, ball->cell, one->ball[visited].q);
    return 1;
}

int paper_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const paper_learners *all = learners;
    for (int32_t i = 0; i < n; i++)
        if (!learn(&all->config, &all->learner[first + i], h, rewards[i], &next[(int64_t)i * all->config.d_s]))
            return -1;
    return 0;
}

/* ---- full planning -------------------------------------------------------------------------------------- */

static void plan_balls(const paper_config *config, paper_learner *one, int h, int32_t at)
{
    const paper_ball *ball = &one->ball[at];
    if (ball->child < 0) {
        if (ball->n + (config->fresh ? 0 : ball->prior_n) > 0)
            set_q(config, &one->ball[at], estimate(config, one, h, at));
        return;
    }
    for (int32_t i = 0; i < 1 << (config->d_s + config->d_a); i++)
        plan_balls(config, one, h, ball->child + i);
}

int paper_end_episode(void *learners, int32_t first, int32_t n)
{
    const paper_learners *all = learners;
    for (int32_t i = 0; i < n && all->config.full; i++) {
        paper_learner *one = &all->learner[first + i];
        for (int h = all->config.horizon - 1; h >= 0; h--) {
            plan_balls(&all->config, one, h, h);
            for (int32_t at = 0; at < one->cells[h].count; at++)
                if (one->cells[h].cell[at].child < 0)
                    refresh_value(&all->config, one, h, at);
        }
    }
    return 0;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

void paper_counters(const paper_learners *all, int64_t *counters)
{
    for (int32_t i = 0; i < all->config.n; i++) {
        const paper_learner *one = &all->learner[i];
        int64_t *out = &counters[(int64_t)4 * i];
        out[0] = one->leaves;
        out[1] = one->counts;
        out[2] = one->deepest;
        out[3] = one->balls * (int64_t)sizeof *one->ball + one->counts * (int64_t)sizeof *one->count
                 + one->support.count * (int64_t)sizeof *one->support.mass;
        for (int h = 0; h < all->config.horizon; h++)
            out[3] += one->cells[h].count * (int64_t)sizeof *one->cells[h].cell;
    }
}

void paper_balls(const paper_learners *all, int learner, int h, int pairs, const double *states,
                 const double *actions, double *found)
{
    const paper_config *config = &all->config;
    const paper_learner *one = &all->learner[learner];
    uint8_t state[PAPER_LEVELS], action[PAPER_LEVELS];
    for (size_t i = 0; i < (size_t)pairs; i++) {
        paper_path_of_point(&states[i * (size_t)config->d_s], config->d_s, state);
        paper_path_of_point(&actions[i * (size_t)config->d_a], config->d_a, action);
        const paper_ball *ball = &one->ball[h];
        while (ball->child >= 0)
            ball = &one->ball[ball->child + (state[ball->level] << config->d_a) + action[ball->level]];
        found[3 * i] = ball->q;
        found[3 * i + 1] = ball->level;
        found[3 * i + 2] = ball->n;
    }
}
