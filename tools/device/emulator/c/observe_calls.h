/* Host only: let many controllers learn, and count the work of each call. Forced into every file of the core in this
 * build, so that it counts its units of work. */
#ifndef ADAMB_DEVICE_OBSERVE_CALLS_H
#define ADAMB_DEVICE_OBSERVE_CALLS_H
#include <stdint.h>

extern uint32_t adamb_work;
#define ADAMB_WORK() (adamb_work++)

/* cffi begin */
/* observe for n controllers in blocks of `words` words, next states of d_s words each; end_episode, which learns from
 * held episodes, where `next` is null. Units of work of each go to `work`; the result is the first error, 0 without one. */
int adamb_observe_calls(uint16_t *blocks, uint32_t words, uint32_t n, int h, uint32_t d_s, const uint16_t *rewards,
                        const uint16_t *next, uint32_t *work);
/* cffi end */

#endif
