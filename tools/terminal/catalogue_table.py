"""Problems and agents as tables: one row each, or one of them with every setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adamb.host_sim.catalogue import Item
from adamb.tools.outputs import write_json
from adamb.tools.terminal.frames import table_console


def show(kind: str, items: Sequence[Item], json: str | None, *, headings: Sequence[str],
         cells: Callable[[Item], Sequence[str]], caption: str, details: bool) -> None:  # fmt: skip
    """Print the list, or its only item in full; as JSON where that is asked for."""
    if json is not None:
        write_json(json, {kind: [item.to_json() for item in items]})
    if json != "-":
        table_console().print(_details(items[0]) if details else _list(items, headings, cells, caption))


def _list(
    items: Iterable[Item], headings: Sequence[str], cells: Callable[[Item], Sequence[str]], caption: str
) -> Table:
    table = _frame(caption)
    for heading in headings:
        table.add_column(heading, justify="left", no_wrap=heading != headings[-1], overflow="fold")
    for item in items:
        table.add_row(*cells(item))
    return table


def _frame(caption: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD, caption=caption, caption_justify="left", pad_edge=False, padding=(0, 1),
        collapse_padding=True,
    )  # fmt: skip


def _details(item: Item) -> RenderableType:
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
