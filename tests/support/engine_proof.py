"""The engine with what is to be proved about it, for any content of the SRAM and any inputs."""

from __future__ import annotations

from amaranth.hdl import Assert, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl.engine import CHECK, DEPTH_MAX, HEADER, LEVEL_BITS, ROOT_AT, DecisionEngine
from adamb.firmware_model.rtl.shape import EngineShape

DECIDE = ("ROOT", "WALK", "CHOOSE", "PLAY", "STIR")
#: Behind the last step of the longest horizon and the finest level.
HEADER_END = spec.H_WORDS + 2**LEVEL_BITS + spec.S_WORDS * (spec.HORIZON_MAX + 1)


class EngineProof(wiring.Component):
    """`walk_cycles` can be set too low, to see that the proof then fails."""

    def __init__(self, shape: EngineShape, *, walk_cycles: int = DEPTH_MAX + 5) -> None:
        self.engine, self.walk_cycles = DecisionEngine(shape), walk_cycles
        ports = {
            "start": In(1),
            "recheck": In(1),
            "h": In(5),
            "state": In(16 * shape.state_n),
            "found": In(16),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m, engine = Module(), self.engine
        m.submodules.engine = engine.elaborate(platform)
        engine._MustUse__used = True
        m.d.comb += [engine.start.eq(self.start), engine.recheck.eq(self.recheck), engine.h.eq(self.h)]
        m.d.comb += [engine.state.as_value().eq(self.state), engine.sram.found.eq(self.found)]
        self._control(m)
        self._waiting(m)
        self._addresses(m)
        return m

    def _control(self, m: Module) -> None:
        """A decision begins in IDLE with a check that is not pending, and ends within its cycles."""
        fsm, age = self.engine.fsm, Signal(6)
        deciding = sum((fsm.ongoing(name) for name in DECIDE[1:]), fsm.ongoing(DECIDE[0]))
        known = sum((fsm.ongoing(name) for name in (*CHECK, *DECIDE)), fsm.ongoing("IDLE"))
        m.d.sync += age.eq(Mux(deciding != 0, age + 1, 0))
        depth = self.engine.depth
        m.d.comb += [Assert(known == 1), Assert(depth <= DEPTH_MAX + 2)]
        m.d.comb += Assert((deciding == 0) | (age <= self.walk_cycles))
        with m.If(fsm.ongoing("ROOT")):
            m.d.comb += [Assert(age == 0), Assert(depth == 0)]
        with m.If(fsm.ongoing("WALK")):
            m.d.comb += [Assert(age == depth + 1), Assert(self.engine.fresh | (depth > 0))]
            m.d.comb += Assert(~self.engine.fresh | (depth <= DEPTH_MAX))
        for name in CHECK:
            m.d.comb += Assert(~fsm.ongoing(name) | (depth == 0))
        for name, later in (("CHOOSE", 1), ("PLAY", 2), ("STIR", 3)):
            with m.If(fsm.ongoing(name)):
                m.d.comb += [Assert(age == depth + later), Assert(depth > 1)]
        # The walk also counts the cycle that ended it and the one that reads the action.
        levels = depth - 2
        with m.If(deciding != 0):
            m.d.comb += Assert(self.engine.done == fsm.ongoing("PLAY"))
        with m.If(fsm.ongoing("PLAY")):
            # One cycle before the age counts: from start to done it is levels + 5.
            m.d.comb += Assert(age + 1 == levels + 5)

    def _waiting(self, m: Module) -> None:
        """Start is taken in its cycle; during a pass over the header at the latest in the next, by IDLE.

        The walk's limits do not change while the block is in use.
        """
        engine, fsm = self.engine, self.engine.fsm
        idle, waiting = fsm.ongoing("IDLE"), sum((fsm.ongoing(name) for name in CHECK), Const(0, 2))
        now, passing, limits = Signal(), Signal(), Signal.like(engine.units)
        in_use = Signal()
        m.d.sync += [now.eq(engine.asks & idle), passing.eq(engine.asks & (waiting != 0))]
        m.d.sync += [limits.eq(engine.units), in_use.eq(engine.usable)]
        taken = engine.done | ~idle & (waiting == 0)
        m.d.comb += [Assert(~now | taken), Assert(~passing | taken | idle)]
        m.d.comb += Assert(~in_use | ~engine.usable | (limits == engine.units))

    def _addresses(self, m: Module) -> None:
        """Every access is of the header and the steps, or of a unit below the block's end."""
        engine = self.engine
        port, fsm = engine.sram, engine.fsm
        unit = port.address[2:]
        inside = (port.address < HEADER_END) | (unit < engine.units)
        with m.If(port.read | port.write):
            m.d.comb += Assert(inside)
        m.d.comb += Assert(engine.root_at <= spec.H_WORDS + 2**LEVEL_BITS + spec.S_V_SLOT)
        m.d.comb += Assert(engine.step < HEADER_END - spec.S_WORDS + 1 + spec.S_V_SLOT)
        walk, of_header = fsm.ongoing("WALK"), engine.other < HEADER_END
        with m.If(walk & engine.fresh & (engine.depth > 0)):
            m.d.comb += Assert(engine.asked[2:] < engine.units)
        m.d.comb += Assert(of_header | (walk & (engine.other[2:] < engine.units)))
        # Written is only behind the header, and the random number.
        checking, deciding = (Cat(fsm.ongoing(name) for name in names).any() for names in (CHECK, DECIDE))
        taken = checking & (engine.at > HEADER.index(spec.H_SCALE))
        m.d.comb += Assert(~(engine.usable | deciding | taken) | (engine.root_at >= ROOT_AT))
        m.d.comb += [Assert(~deciding | (engine.step >= ROOT_AT)), Assert(checking | (engine.at == 0))]
        with m.If(fsm.ongoing("CHOOSE") | fsm.ongoing("PLAY")):
            m.d.comb += Assert(engine.other >= spec.H_WORDS)
        with m.If(port.write):
            random_number = fsm.ongoing("STIR") & (port.address == spec.H_RNG)
            m.d.comb += Assert(random_number | (port.address >= spec.H_WORDS) & (port.address < HEADER_END))
