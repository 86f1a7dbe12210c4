/* What a call needs to know, decoded from the block; the restart. */
#include "adamb_internal.h"

void adamb_call_decode(adamb_call *c, uint16_t *w, uint8_t h)
{
    uint16_t dims = w[ADAMB_H_DIMS];
    c->w = w;
    c->h = h;
    c->d_s = (uint8_t)(dims & 15);
    c->d_a = (uint8_t)(dims >> 4 & 15);
    c->horizon = (uint8_t)(dims >> 8);
    c->chunks = (uint8_t)((c->d_s + c->d_a + 1) >> 1);
    c->bits = adamb_code_division(c->d_s, c->d_a);
    c->fraction = (uint8_t)(w[ADAMB_H_SCALE] & 0xFF);
    c->finest = (uint8_t)(w[ADAMB_H_SCALE] >> 8);
    c->shared = w[ADAMB_H_SHARE] != ADAMB_SHARE_OFF;
    c->paper = w[ADAMB_H_FLAGS] & ADAMB_FLAG_PAPER;
    c->wide = c->chunks > 1 && !c->paper;
    c->first = w[ADAMB_H_POOL_AT];
    c->links = w[ADAMB_H_UNITS] - c->first;
    c->tree = adamb_call_step(w, 0);
    c->step = c->tree + h * (uint32_t)ADAMB_S_WORDS;
    if (!c->shared) {
        c->tree = c->step;
    }
}

/* Discard everything learnt; configuration, counters and the result of the sharing test stay. V first, and its action before
 * its value: a walk in between finds the old tree, whole, or the new one. */
void adamb_call_restart(uint16_t *w)
{
    adamb_call c;
    for (uint8_t h = 0; h < w[ADAMB_H_DIMS] >> 8; h++) {
        adamb_call_decode(&c, w, h);
        uint16_t *s = w + c.step;
        s[ADAMB_S_V_AUX] = adamb_code_centre(0, 0, c.d_a);
        ADAMB_IN_ORDER();
        s[ADAMB_S_V_SLOT] = (uint16_t)(ADAMB_TAG | adamb_number_initial(&c, h));
        s[ADAMB_S_ROOT] = ADAMB_TAG;
        s[ADAMB_S_STATE] = s[ADAMB_S_ACTION] = s[ADAMB_S_JOB_CELL] = s[ADAMB_S_JOB_AT] = s[ADAMB_S_REWARD_MEAN] = 0;
        s[ADAMB_S_SPREAD] = s[ADAMB_S_LAST] = 0;
        s[ADAMB_S_NOISE] = ADAMB_NOISE_START;
        s[ADAMB_S_EFFECT] = ADAMB_EFFECT_TOP;
        s[ADAMB_S_REWARD_TOP] = 0xFFFF;
    }
    ADAMB_IN_ORDER();
    w[ADAMB_H_FREE_HEAD] = w[ADAMB_H_FREE_N] = w[ADAMB_H_SPLITS] = 0;
    w[ADAMB_H_FRESH] = w[ADAMB_H_POOL_AT];
    for (uint32_t i = ADAMB_H_TABLE; i <= ADAMB_H_SINCE; i++) {
        w[i] = 0;
    }
    if (w[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING) {
        w[ADAMB_H_TABLE] = w[ADAMB_H_POOL_AT];
        for (uint32_t i = 0; i < ADAMB_SHARE_TABLE_UNITS; i++) {
            adamb_pool_alloc(w);
        }
    }
}
