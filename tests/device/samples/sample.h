#ifndef SAMPLE_H
#define SAMPLE_H
#include <stdint.h>
uint32_t sample_quotients(const uint32_t *from, uint32_t by);
uint32_t sample_recursive(uint32_t n);
void sample_fill(uint8_t *into, uint32_t count);
void sample_forever(void);
uint32_t sample_through_pointer(uint32_t (*function)(uint32_t), uint32_t value);
uint32_t sample_switch(uint32_t which, volatile uint32_t *place);
int32_t sample_five(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e);
#endif
