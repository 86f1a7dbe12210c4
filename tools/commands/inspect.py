"""`adamb inspect FILE`: open a block dumped from a board: health, every byte, the partition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes
from adamb.tools.exit_codes import OK, VIOLATED
from adamb.tools.options import Json
from adamb.tools.outputs import refuse_to_replace, write_atomic, write_json
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets.ledger import Ledger
    from adamb.tools.inspect.findings import Inspection

EXAMPLE = "Example: adamb inspect block.bin --html block.html (adamb run --record leaves a block.bin)"
BAR = 28


def register(app: typer.Typer) -> None:
    app.command(name="inspect", epilog=EXAMPLE)(inspect)


def inspect(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="raw words, a snapshot, a flash dump, a print")
    ],
    html: Annotated[
        Path | None, typer.Option("--html", help="write the partition explorer to this file")
    ] = None,
    json: Json = None,
    offset: Annotated[
        str | None, typer.Option("--offset", help="byte at which the block starts: 512, 0x200")
    ] = None,
    frame: Annotated[
        int | None, typer.Option("--frame", help="which frame of a recording; the last unless given")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace a file that is not a report")] = False,
) -> None:
    """Check a controller's block and show its ledger, counters and partition.

    Exit code 1 when the block is damaged.
    """
    from adamb.tools.inspect.block_file import read_block
    from adamb.tools.inspect.findings import Inspection

    if html is not None:
        refuse_to_replace(html, force=force)
    found = Inspection(read_block(file, offset=_offset(offset), frame=frame))
    write_json(json, found.to_json())
    show(found, stderr=json == "-")
    if html is not None:
        write_page(found, html, stderr=json == "-")
    raise typer.Exit(OK if found.sound else VIOLATED)


def _offset(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise InputError("offset", text, "write a number of bytes such as 512 or 0x200") from None


def write_page(found: Inspection, html: Path, *, stderr: bool) -> None:
    from adamb.tools.report.page import build
    from adamb.tools.report.sources import BlockSource

    html.parent.mkdir(parents=True, exist_ok=True)
    source = BlockSource(found.file.path, found.file.path.name, found)
    write_atomic(html, build([source]).html.encode())
    where = "explorer in" if found.view is not None else "the partition cannot be walked; what is known is in"
    typer.echo(f"{where} {html}", err=stderr)


def show(found: Inspection, *, stderr: bool) -> None:
    console = table_console(stderr=stderr)
    size = format_bytes(2 * len(found.words))
    console.print(Text(f"{found.file.path}: a block of {size}, {found.file.form}, digest {found.digest}"))
    if found.sound:
        console.print(
            Text("✓ sound: every unit is owned once or free, every mean and count adds up", "green")
        )
    for problem in found.problems:
        console.print(Text(f"✕ damaged: {problem}", style="bold red"))
    if found.view is not None:
        words = found.view.describe()
        words["thresholds"] = " ".join(str(value) for value in found.view.thresholds)
        console.print(Text(", ".join(f"{name} {value}" for name, value in words.items())))
        counters = found.view.counters
        console.print(
            Text(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counters.items()))
        )
    if found.ledger is not None:
        console.print(ledger_table(found.ledger))
    if found.view is not None:
        console.print(partition_table(found))


def ledger_table(ledger: Ledger) -> Table:
    """Every byte by its owner; the rows sum to the block."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="bytes by owner", title_justify="left", show_footer=True
    )
    table.add_column("owner", footer="block")
    table.add_column("bytes", justify="right", footer=f"{ledger.total:,}")
    table.add_column("share", justify="right", footer="100.0 %")
    table.add_column("", footer=f"peak {ledger.peak_bytes:,} bytes")
    for owner, size in ledger.bytes.items():
        if size:
            share = size / ledger.total
            table.add_row(owner, f"{size:,}", f"{100 * share:.1f} %", "█" * max(1, round(BAR * share)))
    return table


def partition_table(found: Inspection) -> Table:
    """One row per partition and, beside it, the values of the steps that use it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="partition and values", title_justify="left")
    for heading in ("step", "balls", "visited", "balls of level 0, 1, …", "V cells", "V min", "mean", "max"):
        table.add_column(
            heading, justify="left" if heading in ("step", "balls of level 0, 1, …") else "right"
        )
    for tree in found.trees:
        for position, h in enumerate(tree["steps"]):
            worth = found.values[h]
            shape = ["", "", "of all steps" if position == 1 else ""]
            if position == 0:
                levels = " ".join(str(count) for count in tree["levels"])
                shape = [f"{tree['balls']:,}", f"{tree['visited']:,}", levels]
            figures = [f"{worth[key]:.3f}" for key in ("min", "mean", "max")]
            table.add_row(f"h = {h}", *shape, f"{worth['cells']:,}", *figures)
    return table
