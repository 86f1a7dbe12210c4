/* Small functions with known cost, for the tests of the emulator and the gates. */
#include "sample.h"

/* Division on a Cortex-M0 is a library call: its stack must be counted too. */
__attribute__((noinline)) static uint32_t sum_of_quotients(const volatile uint32_t *from, uint32_t by)
{
    volatile uint32_t table[20];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 20; i++) {
        table[i] = from[0] + i;
    }
    for (uint32_t i = 0; i < 20; i++) {
        sum += table[i] / by;
    }
    return sum;
}

uint32_t sample_quotients(const uint32_t *from, uint32_t by)
{
    return sum_of_quotients(from, by) + from[1];
}

uint32_t sample_recursive(uint32_t n)
{
    return n < 2 ? 1 : sample_recursive(n - 1) * n + sample_recursive(n - 2);
}

void sample_fill(uint8_t *into, uint32_t count)
{
    volatile uint8_t *place = into;
    for (uint32_t i = 0; i < count; i++) {
        place[i] = (uint8_t)i;
    }
}

void sample_forever(void)
{
    for (;;) {
        __asm__ volatile("" ::: "memory");
    }
}

uint32_t sample_through_pointer(uint32_t (*function)(uint32_t), uint32_t value)
{
    return function(value) + 1u;
}

uint32_t sample_switch(uint32_t which, volatile uint32_t *place)
{
    switch (which) {
    case 0: place[0] = 3; return sample_recursive(place[1]);
    case 1: place[1] = 1; break;
    case 2: place[0] = 4; break;
    case 3: place[3] = 1; break;
    case 4: place[2] = 5; break;
    case 5: place[1] = 9; break;
    default: place[0] = 2; break;
    }
    return place[0];
}

int32_t sample_five(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e)
{
    return a - 2 * b + 3 * c - 4 * d + 5 * e;
}
