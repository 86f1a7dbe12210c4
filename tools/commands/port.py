"""`adamb port`: everything a board needs, in one folder, sized for it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.firmware_model.host.options import OPTIONS
from adamb.firmware_model.host.sizes import parse_size
from adamb.tools.options import AgentSettings, Dims, Json, agent_settings, bounded, one_of, whole_number
from adamb.tools.outputs import write_json
from adamb.tools.terminal import progress

if TYPE_CHECKING:
    from adamb.tools.device.port.job import PortJob
    from adamb.tools.device.settings import DeviceSettings

DEFAULT_BLOCK = "4KiB"
STEPS = f"steps of an episode, 1 to {_spec.HORIZON_MAX} [5]"
MICROPYTHON, USERMOD, C, ONE_FILE, LIBRARY, RAMULATOR = RUNTIMES = (
    "micropython", "usermod", "c", "one-file", "library", "ramulator2",
)  # fmt: skip
RUNTIME = (
    "micropython for a board; usermod, also the C core, to build into its firmware; c, the C core as a drop-in "
    "folder; one-file, the same with all of it in adamb.c; library, for Arduino, PlatformIO, ESP-IDF, Zephyr, CMake; "
    "ramulator2, a row policy for that simulator"
)
EXAMPLE = (
    "Example: adamb port --board pico --out pico-port; adamb port --runtime c --out controller; "
    "adamb port --runtime library --out AdaMB; "
    "adamb port --board pico --out pico-port --deploy /dev/ttyACM0; "
    "adamb port --board pico --runtime usermod --out pico-port; "
    "adamb port runs/mine --trained --board pico --out pico-port"
)


def register(app: typer.Typer) -> None:
    app.command(name="port", epilog=EXAMPLE, rich_help_panel="Boards and chips")(port)


def port(
    out: Annotated[Path, typer.Option("--out", help="folder to write")],
    source: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM|RUN-FOLDER]", help="takes dimensions, horizon and options from it")
    ] = None,
    board: Annotated[str | None, typer.Option("--board", help="a board of adamb list boards, or a profile")] = None,
    runtime: Annotated[str, typer.Option("--runtime", help=RUNTIME)] = MICROPYTHON,
    trained: Annotated[bool, typer.Option("--trained", help="ship what the first seed of the run has learnt")] = False,
    dims: Dims = None,
    horizon: Annotated[int | None, typer.Option("--horizon", help=STEPS)] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="bytes of the block; a size that suits the board unless given")
    ] = None,
    agent_set: AgentSettings = None,
    deploy: Annotated[
        str | None, typer.Option("--deploy", help="also copy it to the board at this serial port and test it")
    ] = None,
    json: Json = None,
) -> None:
    """Write the controller for a board: MicroPython package with self-test and control loop, or C sources."""
    from adamb.tools.device.port.job import PortJob, read_source, refuse_folder, write_folder

    c, usermod = one_of("runtime", runtime, RUNTIMES) not in (MICROPYTHON, USERMOD), runtime == USERMOD
    if c and deploy is not None:
        raise InputError("deploy", deploy, "C sources are built into your firmware; leave --deploy out")
    if not c and board is None:
        raise InputError("board", None, "name a board (adamb list boards), or add --runtime c for the C core")
    found = read_source(source, _shape(dims, horizon), trained=trained)
    changed = agent_settings(agent_set, (*OPTIONS, "seed"))
    seed = whole_number("seed", str(changed.pop("seed", 1)), 0, 0xFFFF)
    settings = found.settings(changed, seed)
    wanted = found.budget_bytes if budget is None else parse_size(budget)
    if c:
        if board is not None:
            _refuse_size(board, package=runtime == LIBRARY, trained=trained)
        size = _c_block(settings, board, wanted, found.trained)
    else:
        size = _micropython_block(settings, str(board), wanted, usermod=usermod)
    one_file = runtime == ONE_FILE
    if runtime == RAMULATOR and (settings.d_s, settings.d_a) != (1, 1):
        raise InputError("dims", f"{settings.d_s}+{settings.d_a}", "the row policy has one state and one action: 1+1")
    given = (found.trained, found.plant, usermod, one_file, found.problem, found.coordinates)
    job = PortJob(settings, size, out, _command_line(), *given).checked()
    refuse_folder(job.folder)
    with progress("making the files; the first time, the core is compiled for five processors, which takes minutes"):
        files = _files(job, None if c else board, runtime)
    write_folder(job.folder, files)
    line = f"{job.folder}: {len(files)} files, a block of {job.block_bytes} bytes; read README.md"
    typer.echo(line, err=json == "-")
    if board is not None and (said := _flash(board) if c else _slow_save(job)):
        typer.echo(said, err=json == "-" or not c)
    write_json(json, {"folder": str(job.folder), "block_bytes": job.block_bytes, "files": sorted(files)})
    if deploy is not None:
        from adamb.tools.device.port.micropython import deploy_folder

        raise typer.Exit(deploy_folder(job.folder, deploy, job.block_bytes, usermod=usermod))


def _shape(dims: str | None, horizon: int | None) -> dict[str, int]:
    """What was typed of the shape."""
    from adamb.budgets.planner import parse_dims

    shape = {} if dims is None else dict(zip(("state-dims", "action-dims"), parse_dims(dims), strict=True))
    return shape if horizon is None else {**shape, "horizon": bounded("horizon", horizon, 1, _spec.HORIZON_MAX)}


def _files(job: PortJob, board: str | None, runtime: str) -> dict[str, bytes]:
    """For MicroPython on a board, as plain C, as a library of C, or for a simulator."""
    from adamb.tools.device.port import c, micropython

    if board is not None:
        return micropython.files(job, board)
    return {LIBRARY: c.package_files, RAMULATOR: c.ramulator_files}.get(runtime, c.files)(job)


def _command_line() -> str:
    """The command as the user typed it, for the generated files."""
    return " ".join(["adamb", *map(shlex.quote, sys.argv[1:])])


def _c_block(settings: DeviceSettings, board: str | None, wanted: int | None, trained: bytes | None) -> int:
    """Bytes of the block: what is wanted, else a part of what the board leaves to C."""
    from adamb.budgets.boards import load_board
    from adamb.tools.device.port.job import suitable_block

    if board is None:
        return parse_size(DEFAULT_BLOCK) if wanted is None else wanted
    found = load_board(board)
    constants = len(trained) if trained and found.core.code else 0  # which an AVR keeps in RAM
    available = found.available_bytes("c") - constants
    size = suitable_block(available, 2 * settings.required_words()) if wanted is None else wanted
    if size > available:
        raise BudgetExceeded(size, available, f"the block of {size} bytes")
    return size


def _refuse_size(board: str, *, package: bool, trained: bool) -> None:
    """Stop where what is asked for is known not to fit into the board."""
    from adamb.budgets.boards import load_board

    found = load_board(board)
    code, room = found.core.code, found.flash_bytes
    if code is None:
        return
    way_out = f"adamb port --runtime c --board {found.name} --out DIR writes a loop of {code.flash}"
    ram = code.sketch_ram + code.stack
    if package and ram > found.ram_bytes:
        text = f"an Arduino sketch takes about {ram} bytes of RAM, {found.ram_bytes} are there; {way_out}"
        raise InputError("board", found.name, text)
    if trained and code.flash + code.check > room:
        need = f"a trained controller takes about {code.flash + code.check} bytes of flash"
        raise InputError("board", found.name, f"{need}, {room} are there; {way_out} without --trained")


def _flash(board: str) -> str:
    """How much of the board's flash the loop takes, where its processor says so."""
    from adamb.budgets.boards import load_board

    found = load_board(board)
    code = found.core.code
    if code is None:
        return ""
    share = code.share_of(found.flash_bytes)
    return f"{found.name}: the plain loop takes {code.flash} bytes of flash with -Os -flto, {share}"


def _slow_save(job: PortJob) -> str:
    from adamb.tools.device.port.micropython import slow_save

    return slow_save(job)


def _micropython_block(settings: DeviceSettings, board: str, wanted: int | None, *, usermod: bool) -> int:
    from adamb.tools.device.port.micropython import block_for_board

    return block_for_board(board, settings, wanted, usermod=usermod)
