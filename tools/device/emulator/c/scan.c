/* One scan of the balls relevant to a state, by itself: what the bound of observe is made of. */
#include "adamb_internal.h"

void adamb_measure_scan(uint16_t *block, int h, uint16_t code);

void adamb_measure_scan(uint16_t *block, int h, uint16_t code)
{
    adamb_call c;
    adamb_choice best;
    adamb_call_decode(&c, block, (uint8_t)h);
    adamb_tree_scan(&c, code, &best);
}
