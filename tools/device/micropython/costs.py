"""What the controller costs under MicroPython by the form it has there, as measured and kept.

`python -m adamb.tools.device.micropython.costs` prints it; tools/measure/micropython_native.py measures it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT = Path(__file__).resolve().parent / "native_costs.toml"
CORES = {
    "bytecode": "Python, bytecode",
    "viper": "Python, bytecode and `fast.py`",
    "mpy": "C, native `.mpy` file",
    "module": "C, in the firmware",
}


@dataclass(frozen=True)
class FormCost:
    """One form of the controller on one processor; calls in instructions, means over all steps."""

    processor: str
    core: str
    flash_bytes: int
    heap_bytes: int
    act: int
    observe: int


def kept() -> dict[str, Any]:
    return tomllib.loads(KEPT.read_text(encoding="utf-8"))


def module_heap_bytes() -> int:
    """Heap that the C core in a firmware takes, the largest of the processors."""
    return max(row["heap_bytes"] for row in kept()["rows"] if row["core"] == "module")


def table(rows: Iterable[FormCost]) -> str:
    lines = [
        "| processor | controller | flash, bytes | heap, bytes | `act` | `observe` |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row.flash_bytes, row.heap_bytes, row.act, row.observe]
        shown = " | ".join(f"{cell:,}" for cell in cells)
        lines.append(f"| {row.processor} | {CORES[row.core]} | {shown} |")
    return "\n".join(lines)


def report(content: dict[str, Any]) -> str:
    """The table with what it means."""
    note = (
        f"MicroPython {content['micropython']} in QEMU, compiled by GCC {content['compiler']}: "
        "heap that the\nimport keeps, instructions of a call from Python, means of "
        f"{content['steps']} steps with a block of {content['block_bytes']}\n"
        "bytes, which is not in the heap's figure. On a computer (the unix port) a whole step takes\n"
        f"{content['unix_ratio']} times as long with the Python core as with the C core in the program."
    )
    return f"{table(FormCost(**row) for row in content['rows'])}\n\n{note}"


if __name__ == "__main__":
    print(report(kept()))
