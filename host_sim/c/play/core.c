#include "core.h"

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
