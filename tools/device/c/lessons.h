/* Host only: teach many controllers and keep the block and the arguments of the lessons worth replaying. */
#ifndef ADAMB_DEVICE_LESSONS_H
#define ADAMB_DEVICE_LESSONS_H
#include <stdint.h>

/* cffi begin */
/* The `room` lessons with the highest keys so far: entry i has its key, step, reward, next state (3 words) and the
 * block as it was before the call. */
typedef struct {
    uint32_t room, kept, lowest;
    uint32_t *keys;
    uint16_t *steps, *rewards, *next, *blocks;
} adamb_lessons;

/* observe for n controllers in blocks of `words` words, next states of d_s words each. Into `heaviest` by units of
 * work, into `sample` by a hash of the lesson's running number (the first one's is `number`): a fair draw from all
 * lessons. The result is the first error, 0 without one. */
int adamb_lessons_observe(adamb_lessons *heaviest, adamb_lessons *sample, uint32_t number, uint16_t *blocks,
                          uint32_t words, uint32_t n, int h, uint32_t d_s, const uint16_t *rewards,
                          const uint16_t *next);
/* cffi end */

#endif
