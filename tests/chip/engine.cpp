// The decision engine in Verilator beside adamb_act of the C core, on blocks that are sound, damaged or random.
#include "Vadamb_engine.h"
#include "verilated.h"

#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include "adamb.h"
#include "adamb_spec.h"
}

namespace {

constexpr int CHECK_CYCLES = 3 * 7 + 1, DEPTH_MAX = 16, LIMIT = 200;

struct Random {
    uint64_t x;
    uint32_t below(uint32_t n)
    {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        return (uint32_t)((x >> 32) * n >> 32);
    }
};

struct Engine {
    VerilatedContext context;
    Vadamb_engine top{&context};

    void edge()
    {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }

    // One cycle: the SRAM answers what was asked. Returns whether a decision ended in it.
    bool cycle(uint16_t *block)
    {
        top.eval();
        uint32_t at = top.sram___05Faddress;
        uint16_t found = block[at];
        bool reads = top.sram___05Fread, ends = top.done;
        if (top.sram___05Fwrite) {
            block[at] = top.sram___05Fwritten;
        }
        top.start = top.start && !ends;
        edge();
        top.recheck = 0;
        if (reads) {
            top.sram___05Ffound = found;
        }
        top.eval();
        return ends;
    }

    // One decision on `block`; the cycles from start to done, or LIMIT. A random number is written behind done.
    int act(uint16_t *block, int h, const uint16_t *state, bool recheck)
    {
        top.recheck = recheck;
        top.start = 1;
        top.h = h;
        top.state = (QData)state[2] << 32 | (QData)state[1] << 16 | state[0];
        int cycles = 0;
        while (cycles < LIMIT && !cycle(block)) {
            cycles++;
        }
        while (top.busy) {
            cycle(block);
        }
        return cycles;
    }

    int error() const
    {
        return top.error & 8 ? (int)(top.error | ~15) : (int)top.error;
    }
};

void damage(Random &random, uint16_t *block, uint32_t words)
{
    uint32_t kind = random.below(16) ? 1 + random.below(6) : 0, header = ADAMB_H_WORDS;
    if (kind == 0) {
        return;
    }
    if (kind == 1) {
        block[random.below(words)] ^= (uint16_t)(1u << random.below(16));
    } else if (kind == 2) { // links to anywhere
        for (uint32_t i = 0; i < 40; i++) {
            block[header + random.below(words - header)] = (uint16_t)random.below(words / 2);
        }
    } else if (kind == 3) { // words of the header, sealed ones among them
        block[random.below(header)] = (uint16_t)random.below(65536);
    } else if (kind == 4) {
        for (uint32_t i = header; i < words; i++) {
            block[i] = (uint16_t)random.below(random.below(4) ? 65536 : words / 4);
        }
    } else if (kind == 5) { // nothing of it is a block
        for (uint32_t i = 0; i < words; i++) {
            block[i] = (uint16_t)random.below(65536);
        }
    } else { // a few bits anywhere
        for (uint32_t i = random.below(20); i != 0; i--) {
            block[random.below(words)] ^= (uint16_t)(1u << random.below(16));
        }
    }
}

} // namespace

extern "C" {

struct FuzzReport {
    uint64_t runs, damaged, decided, refused, forged, cycles_max;
    uint64_t failed_at; // run that went wrong, counted from 1
    int32_t what;       // 1 endless, 2 code, 3 action, 4 words, 5 too many cycles
};

// One decision by C and by the engine; what differs.
static int compare(Engine &engine, uint16_t *mine, uint16_t *block, uint32_t words, int h, const uint16_t *state, bool first,
                   bool forged, FuzzReport *out)
{
    uint16_t action[3] = {0, 0, 0};
    int code = forged ? 0 : adamb_act(mine, h, state, action);
    int cycles = engine.act(block, h, state, first);
    out->cycles_max = first && (uint64_t)cycles > out->cycles_max ? cycles : out->cycles_max;
    QData chosen = (QData)action[2] << 32 | (QData)action[1] << 16 | action[0];
    return cycles >= LIMIT                                                  ? 1
           : cycles > DEPTH_MAX + 6 + first * CHECK_CYCLES                  ? 5
           : forged                                                         ? 0
           : code != engine.error()                                         ? 2
           : code == 0 && chosen != engine.top.action                       ? 3
           : memcmp(block, mine, 2 * words) != 0                            ? 4
                                                                            : 0;
}

// Two decisions on every block: the first with a look at its header, the second some cycles later without.
void engine_fuzz(uint64_t runs, uint64_t seed, const uint16_t *corpus, uint32_t blocks, uint32_t words, FuzzReport *out)
{
    Engine engine;
    Random random{seed * 2654435761u + 1};
    std::vector<uint16_t> c_block(words), block(words);
    const int sealed[] = {ADAMB_H_UNITS, ADAMB_H_DIMS, ADAMB_H_SCALE, ADAMB_H_POOL_AT, ADAMB_H_HASH, ADAMB_H_MAGIC};
    *out = FuzzReport{};
    engine.top.rst = 1;
    engine.edge();
    engine.top.rst = 0;
    for (uint64_t run = 1; run <= runs && out->what == 0; run++) {
        const uint16_t *original = corpus + (size_t)words * random.below(blocks);
        memcpy(block.data(), original, 2 * words);
        damage(random, block.data(), words);
        out->damaged += memcmp(block.data(), original, 2 * words) != 0;
        c_block = block;
        adamb_statistics stats;
        bool same = true;
        for (int word : sealed) {
            same = same && original[word] == block[word];
        }
        // Other sealed words under a seal that fits by chance: SPEC says nothing about them, and C may go outside.
        bool forged = !same && adamb_stats(block.data(), &stats) == 0;
        for (int first = 1; first >= 0 && out->what == 0; first--) {
            uint16_t state[3];
            for (uint16_t &x : state) {
                x = (uint16_t)random.below(65536);
            }
            int h = (int)random.below(random.below(4) ? original[ADAMB_H_DIMS] >> 8 : 32);
            for (uint32_t idle = first ? 0 : random.below(2 * CHECK_CYCLES); idle != 0; idle--) {
                engine.cycle(block.data());
            }
            out->what = compare(engine, c_block.data(), block.data(), words, h, state, first, forged, out);
            out->decided += first && engine.error() == 0;
            out->refused += first && engine.error() != 0;
        }
        out->runs++;
        out->forged += forged;
        out->failed_at = out->what ? run : 0;
    }
    engine.top.final();
}
}
