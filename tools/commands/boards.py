"""`adamb boards`: the boards we know, or one of them with the document behind every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from adamb.tools.options import Json
from adamb.tools.outputs import write_json
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets.boards import Board, Figure

EXAMPLE = "Example: adamb boards pico; adamb boards ./mine.toml --json -"


def register(app: typer.Typer) -> None:
    app.command(name="boards", epilog=EXAMPLE)(boards)


def boards(
    name: Annotated[str | None, typer.Argument(help="a board, or the path of your own profile")] = None,
    json: Json = None,
) -> None:
    """List boards with memory, clock and current; with a NAME, every figure and where it comes from."""
    from adamb.budgets.boards import board_names, load_board

    found = [load_board(name)] if name else [load_board(each) for each in board_names()]
    if json is not None:
        write_json(json, {"boards": [board.to_json() for board in found]})
        return
    table_console().print(_details(found[0]) if name else _overview(found))


def _overview(found: list[Board]) -> Table:
    """Narrow enough for 80 columns: units stand in the headings."""
    caption = (
        "RAM, heap (free under MicroPython) in KiB; cycles per Cortex-M0 instruction; * an estimate; "
        "adamb boards NAME shows the source of every figure"
    )
    table = Table(box=box.SIMPLE_HEAD, caption=caption, pad_edge=False, padding=(0, 1), collapse_padding=True)
    for heading in ("name", "core", "MHz", "RAM", "heap", "mA", "cycles"):
        table.add_column(heading, justify="left" if heading in ("name", "core") else "right", no_wrap=True)
    for board in found:
        heap, (low, high) = board.micropython_heap_bytes, board.cycles_per_instruction
        active = board.figures["active_current_ua"]
        table.add_row(
            board.name,
            board.core.name,
            f"{board.clock_hz / 1e6:g}",
            f"{board.ram_bytes / 1024:g}",
            "none" if heap is None else f"{heap / 1024:.3g}" + _star(board.figures["micropython_heap_bytes"]),
            _span(active.low / 1000, active.high / 1000) + _star(active),
            f"{low:.2f}–{high:.2f}" + ("*" if board.estimate else ""),
        )
    return table


def _star(figure: Figure) -> str:
    return "*" if figure.basis == "estimate" else ""


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def _details(board: Board) -> Table:
    low, high = board.cycles_per_instruction
    model = f"model {board.core.model}: {low:.2f} to {high:.2f} cycles per Cortex-M0 instruction"
    also = f"also called {', '.join(board.aliases)}; " if board.aliases else ""
    caption = f"{also}{board.core.instruction_set}; {model}; {board.core.source}"
    table = Table(title=f"{board.name}: {board.title}", caption=caption)
    for heading in ("figure", "value", "basis", "source"):
        table.add_column(heading, overflow="fold")
    for key, figure in board.figures.items():
        value = "none" if figure.value is None else f"{figure.low:,.15g}"
        if figure.value is not None and figure.high != figure.low:
            value += f" to {figure.high:,.15g}"
        table.add_row(key, value, figure.basis, figure.source)
    current = _span(*(round(each, 1) for each in board.current_ua_per_mhz))
    table.add_row("current per MHz", f"{current} µA", "", "active_current_ua over clock_hz")
    if board.micropython_heap_bytes is not None:
        table.add_row("pins", f"{board.pins.adc}, {board.pins.pwm}", "", board.pins.note)
    return table
