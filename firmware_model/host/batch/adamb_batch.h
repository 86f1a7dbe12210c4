/* Many controllers, or many steps, in one call: for hosts, where crossing into C costs more than a step. */
#ifndef ADAMB_BATCH_H
#define ADAMB_BATCH_H
#include <stdint.h>

/* cffi begin */
/* n controllers in blocks `stride` words apart; states and actions as real numbers in [0,1], controller by
 * controller. The result is the first error, 0 without one; the calls after an error are not made. */
int adamb_batch_act(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *states, double *actions);
int adamb_batch_observe(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *rewards, const double *next);
int adamb_batch_end_episode(uint16_t *blocks, uint32_t stride, uint32_t n);

/* A recorded stream into one controller: for each step, act on the state, then observe what was recorded, whatever
 * the action was; after the last step of the horizon, end_episode. Actions go to `actions` unless it is null. */
int adamb_batch_replay(uint16_t *block, uint32_t steps, const uint16_t *states, const uint16_t *rewards,
                       const uint16_t *next, uint16_t *actions);
/* cffi end */

#endif
