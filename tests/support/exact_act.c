/* act by an exact search among the relevant balls, in the place of the action cached in the value tree. Linked with
 * the core by a test; it shows what the cache costs. */
#include "adamb_internal.h"

int exact_act(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const uint16_t *states, uint16_t *actions);

int exact_act(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const uint16_t *states, uint16_t *actions)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t *w = blocks + (uint64_t)i * stride;
        adamb_call c;
        adamb_choice best;
        int error = adamb_act(w, h, states, actions);
        if (error != 0) {
            return error;
        }
        adamb_call_decode(&c, w, (uint8_t)h);
        adamb_tree_scan(&c, w[c.step + ADAMB_S_STATE], &best);
        w[c.step + ADAMB_S_ACTION] = best.action;
        adamb_code_unpack(best.action, c.d_a, actions);
        states += c.d_s;
        actions += c.d_a;
    }
    return 0;
}
