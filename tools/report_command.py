"""`adamb report RUN_DIR…`: everything about runs, measurements and sweeps in one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes

EXAMPLE = (
    "Example: adamb run oil-laplace --budget 4KiB --record --out runs/demo, then adamb report runs/demo; "
    "several folders are compared: adamb report runs/a runs/b runs/latency --out compared.html"
)


def register(app: typer.Typer) -> None:
    app.command(name="report", epilog=EXAMPLE)(report)


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR…", help="folders of run, latency, profile or sweep")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="the HTML file [default: report.html in the folder]")
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", help="write the verdicts as JSON to a file, - is stdout")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace a file that is not a report")] = False,
) -> None:
    """Write one self-contained page: verdict, curves, memory, cost, timeline, partition explorer, provenance.

    Exit code 1 when a budget or a bound was broken.
    """
    from adamb.tools.cli import OK, VIOLATED
    from adamb.tools.outputs import write_atomic
    from adamb.tools.report.page import build_from

    target = out or (folders[0] if len(folders) == 1 else Path()) / "report.html"
    refuse_to_replace(target, force=force)
    made = build_from(folders)
    page = made.html.encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, page)
    write_json(json, {**made.to_json(), "file": str(target), "bytes": len(page)})
    say(made.headline, f"{target} ({format_bytes(len(page))})", ok=made.ok, stderr=json == "-")
    raise typer.Exit(OK if made.ok else VIOLATED)


def refuse_to_replace(target: Path, *, force: bool) -> None:
    """A report may replace a report; anything else only when told to."""
    from adamb.tools.report.page import GENERATOR

    if target.is_dir():
        raise InputError("out", str(target), "is a folder; name the file, such as report.html")
    if not target.is_file() or force:
        return
    with target.open("rb") as file:
        ours = GENERATOR.encode() in file.read(4096)
    if not ours:
        raise InputError(
            "out", str(target), "exists and is not a report; choose another place or add --force"
        )


def write_json(where: str | None, content: dict[str, Any]) -> None:
    from adamb.tools.outputs import json_bytes, write_atomic

    if where == "-":
        sys.stdout.write(json_bytes(content).decode())
    elif where is not None:
        write_atomic(Path(where), json_bytes(content))


def say(verdict: str, place: str, *, ok: bool, stderr: bool) -> None:
    """The verdict in its colour, and where the page is."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=stderr or not ok, soft_wrap=True)
    mark, style = ("✓", "bold green") if ok else ("✕", "bold red")
    console.print(Text(f"{mark} {verdict}", style=style))
    Console(stderr=stderr, soft_wrap=True).print(Text(place))
