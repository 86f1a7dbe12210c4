/* The program of the simulated chip: wait in the mailbox for a command, call the core, answer.
 * The marks around a call let the simulator count its cycles and accesses without the waiting. */
#include "adamb.h"

enum { COMMAND = CHIP_COMMAND, STEP = CHIP_STEP, REWARD = CHIP_REWARD, POINT = CHIP_POINT }; /* read */
enum { REPLY = CHIP_REPLY, MARK = CHIP_MARK, ACTION = CHIP_ACTION };                         /* written */
enum { NOTHING, INIT, ACT, OBSERVE, END_EPISODE };                                           /* commands */

#define MAILBOX ((volatile uint32_t *)CHIP_MAILBOX_AT)
#define BLOCK ((uint16_t *)CHIP_BLOCK_AT)

/* The host writes these two into the program's memory before the first command. */
adamb_config chip_config;
uint32_t chip_words;

void chip_main(void);

__attribute__((naked, section(".vectors"))) void chip_start(void)
{
    __asm__ volatile("li sp, %0\n\tj chip_main" : : "i"(CHIP_STACK_AT));
}

static int perform(uint32_t command)
{
    uint16_t point[3], action[3];
    int h = (int)MAILBOX[STEP], code = ADAMB_BAD_ARGUMENT;
    uint16_t reward = (uint16_t)MAILBOX[REWARD];
    for (int i = 0; i < 3; i++) {
        point[i] = (uint16_t)MAILBOX[POINT + i];
        action[i] = 0;
    }
    MAILBOX[MARK] = 1;
    if (command == INIT) {
        code = adamb_init(&chip_config, BLOCK, chip_words);
    } else if (command == ACT) {
        code = adamb_act(BLOCK, h, point, action);
    } else if (command == OBSERVE) {
        code = adamb_observe(BLOCK, h, reward, point);
    } else if (command == END_EPISODE) {
        code = adamb_end_episode(BLOCK);
    }
    MAILBOX[MARK] = 0;
    for (int i = 0; i < 3; i++) {
        MAILBOX[ACTION + i] = action[i];
    }
    return code;
}

void chip_main(void)
{
    for (;;) {
        uint32_t command = MAILBOX[COMMAND];
        if (command != NOTHING) {
            MAILBOX[REPLY] = (uint32_t)perform(command);
        }
    }
}
