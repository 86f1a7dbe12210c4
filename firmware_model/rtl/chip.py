"""A chip: a small processor that learns, an engine that decides, and one block between them.

The block lies in an SRAM of two ports. The processor has one, 32 bits wide; the engine the other, 16 bits.
So the SRAM is two banks, of the even and of the odd words. Program and stack are in a memory of their own.
What is around the chip, the plant, sees the ports of the engine, and asks the processor to learn through a
mailbox. `hold` lets the host use the engine's port, to load and to read the block.

What an SRAM finds in a word that the other port writes in the same cycle is not defined on many chips. So
the processor waits with an access of the block while the engine decides, which is a few cycles.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from adamb.firmware_model.rtl.engine import HEADER, DecisionEngine, SramPort
from adamb.firmware_model.rtl.processor import Processor
from adamb.firmware_model.rtl.shape import EngineShape

#: Where the processor finds things: bits 28 and 29 of an address.
BLOCK_AT, MAILBOX_AT = 0x1000_0000, 0x2000_0000
#: Words of the mailbox. Reading: what the host asks for. Writing: the answer, and marks for measuring.
COMMAND, STEP, REWARD, POINT = 0, 1, 2, 3
REPLY, MARK, ACTION = 0, 1, 3
BUS_BITS = 32


class Chip(wiring.Component):
    """Besides the engine's ports: `hold` and `host_*`, the host's way to the SRAM; `load*`, to the program.

    command, reward   what the processor is asked for; `h` and `state` go to both, processor and engine
    halt              the processor stands, and starts from the beginning afterwards
    replied, reply    for one cycle: the processor has answered with this code, and `played` if it acted
    marked, mark      for one cycle: the program begins (1) or ends (0) what is to be measured
    cpu_*, engine_*   accesses of the SRAM, for counting
    met               one port writes what the other uses, and the engine will not look again: never high
    """

    def __init__(self, shape: EngineShape, processor: str, program_words: int) -> None:
        self.shape, self.processor, self.program_words = shape, processor, program_words
        self.engine = DecisionEngine(shape)
        engine = {
            name: way
            for name, way in self.engine.signature.members.items()
            if name not in ("sram", "recheck")
        }
        super().__init__(
            engine
            | {
                "halt": In(1),
                "hold": In(1),
                "host_address": In(ceil_log2(shape.words)),
                "host_read": In(1),
                "host_write": In(1),
                "host_written": In(16),
                "host_found": Out(16),
                "load": In(1),
                "load_at": In(ceil_log2(program_words)),
                "loaded": In(BUS_BITS),
                "command": In(8),
                "reward": In(16),
                "replied": Out(1),
                "reply": Out(8),
                "played": Out(48),
                "marked": Out(1),
                "mark": Out(1),
                "cpu_read": Out(1),
                "cpu_write": Out(1),
                "engine_read": Out(1),
                "engine_write": Out(1),
                "met": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.engine = engine = self.engine
        m.submodules.processor = processor = Processor(self.processor)
        bus, second = processor.bus, Signal()
        m.d.comb += processor.halt.eq(self.halt)
        for name in ("start", "h", "state"):
            m.d.comb += Value.cast(getattr(engine, name)).eq(Value.cast(getattr(self, name)))
        for name in ("done", "busy", "error", "action"):
            m.d.comb += Value.cast(getattr(self, name)).eq(Value.cast(getattr(engine, name)))
        at_block, at_mailbox = bus.address[28], bus.address[29]
        waits = at_block & (engine.busy | self.hold)
        asked = Signal()
        # Every access takes two cycles: one to ask, one to answer.
        m.d.comb += asked.eq(bus.valid & ~second & ~waits)
        m.d.sync += second.eq(asked)
        program = self._program(m, bus, asked & ~at_block & ~at_mailbox)
        block = self._block(m, bus, asked & at_block)
        mailbox = self._mailbox(m, bus, asked & at_mailbox)
        m.d.comb += [
            bus.ready.eq(second),
            bus.found.eq(Mux(at_block, block, Mux(at_mailbox, mailbox, program))),
        ]
        return m

    def _program(self, m: Module, bus: wiring.PureInterface, asked: Value) -> Value:
        m.submodules.program = store = memory.Memory(shape=BUS_BITS, depth=self.program_words, init=[])
        reading, writing = store.read_port(), store.write_port(granularity=8)
        at = bus.address[2 : 2 + ceil_log2(self.program_words)]
        m.d.comb += [
            reading.addr.eq(at),
            reading.en.eq(asked),
            writing.addr.eq(Mux(self.load, self.load_at, at)),
            writing.data.eq(Mux(self.load, self.loaded, bus.written)),
            writing.en.eq(Mux(self.load, 0b1111, Mux(asked, bus.strobes, 0))),
        ]
        return reading.data

    def _block(self, m: Module, bus: wiring.PureInterface, asked: Value) -> Value:
        """Two banks. What the processor writes to the words that the engine keeps makes it look again."""
        engine, at = self.engine, bus.address[2 : 1 + ceil_log2(self.shape.words)]
        port = SramPort(self.shape.words).create()
        for name in ("address", "read", "write", "written"):
            chosen = Mux(self.hold, getattr(self, f"host_{name}"), getattr(engine.sram, name))
            m.d.comb += getattr(port, name).eq(chosen)
        odd, found, beside = Signal(), [], []
        m.d.sync += odd.eq(port.address[0])
        for bank, name in enumerate(("even", "odd")):
            m.submodules[name] = store = memory.Memory(shape=16, depth=self.shape.words // 2, init=[])
            half, mine = slice(16 * bank, 16 * bank + 16), port.address[0] == bank
            strobes = Mux(asked, bus.strobes[2 * bank : 2 * bank + 2], 0)
            reads = asked & ~bus.strobes.any()
            found.append(_access(m, store, at, reads, strobes, bus.written[half]))
            beside.append(
                _access(
                    m,
                    store,
                    port.address[1:],
                    Const(1),  # asked or not: the strobe would be late
                    (port.write & mine).replicate(2),
                    port.written,
                )
            )
        kept = [(at == word // 2) & bus.strobes.word_select(word % 2, 2).any() for word in HEADER]
        beats = Mux(port.address[0], bus.strobes[2:], bus.strobes[:2]).any()
        clash = asked & (port.address[1:] == at) & (port.write | port.read & beats)
        m.d.comb += [
            self.met.eq(clash & ~engine.recheck),
            engine.recheck.eq(asked & Cat(*kept).any() | self.hold),
            engine.sram.found.eq(Mux(odd, beside[1], beside[0])),
            self.host_found.eq(engine.sram.found),
            self.cpu_read.eq(asked & ~bus.strobes.any()),
            self.cpu_write.eq(asked & bus.strobes.any()),
            self.engine_read.eq(engine.sram.read & ~self.hold),
            self.engine_write.eq(engine.sram.write & ~self.hold),
        ]
        return Cat(*found)

    def _mailbox(self, m: Module, bus: wiring.PureInterface, asked: Value) -> Value:
        """The host's wishes as words; what is written here leaves the chip."""
        at, found, writes = bus.address[2:5], Signal(BUS_BITS), Signal()
        state = Value.cast(self.state)
        words = {COMMAND: self.command, STEP: self.h, REWARD: self.reward}
        words |= {POINT + i: state[16 * i : 16 * i + 16] for i in range(self.shape.state_n)}
        with m.Switch(at):
            for place, word in words.items():
                with m.Case(place):
                    m.d.sync += found.eq(word)
        m.d.comb += writes.eq(asked & bus.strobes.any())
        m.d.comb += [
            self.replied.eq(writes & (at == REPLY)),
            self.reply.eq(bus.written),
            self.marked.eq(writes & (at == MARK)),
            self.mark.eq(bus.written),
        ]
        for i in range(3):
            with m.If(writes & (at == ACTION + i)):
                m.d.sync += self.played[16 * i : 16 * i + 16].eq(bus.written)
        return found


def _access(
    m: Module, store: memory.Memory, at: Value, reads: Value, strobes: Value, written: Value
) -> Value:
    """One port of a memory, to read or to write bytes of a word; what it found is there a cycle later."""
    reading, writing = store.read_port(), store.write_port(granularity=8)
    m.d.comb += [
        reading.addr.eq(at),
        reading.en.eq(reads),
        writing.addr.eq(at),
        writing.en.eq(strobes),
        writing.data.eq(written),
    ]
    return reading.data
