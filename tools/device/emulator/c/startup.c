/* Reset and semihosting for the images that run in QEMU: a vector table, no data to copy, no zeroing, because
 * the core has neither. Semihosting is the debugger's door: `bkpt 0xab` with an operation in r0. */
#include "startup.h"

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT_EXTENDED = 0x20 };
enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026, ADP_STOPPED_RUN_TIME_ERROR = 0x20023 };

extern uint32_t adamb_ram_end;
void adamb_reset(void);
static void fault(void);

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    (uintptr_t)&adamb_ram_end, (uintptr_t)adamb_reset, (uintptr_t)fault, (uintptr_t)fault,
    (uintptr_t)fault,          (uintptr_t)fault,       (uintptr_t)fault,
};

static int32_t trap(int32_t operation, const void *block)
{
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void device_exit(uint32_t status)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, status};
    (void)trap(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

static void fault(void)
{
    device_exit(DEVICE_FAULT_STATUS);
}

int32_t device_open(const char *name, uint32_t name_bytes, uint32_t mode)
{
    const uint32_t block[3] = {(uint32_t)name, mode, name_bytes};
    return trap(SYS_OPEN, block);
}

uint32_t device_read(int32_t handle, void *into, uint32_t count)
{
    const uint32_t block[3] = {(uint32_t)handle, (uint32_t)into, count};
    return count - (uint32_t)trap(SYS_READ, block);
}

uint32_t device_write(int32_t handle, const void *from, uint32_t count)
{
    const uint32_t block[3] = {(uint32_t)handle, (uint32_t)from, count};
    return count - (uint32_t)trap(SYS_WRITE, block);
}

void adamb_reset(void)
{
    device_exit((uint32_t)device_main());
}
