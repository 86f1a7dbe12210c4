"""Cost of act and observe in the MicroPython interpreter, and the memory the package takes there."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.tools.device.device_python import board_files, replay_in_micropython
from adamb.tools.device.measure import Costs
from adamb.tools.device.micropython import run_program
from adamb.tools.device.stream import Stream

REPEATS = 3

_IMPORT_COST = """
import gc
gc.collect()
before = gc.mem_alloc()
from adamb.firmware_model import core
gc.collect()
print(gc.mem_alloc() - before)
"""


def import_bytes(kind: str = "mpy") -> int:
    """Heap taken by importing the core, after a collection; pointers are 32-bit there as on a board."""
    run = run_program(_IMPORT_COST, board_files(kind)).require_success()
    return int(run.output)


def package_bytes(kind: str = "mpy") -> int:
    """Bytes of the package's files."""
    return sum(path.stat().st_size for path in board_files(kind).values())


def measure_micropython(stream: Stream, fields: dict[str, Any]) -> Costs:
    """Microseconds in MicroPython's WebAssembly build on this computer, from bytecode."""
    # Every replay is the same, so the least of several is the call without this computer's interruptions.
    runs = [replay_in_micropython(stream, fields, "mpy", clock=True) for _ in range(REPEATS)]
    times = np.min([np.frombuffer(run.files["/times.bin"], "<f4") for run in runs], axis=0)
    times = times.reshape(stream.episodes, stream.horizon, 2)
    return Costs(
        target="micropython",
        unit="us",
        act=times[:, :, 0].astype(float),
        observe=times[:, :, 1].astype(float),
        note=f"MicroPython in WebAssembly on this computer, least of {REPEATS} replays; not a board's time",
        flash_bytes=package_bytes(),
        ram_bytes=2 * stream.words + import_bytes(),
    )
