/* The MicroPython module `adamb` as a native .mpy file: what the compiler calls by itself and such a file must bring along. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *place, int byte, size_t count)
{
    for (uint8_t *p = place; count != 0; count--) {
        *p++ = (uint8_t)byte;
    }
    return place;
}

#if defined(__ARM_ARCH_6M__)
/* ARMv6-M has no instruction to divide. Only units of the user divide at all. Quotient below, remainder above. */
uint64_t __aeabi_uidivmod(uint32_t numerator, uint32_t denominator)
{
    uint32_t quotient = 0, remainder = 0;
    for (int bit = 31; bit >= 0; bit--) {
        remainder = remainder << 1 | (numerator >> bit & 1u);
        if (remainder >= denominator) {
            remainder -= denominator;
            quotient |= (uint32_t)1 << bit;
        }
    }
    return (uint64_t)remainder << 32 | quotient;
}

uint32_t __aeabi_uidiv(uint32_t numerator, uint32_t denominator)
{
    return (uint32_t)__aeabi_uidivmod(numerator, denominator);
}
#endif
