/* What adapts by itself: the exploration bonus, sharing of steps, restart after a change. */
#include "adamb_internal.h"

/* Where the rewards of this step are followed; steps that share a tree are followed together. */
static uint16_t *rewards(const adamb_call *c)
{
    return c->w + (c->shared ? adamb_core_step(c->w, 0) : c->step);
}

/* c in the value format: as configured, or half of what the best rewards are above the mean. */
uint32_t adamb_adapt_factor(const adamb_call *c)
{
    const uint16_t *s = rewards(c);
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP];
    if (!has_flag(c->w, ADAMB_FLAG_AUTO_BONUS)) {
        return c->w[ADAMB_H_BONUS];
    }
    return top > mean ? (top - mean) << c->fraction >> 17 : 0;
}

/* c/sqrt(N) for N in quarter samples. */
uint32_t adamb_adapt_bonus(const adamb_call *c, uint32_t weight)
{
    return weight == 0 ? ADAMB_VALUE_MAX : adamb_number_bonus(adamb_adapt_factor(c), weight);
}

static uint16_t distance(uint16_t a, uint16_t b)
{
    return (uint16_t)(a > b ? a - b : b - a);
}

/* Compare the sample with the last one in the same small cell: does the step number matter?
 * An entry is {rest of the cell's hash and step + 1, reward and next state}. */
static void compare(adamb_call *c, uint32_t hash, uint16_t outcome)
{
    uint16_t *w = c->w;
    uint16_t *entry = w + at(c->first) + 2u * (hash >> 11);
    uint32_t cell = hash & 0x7FFu;
    uint16_t last = entry[0], before = entry[1];
    entry[0] = (uint16_t)(cell << 5 | (c->h + 1));
    entry[1] = outcome;
    if (last == 0 || last >> 5 != cell) {
        return;
    }
    uint32_t sum = last == entry[0] ? ADAMB_H_SAME_N : ADAMB_H_OTHER_N;
    if (w[sum] == 255) {
        w[sum] >>= 1;
        w[sum + 1] >>= 1;
        w[sum + 2] >>= 1;
    }
    w[sum]++;
    w[sum + 1] = (uint16_t)(w[sum + 1] + distance(before >> 8, outcome >> 8));
    w[sum + 2] = (uint16_t)(w[sum + 2] + distance(before & 255, outcome & 255));
    if (sum == ADAMB_H_OTHER_N) {
        w[ADAMB_H_OTHER_TOTAL]++;
    }
}

/* Bits that a code loses in the sharing test: cells must be so small that rewards hardly change within one. */
static uint32_t lost_bits(const adamb_call *c, uint32_t dims)
{
    return dims == 1 ? 11 : c->d_s + c->d_a == 3 ? 10 : 8;
}

/* The mean of the rewards, and their top: the best one, forgotten slowly. It starts at 1, so that hope comes first. */
static void follow_rewards(const adamb_call *c, uint16_t reward)
{
    uint16_t *s = rewards(c);
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP], slow = c->shared ? 8 : 6;
    s[ADAMB_S_REWARD_MEAN] = (uint16_t)(reward > mean ? mean + ((reward - mean) >> slow) : mean - ((mean - reward) >> slow));
    top -= top > mean ? (top - mean) >> (c->shared ? 8 : 7) : 0;
    s[ADAMB_S_REWARD_TOP] = (uint16_t)(reward > top ? reward : top);
}

/* The step's share of what adapts: rewards, return, and the sharing test while it runs. */
void adamb_adapt_step(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, const uint16_t *next)
{
    uint16_t *w = c->w;
    follow_rewards(c, reward);
    uint32_t sum = (uint32_t)w[ADAMB_H_RETURN_SUM] + (reward >> (16 - c->fraction));
    w[ADAMB_H_RETURN_SUM] = (uint16_t)(sum > 0xFFFFu ? 0xFFFFu : sum); /* more steps than the horizon must not wrap */
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && c->links >= ADAMB_SHARE_TABLE_UNITS) {
        sum = 0;
        for (uint8_t i = 0; i < c->d_s; i++) {
            sum += next[i];
        }
        sum = c->d_s == 1 ? sum >> 8 : c->d_s == 2 ? sum >> 9 : adamb_number_divide(sum, 3) >> 8;
        uint32_t cell = (uint32_t)state_code >> lost_bits(c, c->d_s) << 8 | action_code >> lost_bits(c, c->d_a);
        compare(c, cell * 10125u & 0xFFFFu, (uint16_t)((reward & 0xFF00u) | sum)); /* odd: every cell has its own hash */
    }
}

