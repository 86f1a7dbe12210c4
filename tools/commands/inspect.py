"""`adamb inspect FILE`: look into a block from a board, a snapshot, or a trace, and write it in another form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_bytes, parse_size
from adamb.tools.options import Json
from adamb.tools.outputs import check_outputs, refuse_to_replace, write_atomic, write_json
from adamb.tools.stopping import OK, VIOLATED

if TYPE_CHECKING:
    from adamb.tools.inspect.findings import Inspection

EXAMPLE = """Example: adamb inspect block.bin --out block.html (adamb run --record leaves a block.bin)

A block from a board becomes a checked file and comes back: adamb inspect block.bin --out lamp.snapshot; adamb
inspect lamp.snapshot --out block.bin. A trace: adamb inspect requests.trace.gz --out picture.png"""
PAGE, SNAPSHOT, BLOCK = ".html", ".snapshot", ".bin"
PICTURES = (".png", ".svg", ".pdf")
OUT = "the explorer (.html), a snapshot (.snapshot), the block (.bin); of a trace a picture (.png, .svg, .pdf)"


def register(app: typer.Typer) -> None:
    app.command(name="inspect", epilog=EXAMPLE, rich_help_panel="More")(inspect)


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="raw words, a snapshot, a dump of a probe or of the flash, a recording, a trace"
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help=OUT)] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="byte at which the block starts, 512 or 0x200; or the frame of a recording"),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="size of the block to write, as 4KiB; else as it was")
    ] = None,
    json: Json = None,
) -> None:
    """Check a controller's block and show its ledger, counters and partition; or what a trace holds.

    Exit code 1 when the block is damaged.
    """
    from adamb.tools.inspect.block_file import holds_block

    kind = None if out is None else out.suffix.lower()
    if kind not in (None, PAGE, SNAPSHOT, BLOCK, *PICTURES):
        raise InputError("out", str(out), "must end in " + ", ".join((PAGE, SNAPSHOT, BLOCK, *PICTURES)))
    if out is not None and kind == PAGE:
        refuse_to_replace(out)
    check_outputs(json, files=[] if out is None or kind == PAGE else [out])
    if kind in PICTURES or (kind is None and at is None and not holds_block(file)):
        return _trace(file, out, json)
    raise typer.Exit(_block(file, out, at, budget, json))


def _block(file: Path, out: Path | None, at: str | None, budget: str | None, json: str | None) -> int:
    from adamb.tools.inspect.block_file import read_block
    from adamb.tools.inspect.findings import Inspection
    from adamb.tools.inspect.view import show

    if out is not None and out.suffix.lower() in WRITERS:  # before anything is shown: a damaged one is refused
        content, block_bytes = WRITERS[out.suffix.lower()](file, 0 if budget is None else parse_size(budget))
        write_atomic(out, content)
        write_json(json, {"file": str(out), "bytes": len(content), "block_bytes": block_bytes})
        line = f"{out}: {format_bytes(len(content))} for a block of {format_bytes(block_bytes)}"
        typer.echo(line, err=json == "-")
        return OK
    found = Inspection(read_block(file, at=_place(at)))
    write_json(json, found.to_json())
    show(found, stderr=json == "-")
    if out is not None:
        write_page(found, out, stderr=json == "-")
    return OK if found.sound else VIOLATED


def _place(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise InputError("at", text, "write a number of bytes such as 512 or 0x200, or of a frame") from None


def _snapshot(file: Path, size: int) -> tuple[bytes, int]:
    from adamb.tools.inspect.snapshot_file import pack

    if size:
        raise InputError("budget", size, "is for writing a block; a snapshot is as large as what was learnt")
    return pack(file)


def _restored(file: Path, size: int) -> tuple[bytes, int]:
    from adamb.tools.inspect.snapshot_file import dump_of, unpack

    content = dump_of(unpack(file, size))
    return content, len(content)


WRITERS: dict[str, Callable[[Path, int], tuple[bytes, int]]] = {SNAPSHOT: _snapshot, BLOCK: _restored}
"""What makes a file of this suffix, and how large the block is."""


def write_page(found: Inspection, html: Path, *, stderr: bool) -> None:
    from adamb.tools.report.page import build
    from adamb.tools.report.sources import BlockSource

    html.parent.mkdir(parents=True, exist_ok=True)
    source = BlockSource(found.file.path, found.file.path.name, found)
    write_atomic(html, build([source]).html.encode())
    where = "explorer in" if found.view is not None else "the partition cannot be walked; what is known is in"
    typer.echo(f"{where} {html}", err=stderr)


def _trace(file: Path, out: Path | None, json: str | None) -> None:
    """Format, requests, write share, footprint, row-hit rate and miss-ratio curve of a trace."""
    from adamb.host_sim.traces.info import trace_info
    from adamb.tools.inspect.view import trace_picture, trace_table

    found = trace_info(file)
    if json != "-":
        typer.echo(trace_table(found))
    write_json(json, found.as_dict())
    if out is not None:
        write_atomic(out, trace_picture(found, out.suffix.lower().lstrip(".")))
