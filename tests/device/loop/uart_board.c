/* A board in C that serves the link on its UART: QEMU's mps2-an385, whose UART is ARM's CMSDK one. Its reset copies and
 * clears nothing, because neither core nor link have variables. */
#include "adamb_link.h"

enum { CAPACITY = 4096 };
enum { STATE_TX_FULL = 1, STATE_RX_FULL = 2, CTRL_ENABLE = 3, DIVIDER = 16 };

typedef struct {
    volatile uint32_t data, state, ctrl, interrupts, divider;
} uart_registers;

#define UART ((uart_registers *)0x40004000u)

extern uint32_t adamb_ram_start, adamb_ram_end;

static void send(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while ((UART->state & STATE_TX_FULL) != 0) {
        }
        UART->data = bytes[i];
    }
}

void adamb_reset(void);
void adamb_reset(void)
{
    adamb_link *link = (adamb_link *)(void *)&adamb_ram_start;
    uint16_t *block = (uint16_t *)(void *)(&adamb_ram_start + 128);
    UART->divider = DIVIDER;
    UART->ctrl = CTRL_ENABLE;
    adamb_link_start(link, block, CAPACITY, 0, ADAMB_LINK_NO_CLOCK);
    for (;;) {
        while ((UART->state & STATE_RX_FULL) == 0) {
        }
        send(link->reply, adamb_link_take(link, (uint8_t)UART->data));
    }
}

static void fault(void)
{
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    (uintptr_t)&adamb_ram_end, (uintptr_t)adamb_reset, (uintptr_t)fault, (uintptr_t)fault,
    (uintptr_t)fault,          (uintptr_t)fault,       (uintptr_t)fault,
};
