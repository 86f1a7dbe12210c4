/* Everything the gates must refuse in one file. */
#include <stdint.h>

static uint32_t counter;
uint32_t initialised = 7;
static uint8_t arena[64];

void *malloc(uint32_t count);
__attribute__((noinline)) void *malloc(uint32_t count)
{
    counter += count;
    return &arena[counter & 31u];
}

float forbidden_float(float a, float b);
float forbidden_float(float a, float b)
{
    uint8_t *place = malloc((uint32_t)a);
    *place = (uint8_t)initialised;
    initialised++;
    return a * b + 1.5f;
}
