"""Costs of the controller under MicroPython by its form there, as tools/measure/micropython_native.py measures them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.budgets.boards import Board, load_board
from adamb.firmware_model.host.errors import InputError

KEPT = Path(__file__).resolve().parent / "native_costs.toml"
CORES = {
    "bytecode": "Python, bytecode",
    "viper": "Python, bytecode and `fast.py` (viper)",
    "mpy": "C, native `.mpy` file",
    "module": "C, in the firmware",
}
PLANNED = ("bytecode", "viper", "module")
"""Forms that were also measured with every number of dimensions, for `adamb plan`."""
ON_BOARDS, INSTRUCTION_SET = "Cortex-M0", "ARMv6-M"
"""Boards turn instructions of this processor into times; those with its instruction set run its very code."""


@dataclass(frozen=True)
class FormCost:
    """One form of the controller on one processor; calls in instructions, means over all steps."""

    processor: str
    core: str
    flash_bytes: int
    heap_bytes: int
    act: int
    observe: int


@dataclass(frozen=True)
class ShapeCost:
    """One form with some number of dimensions on the processor of `ON_BOARDS`, and the C core in the same
    steps, called by nothing."""

    dims: str
    core: str
    act: int
    observe: int
    c_act: int
    c_observe: int


def kept() -> dict[str, Any]:
    return tomllib.loads(KEPT.read_text(encoding="utf-8"))


def shape_rows(dims: str) -> dict[str, ShapeCost]:
    """Instructions of each form with so many dimensions, written as 2+1."""
    rows = [ShapeCost(**row) for row in kept()["shapes"]]
    return {row.core: row for row in rows if row.dims == dims}


def shape_conditions(dims: str) -> str:
    """Conditions of the measurement, in words."""
    content = kept()
    return (
        f"{content['steps']} steps with {dims}, H {content['horizon']}, "
        f"a block of {content['block_bytes']} bytes, defaults of mode tracking"
    )


def module_heap_bytes() -> int:
    """Heap that the C core in a firmware takes, the largest of the processors."""
    return max(row["heap_bytes"] for row in kept()["rows"] if row["core"] == "module")


def table(rows: Iterable[FormCost]) -> str:
    lines = ["| processor | controller | flash, bytes | heap, bytes | `act` | `observe` |", "|---|---|---|---|---|---|"]
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
        "bytes, which is not in the heap's figure."
    )
    return f"{table(FormCost(**row) for row in content['rows'])}\n\n{note}"


def times(seconds: tuple[float, float]) -> str:
    """Both ends with two digits: the range is wider than a third would tell."""
    low, high = (f"{float(f'{1e6 * each:.2g}'):,g}" for each in seconds)
    return f"{low} to {high} µs"


def board_times(board: Board, dims: str) -> str:
    """Times of mean calls of each form on one board, in words."""
    rows = shape_rows(dims)
    parts = [
        f"{CORES[form]}: `act` {times(board.seconds(rows[form].act))}, "
        f"`observe` {times(board.seconds(rows[form].observe))}"
        for form in PLANNED
    ]
    listed = "\n".join(f"- {part}" for part in parts)
    guess = "; its cycles per instruction are an estimate" if board.estimate else ""
    return (
        f"On this board with {dims} dimensions, by its clock{guess}\n"
        f"(`adamb plan --board {board.name}` also says the worst, and the energy):\n\n{listed}"
    )


def board_table(content: dict[str, Any], name: str) -> str:
    """The table in short for one board: its clock and cycles per instruction turn instructions into times."""
    board = load_board(name)
    if board.core.instruction_set != INSTRUCTION_SET:
        raise InputError("board", name, f"has {board.core.instruction_set}, measured was {INSTRUCTION_SET}")
    lines = [f"| {board.title} | flash, bytes | heap, bytes | `act` | `observe` |", "|---|---|---|---|---|"]
    for row in (FormCost(**each) for each in content["rows"]):
        if row.processor == ON_BOARDS:
            shown = [times(board.seconds(calls)) for calls in (row.act, row.observe)]
            cells = [CORES[row.core], f"{row.flash_bytes:,}", f"{row.heap_bytes:,}", *shown]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print what is kept; with the name of a board in times of that board."""
    print(board_table(kept(), arguments[0]) if arguments else report(kept()))
