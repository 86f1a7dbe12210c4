"""One decision of the engine as a picture, from the simulation of its gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl.shape import EngineShape
from adamb.tools.chip.run_tool import need_tools
from adamb.tools.figures.waveform import draw

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
    shown = [_told(cycle, before) for cycle, before in zip(cycles, [None, *cycles[:-1]], strict=True)]
    title = f"A decision of the engine in {len(cycles) - 1} cycles"
    return draw(shown, bits=BITS, buses=BUSES, title=title)


def _told(cycle: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """What is on a bus only while it means something: found in the cycle after a read."""
    told = dict(cycle, phase=cycle["state"])  # a port is called state
    told["address"] = cycle["address"] if cycle["read"] or cycle["write"] else ""
    told["found"] = f"{cycle['found']:04x}" if before is not None and before["read"] else ""
    told["written"] = f"{cycle['written']:04x}" if cycle["write"] else ""
    told["action"] = f"{cycle['action']:04x}" if cycle["done"] else ""
    return told


def example(depth: int = 4, state: int = 0xB5A2) -> str:
    """A decision on a block with a value tree of this depth on the way of the state."""
    from array import array
    from types import SimpleNamespace

    from adamb.firmware_model.host import binding
    from adamb.tools.device.settings import DeviceSettings

    words = 2048
    made = binding.init(SimpleNamespace(**DeviceSettings(1, 1, 5).fields()), array("H", bytes(2 * words)))
    assert isinstance(made, binding.Controller)
    w = made.w
    unit, slot = w[spec.H_POOL_AT] + 40, spec.H_WORDS + 1 + (w[spec.H_SCALE] >> 8) + spec.S_V_SLOT
    for level in range(depth):
        w[slot], node = unit, 4 * unit
        for side in range(2):
            w[node + side], w[node + side + 2] = spec.TAG | 0x1000 * (3 - side), 0x6800 + 0x1000 * side
        slot, unit = node + (state >> (15 - level) & 1), unit + 3
    return decision(w, EngineShape(words), 0, [state])
