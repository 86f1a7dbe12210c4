#ifndef ADAMB_H
#define ADAMB_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    uint8_t d_s, d_a, horizon;
    uint8_t paper, own, share, freeze, random_action, detect, auto_bonus;
    uint16_t bonus; /* c * 4096 */
    uint16_t seed;
    uint16_t thresholds[15];
} adamb_config;

void adamb_thresholds(adamb_config *config, uint8_t gamma, uint16_t phi_num, uint16_t phi_den);
int32_t adamb_required_words(const adamb_config *config);
int adamb_init(const adamb_config *config, uint16_t *block, uint32_t words);
int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action);
int adamb_observe(uint16_t *block, int h, uint16_t reward, const uint16_t *next_state);
int adamb_end_episode(uint16_t *block);
/* cffi end */

#endif
