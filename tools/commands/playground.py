"""`adamb playground`: a page in which the controller learns live, for a browser and without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adamb.tools.options import Json

EXAMPLE = "Example: adamb playground ambulance-1 --out playground.html"


def register(app: typer.Typer) -> None:
    app.command(name="playground", epilog=EXAMPLE, rich_help_panel="Experiments")(playground)


def playground(
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="what is learnt at first; the page offers all of them")
    ] = "oil-laplace",
    out: Annotated[Path, typer.Option("--out", help="the page")] = Path("playground.html"),
    json: Json = None,
) -> None:
    """Write a page in which the C core learns live: change its world, its bytes and its power."""
    from adamb.firmware_model.host.sizes import format_bytes
    from adamb.host_sim.files import write_atomic
    from adamb.tools.outputs import refuse_to_replace, write_json
    from adamb.tools.playground.page import build
    from adamb.tools.terminal import progress

    refuse_to_replace(out)
    with progress("compiling the core to WebAssembly; once, it takes half a minute"):
        page = build(problem).encode()
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, page)
    write_json(json, {"file": str(out), "problem": problem, "bytes": len(page)})
    typer.echo(f"{out} ({format_bytes(len(page))}): open it in a browser", err=json == "-")
