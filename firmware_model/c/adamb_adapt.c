/* What adapts by itself: the exploration bonus, sharing of steps, restart after a change. */
#include "adamb_internal.h"

/* c in the value format: as configured, or half of what the best rewards are above the mean. In tracking with more than 1+1
 * dimensions it is halved a few times as episodes go by. */
uint32_t adamb_adapt_factor(const adamb_call *c)
{
    const uint16_t *s = c->w + c->tree;
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP];
    uint32_t halved = c->held ? ADAMB_HELD_BONUS_SHIFT : ADAMB_AUTO_BONUS_SHIFT;
    halved += (uint32_t)c->wide * min16((uint16_t)(c->w[ADAMB_H_SINCE] >> ADAMB_FADE_SHIFT), ADAMB_FADE_MOST);
    if (!has_flag(c->w, ADAMB_FLAG_AUTO_BONUS)) {
        return c->w[ADAMB_H_BONUS];
    }
    return top > mean ? (top - mean) << c->fraction >> (16 + halved) : 0;
}

/* c/sqrt(N) for N in quarter samples; in tracking no more than a few c/2^level, what rewards are taken to differ by inside
 * a ball of its size. */
uint32_t adamb_adapt_bonus(const adamb_call *c, uint32_t level, uint32_t weight)
{
    uint32_t by = adamb_adapt_factor(c), most = by * ADAMB_BONUS_SIDES >> level, bonus = adamb_number_bonus(by, weight);
    return bonus > most && !c->paper ? most : bonus;
}

/* The median of how far samples are from what their balls predict, in 2^-15: a step towards every new one. */
void adamb_adapt_noise(const adamb_call *c, uint32_t far)
{
    uint16_t *noise = c->w + c->tree + ADAMB_S_NOISE;
    uint32_t step = *noise >> (c->held ? ADAMB_HELD_NOISE_SHIFT : ADAMB_NOISE_SHIFT);
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
    uint32_t square = far * far >> ADAMB_SPREAD_SCALE_SHIFT;
    *spread = adamb_number_moving_average(*spread, square, ADAMB_EFFECT_SHIFT, c->w[ADAMB_H_RNG]);
}

static uint16_t distance(uint16_t a, uint16_t b)
{
    return (uint16_t)(a > b ? a - b : b - a);
}

/* Compare the sample with the last one in the same small cell: does the step number matter?
 * An entry is {rest of the cell's hash and step + 1, reward and next state}. */
