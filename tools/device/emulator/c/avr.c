/* Function calls on an AVR in simavr, for avr.py: what a call returns is in the registers, what it took is counted. */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdarg.h>
#include <string.h>

enum { STACK_LOW = 0x5D, STACK_HIGH = 0x5E, FINISHED = 0, CRASHED = 1, TOO_LONG = 2, OVERFLOWED = 3 };

static uint32_t stack_of(const avr_t *avr)
{
    return avr->data[STACK_LOW] | (uint32_t)avr->data[STACK_HIGH] << 8;
}

static void quiet(avr_t *avr, const int level, const char *format, va_list values)
{
    (void)avr;
    (void)level;
    (void)format;
    (void)values;
}

avr_t *adamb_avr_open(const char *program, const char *processor)
{
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    avr_global_logger_set(quiet);
    if (elf_read_firmware(program, &firmware) != 0) {
        return 0;
    }
    avr_t *avr = avr_make_mcu_by_name(processor);
    if (avr != 0) {
        avr_init(avr);
        avr_load_firmware(avr, &firmware);
    }
    return avr;
}

void adamb_avr_close(avr_t *avr)
{
    avr_terminate(avr);
}

uint8_t *adamb_avr_memory(avr_t *avr)
{
    return avr->data;
}

uint32_t adamb_avr_ram_end(const avr_t *avr)
{
    return avr->ramend;
}

/* Runs to the address `stop`; the stack must stay above `floor`. */
int adamb_avr_run(avr_t *avr, uint32_t stop, uint32_t floor, uint64_t most, uint64_t *cycles, uint32_t *lowest)
{
    uint64_t start = avr->cycle;
    *lowest = avr->ramend;
    do {
        int state = avr_run(avr);
        uint32_t stack = stack_of(avr);
        *lowest = stack < *lowest ? stack : *lowest;
        *cycles = avr->cycle - start;
        if (state == cpu_Crashed || state == cpu_Done) {
            return CRASHED;
        }
        if (*lowest < floor) {
            return OVERFLOWED;
        }
        if (*cycles > most) {
            return TOO_LONG;
        }
    } while (avr->pc != stop);
    return FINISHED;
}

/* As a call from the end of RAM, with `stop` to return to; registers 8 to 25 hold the arguments. */
int adamb_avr_call(avr_t *avr, uint32_t function, uint32_t stop, const uint8_t *registers, uint32_t floor, uint64_t most,
                   uint64_t *cycles, uint32_t *lowest)
{
    uint32_t stack = avr->ramend, back = stop >> 1;
    for (int i = 0; i < avr->address_size; i++, back >>= 8) {
        avr->data[stack--] = (uint8_t)back;
    }
    avr->data[STACK_LOW] = (uint8_t)stack;
    avr->data[STACK_HIGH] = (uint8_t)(stack >> 8);
    memcpy(avr->data + 8, registers, 18);
    avr->data[1] = 0;
    avr->pc = function;
    avr->state = cpu_Running;
    return adamb_avr_run(avr, stop, floor, most, cycles, lowest);
}
