/* What a program for the emulated board may use; it supplies device_main. */
#ifndef ADAMB_DEVICE_STARTUP_H
#define ADAMB_DEVICE_STARTUP_H

#include <stdint.h>

#define DEVICE_FAULT_STATUS 97u
#define DEVICE_READ_BINARY 1u
#define DEVICE_WRITE_BINARY 5u

int device_main(void);
__attribute__((noreturn)) void device_exit(uint32_t status);
/* A host file by name; negative when it cannot be opened. */
int32_t device_open(const char *name, uint32_t name_bytes, uint32_t mode);
/* Bytes really moved. */
uint32_t device_read(int32_t handle, void *into, uint32_t count);
uint32_t device_write(int32_t handle, const void *from, uint32_t count);

#endif
