// The simulated chip for Python: a clock, the host's ports, and counters of what happens in a cycle.
#include "Vchip.h"
#include "verilated.h"

#include <cstdint>

namespace {

struct Chip {
    VerilatedContext context;
    Vchip top{&context};
    uint64_t cycles = 0, met = 0;
    bool measuring = false;
};

} // namespace

extern "C" {

// The cost of one call. Accesses are those of the processor or the engine, whichever worked.
struct ChipCall {
    int32_t code; // 1: it did not end within the limit
    uint16_t action[3];
    uint64_t cycles, reads, writes;
};

static void edge(Chip *chip)
{
    chip->met += chip->top.met;
    chip->top.clk = 1;
    chip->top.eval();
    chip->cycles++;
}

static void settle(Chip *chip)
{
    chip->top.clk = 0;
    chip->top.eval();
}

static void tick(Chip *chip)
{
    settle(chip);
    edge(chip);
}

Chip *chip_new(void)
{
    Chip *chip = new Chip;
    chip->top.halt = 1;
    chip->top.rst = 1;
    tick(chip);
    chip->top.rst = 0;
    tick(chip);
    return chip;
}

void chip_free(Chip *chip)
{
    chip->top.final();
    delete chip;
}

uint64_t chip_cycles(const Chip *chip)
{
    return chip->cycles;
}

// Times that the two ports met in a word: 0.
uint64_t chip_met(const Chip *chip)
{
    return chip->met;
}

void chip_load(Chip *chip, uint32_t at, const uint32_t *words, uint32_t n)
{
    chip->top.load = 1;
    for (uint32_t i = 0; i < n; i++) {
        chip->top.load_at = at + i;
        chip->top.loaded = words[i];
        tick(chip);
    }
    chip->top.load = 0;
}

void chip_halt(Chip *chip, int halt)
{
    chip->top.halt = halt;
    tick(chip);
}

void chip_read(Chip *chip, uint16_t *words, uint32_t n)
{
    chip->top.hold = 1;
    chip->top.host_read = 1;
    for (uint32_t i = 0; i < n; i++) {
        chip->top.host_address = i;
        tick(chip);
        settle(chip);
        words[i] = chip->top.host_found;
    }
    chip->top.host_read = 0;
    chip->top.hold = 0;
}

void chip_write(Chip *chip, const uint16_t *words, uint32_t n)
{
    chip->top.hold = 1;
    chip->top.host_write = 1;
    for (uint32_t i = 0; i < n; i++) {
        chip->top.host_address = i;
        chip->top.host_written = words[i];
        tick(chip);
    }
    chip->top.host_write = 0;
    chip->top.hold = 0;
}

static void present(Chip *chip, uint32_t h, const uint16_t *point)
{
    chip->top.h = h;
    chip->top.state = (QData)point[2] << 32 | (QData)point[1] << 16 | point[0];
}

static void take(ChipCall *call, int32_t code, QData action)
{
    call->code = code;
    for (int i = 0; i < 3; i++) {
        call->action[i] = (uint16_t)(action >> 16 * i);
    }
}

// Ask the processor for something; cycles and accesses are those between the marks of its program.
void chip_ask(Chip *chip, uint32_t command, uint32_t h, uint32_t reward, const uint16_t *point, uint64_t limit,
              ChipCall *call)
{
    *call = ChipCall{};
    call->code = 1;
    present(chip, h, point);
    chip->top.command = command;
    chip->top.reward = reward;
    for (uint64_t cycle = 0; cycle < limit && call->code == 1; cycle++) {
        settle(chip);
        if (chip->top.marked) {
            chip->measuring = chip->top.mark;
        } else if (chip->measuring) {
            call->cycles++;
            call->reads += chip->top.cpu_read;
            call->writes += chip->top.cpu_write;
        }
        if (chip->top.replied) {
            take(call, (int8_t)chip->top.reply, chip->top.played);
            chip->top.command = 0;
        }
        edge(chip);
    }
    chip->top.command = 0;
}

// A decision that was taken while the processor worked.
struct ChipDecision {
    uint16_t state, action;
    int32_t code;
    uint32_t cycles;
};

// The same while the engine decides for step `other_h` again and again, with a few cycles between; returns how often.
// The program has taken h and the point from the mailbox when it is marked.
uint32_t chip_ask_deciding(Chip *chip, uint32_t command, uint32_t h, uint32_t reward, const uint16_t *point, uint32_t other_h,
                         uint32_t seed, uint64_t limit, ChipCall *call, ChipDecision *taken, uint32_t most)
{
    uint32_t n = 0, began = 0, wait = 0, cycle = 0;
    *call = ChipCall{};
    call->code = 1;
    present(chip, h, point);
    chip->top.command = command;
    chip->top.reward = reward;
    for (; cycle < limit && (call->code == 1 || chip->top.start); cycle++) {
        settle(chip);
        if (chip->top.marked) {
            chip->measuring = chip->top.mark;
        } else if (chip->top.replied) {
            take(call, (int8_t)chip->top.reply, chip->top.played);
            chip->top.command = 0;
        }
        if (chip->top.start && chip->top.done) {
            int code = chip->top.error & 15;
            taken[n].action = (uint16_t)chip->top.action;
            taken[n].code = code >= 8 ? code - 16 : code;
            taken[n++].cycles = cycle - began;
            chip->top.start = 0;
            wait = 1 + (seed >> 16) % 400;
        } else if (!chip->top.start && chip->measuring && n < most && wait == 0) {
            seed = seed * 1664525u + 1013904223u;
            uint16_t state[3] = {(uint16_t)(seed >> 16), 0, 0};
            taken[n].state = state[0];
            present(chip, other_h, state);
            chip->top.start = 1;
            began = cycle;
            settle(chip);
        }
        wait -= wait != 0;
        edge(chip);
    }
    chip->top.start = 0;
    return n;
}

// Ask the engine for a decision: cycles from start to done. A random number is written after that.
void chip_decide(Chip *chip, uint32_t h, const uint16_t *point, uint64_t limit, ChipCall *call)
{
    *call = ChipCall{};
    call->code = 1;
    present(chip, h, point);
    chip->top.start = 1;
    for (uint64_t cycle = 0; cycle < limit && (call->code == 1 || chip->top.busy); cycle++) {
        settle(chip);
        call->reads += chip->top.busy & chip->top.engine_read;
        call->writes += chip->top.engine_write;
        if (chip->top.done) {
            call->cycles = cycle;
            int code = chip->top.error & 15;
            take(call, code >= 8 ? code - 16 : code, chip->top.action);
            chip->top.start = 0;
        }
        edge(chip);
    }
    chip->top.start = 0;
}
}
