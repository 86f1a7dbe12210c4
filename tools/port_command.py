"""`adamb port`: everything a board needs, in one folder, sized for it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from adamb.tools.device.port_common import Job
    from adamb.tools.device.settings import Settings

DEFAULT_BLOCK = "4KiB"
EXAMPLE = (
    "Example: adamb port --board pico --out pico-port; adamb port --c --out controller; "
    "adamb port --board pico --out pico-port --deploy /dev/ttyACM0"
)


def register(app: typer.Typer) -> None:
    app.command(name="port", epilog=EXAMPLE)(port)


def port(
    out: Annotated[Path, typer.Option("--out", help="folder to write")],
    board: Annotated[
        str | None, typer.Option("--board", help="a board of adamb boards, or a profile")
    ] = None,
    c: Annotated[
        bool, typer.Option("--c", help="the C core as a drop-in folder instead of MicroPython")
    ] = False,
    state_dims: Annotated[int, typer.Option("--state-dims", help="coordinates of the state, 1 to 3")] = 1,
    action_dims: Annotated[int, typer.Option("--action-dims", help="coordinates of the action, 1 to 3")] = 1,
    horizon: Annotated[int, typer.Option("--horizon", help="steps of an episode, 1 to 31")] = 5,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="bytes of the block; a size that suits the board unless given"),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", help="tracking or paper")] = "tracking",
    share: Annotated[str | None, typer.Option("--share", help="off, on or auto")] = None,
    deploy: Annotated[
        str | None, typer.Option("--deploy", help="also copy it to the board at this serial port and test it")
    ] = None,
    json: Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")] = None,
    force: Annotated[bool, typer.Option("--force", help="write into a folder that is not empty")] = False,
) -> None:
    """Write the controller for a board: MicroPython package with self-test and control loop, or C sources."""
    from adamb.tools.device.port_common import refuse_folder, write_folder
    from adamb.tools.device.settings import Settings as Chosen
    from adamb.tools.report_command import write_json
    from adamb.tools.run_command import bounded

    settings = Chosen(
        bounded("state-dims", state_dims, 1, 3),
        bounded("action-dims", action_dims, 1, 3),
        bounded("horizon", horizon, 1, 31),
        mode=mode,
        share=share,
    )
    if c and deploy is not None:
        raise InputError("deploy", deploy, "C sources are built into your firmware; leave --deploy out")
    if not c and board is None:
        raise InputError("board", None, "name a board (adamb boards lists them), or add --c for the C core")
    job = _c_job(settings, out, board, budget) if c else _micropython_job(settings, out, str(board), budget)
    refuse_folder(job.folder, force=force)
    if c:
        from adamb.tools.device import port_c

        files = port_c.files(job)
    else:
        from adamb.tools.device import port_micropython

        files = port_micropython.files(job, str(board))
    write_folder(job.folder, files, force=force)
    line = f"{job.folder}: {len(files)} files, a block of {job.block_bytes} bytes; read README.md"
    typer.echo(line, err=json == "-")
    write_json(json, {"folder": str(job.folder), "block_bytes": job.block_bytes, "files": sorted(files)})
    if deploy is not None:
        from adamb.tools.device.deploy import deploy_folder

        raise typer.Exit(deploy_folder(job.folder, deploy))


def _command_line() -> str:
    """The command as the user typed it, for the generated files."""
    return " ".join(["adamb", *map(shlex.quote, sys.argv[1:])])


def _c_job(settings: Settings, out: Path, board: str | None, budget: str | None) -> Job:
    from adamb.budgets.boards import load_board
    from adamb.budgets.errors import BudgetExceeded
    from adamb.budgets.sizes import parse_size
    from adamb.tools.device.port_common import Job

    size = parse_size(budget or DEFAULT_BLOCK) & ~1
    if board is not None:
        available = load_board(board).available_bytes("c")
        if size > available:
            raise BudgetExceeded(size, available, f"the block of {size} bytes")
    return Job(settings, size, out, _command_line()).checked()


def _micropython_job(settings: Settings, out: Path, board: str, budget: str | None) -> Job:
    from adamb.budgets.sizes import parse_size
    from adamb.tools.device.port_common import Job
    from adamb.tools.device.port_micropython import block_for_board

    wanted = None if budget is None else parse_size(budget) & ~1
    size = block_for_board(board, settings, wanted)
    return Job(settings, size, out, _command_line()).checked()
