/* Values of a user's unit as codes, and back. 65535 = 255 * 257, so that both divisions can be done in two steps of
 * less than 2^25 each: MicroPython's small integers hold them, and 32 bits are enough. */
#include "adamb_unit.h"

#include "adamb.h"

#define LAST 65535u
#define FEW 255u
#define MANY 257u
#define MOST_COUNTED 0x3FFFFFFFu

/* Of two's complement numbers, without overflow: the larger less the smaller. */
static uint32_t apart(int32_t a, int32_t b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

int adamb_unit_init(adamb_unit *unit, int32_t zero, int32_t full)
{
    if (!unit) {
        return ADAMB_BAD_ARGUMENT;
    }
    if (zero == full || apart(zero, full) > LAST) {
        return ADAMB_BAD_CONFIG;
    }
    unit->zero = zero;
    unit->full = full;
    unit->out_of_range = 0;
    unit->outside = 0;
    return ADAMB_OK;
}

uint16_t adamb_unit_code(adamb_unit *unit, int32_t value)
{
    int rises = unit->zero < unit->full;
    int below = rises ? value < unit->zero : value > unit->zero;
    int above = rises ? value > unit->full : value < unit->full;
    unit->outside = (uint8_t)(below || above);
    if (unit->outside) {
        unit->out_of_range += unit->out_of_range < MOST_COUNTED;
        return (uint16_t)(below ? 0u : LAST);
    }
    uint32_t span = apart(unit->zero, unit->full);
    uint32_t part = apart(unit->zero, value) * FEW;
    return (uint16_t)(part / span * MANY + (part % span * MANY + span / 2u) / span);
}

int32_t adamb_unit_value(const adamb_unit *unit, uint16_t code)
{
    uint32_t span = apart(unit->zero, unit->full);
    uint32_t part = code / MANY * span;
    uint32_t steps = part / FEW + (part % FEW * MANY + code % MANY * span + LAST / 2u) / LAST;
    return unit->zero < unit->full ? unit->zero + (int32_t)steps : unit->zero - (int32_t)steps;
}
