#include "baselines/arms.h"

#include <math.h>

static int64_t row_of(const baselines_arms *all, int table, int32_t learner)
{
    return ((int64_t)table * all->n + learner) * all->arms;
}

static int table_of(const baselines_arms *all, int h)
{
    return all->tables > 1 ? h : 0;
}

static int64_t choose(const baselines_arms *all, int table, int32_t learner)
{
    const double *mean = all->mean + row_of(all, table, learner), *count = all->count + row_of(all, table, learner);
    const double *order = all->order + (int64_t)learner * all->arms;
    int64_t best = 0;
    double most = 0.0;
    for (int64_t a = 0; a < all->arms; a++) {
        double worth = count[a] > 0.0 ? mean[a] + all->bonus / sqrt(count[a] > 1e-12 ? count[a] : 1e-12) : 1e9 + order[a];
        if (a == 0 || worth > most) {
            most = worth;
            best = a;
        }
    }
    return best;
}

static void learn(const baselines_arms *all, int table, int32_t learner, int64_t arm, double reward)
{
    double *mean = all->mean + row_of(all, table, learner), *count = all->count + row_of(all, table, learner);
    for (int64_t a = 0; a < all->arms && all->discount < 1.0; a++)
        count[a] *= all->discount;
    count[arm] = count[arm] + 1.0 < 65535.0 ? count[arm] + 1.0 : 65535.0;
    mean[arm] += (reward - mean[arm]) / count[arm];
}

int baselines_arms_act(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const baselines_arms *all = learners;
    (void)states;
    for (int32_t i = 0; i < n; i++) {
        int64_t *arm = all->arm + first + i, of_step = (int64_t)h * all->n;
        int kept = h > 0 && all->hold && all->tables == 1;
        arm[of_step] = kept ? arm[0] : choose(all, table_of(all, h), first + i);
        for (int32_t k = 0; k < all->d_a; k++)
            actions[(int64_t)i * all->d_a + k] = all->place[arm[of_step] * all->d_a + k];
    }
    return 0;
}

int baselines_arms_observe(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const baselines_arms *all = learners;
    (void)next;
    for (int32_t i = 0; i < n; i++) {
        all->sum[first + i] += rewards[i];
        if (!all->hold)
            learn(all, table_of(all, h), first + i, all->arm[(int64_t)h * all->n + first + i], rewards[i]);
    }
    return 0;
}

int baselines_arms_end_episode(void *learners, int32_t first, int32_t n)
{
    const baselines_arms *all = learners;
    for (int32_t i = first; i < first + n; i++) {
        double mean = all->sum[i] / all->horizon;
        for (int table = 0; table < all->tables && all->hold; table++)
            learn(all, table, i, all->arm[(int64_t)table * all->n + i], mean);
        all->sum[i] = 0.0;
    }
    return 0;
}
