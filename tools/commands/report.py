"""`adamb report RUN_DIR…`: everything about runs, measurements and sweeps in one HTML file."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.options import Json
from adamb.tools.outputs import refuse_to_replace, write_atomic, write_json
from adamb.tools.stopping import OK, USAGE, VIOLATED

EXAMPLE = (
    "Example: adamb run oil-laplace --budget 4KiB --record --out runs/demo, then adamb report runs/demo; "
    "several folders are compared: adamb report runs/a runs/b runs/latency --out compared.html; all folders "
    "below one: adamb report --index runs; a page that follows a sweep: adamb report --watch 8321 runs/first"
)


def register(app: typer.Typer) -> None:
    app.command(name="report", epilog=EXAMPLE, rich_help_panel="Experiments")(report)


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR…", help="folders of run, latency, chip, profile or sweep")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="the HTML file; report.html in the folder unless given")
    ] = None,
    index: Annotated[
        bool, typer.Option("--index", help="a table of all folders below, each with its own report.html")
    ] = False,
    watch: Annotated[
        int | None,
        typer.Option(
            "--watch", metavar="PORT", help="write nothing; serve the page to this computer until Ctrl-C; 0 is any port"
        ),
    ] = None,
    json: Json = None,
) -> None:
    """Write one self-contained page: verdict, curves, memory, cost, timeline, partition explorer, provenance.

    Exit code 1 when a budget or a bound was broken.
    """
    if watch is not None:
        if out is not None or json is not None:
            given = out if out is not None else json
            raise InputError("watch", str(given), "writes no file; leave --out and --json away")
        if index:
            raise InputError("watch", str(folders[0]), "follows folders of runs, not an index; leave one away")
        watch_folders(folders, watch)
        raise typer.Exit(OK)
    if index:
        raise typer.Exit(write_index(folders, out, json=json))
    from adamb.tools.report.page import build_from

    target = out or (folders[0] if len(folders) == 1 else Path()) / "report.html"
    refuse_to_replace(target)
    made = build_from(folders)
    page = made.html.encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, page)
    write_json(json, {**made.to_json(), "file": str(target), "bytes": len(page)})
    say(made.headline, f"{target} ({format_bytes(len(page))})", ok=made.ok, stderr=json == "-")
    raise typer.Exit(OK if made.ok else VIOLATED)


def write_index(bases: list[Path], out: Path | None, *, json: str | None) -> int:
    """The index and the report of every folder; one that cannot be read is listed with the reason."""
    from adamb.tools.report import page as pages

    target = out or (bases[0] if len(bases) == 1 else Path()) / pages.INDEX
    refuse_to_replace(target)
    entries = [pages.read_entry(folder) for folder in pages.find_folders(bases)]
    for entry in entries:
        if entry.page is not None and pages.may_write(entry):
            write_atomic(entry.folder / pages.REPORT, entry.page.html.encode())
    page = pages.index_html(entries, target, bases).encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, page)
    write_json(json, {"file": str(target), "folders": [entry.to_json() for entry in entries]})
    unread = [entry for entry in entries if entry.page is None]
    broken = [entry for entry in entries if entry.page is not None and not entry.ok]
    verdict = f"{len(entries)} folders, {len(broken)} with a broken limit"
    say(verdict, f"{target} ({format_bytes(len(page))})", ok=not broken, stderr=json == "-")
    for entry in unread:
        print(f"adamb: error: {entry.trouble}; it is listed, the others are written", file=sys.stderr)
    return USAGE if unread else VIOLATED if broken else OK


def watch_folders(folders: list[Path], port: int) -> None:
    """Serve until Ctrl-C; a folder that is not there yet is waited for."""
    from adamb.tools.live.folder import WatchedFolders
    from adamb.tools.live.server import serving

    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise InputError("run", str(folder), "is not a folder; give the --out folder of a command")
    with serving(port, WatchedFolders(folders).routes()) as address:
        places = ", ".join(map(str, folders))
        print(f"live page: {address} follows {places}; Ctrl-C ends it", file=sys.stderr, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    print("adamb: no longer watching", file=sys.stderr)


def say(verdict: str, place: str, *, ok: bool, stderr: bool) -> None:
    """The verdict in its colour, and where the page is."""
    console = Console(stderr=stderr or not ok, soft_wrap=True)
    mark, style = ("✓", "bold green") if ok else ("✕", "bold red")
    console.print(Text(f"{mark} {verdict}", style=style))
    Console(stderr=stderr, soft_wrap=True).print(Text(place))
