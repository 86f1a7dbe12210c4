#include "observe_calls.h"

#include "adamb.h"

uint32_t adamb_work;

int adamb_observe_calls(uint16_t *blocks, uint32_t words, uint32_t n, int h, uint32_t d_s, const uint16_t *rewards,
                        const uint16_t *next, uint32_t *work)
{
    int error = 0;
    for (uint32_t i = 0; i < n && error == 0; i++, blocks += words) {
        adamb_work = 0;
        error = next != 0 ? adamb_observe(blocks, h, rewards[i], next + (uint64_t)i * d_s) : adamb_end_episode(blocks);
        work[i] = adamb_work;
    }
    return error;
}