/* Mean over different steps clearly above the mean over the same step: factor * same + margin/256. */
static int differs(const uint16_t *w, uint32_t word, uint32_t factor, uint32_t margin)
{
    uint32_t same_n = w[ADAMB_H_SAME_N] & 0xFFu, other_n = w[ADAMB_H_OTHER_N] & 0xFFu;
    return (uint32_t)w[ADAMB_H_OTHER_N + word] * same_n >
           (factor * (uint32_t)w[ADAMB_H_SAME_N + word] + margin * same_n) * other_n;
}

/* Ends the sharing test when it has seen enough. Returns 1 when steps turned out to differ. */
static int judge_sharing(uint16_t *w)
{
    if (w[ADAMB_H_SAME_N] >= 8 && w[ADAMB_H_OTHER_N] >= ADAMB_SHARE_PAIRS_MIN &&
        (differs(w, 1, 3, ADAMB_SHARE_REWARD_MARGIN) || differs(w, 2, 2, ADAMB_SHARE_NEXT_MARGIN))) {
        w[ADAMB_H_SHARE] = ADAMB_SHARE_OFF;
        return 1;
    }
    if (w[ADAMB_H_OTHER_TOTAL] >= ADAMB_SHARE_PAIRS_MAX) {
        w[ADAMB_H_SHARE] = ADAMB_SHARE_ON;
        for (uint16_t i = 0; i < ADAMB_SHARE_TABLE_UNITS; i++) {
            adamb_pool_free(w, (uint16_t)(w[ADAMB_H_POOL_AT] + i));
        }
        w[ADAMB_H_TABLE] = 0;
    }
    return 0;
}

/* Cumulative sum of how far returns fall below their mean. Returns 1 on an alarm. */
static int judge_return(uint16_t *w, uint8_t fraction)
{
    uint16_t value = w[ADAMB_H_RETURN_SUM], mean = w[ADAMB_H_RETURN_MEAN], dev = w[ADAMB_H_RETURN_DEV];
    count_up(w, ADAMB_H_SINCE);
    uint32_t window = w[ADAMB_H_SINCE] < ADAMB_DETECT_WINDOW ? w[ADAMB_H_SINCE] : ADAMB_DETECT_WINDOW;
    int32_t drop = w[ADAMB_H_DROP] + mean - value - (dev >> 1);
    drop = drop < 0 ? 0 : drop > 0xFFFF ? 0xFFFF : drop;
    int alarm = w[ADAMB_H_SINCE] > ADAMB_DETECT_WARMUP && drop > ADAMB_DETECT_ALARM * dev + (1 << fraction >> 1);
    w[ADAMB_H_DROP] = (uint16_t)drop;
    w[ADAMB_H_RETURN_DEV] = adamb_number_follow(dev, distance(value, mean), window, w[ADAMB_H_EPISODES]);
    w[ADAMB_H_RETURN_MEAN] = adamb_number_follow(mean, value, window, w[ADAMB_H_EPISODES]);
    return alarm;
}

void adamb_adapt_episode(uint16_t *w)
{
    uint8_t fraction = (uint8_t)(w[ADAMB_H_SCALE] & 0xFF);
    int alarm = judge_return(w, fraction) && has_flag(w, ADAMB_FLAG_DETECT);
    w[ADAMB_H_RETURN_SUM] = 0;
    if (++w[ADAMB_H_EPISODES] == 0) {
        count_up(w, ADAMB_H_EPISODES_HIGH);
    }
    if (alarm) {
        count_up(w, ADAMB_H_RESTARTS);
    }
    if ((w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && judge_sharing(w)) || alarm) {
        adamb_core_restart(w);
    }
}
