/* Host only: call observe of many controllers, and keep block and arguments of the calls worth replaying. */
#ifndef ADAMB_DEVICE_OBSERVE_CALLS_H
#define ADAMB_DEVICE_OBSERVE_CALLS_H
#include <stdint.h>

/* cffi begin */
/* The `room` calls with the highest keys so far: entry i has its key, step, reward, next state (3 words) and the
 * block as it was before the call. */
typedef struct {
    uint32_t room, kept, lowest;
    uint32_t *keys;
    uint16_t *steps, *rewards, *next, *blocks;
} adamb_observe_calls;

/* observe for n controllers in blocks of `words` words, next states of d_s words each. Into `heaviest` by units of
 * work, into `sample` by a hash of the call's running number (the first one's is `number`): a uniform sample of
 * all calls. The result is the first error, 0 without one. */
int adamb_observe_calls_keep(adamb_observe_calls *heaviest, adamb_observe_calls *sample, uint32_t number,
                             uint16_t *blocks, uint32_t words, uint32_t n, int h, uint32_t d_s,
                             const uint16_t *rewards, const uint16_t *next);
/* cffi end */

#endif
