"""The decision engine in Amaranth's own simulator: slow, but without a compiler and every signal in reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from amaranth.sim import Simulator

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl import EngineShape
from adamb.firmware_model.rtl.chip import EngineWithSram
from adamb.firmware_model.rtl.engine import DecisionEngine
from adamb.tools.chip import need_tools

#: No decision takes longer, whatever the SRAM holds: a check of the header, and a walk of 16 levels.
CYCLES_MAX = 60
PERIOD = 1e-6
WIRES = ("address", "read", "write", "written", "found")


@dataclass
class Decision:
    """One `act` of the engine: its code, action, cycles from start to done, and every access."""

    error: int
    action: tuple[int, ...]
    cycles: int
    reads: list[int] = field(default_factory=list)
    writes: list[tuple[int, int]] = field(default_factory=list)


class EngineBench:
    """Drives an engine and its SRAM; used inside `run`, whose script calls `load`, `act` and `block`."""

    def __init__(self, engine: DecisionEngine) -> None:
        self.engine = engine
        self.top = EngineWithSram(engine)
        self.context: Any = None
        self.watch: Callable[[dict[str, int | str]], None] | None = None
        """Called in every cycle of a decision with what is on the wires."""

    def run(self, script: Callable[[EngineBench], Awaitable[None]]) -> None:
        """Simulate; `script` is an async function of the bench."""
        simulator = Simulator(self.top)
        simulator.add_clock(PERIOD)

        async def drive(context: Any) -> None:
            self.context = context
            await script(self)

        simulator.add_testbench(drive)
        simulator.run()

    def load(self, words: Sequence[int]) -> None:
        """Put a block into the SRAM, words after it cleared."""
        rows = self.top.store.data
        for index in range(self.engine.shape.words):
            self.context.set(rows[index], words[index] if index < len(words) else 0)

    def block(self, words: int) -> list[int]:
        return [self.context.get(self.top.store.data[index]) for index in range(words)]

    async def act(self, h: int, state: Sequence[int], *, recheck: bool = False) -> Decision:
        """One decision, from the cycle in which start is high to the cycle in which done is."""
        context, top = self.context, self.top
        for i in range(self.engine.shape.state_n):
            context.set(top.state[i], state[i] if i < len(state) else 0)
        context.set(top.h, h)
        context.set(top.start, 1)
        context.set(top.recheck, int(recheck))
        made = Decision(0, (), 0)
        for cycle in range(CYCLES_MAX):
            self._note(made)
            if context.get(top.done):
                break
            await context.tick()
            context.set(top.recheck, 0)
            made.cycles = cycle + 1
        else:
            raise AssertionError(f"no decision after {CYCLES_MAX} cycles")
        context.set(top.start, 0)
        made.error = context.get(top.error)
        made.action = tuple(context.get(top.action[i]) for i in range(self.engine.shape.action_n))
        await context.tick()
        while context.get(top.busy):  # a random number is written after done
            self._note(made)
            await context.tick()
        return made

    async def wait(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.context.tick()

    def _note(self, made: Decision) -> None:
        context, port = self.context, self.engine.sram
        wires: dict[str, Any] = {name: context.get(getattr(port, name)) for name in WIRES}
        if wires["read"]:
            made.reads.append(wires["address"])
        if wires["write"]:
            made.writes.append((wires["address"], wires["written"]))
        if self.watch is not None:
            names = {value: name for name, value in self.engine.fsm.encoding.items()}
            at = {"state": names[context.get(self.engine.fsm.state)].lower()}
            ends = {name: context.get(getattr(self.top, name)) for name in ("start", "done")}
            self.watch({**at, **wires, **ends, "action": context.get(self.top.action[0])})


BITS = ("start", "read", "write", "done")
BUSES = ("phase", "address", "found", "written", "action")


def decision(block: Sequence[int], shape: EngineShape, h: int, state: Sequence[int]) -> str:
    """The second decision on a block, as SVG: the first also reads the header."""
    need_tools("amaranth")
    from adamb.firmware_model.rtl.engine import DecisionEngine
    from adamb.tools.chip.bench import EngineBench

    cycles: list[dict[str, Any]] = []

    async def script(bench: EngineBench) -> None:
        bench.load(block)
        await bench.act(h, state, recheck=True)
        bench.watch = cycles.append
        await bench.act(h, state)

    EngineBench(DecisionEngine(shape)).run(script)
    shown = [_shown(cycle, before) for cycle, before in zip(cycles, [None, *cycles[:-1]], strict=True)]
    title = f"A decision of the engine in {len(cycles) - 1} cycles"
    return draw(shown, bits=BITS, buses=BUSES, title=title)


def _shown(cycle: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """Show a bus only while it means something: found in the cycle after a read."""
    shown = dict(cycle, phase=cycle["state"])  # a port is called state
    shown["address"] = cycle["address"] if cycle["read"] or cycle["write"] else ""
    shown["found"] = f"{cycle['found']:04x}" if before is not None and before["read"] else ""
    shown["written"] = f"{cycle['written']:04x}" if cycle["write"] else ""
    shown["action"] = f"{cycle['action']:04x}" if cycle["done"] else ""
    return shown


def example(depth: int = 4) -> str:
    """A decision on a block with a value tree of this depth on the way of the state."""
    from array import array
    from types import SimpleNamespace

    from adamb.firmware_model.host import binding
    from adamb.tools.device.settings import DeviceSettings

    words, state = 2048, 0xB5A2
    made = binding.init(SimpleNamespace(**DeviceSettings(1, 1, 5).fields()), array("H", bytes(2 * words)))
    assert isinstance(made, binding.Controller)
    w = made.w
    w[spec.H_HELD] = 0  # the first episodes of a controller are held
    unit, slot = w[spec.H_POOL_AT] + 40, spec.H_WORDS + 1 + (w[spec.H_SCALE] >> 8) + spec.S_V_SLOT
    for level in range(depth):
        w[slot], node = unit, 4 * unit
        for side in range(2):
            w[node + side], w[node + side + 2] = spec.TAG | 0x1000 * (3 - side), 0x6800 + 0x1000 * side
        slot, unit = node + (state >> (15 - level) & 1), unit + 3
    return decision(w, EngineShape(words), 0, [state])


LABEL, CYCLE, ROW, HIGH, SLANT = 76, 62, 30, 18, 5
INK, GREY, FILL = "#1f2937", "#9ca3af", "#dbeafe"
Wires = Mapping[str, int | str]


def draw(cycles: Sequence[Wires], *, bits: Sequence[str], buses: Sequence[str], title: str) -> str:
    """`bits` are drawn as levels, `buses` as boxes with what is on them; '' is nothing of interest."""
    names = ["clk", *bits, *buses]
    width, height = LABEL + CYCLE * len(cycles) + 10, ROW * (len(names) + 1) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number in range(len(cycles)):
        x = LABEL + CYCLE * number
        parts.append(f'<text x="{x + CYCLE / 2}" y="14" text-anchor="middle" fill="{GREY}">{number}</text>')
        parts.append(f'<path d="M{x} 20V{height - 6}" stroke="{GREY}" stroke-width="0.5"/>')
    for row, name in enumerate(names):
        top = ROW * (row + 1) - 6
        parts.append(f'<text x="{LABEL - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>')
        if name == "clk":
            parts.append(_clock(len(cycles), top))
        elif name in bits:
            parts.append(_level([int(cycle[name]) for cycle in cycles], top))
        else:
            parts += _boxes([str(cycle[name]) for cycle in cycles], top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _path(d: str, fill: str = "none") -> str:
    return f'<path d="{d}" stroke="{INK}" fill="{fill}"/>'


def _clock(cycles: int, top: int) -> str:
    half = CYCLE / 2
    return _path(f"M{LABEL} {top + HIGH}" + f"v{-HIGH}h{half:g}v{HIGH}h{half:g}" * cycles)


def _level(values: Sequence[int], top: int) -> str:
    d, before = "", None
    for number, value in enumerate(values):
        x, y = LABEL + CYCLE * number, top + (0 if value else HIGH)
        d += f"M{x} {y}" if before is None else "" if value == before else f"L{x} {y}"
        d += f"H{x + CYCLE}"
        before = value
    return _path(d)


def _boxes(texts: Sequence[str], top: int) -> list[str]:
    """Equal neighbours share a box; a wire without a text is a thin line."""
    parts, begin = [], 0
    middle = top + HIGH / 2
    for number in range(1, len(texts) + 1):
        if number < len(texts) and texts[number] == texts[begin]:
            continue
        left, right = LABEL + CYCLE * begin, LABEL + CYCLE * number
        if texts[begin]:
            d = f"M{left} {middle:g}L{left + SLANT} {top}H{right - SLANT}L{right} {middle:g}"
            parts.append(_path(f"{d}L{right - SLANT} {top + HIGH}H{left + SLANT}Z", FILL))
            x = (left + right) / 2
            parts.append(f'<text x="{x:g}" y="{top + 13}" text-anchor="middle">{escape(texts[begin])}</text>')
        else:
            parts.append(f'<path d="M{left} {middle:g}H{right}" stroke="{GREY}"/>')
        begin = number
    return parts
