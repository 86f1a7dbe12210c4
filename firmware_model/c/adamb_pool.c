/* Units of four words: a list of returned units, and the never used rest behind `fresh`. */
#include "adamb_internal.h"

uint16_t adamb_pool_room(const uint16_t *w)
{
    return (uint16_t)(w[ADAMB_H_FREE_N] + w[ADAMB_H_UNITS] - w[ADAMB_H_FRESH]);
}

static int inside(const uint16_t *w, uint16_t unit)
{
    return unit >= w[ADAMB_H_POOL_AT] && unit < w[ADAMB_H_UNITS];
}

uint16_t adamb_pool_alloc(uint16_t *w)
{
    uint16_t unit = w[ADAMB_H_FREE_HEAD];
    if (inside(w, unit)) {
        w[ADAMB_H_FREE_HEAD] = w[at(unit)];
        w[ADAMB_H_FREE_N]--;
    } else if (inside(w, w[ADAMB_H_FRESH])) {
        unit = w[ADAMB_H_FRESH]++;
    } else {
        return 0;
    }
    uint16_t *p = w + at(unit);
    p[0] = p[1] = p[2] = p[3] = 0;
    uint16_t used = (uint16_t)(w[ADAMB_H_FRESH] - w[ADAMB_H_POOL_AT] - w[ADAMB_H_FREE_N]);
    if (used > w[ADAMB_H_USED_PEAK]) {
        w[ADAMB_H_USED_PEAK] = used;
    }
    return unit;
}

void adamb_pool_free(uint16_t *w, uint16_t unit)
{
    if (!inside(w, unit)) {
        return;
    }
    uint16_t *p = w + at(unit);
    p[0] = w[ADAMB_H_FREE_HEAD];
    p[1] = p[2] = p[3] = 0; /* a dump then shows freed units as such, and twins compare equal */
    w[ADAMB_H_FREE_HEAD] = unit;
    w[ADAMB_H_FREE_N]++;
}
