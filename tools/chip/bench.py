"""The decision engine in Amaranth's own simulator: slow, but without a compiler and every signal in reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.sim import Simulator

from adamb.firmware_model.rtl.engine import DecisionEngine
from adamb.firmware_model.rtl.sram import EngineWithSram

#: No decision takes longer, whatever the SRAM holds: a check of the header, and a walk of 16 levels.
CYCLES_MAX = 60
PERIOD = 1e-6
WIRES = ("address", "read", "write", "written", "found")


@dataclass
class Decision:
    """What one `act` of the engine was: its code, action, cycles from start to done, and every access."""

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
        """Put a block into the SRAM, words behind it cleared."""
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
        while context.get(top.busy):  # a random number is written behind done
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
