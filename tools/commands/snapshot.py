"""`adamb snapshot save|info|restore`: a dump of a block from a board into a checked file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adamb.budgets.sizes import format_bytes, parse_size
from adamb.tools.options import Force
from adamb.tools.outputs import check_outputs, write_atomic, write_json

EXAMPLES = {
    "save": "Example: adamb snapshot save block.bin lamp.snapshot",
    "info": "Example: adamb snapshot info lamp.snapshot",
    "restore": "Example: adamb snapshot restore lamp.snapshot block.bin --budget 4KiB",
}
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Keep controllers in files with a checksum.", no_args_is_help=True)
    for function in (save, info, restore):
        group.command(epilog=EXAMPLES[function.__name__])(function)
    app.add_typer(group, name="snapshot")


def save(
    dump: Annotated[Path, typer.Argument(metavar="DUMP", help="the bytes of a block, low byte first")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="the snapshot to write")],
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Check a dump of a block and write its used part as a snapshot."""
    from adamb.tools.inspect.snapshot_file import pack

    check_outputs(files=[out], force=force)
    data, block_size = pack(dump)
    write_atomic(out, data)
    _tell(out, len(data), block_size, json)


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a snapshot")],
    json: AsJson = False,
) -> None:
    """Verify a snapshot and print what it holds."""
    from adamb.tools.inspect.snapshot_file import facts

    shown = facts(file)
    if json:
        write_json("-", shown)
        return
    for name, value in shown.items():
        typer.echo(f"{name.replace('_', ' '):<14}{value}")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a snapshot")],
    dump: Annotated[Path, typer.Argument(metavar="DUMP", help="the block to write, low byte first")],
    budget: Annotated[
        str | None, typer.Option("--budget", help="size of the block, as 4KiB; else what was saved")
    ] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Verify a snapshot and write the whole block, ready to be loaded into a board's memory."""
    from adamb.tools.inspect.snapshot_file import dump_of, unpack

    check_outputs(files=[dump], force=force)
    block = unpack(file, parse_size(budget) if budget else 0)
    write_atomic(dump, dump_of(block))
    _tell(dump, 2 * len(block), 2 * len(block), json)


def _tell(file: Path, size: int, block_size: int, as_json: bool) -> None:
    """What was written."""
    if as_json:
        shown = {"file": str(file), "bytes": size, "block_bytes": block_size}
        write_json("-", shown)
    else:
        typer.echo(f"{file}: {format_bytes(size)} for a block of {format_bytes(block_size)}")
