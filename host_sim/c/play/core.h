/* The controller's C core, which is a library of its own, as learners of `play.h`. */
#ifndef PLAY_CORE_H
#define PLAY_CORE_H
#include <stdint.h>

/* cffi begin */
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
