"""Cost of act and observe in the MicroPython interpreter, and the memory the package takes there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from adamb.tools.device.latency.meters import CallCosts, repeated
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files, replay_in_micropython
from adamb.tools.device.stream import Stream

REPEATS = 3

KINDS = ("mpy", "py")

_START = """
import gc
from array import array
before = gc.mem_alloc()
from adamb.firmware_model import core
print(gc.mem_alloc() - before)
block = array("H", bytes(2 * {words}))
controller = core.init(core.Config(), block)
print(gc.mem_alloc() - before)
"""


@dataclass(frozen=True)
class Start:
    """Heap taken until the controller runs. No collection happens in between in this build, so what a board
    needs at its peak is no more, and what it keeps is less: `init_bytes` counts the block's zeros twice."""

    import_bytes: int
    init_bytes: int


@cache
def start_bytes(kind: str = "mpy", block_bytes: int = 4096) -> Start:
    """Peak of importing the core, and of that and init; pointers are 32-bit there as on a board."""
    run = run_program(_START.format(words=block_bytes // 2), board_files(kind)).require_success()
    imported, begun = map(int, run.output.split())
    return Start(imported, begun)


def import_bytes(kind: str = "mpy") -> int:
    return start_bytes(kind).import_bytes


def package_bytes(kind: str = "mpy", *, optional: bool = False) -> int:
    """Bytes of the package's files."""
    return sum(path.stat().st_size for path in board_files(kind, optional=optional).values())


def measure_micropython(stream: Stream, fields: dict[str, Any]) -> CallCosts:
    """Microseconds in MicroPython's WebAssembly build on this computer, from bytecode."""
    # Every replay is the same, so the least of several is the call without this computer's interruptions.
    runs = repeated(lambda: replay_in_micropython(stream, fields, "mpy", clock=True), REPEATS)
    times = np.min([np.frombuffer(run.files["/times.bin"], "<f4") for run in runs], axis=0)
    times = times.reshape(stream.episodes, stream.horizon, 2)
    return CallCosts(
        target="micropython",
        unit="us",
        act=times[:, :, 0].astype(float),
        observe=times[:, :, 1].astype(float),
        note=f"MicroPython in WebAssembly on this computer, least of {len(runs)} replays; not a board's time",
        flash_bytes=package_bytes(),
        ram_bytes=2 * stream.words + import_bytes(),
        done=(len(runs), REPEATS, "replays"),
        start={kind: asdict(start_bytes(kind, 2 * stream.words)) for kind in KINDS},
    )
