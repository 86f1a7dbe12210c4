"""The engine with an SRAM of its own: synthesised for size and clock, and simulated without a compiler."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In

from adamb.firmware_model.rtl.engine import DecisionEngine


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
