/* What adapts by itself: the exploration bonus, sharing of steps, restart after a change. */
#include "adamb_internal.h"

/* c in the value format: as configured, or half of what the best rewards are above the mean. In tracking with more than 1+1
 * dimensions it is halved a few times as episodes go by. */
uint32_t adamb_adapt_factor(const adamb_call *c)
{
    const uint16_t *s = c->w + c->tree;
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP];
    uint32_t halved = (uint32_t)c->wide * min16((uint16_t)(c->w[ADAMB_H_SINCE] >> ADAMB_FADE_SHIFT), ADAMB_FADE_MOST);
    if (!has_flag(c->w, ADAMB_FLAG_AUTO_BONUS)) {
        return c->w[ADAMB_H_BONUS];
    }
    return top > mean ? (top - mean) << c->fraction >> (16 + ADAMB_AUTO_BONUS_SHIFT + halved) : 0;
}

/* c/sqrt(N) for N in quarter samples; in tracking no more than a few c/2^level, what rewards are taken to differ by inside
 * a ball of its size. */
uint32_t adamb_adapt_bonus(const adamb_call *c, uint32_t weight)
{
    uint32_t by = adamb_adapt_factor(c), most = by * ADAMB_BONUS_SIDES >> c->level, bonus = adamb_number_bonus(by, weight);
    return bonus > most && !c->paper ? most : bonus;
}

/* The median of how far samples are from what their balls predict, in 2^-15: a step towards every new one. */
void adamb_adapt_noise(const adamb_call *c, uint32_t far)
{
    uint16_t *noise = c->w + c->tree + ADAMB_S_NOISE;
    uint32_t step = *noise >> ADAMB_NOISE_SHIFT;
    uint32_t to = far << (15 - c->fraction) > *noise ? *noise + step : *noise - step;
    *noise = (uint16_t)(to < ADAMB_NOISE_LEAST ? ADAMB_NOISE_LEAST : to > ADAMB_VALUE_MAX ? ADAMB_VALUE_MAX : to);
}

/* The mean square of how far the next value is from what the ball predicted. */
void adamb_adapt_spread(const adamb_call *c, uint32_t far)
{
    uint16_t *spread = c->w + c->tree + ADAMB_S_SPREAD;
    uint32_t most = (uint32_t)c->w[c->tree + ADAMB_S_NOISE] * ADAMB_EFFECT_NOISE >> (15 - ADAMB_EFFECT_BITS);
    most = most > ADAMB_EFFECT_MOST ? ADAMB_EFFECT_MOST : most;
    far >>= c->fraction - ADAMB_EFFECT_BITS;
    far = far > most ? most : far;
    *spread = adamb_number_drift(*spread, far * far >> ADAMB_SPREAD_SCALE_SHIFT, ADAMB_EFFECT_SHIFT, c->w[ADAMB_H_RNG]);
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
    uint16_t *entry = w + at(c->first) + 2u * (hash >> ADAMB_SHARE_ENTRY_SHIFT);
    uint32_t cell = hash & ((1u << ADAMB_SHARE_ENTRY_SHIFT) - 1u), step_bits = 16 - ADAMB_SHARE_ENTRY_SHIFT;
    uint16_t last = entry[0], before = entry[1];
    entry[0] = (uint16_t)(cell << step_bits | (c->h + 1u));
    entry[1] = outcome;
    if (last == 0 || (uint32_t)last >> step_bits != cell) {
        return;
    }
    uint32_t sum = last == entry[0] ? ADAMB_H_SAME_N : ADAMB_H_OTHER_N;
    if (w[sum] == ADAMB_SHARE_COUNT_MAX) {
        w[sum] >>= 1;
        w[sum + 1] >>= 1;
        w[sum + 2] >>= 1;
    }
    w[sum]++;
    w[sum + 1] = (uint16_t)(w[sum + 1] + distance(before >> 8, outcome >> 8));
    w[sum + 2] = (uint16_t)(w[sum + 2] + distance(before & 255, outcome & 255));
    w[ADAMB_H_OTHER_TOTAL] = (uint16_t)(w[ADAMB_H_OTHER_TOTAL] + (sum == ADAMB_H_OTHER_N));
}

/* The mean of the rewards, in tracking at first about that of all, and their top: the best one, decaying slowly. It starts
 * at 1, the optimistic maximum. */
static void follow_rewards(const adamb_call *c, uint16_t reward)
{
    uint16_t *s = c->w + c->tree;
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP];
    uint32_t slow = c->shared ? ADAMB_REWARD_SHIFT_SHARED : ADAMB_REWARD_SHIFT, rate = slow;
    uint32_t since = c->paper ? 0xFFFFu : c->w[ADAMB_H_SINCE];
    uint32_t n = c->shared ? since * c->horizon + 1u : since + ADAMB_REWARD_FIRST;
    while (n >> rate == 0) {
        rate--;
    }
    s[ADAMB_S_REWARD_MEAN] = (uint16_t)(reward > mean ? mean + ((reward - mean) >> rate) : mean - ((mean - reward) >> rate));
    top -= top > mean ? (top - mean) >> slow : 0;
    s[ADAMB_S_REWARD_TOP] = (uint16_t)(reward > top ? reward : top);
}