static void compare(const adamb_call *c, uint32_t hash, uint16_t outcome)
{
    uint16_t *w = c->w;
    uint16_t *entry = w + unit_base(c->first) + 2u * (hash >> ADAMB_SHARE_ENTRY_SHIFT);
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
void adamb_adapt_rewards(const adamb_call *c, uint16_t reward)
{
    uint16_t *s = c->w + c->tree;
    uint32_t mean = s[ADAMB_S_REWARD_MEAN], top = s[ADAMB_S_REWARD_TOP];
    uint32_t slow = c->shared ? ADAMB_REWARD_SHIFT_SHARED : c->held ? ADAMB_HELD_REWARD_SHIFT : ADAMB_REWARD_SHIFT, rate = slow;
    uint32_t since = c->paper ? 0xFFFFu : c->w[ADAMB_H_SINCE];
    uint32_t n = c->shared ? since * c->horizon + 1u : since + ADAMB_REWARD_FIRST;
#ifndef ADAMB_WITHOUT_FIRST_MEAN
    while (n >> rate == 0) {
        rate--;
    }
#endif
    s[ADAMB_S_REWARD_MEAN] = (uint16_t)(reward > mean ? mean + ((reward - mean) >> rate) : mean - ((mean - reward) >> rate));
    top -= top > mean ? (top - mean) >> slow : 0;
#ifndef ADAMB_WITHOUT_TOP
    s[ADAMB_S_REWARD_TOP] = (uint16_t)(reward > top ? reward : top);
#endif
}

/* The step's share of what adapts: return, rewards, and the sharing test while it runs. A held episode is no part of that test.
 * Returns 0 when it teaches the steps nothing: only the first ones do, before any other episode. */
int adamb_adapt_step(const adamb_call *c, const adamb_visit *v, const uint16_t *next)
{
    uint16_t *w = c->w;
    saturating_inc(w, ADAMB_H_SEEN);
    uint32_t sum = (uint32_t)w[ADAMB_H_RETURN_SUM] + (v->reward >> (16 - c->fraction));
    w[ADAMB_H_RETURN_SUM] = (uint16_t)(sum > 0xFFFFu ? 0xFFFFu : sum); /* more steps than the horizon must not wrap */
    if (w[ADAMB_H_HELD] == 1 && w[ADAMB_H_STEPS_N] != 0) {
        return 0;
    }
    adamb_adapt_rewards(c, v->reward);
    if (w[ADAMB_H_HELD] != 1 && w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && c->links >= ADAMB_SHARE_TABLE_UNITS) {
        uint32_t d_s = c->d_s, total = 0;
        for (uint32_t i = 0; i < d_s; i++) {
            total += next[i];
        }
        sum = adamb_number_divide(total, d_s) >> 8;
        /* Small cells, in which rewards hardly change. */
        uint32_t lost = c->d_s + c->d_a > 3 ? ADAMB_SHARE_LOST_MORE : ADAMB_SHARE_LOST_FEW;
        uint32_t cell = (uint32_t)v->state >> lost << 8 | v->action >> lost;
        compare(c, cell * ADAMB_SHARE_HASH & 0xFFFFu, (uint16_t)((v->reward & 0xFF00u) | sum));
    }
    return 1;
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

/* What the episode earned; steps that were left out count as the others' mean. */
uint32_t adamb_adapt_earned(const uint16_t *w)
{
    uint32_t value = w[ADAMB_H_RETURN_SUM], seen = w[ADAMB_H_SEEN], horizon = w[ADAMB_H_DIMS] >> 8;
    if (seen != horizon) {
        value = adamb_number_divide(value * horizon, seen);
    }
    return value > 0xFFFF ? 0xFFFF : value;
}

/* Follow the mean return of held or of stepwise episodes; the other kind's counts for less from episode to episode, so that
 * it is followed faster later. Then the cumulative sum of how far returns fall below the mean of their kind. No single episode
 * brings more than a part of an alarm, so that only a fall that lasts raises one, and a deviation is at least a small part of
 * the mean, so that the sum drains after a fall that did not last. Returns 1 on an alarm. */
static int judge_return(uint16_t *w, uint32_t value)
{
    uint32_t kind = ADAMB_H_STEPS_MEAN, other = ADAMB_H_HELD_MEAN, salt = w[ADAMB_H_EPISODES];
    if (w[ADAMB_H_HELD] != 0) {
        kind = ADAMB_H_HELD_MEAN, other = ADAMB_H_STEPS_MEAN;
    }
    if (w[other + 1] > 2 && adamb_number_random(w) >> 8 < w[other + 1]) {
        w[other + 1]--;
    }
    uint32_t n = w[kind + 1] < ADAMB_DETECT_WINDOW ? w[kind + 1] + 1u : ADAMB_DETECT_WINDOW;
    uint32_t mean = n == 1 ? value : w[kind], dev = w[ADAMB_H_RETURN_DEV], fraction = w[ADAMB_H_SCALE] & 0xFFu;
    saturating_inc(w, ADAMB_H_SINCE);
    uint32_t window = w[ADAMB_H_SINCE] < ADAMB_DETECT_WINDOW ? w[ADAMB_H_SINCE] : ADAMB_DETECT_WINDOW;
    int32_t unit = (int32_t)(dev > mean >> ADAMB_DETECT_LEAST_SHIFT ? dev : mean >> ADAMB_DETECT_LEAST_SHIFT);
    int32_t most = ADAMB_DETECT_ALARM * unit + ((int32_t)1 << fraction >> ADAMB_DETECT_FLOOR_SHIFT);
    most >>= ADAMB_DETECT_SPELL_SHIFT;
    int32_t fall = (int32_t)(mean - value) - (unit >> ADAMB_DETECT_SLACK_SHIFT);
    int32_t drop = w[ADAMB_H_DROP] + (fall > most ? most : fall);
    drop = drop < 0 ? 0 : drop > 0xFFFF ? 0xFFFF : drop;
    w[ADAMB_H_DROP] = (uint16_t)drop;
    w[ADAMB_H_RETURN_DEV] = adamb_number_dithered_mean(dev, distance((uint16_t)value, (uint16_t)mean), window, salt);
    w[kind] = adamb_number_dithered_mean(mean, value, n, salt);
    w[kind + 1] = (uint16_t)n;
    return w[ADAMB_H_SINCE] > ADAMB_DETECT_WARMUP && drop >= most << ADAMB_DETECT_SPELL_SHIFT;
}

/* Where steps differ, or are many, no action is good for all of them; the paper holds none. */
static int may_hold(const uint16_t *w)
{
#ifdef ADAMB_WITHOUT_HELD
    return 0;
#endif
    return w[ADAMB_H_SHARE] != ADAMB_SHARE_OFF && !has_flag(w, ADAMB_FLAG_PAPER) &&
           w[ADAMB_H_DIMS] >> 8 <= ADAMB_HELD_HORIZON;
}

/* Whether the next episode is held: the best action may earn what V of the held step says, the policy of the steps its mean
 * return and the error of that. At first some are held, then some are not, to know both; where a teacher had those first
 * ones, none is. */
static void choose(uint16_t *w)
{
    uint32_t since = w[ADAMB_H_SINCE], horizon = w[ADAMB_H_DIMS] >> 8;
    uint32_t error = adamb_number_bonus(w[ADAMB_H_RETURN_DEV] & ADAMB_VALUE_MASK, (uint32_t)w[ADAMB_H_STEPS_N] * 4u + 1u);
    uint32_t best = (w[adamb_call_step(w, horizon) + ADAMB_S_V_SLOT] & ADAMB_VALUE_MASK) * horizon;
    int better = since >= ADAMB_HELD_UNTIL && w[ADAMB_H_HELD_N] != 0 &&
                 best > w[ADAMB_H_STEPS_MEAN] + ADAMB_HELD_ERRORS * error;
    w[ADAMB_H_HELD] = may_hold(w) && (since < ADAMB_HELD_FIRST || better);
}

/* Discard everything learnt; configuration, counters and the result of the sharing test stay. V first, and its action before
 * its value: a walk in between finds the old tree, whole, or the new one. */
void adamb_adapt_restart(uint16_t *w)
{
    adamb_call c;
    for (uint8_t h = 0; h <= w[ADAMB_H_DIMS] >> 8; h++) {
        adamb_call_decode(&c, w, h);
        uint16_t *s = w + c.step;
        s[ADAMB_S_V_AUX] = adamb_code_centre(0, 0, c.d_a);
        ADAMB_COMPILER_BARRIER();
        s[ADAMB_S_V_SLOT] = (uint16_t)(ADAMB_TAG | adamb_number_initial(&c, h));
        s[ADAMB_S_ROOT] = ADAMB_TAG;
        s[ADAMB_S_STATE] = s[ADAMB_S_ACTION] = s[ADAMB_S_JOB_CELL] = s[ADAMB_S_JOB_AT] = s[ADAMB_S_REWARD_MEAN] = 0;
        s[ADAMB_S_SPREAD] = s[ADAMB_S_LAST] = 0;
        s[ADAMB_S_NOISE] = c.held ? ADAMB_HELD_NOISE_START : ADAMB_NOISE_START;
        s[ADAMB_S_EFFECT] = ADAMB_EFFECT_TOP;
        s[ADAMB_S_REWARD_TOP] = 0xFFFF;
    }
    ADAMB_COMPILER_BARRIER();
    w[ADAMB_H_FREE_HEAD] = w[ADAMB_H_FREE_N] = w[ADAMB_H_SPLITS] = 0;
    w[ADAMB_H_FRESH] = w[ADAMB_H_POOL_AT];
    for (uint32_t i = ADAMB_H_TABLE; i <= ADAMB_H_STEPS_N; i++) {
        w[i] = 0;
    }
    w[ADAMB_H_HELD] = (uint16_t)may_hold(w);
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING) {
        w[ADAMB_H_TABLE] = w[ADAMB_H_POOL_AT];
        for (uint32_t i = 0; i < ADAMB_SHARE_TABLE_UNITS; i++) {
            adamb_pool_alloc(w);
        }
    }
}

void adamb_adapt_episode(uint16_t *w, uint32_t value)
{
    int alarm = 0;
    if (w[ADAMB_H_HELD] == ADAMB_HELD_TAUGHT) {
        saturating_inc(w, ADAMB_H_SINCE);
    } else if (w[ADAMB_H_SEEN] != 0) {
        alarm = judge_return(w, value) && has_flag(w, ADAMB_FLAG_DETECT);
    }
    choose(w);
    w[ADAMB_H_RETURN_SUM] = w[ADAMB_H_SEEN] = 0;
    uint32_t episodes = (uint32_t)w[ADAMB_H_EPISODES_HIGH] << 16 | w[ADAMB_H_EPISODES];
    episodes += episodes != 0xFFFFFFFFu;
    w[ADAMB_H_EPISODES] = (uint16_t)episodes;
    w[ADAMB_H_EPISODES_HIGH] = (uint16_t)(episodes >> 16);
    if (alarm) {
        saturating_inc(w, ADAMB_H_RESTARTS);
    }
    if ((w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING && judge_sharing(w)) || alarm) {
        adamb_adapt_restart(w);
    }
}
