#include "paper/ball.h"

#include <math.h>

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

double paper_estimate(const paper_config *config, paper_learner *one, int h, int32_t at)
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
