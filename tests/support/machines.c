/* What a compiler may ask of a C library for the core: in the images of machines.py there is none. */
#include <stddef.h>

void *memset(void *to, int value, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);

void *memset(void *to, int value, size_t bytes)
{
    volatile unsigned char *out = to; /* volatile, so that this loop does not become a call of memset */
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (unsigned char)value;
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *out = to;
    const unsigned char *in = from;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = in[i];
    }
    return to;
}
