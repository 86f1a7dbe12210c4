"""A chip: a small processor that learns, an engine that decides, and one block between them.

The block lies in an SRAM of two ports. The processor has one, 32 bits wide; the engine the other, 16 bits.
So the SRAM is two banks, of the even and of the odd words. Program and stack are in a memory of their own.
What is around the chip, the plant, sees the ports of the engine, and asks the processor to learn through a
mailbox. `hold` lets the host use the engine's port, to load and to read the block.

What an SRAM finds in a word that the other port writes in the same cycle is not defined on many chips. So
the processor waits with an access of the block while the engine decides, which is a few cycles.

The processors are Verilog files of the packages `pythondata-cpu-picorv32` and `pythondata-cpu-serv`.
"""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from adamb.firmware_model.rtl import EngineShape
from adamb.firmware_model.rtl.engine import HEADER, DecisionEngine, SramPort


class Bus(wiring.Signature):
    """A word of 32 bits; `valid` and what goes with it hold until the cycle in which `ready` is high."""

    def __init__(self) -> None:
        super().__init__(
            {
                "valid": Out(1),
                "address": Out(32),
                "strobes": Out(4),
                "written": Out(32),
                "ready": In(1),
                "found": In(32),
            }
        )


class Processor(wiring.Component):
    """A processor that starts at address 0 when `halt` falls."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__({"bus": Out(Bus()), "halt": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules[self.name] = self._picorv32() if self.name == "picorv32" else self._serv(m)
        return m

    def _picorv32(self) -> Instance:
        """RV32IM with its fast multiplier and barrel shifter; no interrupts, no counters."""
        bus = self.bus
        return Instance(
            "picorv32",
            p_ENABLE_COUNTERS=Const(0, 1),
            p_ENABLE_COUNTERS64=Const(0, 1),
            p_BARREL_SHIFTER=Const(1, 1),
            p_ENABLE_FAST_MUL=Const(1, 1),
            p_ENABLE_DIV=Const(1, 1),
            p_CATCH_MISALIGN=Const(1, 1),
            p_CATCH_ILLINSN=Const(1, 1),
            i_clk=ClockSignal(),
            i_resetn=~self.halt,
            o_mem_valid=bus.valid,
            i_mem_ready=bus.ready,
            o_mem_addr=bus.address,
            o_mem_wdata=bus.written,
            o_mem_wstrb=bus.strobes,
            i_mem_rdata=bus.found,
            i_pcpi_wr=Const(0, 1),
            i_pcpi_rd=Const(0, 32),
            i_pcpi_wait=Const(0, 1),
            i_pcpi_ready=Const(0, 1),
            i_irq=Const(0, 32),
        )

    def _serv(self, m: Module) -> Instance:
        """RV32I, one bit in a cycle; its two buses are never busy at once."""
        bus, fetch, store, sel = self.bus, Signal(), Signal(), Signal(4)
        data, fetch_at, data_at = Signal(), Signal(32), Signal(32)
        m.d.comb += [
            bus.valid.eq(fetch | data),
            bus.address.eq(Mux(fetch, fetch_at, data_at)),
            bus.strobes.eq(Mux(store & ~fetch, sel, 0)),
        ]
        return Instance(
            "serv_rf_top",
            p_RESET_PC=Const(0, 32),
            p_WITH_CSR=0,
            i_clk=ClockSignal(),
            i_i_rst=self.halt,
            i_i_timer_irq=Const(0, 1),
            o_o_ibus_adr=fetch_at,
            o_o_ibus_cyc=fetch,
            i_i_ibus_rdt=bus.found,
            i_i_ibus_ack=bus.ready & fetch,
            o_o_dbus_adr=data_at,
            o_o_dbus_dat=bus.written,
            o_o_dbus_sel=sel,
            o_o_dbus_we=store,
            o_o_dbus_cyc=data,
            i_i_dbus_rdt=bus.found,
            i_i_dbus_ack=bus.ready & ~fetch,
            i_i_ext_rd=Const(0, 32),
            i_i_ext_ready=Const(0, 1),
        )


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
        engine = {name: way for name, way in self.engine.signature.members.items() if name not in ("sram", "recheck")}
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
        m.d.comb += [bus.ready.eq(second), bus.found.eq(Mux(at_block, block, Mux(at_mailbox, mailbox, program)))]
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


def _access(m: Module, store: memory.Memory, at: Value, reads: Value, strobes: Value, written: Value) -> Value:
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


class EngineWithSram(wiring.Component):
    """An engine and a block; `registered` puts registers where a chip has them, at every input and output.

    Without them a path from a pin to the SRAM would count for no clock.
    """

    def __init__(self, engine: DecisionEngine, *, registered: bool = False) -> None:
        self.engine, self.registered = engine, registered
        self.store = memory.Memory(shape=16, depth=engine.shape.words, init=[])
        super().__init__({name: way for name, way in engine.signature.members.items() if name != "sram"})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.engine, m.submodules.store = self.engine, self.store
        port, reading, writing = self.engine.sram, self.store.read_port(), self.store.write_port()
        m.d.comb += [
            reading.addr.eq(port.address),
            reading.en.eq(port.read),
            port.found.eq(reading.data),
            writing.addr.eq(port.address),
            writing.en.eq(port.write),
            writing.data.eq(port.written),
        ]
        domain = m.d.sync if self.registered else m.d.comb
        for name, member in self.signature.members.items():
            outer, inner = Value.cast(getattr(self, name)), Value.cast(getattr(self.engine, name))
            if member.flow is In:
                kept = Signal.like(outer, name=f"{name}_kept")
                domain += kept.eq(outer)
                m.d.comb += inner.eq(kept)
            else:
                domain += outer.eq(inner)
        return m


class OnPins(wiring.Component):
    """Any component between shift registers, for place and route.

    A chip has more ports than a part has pins, and a path from a pin would count for no clock. While `shift` is
    high the chains move by one bit a cycle, else the outputs are taken.
    """

    def __init__(self, inner: wiring.Component) -> None:
        self.inner = inner
        super().__init__({"shift": In(1), "given": In(1), "seen": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.inner = inner = self.inner
        ways: dict[object, list[Value]] = {In: [], Out: []}
        for name, member in inner.signature.members.items():
            ways[member.flow].append(Value.cast(getattr(inner, name)))
        inputs, outputs = Cat(*ways[In]), Cat(*ways[Out])
        entering, leaving = Signal(len(inputs)), Signal(len(outputs))
        m.d.sync += leaving.eq(outputs)
        with m.If(self.shift):
            m.d.sync += [entering.eq(Cat(self.given, entering)), leaving.eq(leaving >> 1)]
        m.d.comb += [inputs.eq(entering), self.seen.eq(leaving[0])]
        return m
