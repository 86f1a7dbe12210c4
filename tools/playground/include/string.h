/* The part of the C library's header that the worlds use; the compiler's own library has the functions. */
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
void *memmove(void *to, const void *from, size_t n);
