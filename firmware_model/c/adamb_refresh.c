/* V and the best action of cells other than the visited one, so that they use what was learnt elsewhere. */
#include "adamb_internal.h"

/* Refresh the cell that will be played next, so that it uses what was learnt at other states and steps. With 1+1
 * dimensions it takes the place of other work, and after the first episodes, when it matters less, it is done in one observe
 * of sixteen only: returns 1 then. */
int adamb_refresh_next(adamb_call *c, uint16_t code)
{
    uint8_t h = c->h;
    if (h + 1 == c->horizon || (!c->wide && c->w[ADAMB_H_SINCE] >= ADAMB_NEXT_ALWAYS &&
                                (adamb_number_random(c->w) & ADAMB_NEXT_MASK) != 0)) {
        return 0;
    }
    adamb_call_decode(c, c->w, (uint8_t)(h + 1));
    adamb_tree_scan(c, code);
    adamb_value_set(c, code);
    adamb_call_decode(c, c->w, h);
    return !c->wide;
}

/* Refresh a random cell of this step, or of the first, which no look-ahead reaches: with more than 1+1 dimensions most cells
 * are seldom visited. */
void adamb_refresh_any(adamb_call *c)
{
    uint16_t random = adamb_number_random(c->w);
    adamb_call_decode(c, c->w, (random & ADAMB_LATER_FIRST_MASK) != 0 ? 0 : c->h);
    adamb_tree_scan(c, random);
    c->best_level = 0; /* V is not divided for a cell that may never be visited */
    adamb_value_set(c, random);
}
