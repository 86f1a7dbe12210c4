"""`act` in hardware: the same words as `adamb_act` of the C core, one level of the value tree in a cycle.

The engine owns one port of the SRAM that holds the block. A processor may use another port of the same SRAM
for `observe`. Everything about the layout comes from the generated `_spec`.

Deciding takes one read for the root slot, one for every level, one for the action, and two writes, the
second of them in the cycle of done. With the cycle that finds the step and the one that finds the end of
the walk this is depth + 5 cycles from start to done. With random actions the random number is read before
all this and written in the cycle after done; one cycle more if start comes while the header is read. The
depth of a sound block is at most L * d_s; for any content of the SRAM it is at most 16, as in C.

C reads the header in every call. Here these reads come before start: while nothing is to be decided the
engine reads the header again and again, and a decision goes by the last pass that was complete. Whoever
else writes to the SRAM raises `recheck` with a write to one of the `HEADER` words; decisions then wait for
a pass. So there is no difference to C but for a word that changes by itself, and that is noticed after two
passes at most, if start is low for so long.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl import code
from adamb.firmware_model.rtl.shape import EngineShape

#: What the engine keeps of the header, in the order in which it reads it; sealed words first (SPEC 3.5).
HEADER = (spec.H_UNITS, spec.H_DIMS, spec.H_SCALE, spec.H_POOL_AT, spec.H_HASH, spec.H_MAGIC, spec.H_FLAGS)
SEALED = 4
SEAL_SHIFT = 13
SEAL_BITS = 16 + SEAL_SHIFT

CHECK = ("TRIPLE", "KEEP", "TAKE")
"""The states in which the header is looked at."""

DEPTH_MAX = 16
LEVEL_BITS = spec.LEVEL_MAX.bit_length()
ROOT_AT = spec.H_WORDS + 1 + spec.S_V_SLOT
"""The root slot of step 0, but for the thresholds of levels 1 to L."""
H_BITS = spec.HORIZON_MAX.bit_length()

assert spec.S_V_AUX == spec.S_V_SLOT + 2 and spec.UNIT_WORDS == 4, "a slot and its aux are two words apart"


class SramPort(wiring.Signature):
    """One access a cycle; what was read is there in the next one."""

    def __init__(self, words: int) -> None:
        super().__init__(
            {
                "address": Out(ceil_log2(words)),
                "read": Out(1),
                "write": Out(1),
                "written": Out(16),
                "found": In(16),
            }
        )


class DecisionEngine(wiring.Component):
    """`act` of the block in an SRAM. Ports besides the SRAM's:

    start    hold it, `h` and `state` until `done`; in the cycle of `done` it is ignored
    recheck  a word of the header was written: read it again before the next decision
    done     for one cycle; `error` and `action` hold until the next start
    busy     a decision uses the SRAM; one whose ports must not meet lets the other port wait
    error    0 or the negative code of adamb_act; `action` is of no meaning with a code
    """

    def __init__(self, shape: EngineShape) -> None:
        self.shape = shape
        super().__init__(
            {
                "sram": Out(SramPort(shape.words)),
                "start": In(1),
                "recheck": In(1),
                "h": In(H_BITS),
                "state": In(data.ArrayLayout(unsigned(16), shape.state_n)),
                "done": Out(1),
                "busy": Out(1),
                "error": Out(signed(4)),
                "action": Out(data.ArrayLayout(unsigned(16), shape.action_n)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        d_s, d_a, horizon = self.shape.d_s, self.shape.d_a, self.shape.horizon
        # What the last check found: sizes of the block, and whether it can be used at all.
        self.usable, self.random = Signal(), Signal()
        self.units = Signal(range(self.shape.words // spec.UNIT_WORDS + 1))
        self.root_at = Signal(range(spec.H_WORDS + 2**LEVEL_BITS + spec.S_WORDS))
        self.d_s = Signal(2) if d_s is None else Const(d_s, 2)
        self.d_a = Signal(2) if d_a is None else Const(d_a, 2)
        self.horizon = Signal(H_BITS) if horizon is None else Const(horizon, H_BITS)
        self.stale, self.sound = Signal(init=1), Signal()
        self.asks = self.start & ~self.done & ~self.stale & ~self.recheck
        self._decision_registers(m)
        self._next_access(m)
        mix, added = Signal(SEAL_BITS), Signal(SEAL_BITS)
        m.d.sync += [mix.eq(mix + added), self.done.eq(0)]
        with m.FSM() as self.fsm:
            self._idle_state(m, mix)
            self._check_states(m, mix, added)
            self._decide_states(m)
        with m.If(self.recheck):
            m.d.sync += [self.stale.eq(1), self.usable.eq(0)]
        # A flip-flop for each state: fewer gates than a number would need.
        self.fsm.state.attrs["fsm_encoding"] = "one-hot"
        checking = Cat(self.fsm.ongoing(name) for name in CHECK).any()
        m.d.comb += self.busy.eq(~checking & (self.start | ~self.fsm.ongoing("IDLE")))
        return m

    def _idle_state(self, m: Module, mix: Signal) -> None:
        with m.State("IDLE"):
            m.d.comb += self.reading.eq(self.start & self.random)
            m.d.sync += [self.depth.eq(0), mix.eq(0), self.other.eq(HEADER[0])]
            m.next = "TRIPLE"
            with m.If(self.asks):
                self._begin(m)

    def _begin(self, m: Module) -> None:
        """The cycle of start: the error code, and for a decision the address of the root slot."""
        m.d.sync += self.other.eq(self.root)
        with m.If(self.usable & (self.h < self.horizon)):
            m.d.sync += self.error.eq(0)
            m.next = "ROOT"
        with m.Else():
            wrong = Mux(self.usable, spec.ERR_ARGUMENT, spec.ERR_BLOCK)
            m.d.sync += [self.error.eq(wrong), self.done.eq(1), self.other.eq(spec.H_RNG)]
            m.next = "IDLE"

    # ---- the seal ------------------------------------------------------------------------------------------

    def _check_states(self, m: Module, mix: Signal, added: Signal) -> None:
        """Three cycles a word, with one adder: mix times three, plus mix times eight, plus the word.

        Three and eight are the 11 of SPEC 3.5. The word is kept for a cycle: an SRAM answers late in its
        cycle, too late for the comparisons. A decision ends a pass that need not be; with random actions it
        begins a cycle later, at the address of the random number.
        """
        self.at = at = Signal(range(len(HEADER)))
        once, found = Signal(SEAL_BITS), Signal(16)
        last, following = at == len(HEADER) - 1, (*HEADER[1:], spec.H_RNG)
        m.d.comb += added.eq(found)
        with m.State("TRIPLE"):
            m.d.comb += [added.eq(mix << 1), self.reading.eq(1)]
            m.d.sync += once.eq(mix)
            m.next = "KEEP"
            self._leave(m, at)
        with m.State("KEEP"):
            m.d.comb += added.eq(once << 3)
            m.d.sync += found.eq(self.sram.found)
            m.next = "TAKE"
            self._leave(m, at)
        with m.State("TAKE"):
            seal = (mix ^ (mix >> SEAL_SHIFT))[:16]
            with m.Switch(at):
                for index, word in enumerate(HEADER):
                    with m.Case(index):
                        self._take(m, word, found, seal)
                        m.d.sync += self.other.eq(following[index])
            m.d.sync += at.eq(at + 1)
            m.next = "TRIPLE"
            with m.If(last):
                m.d.sync += [at.eq(0), self.stale.eq(0), self.usable.eq(self.sound)]
                m.next = "IDLE"
            self._leave(m, at)

    def _leave(self, m: Module, at: Signal) -> None:
        """End a pass over the header before its last word."""
        with m.If(self.recheck | self.asks):
            m.d.sync += [at.eq(0), self.other.eq(spec.H_RNG)]
            m.next = "IDLE"
            with m.If(~self.random & self.asks):
                self._begin(m)

    def _take(self, m: Module, word: int, found: Value, seal: Value) -> None:
        """Keep what a header word says; what this engine cannot work with makes the block unusable."""
        good: Value = Const(1)
        if word == spec.H_UNITS:
            m.d.sync += self.sound.eq(1)
            self._keep(m, self.units, found)
            good = found <= self.shape.words // spec.UNIT_WORDS
        elif word == spec.H_DIMS:
            good = self._take_dims(m, found)
        elif word == spec.H_SCALE:
            self._keep(m, self.root_at, found[8 : 8 + LEVEL_BITS] + ROOT_AT)
            good = found[8:] < 2**LEVEL_BITS
        elif word == spec.H_HASH:
            good = found == spec.SPEC_HASH ^ seal
        elif word == spec.H_MAGIC:
            good = found == spec.MAGIC
        elif word == spec.H_FLAGS:
            m.d.sync += self.random.eq((found & spec.FLAG_RANDOM).any())
        with m.If(~good):
            m.d.sync += self.sound.eq(0)

    def _keep(self, m: Module, kept: Signal, found: Value) -> None:
        """Of a block that is in use nothing changes before the seal has been compared."""
        with m.If(~self.usable):
            m.d.sync += kept.eq(found)

    def _take_dims(self, m: Module, found: Value) -> Value:
        good: Value = Const(1)
        fields = zip(
            (self.d_s, self.d_a, self.horizon),
            (self.shape.d_s, self.shape.d_a, self.shape.horizon),
            (found[0:4], found[4:8], found[8:16]),
            (spec.DIM_MAX, spec.DIM_MAX, spec.HORIZON_MAX),
            strict=True,
        )
        for kept, fixed, field, most in fields:
            if fixed is None:
                self._keep(m, kept, field)
                good = good & (field != 0) & (field <= most)
            else:
                good = good & (field == fixed)
        return good

    # ---- the decision --------------------------------------------------------------------------------------

    def _decision_registers(self, m: Module) -> None:
        """What lives from one cycle of a decision to the next, and the action it ends with."""
        self.step = Signal(range(spec.H_WORDS + 2**LEVEL_BITS + spec.S_WORDS * 2**H_BITS))
        self.root = Signal.like(self.step)
        # Shifts and sums: some tools would take a multiplier, which no count of LUTs shows.
        parts = [self.h << bit for bit in range(spec.S_WORDS.bit_length()) if spec.S_WORDS >> bit & 1]
        m.d.comb += self.root.eq(self.root_at + sum(parts))
        m.d.sync += self.step.eq(self.root)
        self.depth = Signal(range(DEPTH_MAX + 1))
        self.chosen, self.rng = Signal(16), Signal(16)
        self.point, self.played = Signal(16), Signal(16)
        m.d.comb += self.point.eq(code.packed(self.state, self.d_s))
        m.d.comb += self.played.eq(
            Mux(self.random, code.random_action(self.chosen, self.rng, self.d_a), self.chosen)
        )
        m.d.comb += Value.cast(self.action).eq(code.unpacked(self.played, self.d_a, self.shape.action_n))

    def _next_access(self, m: Module) -> None:
        """Where to read or write, and whether to read.

        The path that sets the clock leads from what the SRAM found to what it is asked next. So during the
        walk the address is that of the word taken as a link, whether it is one or not; any other address was
        in a register before. One comparison says whether to read. `reading` and `stop` are its highest bits,
        which saves a gate behind it; with the lowest bits, at least means more, which saves an inverter.
        """
        at, found = self.sram.address, self.sram.found
        # The address of the next access if no word is followed; where the word was that has been found now.
        self.other, self.asked = Signal.like(at, init=spec.H_RNG), Signal.like(at)
        # In this cycle: read anyway; follow the word. And whether there was a read in the cycle before.
        self.reading, self.walking, self.fresh = Signal(), Signal(), Signal()
        self.below = Cat(self._next_bit(), Const(0, 1), found)[: len(at)]
        m.d.comb += at.eq(Mux(self.walking, self.below, self.other))
        stop = ~self.walking | self.depth[4]
        limit = Cat(Const(0, 1), self.units, Const(0, 17 - len(self.units)), self.reading)
        m.d.comb += self.sram.read.eq(limit >= Cat(Const(1, 1), found, stop))
        m.d.sync += self.fresh.eq(self.sram.read)

    def _next_bit(self) -> Value:
        """The bit of the state's code that the current level goes by."""
        return Cat(*reversed(self.point)).bit_select(self.depth[:4], 1)

    def _decide_states(self, m: Module) -> None:
        sram, found = self.sram, self.sram.found
        # `step` is the address of the root slot; other words of the step are so many behind it.
        behind = Signal(range(spec.S_WORDS))
        of_step = (self.step + behind)[: len(sram.address)]
        with m.State("ROOT"):
            m.d.comb += self.reading.eq(1)
            m.d.sync += self.rng.eq(code.next_random(found))
            m.next = "WALK"
        with m.State("WALK"):
            # A word that is no link is not followed; the cycle after that reads the action beside it.
            m.d.comb += [self.walking.eq(self.fresh), self.reading.eq(~self.fresh)]
            m.d.sync += [self.asked.eq(self.below), self.depth.eq(self.depth + 1)]
            m.d.comb += behind.eq(Mux(self.fresh, spec.S_V_AUX, spec.S_STATE) - spec.S_V_SLOT)
            m.d.sync += self.other.eq(Mux(self.fresh & (self.depth != 0), self.asked | 2, of_step))
            with m.If(~self.fresh):
                m.next = "CHOOSE"
        with m.State("CHOOSE"):
            m.d.comb += [
                sram.write.eq(1),
                sram.written.eq(self.point),
                behind.eq(spec.S_ACTION - spec.S_V_SLOT),
            ]
            m.d.sync += [self.chosen.eq(found), self.done.eq(1), self.other.eq(of_step)]
            m.next = "PLAY"
        with m.State("PLAY"):
            m.d.comb += [sram.write.eq(1), sram.written.eq(self.played)]
            m.d.sync += self.other.eq(spec.H_RNG)
            m.next = "IDLE"
            with m.If(self.random):
                m.next = "STIR"
        with m.State("STIR"):
            m.d.comb += [sram.write.eq(1), sram.written.eq(self.rng)]
            m.next = "IDLE"
