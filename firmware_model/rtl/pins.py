"""Any component behind three pins: a chain of registers for its inputs, another for its outputs.

For place and route. A chip has more ports than a part has pins, and a path from a pin would count for no
clock. In the simulation and on a chip of one's own the ports are what they are.
"""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class OnPins(wiring.Component):
    """While `shift` is high the chains move by one bit a cycle, else the outputs are taken."""

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
