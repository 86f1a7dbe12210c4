"""`adamb snapshot save|info|restore`: a dump of a block from a board into a checked file, and back."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path
from typing import Annotated

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes, parse_size
from adamb.firmware_model import _spec, binding, check, snapshot
from adamb.tools.outputs import json_bytes, refuse_to_overwrite, write_atomic

EXAMPLES = {
    "save": "Example: adamb snapshot save block.bin lamp.snapshot",
    "info": "Example: adamb snapshot info lamp.snapshot",
    "restore": "Example: adamb snapshot restore lamp.snapshot block.bin --budget 4KiB",
}
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Force = Annotated[bool, typer.Option("--force", help="replace files that are there already")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Keep controllers in files that notice every wrong bit.", no_args_is_help=True)
    for function in (save, info, restore):
        group.command(epilog=EXAMPLES[function.__name__])(function)
    app.add_typer(group, name="snapshot")


def save(
    dump: Annotated[Path, typer.Argument(metavar="DUMP", help="the bytes of a block, low byte first")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="the snapshot to write")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Check a dump of a block and write its used part as a snapshot."""
    refuse_to_overwrite([out], force=force)
    block = _words(dump)
    data = bytearray(max(0, snapshot.bytes(block)))
    if not data or snapshot.save(block, data) < 0:
        raise InputError("dump", str(dump), "is not a block of this version that passes the self-check")
    write_atomic(out, bytes(data))
    _tell(out, len(data), 8 * block[_spec.H_UNITS], json)


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a snapshot")],
    json: Json = False,
) -> None:
    """Verify a snapshot and tell what it holds."""
    block = _block(file, 0)
    dims = block[_spec.H_DIMS]
    shown = {
        "version": _spec.SNAPSHOT_VERSION,
        "bytes": file.stat().st_size,
        "block_bytes": 8 * block[_spec.H_UNITS],
        "state_dims": dims & 15,
        "action_dims": dims >> 4 & 15,
        "horizon": dims >> 8,
        **check.stats(block),
    }
    if json:
        typer.echo(json_bytes(shown).decode(), nl=False)
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
    json: Json = False,
) -> None:
    """Verify a snapshot and write the whole block, ready to be loaded into a board's memory."""
    refuse_to_overwrite([dump], force=force)
    block = _block(file, parse_size(budget) if budget else 0)
    write_atomic(dump, _little_endian(block).tobytes())
    _tell(dump, 2 * len(block), 2 * len(block), json)


def _tell(file: Path, size: int, block_size: int, as_json: bool) -> None:
    """What was written."""
    if as_json:
        shown = {"file": str(file), "bytes": size, "block_bytes": block_size}
        typer.echo(json_bytes(shown).decode(), nl=False)
    else:
        typer.echo(f"{file}: {format_bytes(size)} for a block of {format_bytes(block_size)}")


def _block(file: Path, size: int) -> array:
    """The block of a snapshot in so many bytes; 0: as many as it had."""
    data = file.read_bytes()
    own = 8 * snapshot.get16(data, snapshot.AT_UNITS) if len(data) >= _spec.SNAPSHOT_HEAD_BYTES else 0
    if size and size < own:
        raise InputError("budget", size, f"the saved block has {own} bytes")
    block = array("H", bytes((size or own) // 2 * 2))
    pointer = binding.ffi.from_buffer("uint16_t[]", block)
    if binding.lib.adamb_snapshot_restore(data, len(data), pointer, len(block)):
        raise InputError("file", str(file), "is not a snapshot of this version, or it is damaged")
    return block


def _words(dump: Path) -> array:
    data = dump.read_bytes()
    return _little_endian(array("H", data[: len(data) // 2 * 2]))


def _little_endian(words: array) -> array:
    """Words of this machine from words of a file, and back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words
