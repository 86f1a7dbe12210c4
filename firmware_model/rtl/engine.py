"""`act` in hardware: the same words as `adamb_act` of the C core, one level of the value tree in a cycle.

The engine owns one port of the SRAM that holds the block. A processor may use another port of the same SRAM
for `observe`. Everything about the layout comes from the generated `_spec`.

Deciding takes one read for the root slot, one for every level, one for the action, and two writes, the
second of them in the cycle of done. With the cycle that finds the step and the one that finds the end of
the walk this is depth + 5 cycles from start to done. With random actions the random number is read before
all this and written in the cycle after done; one cycle more if start comes while the header is read. The
depth of a sound block is at most L * d_s; for any content of the SRAM it is at most 16, as in C.

A decision of a held episode takes 4 cycles: it reads the action of the held step and nothing else, and writes
to step `h`. In the cycle after start it reads nothing, which is to WALK what the end of a walk is, and what
finds the words of step `h` finds the action of the held step.

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
from adamb.firmware_model.rtl import EngineShape

#: What the engine keeps of the header, in the order in which it reads it; sealed words first (SPEC 3.5).
HEADER = (
    spec.H_UNITS, spec.H_DIMS, spec.H_SCALE, spec.H_POOL_AT, spec.H_HASH, spec.H_MAGIC, spec.H_FLAGS, spec.H_HELD
)  # fmt: skip
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

BEHIND_END = spec.S_ACTION - spec.S_V_SLOT + 1
"""The words of a step that the engine uses are less than this behind its root slot."""

assert 2 ** (spec.S_WORDS.bit_length() - 1) >= BEHIND_END, "it fits below the highest part of a product"
assert spec.S_V_AUX == spec.S_V_SLOT + 2 and spec.UNIT_WORDS == 4, "a slot and its aux are two words apart"


class SramPort(wiring.Signature):
    """One access per cycle; what was read is there in the next one."""

    def __init__(self, words: int) -> None:
        super().__init__(
            {"address": Out(ceil_log2(words)), "read": Out(1), "write": Out(1), "written": Out(16), "found": In(16)}
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
        # What the last check found: sizes of the block, whether it can be used at all, and how to act.
        self.usable, self.held, self.flagged, self.random = Signal(), Signal(), Signal(), Signal()
        m.d.comb += self.random.eq(self.flagged & ~self.held)
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
        m.d.sync += [self.other.eq(self.of_step), self.plays_held.eq(self.held), self.draws.eq(self.random)]
        with m.If(self.usable & (self.h < self.horizon)):
            m.d.sync += self.error.eq(0)
            m.next = "ROOT"
        with m.Else():
            wrong = Mux(self.usable, spec.ERR_ARGUMENT, spec.ERR_BLOCK)
            m.d.sync += [self.error.eq(wrong), self.done.eq(1), self.other.eq(spec.H_RNG)]
            m.next = "IDLE"

    # ---- the seal ------------------------------------------------------------------------------------------

    def _check_states(self, m: Module, mix: Signal, added: Signal) -> None:
        """Three cycles per word, with one adder: mix times three, plus mix times eight, plus the word.

        Three and eight are the 11 of SPEC 3.5. The word is kept for a cycle: an SRAM answers late in its
        cycle, too late for the comparisons. A decision ends a pass that need not be; with random actions it
        begins a cycle later, at the address of the random number.
        """
        self.at = at = Signal(range(len(HEADER)))
        once, found = Signal(SEAL_BITS), Signal(16)
        last = at == len(HEADER) - 1
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
                        if word != HEADER[-1]:
                            m.d.sync += self.other.eq(HEADER[index + 1])
            m.d.sync += at.eq(at + 1)
            m.next = "TRIPLE"
            with m.If(last):
                m.d.sync += [self.stale.eq(0), self.usable.eq(self.sound)]
            self._leave(m, at, last)

    def _leave(self, m: Module, at: Signal, last: Value | int = 0) -> None:
        """End a pass over the header with its last word, or before."""
        with m.If(self.recheck | last | self.asks):
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
            m.d.sync += self.flagged.eq((found & spec.FLAG_RANDOM).any())
        elif word == spec.H_HELD:
            m.d.sync += self.held.eq(found == 1)
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
        """Registers that live from one cycle of a decision to the next, and the action it ends with."""
        # How it acts: it ends as it began, whatever the header says by then, and `action` stays what it was.
        self.plays_held, self.draws = Signal(), Signal()
        # The address of a word of step `h`, or of step H, the held one: so many words behind its root slot.
        self.of_step = Signal(range(spec.H_WORDS + 2**LEVEL_BITS + spec.S_WORDS * 2**H_BITS))
        self.behind, self.of_held, h = Signal(range(BEHIND_END)), Signal(), Signal(H_BITS)
        m.d.comb += h.eq(Mux(self.of_held, self.horizon, self.h))
        # Shifts and sums: some tools would take a multiplier, which no count of LUTs shows.
        *low, top = (bit for bit in range(spec.S_WORDS.bit_length()) if spec.S_WORDS >> bit & 1)
        parts = [*(h << bit for bit in low), h << top | self.behind]
        m.d.comb += self.of_step.eq(self.root_at + sum(parts))
        self.depth = Signal(range(DEPTH_MAX + 1))
        self.chosen, self.rng = Signal(16), Signal(16)
        self.point, self.played = Signal(16), Signal(16)
        m.d.comb += self.point.eq(packed(self.state, self.d_s))
        m.d.comb += self.played.eq(Mux(self.draws, random_action(self.chosen, self.rng, self.d_a), self.chosen))
        m.d.comb += Value.cast(self.action).eq(unpacked(self.played, self.d_a, self.shape.action_n))

    def _next_access(self, m: Module) -> None:
        """The address to read or write, and the signal to read.

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
        sram, found, behind = self.sram, self.sram.found, self.behind
        with m.State("ROOT"):
            # The action beside the root slot, or at once that of the held step.
            m.d.comb += [self.reading.eq(~self.plays_held), self.of_held.eq(self.plays_held)]
            m.d.comb += behind.eq(spec.S_V_AUX - spec.S_V_SLOT)
            m.d.sync += [self.rng.eq(next_random(found)), self.other.eq(self.of_step)]
            m.next = "WALK"
        with m.State("WALK"):
            # A word that is no link is not followed; the cycle after that reads the action beside it.
            m.d.comb += [self.walking.eq(self.fresh), self.reading.eq(~self.fresh)]
            m.d.sync += [self.asked.eq(self.below), self.depth.eq(self.depth + 1)]
            m.d.comb += behind.eq(spec.S_STATE - spec.S_V_SLOT)
            with m.If(~self.fresh):
                m.d.sync += self.other.eq(self.of_step)
                m.next = "CHOOSE"
            with m.Elif(self.depth != 0):
                m.d.sync += self.other.eq(self.asked | 2)
        with m.State("CHOOSE"):
            m.d.comb += [sram.write.eq(1), sram.written.eq(self.point), behind.eq(spec.S_ACTION - spec.S_V_SLOT)]
            m.d.sync += [self.chosen.eq(found), self.done.eq(1), self.other.eq(self.of_step)]
            m.next = "PLAY"
        with m.State("PLAY"):
            m.d.comb += [sram.write.eq(1), sram.written.eq(self.played)]
            m.d.sync += self.other.eq(spec.H_RNG)
            m.next = "IDLE"
            with m.If(self.draws):
                m.next = "STIR"
        with m.State("STIR"):
            m.d.comb += [sram.write.eq(1), sram.written.eq(self.rng)]
            m.next = "IDLE"


