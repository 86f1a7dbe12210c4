"""`adamb port`: everything a board needs, in one folder, sized for it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.budgets.sizes import parse_size
from adamb.firmware_model import _spec
from adamb.tools.options import Json, Share, bounded, given, number_or_word, of_controller
from adamb.tools.outputs import write_json
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.tools.device.port.common import PortJob
    from adamb.tools.device.settings import DeviceSettings

DEFAULT_BLOCK = "4KiB"
LIMITS = {"state-dims": _spec.DIM_MAX, "action-dims": _spec.DIM_MAX, "horizon": _spec.HORIZON_MAX}
STEPS = f"steps of an episode, 1 to {_spec.HORIZON_MAX} [5]"
EXAMPLE = (
    "Example: adamb port --board pico --out pico-port; adamb port --c --out controller; "
    "adamb port --c --package --out AdaMB; "
    "adamb port --board pico --out pico-port --deploy /dev/ttyACM0; "
    "adamb port --board pico --usermod --out pico-port; "
    "adamb port runs/mine --trained --board pico --out pico-port"
)


def register(app: typer.Typer) -> None:
    app.command(name="port", epilog=EXAMPLE)(port)


def port(
    out: Annotated[Path, typer.Option("--out", help="folder to write")],
    source: Annotated[
        str | None,
        typer.Argument(metavar="[PROBLEM|RUN-FOLDER]", help="takes dimensions, horizon and options from it"),
    ] = None,
    board: Annotated[
        str | None, typer.Option("--board", help="a board of adamb boards, or a profile")
    ] = None,
    c: Annotated[
        bool, typer.Option("--c", help="the C core as a drop-in folder instead of MicroPython")
    ] = False,
    package: Annotated[
        bool,
        typer.Option("--package", help="with --c: a library for Arduino, PlatformIO, ESP-IDF, Zephyr, CMake"),
    ] = False,
    usermod: Annotated[
        bool,
        typer.Option("--usermod", help="with --board: also the C core, to build into MicroPython's firmware"),
    ] = False,
    trained: Annotated[
        bool, typer.Option("--trained", help="ship what the first seed of the run has learnt")
    ] = False,
    dims: Annotated[
        str | None, typer.Option("--dims", help="state + action dimensions, as in adamb plan [1+1]")
    ] = None,
    state_dims: Annotated[
        int | None, typer.Option("--state-dims", help="coordinates of the state, 1 to 3 [1]")
    ] = None,
    action_dims: Annotated[
        int | None, typer.Option("--action-dims", help="coordinates of the action, 1 to 3 [1]")
    ] = None,
    horizon: Annotated[int | None, typer.Option("--horizon", help=STEPS)] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="bytes of the block; a size that suits the board unless given"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="of the controller's random draws")] = 1,
    mode: Annotated[str | None, of_controller("mode")] = None,
    share: Share = None,
    when_full: Annotated[str | None, of_controller("when_full")] = None,
    bonus: Annotated[str | None, of_controller("bonus")] = None,
    gamma: Annotated[str | None, of_controller("gamma")] = None,
    phi: Annotated[str | None, of_controller("phi")] = None,
    split: Annotated[str | None, of_controller("split")] = None,
    action: Annotated[str | None, of_controller("action")] = None,
    detect: Annotated[str | None, of_controller("detect")] = None,
    deploy: Annotated[
        str | None, typer.Option("--deploy", help="also copy it to the board at this serial port and test it")
    ] = None,
    json: Json = None,
    force: Annotated[bool, typer.Option("--force", help="write into a folder that is not empty")] = False,
) -> None:
    """Write the controller for a board: MicroPython package with self-test and control loop, or C sources."""
    from adamb.tools.device.port.common import PortJob, refuse_folder, write_folder
    from adamb.tools.device.port.source import read_source

    if c and deploy is not None:
        raise InputError("deploy", deploy, "C sources are built into your firmware; leave --deploy out")
    if package and not c:
        raise InputError("package", "on", "is the C core for your toolchain; add --c")
    if usermod and c:
        raise InputError("usermod", "on", "is for MicroPython; leave --c out, and name a board")
    if not c and board is None:
        raise InputError("board", None, "name a board (adamb boards lists them), or add --c for the C core")
    found = read_source(source, _shape(dims, state_dims, action_dims, horizon), trained=trained)
    changed = given(
        mode=mode, share=share, when_full=when_full, bonus=number_or_word(bonus),
        gamma=number_or_word(gamma), phi=number_or_word(phi), split=split, action=action, detect=detect,
    )  # fmt: skip
    settings = found.settings(changed, bounded("seed", seed, 0, 0xFFFF))
    wanted = found.budget_bytes if budget is None else parse_size(budget) & ~1
    if c:
        if board is not None:
            _refuse_flash(board, package=package, trained=trained)
        size = _c_block(settings, board, wanted, found.trained)
    else:
        size = _micropython_block(settings, str(board), wanted, usermod=usermod)
    job = PortJob(settings, size, out, _command_line(), found.trained, found.plant, usermod).checked()
    refuse_folder(job.folder, force=force)
    with waiting(
        "making the files; the first time, the core is compiled for five processors, which takes minutes"
    ):
        files = _files(job, None if c else board, package=package)
    write_folder(job.folder, files, force=force)
    line = f"{job.folder}: {len(files)} files, a block of {job.block_bytes} bytes; read README.md"
    typer.echo(line, err=json == "-")
    if board is not None and (said := _flash(board) if c else _slow_save(job)):
        typer.echo(said, err=json == "-" or not c)
    write_json(json, {"folder": str(job.folder), "block_bytes": job.block_bytes, "files": sorted(files)})
    if deploy is not None:
        from adamb.tools.device.port.deploy import deploy_folder

        raise typer.Exit(deploy_folder(job.folder, deploy, job.block_bytes, usermod=usermod))


def _shape(dims: str | None, d_s: int | None, d_a: int | None, horizon: int | None) -> dict[str, int]:
    """What was typed of the shape; dimensions as one word, or each by itself."""
    if dims is not None:
        from adamb.budgets.planner import parse_dims

        if d_s is not None or d_a is not None:
            raise InputError("dims", dims, "says both; leave --state-dims and --action-dims out")
        d_s, d_a = parse_dims(dims)
    typed = given(**{"state-dims": d_s, "action-dims": d_a, "horizon": horizon})
    return {name: bounded(name, value, 1, LIMITS[name]) for name, value in typed.items()}


def _files(job: PortJob, board: str | None, *, package: bool) -> dict[str, bytes]:
    """For MicroPython on a board, as plain C, or as a library of C."""
    from adamb.tools.device.port import bare_c, library, micropython

    if board is not None:
        return micropython.files(job, board)
    return library.files(job) if package else bare_c.files(job)


def _command_line() -> str:
    """The command as the user typed it, for the generated files."""
    return " ".join(["adamb", *map(shlex.quote, sys.argv[1:])])


def _c_block(settings: DeviceSettings, board: str | None, wanted: int | None, trained: bytes | None) -> int:
    """Bytes of the block: what is wanted, else a part of what the board leaves to C."""
    from adamb.budgets.boards import load_board
    from adamb.tools.device.port.common import suitable_block

    if board is None:
        return parse_size(DEFAULT_BLOCK) if wanted is None else wanted
    found = load_board(board)
    constants = len(trained) if trained and found.core.code else 0  # which an AVR keeps in RAM
    available = found.available_bytes("c") - constants
    size = suitable_block(available, 2 * settings.required_words()) if wanted is None else wanted
    if size > available:
        raise BudgetExceeded(size, available, f"the block of {size} bytes")
    return size


def _refuse_flash(board: str, *, package: bool, trained: bool) -> None:
    """Stop where what is asked for is known not to fit into the board's flash."""
    from adamb.budgets.boards import load_board

    found = load_board(board)
    code, room = found.core.code, found.flash_bytes
    if code is None:
        return
    way_out = f"adamb port --c --board {found.name} --out DIR writes a loop of {code.flash}"
    if package and code.sketch > room:
        text = f"an Arduino sketch takes about {code.sketch} bytes of flash, {room} are there; {way_out}"
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