/* The step's share of what adapts: rewards, return, and the sharing test while it runs. */
void adamb_adapt_step(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, const uint16_t *next)
{
    uint16_t *w = c->w;
    follow_rewards(c, reward);
    count_up(w, ADAMB_H_SEEN);
    uint32_t sum = (uint32_t)w[ADAMB_H_RETURN_SUM] + (reward >> (16 - c->fraction));
    w[ADAMB_H_RETURN_SUM] = (uint16_t)(sum > 0xFFFFu ? 0xFFFFu : sum); /* more steps than the horizon must not wrap */
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && c->links >= ADAMB_SHARE_TABLE_UNITS) {
        uint32_t d_s = c->d_s, total = 0;
        for (uint32_t i = 0; i < d_s; i++) {
            total += next[i];
        }
        sum = adamb_number_divide(total, d_s) >> 8;
        /* Small cells, in which rewards hardly change. */
        uint32_t lost = c->d_s + c->d_a > 3 ? ADAMB_SHARE_LOST_MORE : ADAMB_SHARE_LOST_FEW;
        uint32_t cell = (uint32_t)state_code >> lost << 8 | action_code >> lost;
        compare(c, cell * ADAMB_SHARE_HASH & 0xFFFFu, (uint16_t)((reward & 0xFF00u) | sum));
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
    if (w[ADAMB_H_SAME_N] >= ADAMB_SHARE_SAME_MIN && w[ADAMB_H_OTHER_N] >= ADAMB_SHARE_PAIRS_MIN &&
        (differs(w, 1, ADAMB_SHARE_REWARD_FACTOR, ADAMB_SHARE_REWARD_MARGIN) ||
         differs(w, 2, ADAMB_SHARE_NEXT_FACTOR, ADAMB_SHARE_NEXT_MARGIN))) {
        w[ADAMB_H_SHARE] = ADAMB_SHARE_OFF;
        return 1;
    }
    if (w[ADAMB_H_OTHER_TOTAL] >= ADAMB_SHARE_PAIRS_MAX) {
        w[ADAMB_H_SHARE] = ADAMB_SHARE_ON;
        for (uint32_t i = 0; i < ADAMB_SHARE_TABLE_UNITS; i++) {
            adamb_pool_free(w, (uint16_t)(w[ADAMB_H_POOL_AT] + i));
        }
        w[ADAMB_H_TABLE] = 0;
    }
    return 0;
}

/* Cumulative sum of how far returns fall below their mean; steps that were left out count as the others' mean. No single
 * episode brings more than a part of an alarm, so that only a fall that lasts raises one, and a deviation is at least a small
 * part of the mean, so that the sum drains after a fall that did not last. Returns 1 on an alarm. */
static int judge_return(uint16_t *w, uint32_t fraction)
{
    uint32_t value = w[ADAMB_H_RETURN_SUM], seen = w[ADAMB_H_SEEN], horizon = w[ADAMB_H_DIMS] >> 8;
    uint32_t mean = w[ADAMB_H_RETURN_MEAN], dev = w[ADAMB_H_RETURN_DEV];
    if (seen == 0) {
        return 0;
    }
    if (seen != horizon) {
        value = adamb_number_divide(value * horizon, seen);
        value = value > 0xFFFF ? 0xFFFF : value;
    }
    count_up(w, ADAMB_H_SINCE);
    uint32_t window = w[ADAMB_H_SINCE] < ADAMB_DETECT_WINDOW ? w[ADAMB_H_SINCE] : ADAMB_DETECT_WINDOW;
    int32_t unit = (int32_t)(dev > mean >> ADAMB_DETECT_LEAST_SHIFT ? dev : mean >> ADAMB_DETECT_LEAST_SHIFT);
    int32_t most = (ADAMB_DETECT_ALARM * unit + (1 << fraction >> ADAMB_DETECT_FLOOR_SHIFT)) >> ADAMB_DETECT_SPELL_SHIFT;
    int32_t fall = (int32_t)(mean - value) - (unit >> ADAMB_DETECT_SLACK_SHIFT);
    int32_t drop = w[ADAMB_H_DROP] + (fall > most ? most : fall);
    drop = drop < 0 ? 0 : drop > 0xFFFF ? 0xFFFF : drop;
    int alarm = w[ADAMB_H_SINCE] > ADAMB_DETECT_WARMUP && drop >= most << ADAMB_DETECT_SPELL_SHIFT;
    w[ADAMB_H_DROP] = (uint16_t)drop;
    uint16_t salt = w[ADAMB_H_EPISODES];
    w[ADAMB_H_RETURN_DEV] = adamb_number_follow(dev, distance((uint16_t)value, (uint16_t)mean), window, salt);
    w[ADAMB_H_RETURN_MEAN] = adamb_number_follow(mean, value, window, salt);
    return alarm;
}

void adamb_adapt_episode(uint16_t *w)
{
    int alarm = judge_return(w, w[ADAMB_H_SCALE] & 0xFFu) && has_flag(w, ADAMB_FLAG_DETECT);
    w[ADAMB_H_RETURN_SUM] = w[ADAMB_H_SEEN] = 0;
    uint32_t episodes = (uint32_t)w[ADAMB_H_EPISODES_HIGH] << 16 | w[ADAMB_H_EPISODES];
    episodes += episodes != 0xFFFFFFFFu;
    w[ADAMB_H_EPISODES] = (uint16_t)episodes;
    w[ADAMB_H_EPISODES_HIGH] = (uint16_t)(episodes >> 16);
    if (alarm) {
        count_up(w, ADAMB_H_RESTARTS);
    }
    if ((w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && judge_sharing(w)) || alarm) {
        adamb_call_restart(w);
    }
}