# ---- codes of points as wiring (SPEC 2.8 to 2.10), random numbers and actions of a block ------------------

#: Bits of a coordinate that its code keeps, for one, two and three coordinates.
KEPT = {1: 16, 2: 8, 3: 5}


def _spots(dims: int) -> list[tuple[int, int, int]]:
    """The place of each kept bit of a point: bit of the code, coordinate, bit of the coordinate."""
    order = [(level, c) for level in range(KEPT[dims]) for c in range(dims)]
    return [(15 - place, c, 15 - level) for place, (level, c) in enumerate(order)]


def _chosen(dims: Value, options: dict[int, Value]) -> Value:
    """The option for `dims`; without hardware where that is a constant."""
    if isinstance(dims, Const):
        return options[dims.value]
    return Mux(dims == 1, options[1], Mux(dims == 2, options[2], options[3]))


def _possible(dims: Value) -> tuple[int, ...]:
    return (dims.value,) if isinstance(dims, Const) else tuple(KEPT)


def packed(coordinates: Value, dims: Value) -> Value:
    """The code of a point."""
    options: dict[int, Value] = {}
    for n in _possible(dims):
        bits: list[Value] = [Const(0, 1)] * 16
        for place, c, bit in _spots(n):
            bits[place] = coordinates[c][bit]
        options[n] = Cat(*bits)
    return _chosen(dims, options)


def unpacked(code: Value, dims: Value, coordinates_n: int) -> Value:
    """The coordinates of a code, one after the other; those that the point does not have are 0."""
    options: dict[int, Value] = {}
    for n in _possible(dims):
        bits: list[Value] = [Const(0, 1)] * (16 * coordinates_n)
        for place, c, bit in _spots(n):
            bits[16 * c + bit] = code[place]
        options[n] = Cat(*bits)
    return _chosen(dims, options)


def next_random(x: Value) -> Value:
    x = x ^ (x << 7)[:16]
    x = x ^ (x >> 9)
    return x ^ (x << 8)[:16]


def random_action(centre: Value, random: Value, d_a: Value) -> Value:
    """A point of the cell around an action centre, never 0."""
    from_lowest = Cat(*(centre[: bit + 1].any() for bit in range(16)))
    options: dict[int, Value] = {}
    for n in _possible(d_a):
        mask = Cat(Const(-1, n), ~from_lowest)[:16]
        options[n] = (centre & ~mask) | (random & mask) | (2 if n == 3 else 1)
    return _chosen(d_a, options)
