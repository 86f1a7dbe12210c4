/* A whole program: adds one to every byte of in.bin, writes out.bin, exits with the count. */
#include "startup.h"

int device_main(void)
{
    uint8_t bytes[16];
    int32_t file = device_open("in.bin", 6, DEVICE_READ_BINARY);
    if (file < 0) {
        return 90;
    }
    uint32_t count = device_read(file, bytes, sizeof bytes);
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(bytes[i] + 1u);
    }
    file = device_open("out.bin", 7, DEVICE_WRITE_BINARY);
    (void)device_write(file, bytes, count);
    if (bytes[0] == 0) {
        /* One word beyond the 16 KiB of the board. */
        *(volatile uint32_t *)0x20004000u = 1;
    }
    return (int)count;
}
