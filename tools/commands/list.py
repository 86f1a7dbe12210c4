"""`adamb list`: problems, agents, boards, optional tools, the benchmark; one of them with every detail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adamb.tools.options import Json, one_of
from adamb.tools.outputs import write_json
from adamb.tools.stopping import OK, VIOLATED
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets.boards import Board, Figure
    from adamb.host_sim.catalogue import Item


EXAMPLE = (
    "Example: adamb list problems; adamb list problems oil-laplace; adamb list agents mine.py:Mine; "
    "adamb list boards pico; adamb list tools"
)


def register(app: typer.Typer) -> None:
    app.command(name="list", epilog=EXAMPLE, rich_help_panel="More")(show)


def show(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="problems, agents, boards, tools or benchmark")],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="one of them, gym:<id>, file.py:Class, or a profile's path")
    ] = None,
    json: Json = None,
) -> None:
    """List what there is; with a NAME its settings, limits, figures and sources.

    Tools are the optional parts (cross compiler, emulators, node, browser): which are here, and how to get
    the others; exit code 1 when something is missing without which nothing runs.
    """
    raise typer.Exit(KINDS[one_of("kind", kind, KINDS)](name, json))


def _problems(name: str | None, json: str | None) -> int:
    from adamb.host_sim.catalogue import describe_problem
    from adamb.host_sim.problems import problem_names

    items = [describe_problem(each) for each in ([name] if name else problem_names())]
    write_json(json, {"problems": [item.to_json() for item in items]})
    if json != "-":
        table_console().print(details(items[0]) if name else problem_table(items))
    return OK


def _agents(name: str | None, json: str | None) -> int:
    from adamb.host_sim.agents import agent_names
    from adamb.host_sim.catalogue import describe_agent

    items = [describe_agent(each) for each in ([name] if name else agent_names())]
    write_json(json, {"agents": [item.to_json() for item in items]})
    if json != "-":
        table_console().print(details(items[0]) if name else agent_table(items))
    return OK


def _boards(name: str | None, json: str | None) -> int:
    from adamb.budgets.boards import board_names, load_board

    found = [load_board(each) for each in ([name] if name else board_names())]
    write_json(json, {"boards": [board.to_json() for board in found]})
    if json != "-":
        table_console().print(board_details(found[0]) if name else board_table(found))
    return OK


def _tools(name: str | None, json: str | None) -> int:
    from adamb.tools import optional_parts

    found = [optional_parts.examine(part) for part in optional_parts.parts(name)]
    healthy = all(each.ok for each in found)
    write_json(json, {"ok": healthy, "parts": [each.to_json() for each in found]})
    if json != "-":
        optional_parts.show(found, table_console())
    return OK if healthy else VIOLATED


def _benchmark(name: str | None, json: str | None) -> int:
    """The protocol of the benchmark, of all or of the parts that are named."""
    from adamb.tools.sweeps.benchmark import part, protocol_text

    text = protocol_text(part(name))
    write_json(json, {"protocol": text})
    if json != "-":
        typer.echo(text, nl=False)
    return OK


KINDS = {"problems": _problems, "agents": _agents, "boards": _boards, "tools": _tools, "benchmark": _benchmark}


PROBLEMS = (
    "d_s, d_a, H: dimensions of states and actions, steps of an episode; V*: the exact optimum is known; "
    "also gym:<id> and path/to/file.py:Class; adamb list problems NAME shows parameters and limits"
)
AGENTS = (
    "d: most dimensions of states and of actions, — any; fixed agents do not learn; also the rules of a "
    "problem (adamb list problems NAME) and path/to/file.py:Class; adamb list agents NAME shows options and limits"
)


def problem_table(items: Iterable[Item]) -> Table:
    rows = []
    for item in items:
        facts = item.facts
        given = f" {facts['given']}" if facts["given"] else ""  # names of one family differ in it
        sizes = [str(facts[key]) for key in ("d_s", "d_a", "horizon")]
        rows.append([item.name, *sizes, "yes" if facts["optimum"] else "no", item.about + given])
    return _list(("name", "d_s", "d_a", "H", "V*", "what it is"), rows, PROBLEMS)


def agent_table(items: Iterable[Item]) -> Table:
    rows = [[item.name, item.facts["kind"], str(item.facts["dimensions"] or "—"), item.about] for item in items]
    return _list(("name", "kind", "d", "what it is"), rows, AGENTS)


def _list(headings: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> Table:
    table = _frame(caption)
    for heading in headings:
        table.add_column(heading, justify="left", no_wrap=heading != headings[-1], overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _frame(caption: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD, caption=caption, caption_justify="left", pad_edge=False, padding=(0, 1),
        collapse_padding=True,
    )  # fmt: skip


def details(item: Item) -> RenderableType:
    facts = "; ".join(f"{name} {_text(value)}" for name, value in item.facts.items() if value is not None)
    head = [Text(item.name, style="bold")]
    if item.about:
        head.append(Text(item.about))
    if item.text:
        head.append(Text(f"\n{item.text}"))
    head.append(Text(f"\n{facts}"))
    if not item.settings:
        return Group(*head, Text(f"nothing to set; source: {item.source}"))
    table = _frame(f"source: {item.source}")
    for heading in ("setting", "default", "limits", "meaning"):
        table.add_column(heading, overflow="fold")
    for each in item.settings:
        table.add_row(each.name, _text(each.default), each.limits, each.doc)
    return Group(*head, table)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "—" if value is None else str(value)


def board_table(found: list[Board]) -> Table:
    """Narrow enough for 80 columns: units stand in the headings."""
    caption = (
        "RAM, heap (free under MicroPython) in KiB; cycles per Cortex-M0 instruction; * an estimate; "
        "adamb list boards NAME shows the source of every figure"
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


def board_details(board: Board) -> Table:
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
