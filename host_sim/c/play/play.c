#define _POSIX_C_SOURCE 199309L /* for clock_gettime; NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "play.h"

#include <stddef.h>
#include <time.h>

enum { DIMENSIONS = 8, TIMED_EVERY = 16 };

/* A step takes microseconds: if it took so long, another program came between. */
static const int64_t INTERRUPTED_NS = 1000000;

/* State of one learner between two calls. */
typedef struct {
    int32_t learner, instance;
    double state[DIMENSIONS], seen[DIMENSIONS], action[DIMENSIONS], inside[DIMENSIONS], next[DIMENSIONS];
    double reward, sum;
    int64_t clipped;
} player;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t without(int64_t time, int64_t clock)
{
    return time > clock ? time - clock : 0;
}

static void shift(const double *from, int32_t d, double offset, double *to)
{
    for (int32_t k = 0; k < d; k++)
        to[k] = from[k] + offset;
}

static int act(const play_run *run, const play_agent *agent, int h, player *one)
{
    shift(one->state, run->d_s, agent->offset, one->seen);
    int error = agent->act(agent->learners, one->learner, 1, h, one->seen, one->action);
    for (int32_t k = 0; k < run->d_a && error >= 0; k++) {
        double chosen = one->action[k] - agent->action_offset;
        double inside = chosen < 0.0 ? 0.0 : chosen > 1.0 ? 1.0 : chosen;
        one->clipped += inside != chosen;
        one->inside[k] = inside;
    }
    return error;
}

static void environment(const play_run *run, const play_problem *problem, int32_t k, int h, player *one)
{
    int32_t i = one->instance;
    int64_t at = ((int64_t)k * run->horizon + h) * run->numbers * run->n + i;
    play_step step = {i, run->n, k, h, one->state, one->inside, run->noise + at, &one->reward, one->next};
    problem->step(problem->world, &step);
    one->sum += one->reward;
}

void play_step_all(const play_problem *problem, const play_batch *rows)
{
    for (int32_t i = 0; i < rows->n; i++) {
        int64_t row = i;
        play_step step = {i, rows->n, 0, rows->h, rows->states + row * rows->d_s, rows->actions + row * rows->d_a,
                          rows->noise + row, rows->rewards + row, rows->next + row * rows->d_s};
        problem->step(problem->world, &step);
    }
}

static int observe(const play_run *run, const play_agent *agent, int h, player *one)
{
    shift(one->next, run->d_s, agent->offset, one->seen);
    return agent->observe(agent->learners, one->learner, 1, h, &one->reward, one->seen);
}

/* The timed twin of the loop in `episode`; the clock's own time is in every part and taken off. */
static int timed_step(play_run *run, const play_problem *problem, const play_agent *agent, int32_t k, int h,
                      player *one)
{
    int64_t empty = now(), before = now();
    int error = act(run, agent, h, one);
    int64_t acted = now();
    environment(run, problem, k, h, one);
    int64_t stepped = now();
    if (error >= 0)
        error = observe(run, agent, h, one);
    int64_t observed = now(), clock = before - empty;
    if (observed - before >= INTERRUPTED_NS)
        return error;
    run->act_ns += without(acted - before, clock);
    run->environment_ns += without(stepped - acted, clock);
    run->observe_ns += without(observed - stepped, clock);
    return error;
}

static void start(const play_run *run, int32_t k, player *one)
{
    double *from = run->starts + ((int64_t)k * run->n + one->instance) * run->d_s;
    for (int32_t c = 0; c < run->d_s; c++) {
        if (run->carry && k > 0)
            from[c] = one->state[c];
        else
            one->state[c] = from[c];
    }
    one->sum = 0.0;
}

static void keep_last(const play_run *run, const player *one)
{
    int64_t i = one->instance;
    run->last_rewards[i] = one->reward;
    for (int32_t c = 0; c < run->d_s; c++) {
        run->last_states[i * run->d_s + c] = one->state[c];
        run->end_states[i * run->d_s + c] = one->next[c];
    }
    for (int32_t c = 0; c < run->d_a; c++)
        run->last_actions[i * run->d_a + c] = one->inside[c];
}

/* What an agent does between two episodes, such as planning, counts as learning. */
static int end(play_run *run, const play_agent *agent, int32_t k, const player *one)
{
    if (agent->end_episode == NULL)
        return 0;
    if (k % TIMED_EVERY != 0)
        return agent->end_episode(agent->learners, one->learner, 1);
    int64_t empty = now(), before = now();
    int error = agent->end_episode(agent->learners, one->learner, 1);
    run->observe_ns += without(now() - before, before - empty);
    return error;
}

static int episode(play_run *run, const play_problem *problem, const play_agent *agent, int32_t k, player *one)
{
    start(run, k, one);
    for (int h = 0; h < run->horizon; h++) {
        int error;
        if (k % TIMED_EVERY == 0) {
            error = timed_step(run, problem, agent, k, h, one);
        } else {
            error = act(run, agent, h, one);
            environment(run, problem, k, h, one);
            error = error < 0 ? error : observe(run, agent, h, one);
        }
        if (error < 0)
            return error;
        if (h + 1 == run->horizon && k + 1 == run->episodes)
            keep_last(run, one);
        shift(one->next, run->d_s, 0.0, one->state);
    }
    run->returns[one->instance * run->stride + k] = one->sum;
    return end(run, agent, k, one);
}

int play_episodes(play_run *run, const play_problem *problem, const play_agent *agent, int32_t first, int32_t n)
{
    if (run->d_s > DIMENSIONS || run->d_a > DIMENSIONS)
        return PLAY_TOO_WIDE;
    for (int32_t i = 0; i < n; i++) {
        player one = {.learner = i, .instance = first + i};
        for (int32_t k = 0; k < run->episodes; k++) {
            int error = episode(run, problem, agent, k, &one);
            if (error < 0)
                return error;
        }
        run->clipped[one.instance] += one.clipped;
    }
    return 0;
}

/* ---- the C core ---- */

static uint16_t *block(const play_core *core, int32_t first)
{
    return core->blocks + (uint64_t)first * core->words;
}

int play_core_act(void *core, int32_t first, int32_t n, int h, const double *states, double *actions)
{
    const play_core *one = core;
    return one->act(block(one, first), one->words, (uint32_t)n, h, states, actions);
}

int play_core_observe(void *core, int32_t first, int32_t n, int h, const double *rewards, const double *next)
{
    const play_core *one = core;
    return one->observe(block(one, first), one->words, (uint32_t)n, h, rewards, next);
}

int play_core_end_episode(void *core, int32_t first, int32_t n)
{
    const play_core *one = core;
    return one->end_episode(block(one, first), one->words, (uint32_t)n);
}
