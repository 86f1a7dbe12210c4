/* AdaMB units: a range of your unit as the 16 bits of a coordinate or reward, and back.
 *
 * A sensor gives 2153 hundredths of a degree, an actuator wants a duty cycle in thousandths; the controller knows 0 to
 * 65535. A unit maps one to the other. A value outside the range becomes the nearest end, is counted, and sets `outside`
 * until the next value: do not act on such a reading or learn from it, and drive an output that is safe without it.
 *
 *     static adamb_unit degrees, duty;
 *     adamb_unit_init(&degrees, 0, 4000);               // 0 to 40 degrees, in hundredths
 *     adamb_unit_init(&duty, 0, 1000);                  // 0 to 100 %, in thousandths
 *     state[0] = adamb_unit_code(&degrees, read_sensor());
 *     if (degrees.outside || adamb_act(block, h, state, action) < 0) { drive(SAFE_OUTPUT); }
 *     else { drive(adamb_unit_value(&duty, action[0])); }
 *
 * A range may fall: init(&unit, 1000, 0) makes 1000 the code 0, which suits a cost that is to become a reward. A range
 * has at most 65536 values, as many as there are codes: every value then comes back from its code as it was. Whole
 * numbers only: choose hundredths or thousandths of your unit. No call divides 64-bit numbers; any may be
 * called from an interrupt handler, on a unit that no other call works on. */
#ifndef ADAMB_UNIT_H
#define ADAMB_UNIT_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cffi begin */
typedef struct {
    int32_t zero, full;    /* the values of code 0 and of code 65535 */
    uint32_t out_of_range; /* values outside them so far; stops at 2^30 - 1, and you may set it to 0 */
    uint8_t outside;       /* 1 when the last value was outside, else 0 */
} adamb_unit;

/* Make a unit; its counter and `outside` are 0. Errors: BAD_ARGUMENT (null), BAD_CONFIG (zero equals full, or they are
 * more than 65535 apart; the unit is unchanged). Work: constant. */
int adamb_unit_init(adamb_unit *unit, int32_t zero, int32_t full);

/* The code of a value, rounded to the nearest; a value outside becomes the nearest end, is counted and sets `outside`.
 * Before: the unit was made by adamb_unit_init. Work: constant, two 32-bit divisions. */
uint16_t adamb_unit_code(adamb_unit *unit, int32_t value);

/* The value of a code, rounded to the nearest. Before and work: as adamb_unit_code. Changes nothing. */
int32_t adamb_unit_value(const adamb_unit *unit, uint16_t code);
/* cffi end */

#ifdef __cplusplus
}
#endif

#endif
