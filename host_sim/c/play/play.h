/* Problems whose step is a C function: one step of all instances, or whole episodes of compiled learners with no
 * Python between two steps. */
#ifndef PLAY_H
#define PLAY_H
#include <stdint.h>

/* cffi begin */
/* One step of one instance of n: rewards and next state are to be written. Number j of its noise is
 * noise[j * n]; k counts the episodes of this call. */
typedef struct {
    int32_t instance, n, k, h;
    const double *state, *action, *noise;
    double *reward, *next;
} play_step;

typedef struct {
    const void *world;
    void (*step)(const void *world, const play_step *at);
} play_problem;

/* The same step of all instances, in rows. */
typedef struct {
    int32_t n, d_s, d_a, h;
    const double *states, *actions, *noise;
    double *rewards, *next;
} play_batch;
void play_step_all(const play_problem *problem, const play_batch *rows);

/* Learners first to first + n - 1 in one call; a result below 0 is an error. `end_episode` may be null. The
 * learners see states moved by `offset`, and what they choose is moved back by `action_offset`. */
typedef struct {
    void *learners;
    int (*act)(void *learners, int32_t first, int32_t n, int h, const double *states, double *actions);
    int (*observe)(void *learners, int32_t first, int32_t n, int h, const double *rewards, const double *next);
    int (*end_episode)(void *learners, int32_t first, int32_t n);
    double offset, action_offset;
} play_agent;

typedef struct {
    int32_t n, d_s, d_a, horizon;
    int32_t episodes;
    int32_t carry;       /* 1: an episode starts where the one before ended */
    int32_t numbers;     /* of noise a step */
    double *starts;      /* episode, instance, coordinate; with `carry` those after the first are written */
    const double *noise; /* episode, step, number, instance */
    double *returns;     /* of an instance, episode by episode */
    int64_t stride;      /* from the returns of one instance to those of the next */
    int64_t *clipped;    /* actions outside the unit cube, counted on */
    double *last_states, *last_actions, *last_rewards, *end_states; /* of the last step */
    int64_t act_ns, observe_ns, environment_ns; /* of the steps that were timed: how the time divides, not how much it is */
} play_run;

/* Learner i of n plays instance first + i. They play one after the other, each all its episodes, so that what a
 * learner knows stays near the processor. Below 0: an error of the agent, or PLAY_TOO_WIDE: more dimensions than
 * any problem here has. */
enum { PLAY_TOO_WIDE = -1000 };
int play_episodes(play_run *run, const play_problem *problem, const play_agent *agent, int32_t first, int32_t n);

/* The controller's C core, which is a library of its own, as learners of `play_agent`. */
/* Blocks `words` apart, and the calls of firmware_model/host/batch/adamb_batch.h. */
typedef struct {
    uint16_t *blocks;
    uint32_t words;
    int (*act)(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *states, double *actions);
    int (*observe)(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *rewards, const double *next);
    int (*end_episode)(uint16_t *blocks, uint32_t stride, uint32_t n);
} play_core;
int play_core_act(void *core, int32_t first, int32_t n, int h, const double *states, double *actions);
int play_core_observe(void *core, int32_t first, int32_t n, int h, const double *rewards, const double *next);
int play_core_end_episode(void *core, int32_t first, int32_t n);
/* cffi end */

#endif
