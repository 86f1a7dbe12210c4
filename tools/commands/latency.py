"""`adamb latency PROBLEM`: what one act and one observe cost on a target, call by call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size
from adamb.tools.exit_codes import OK, VIOLATED
from adamb.tools.options import (
    BATTERY,
    PERIOD,
    Json,
    Mode,
    Parameters,
    Quiet,
    Share,
    bounded,
    default_folder,
    of_controller,
    pairs,
)
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import stopped
from adamb.tools.terminal.frames import table_console
from adamb.tools.terminal.waiting import waiting

if TYPE_CHECKING:
    from adamb.budgets.battery import Battery
    from adamb.tools.device.latency.report import LatencyReport

TARGETS = ("host", "cortex-m0", "cortex-m3", "micropython", "atmega2560", "atmega328p")
MIN_EPISODES = 2000
PLOTS = ("latency.png", "latency.svg")
EXAMPLE = "Example: adamb latency oil-laplace --target cortex-m0 --budget 4KiB --out runs/latency --plot"


def register(app: typer.Typer) -> None:
    app.command(name="latency", epilog=EXAMPLE)(latency)


def latency(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="as for adamb run")],
    target: Annotated[str, typer.Option("--target", help=", ".join(TARGETS))] = "cortex-m0",
    budget: Annotated[str, typer.Option("--budget", help="cap in bytes: 4KiB, 512B, 4096")] = "4KiB",
    board: Annotated[
        str | None, typer.Option("--board", help="map exactly this board's RAM and flash, and give its time")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K to record and replay")] = 2000,
    horizon: Annotated[int | None, typer.Option("--horizon", help="steps H of an episode")] = None,
    continuing: Annotated[
        bool, typer.Option("--continuing", help="an episode starts where the last ended")
    ] = False,
    parameter: Parameters = None,
    mode: Mode = "tracking",
    share: Share = None,
    when_full: Annotated[str | None, of_controller("when_full")] = None,
    optimise: Annotated[
        str, typer.Option("--optimise", help="compile the C core for size or speed")
    ] = "size",
    seed: Annotated[int, typer.Option("--seed", help="seed of the recorded run")] = 0,
    worst_of: Annotated[
        int | None,
        typer.Option("--worst-of", help="also play so many steps on the host and replay the 1,000 heaviest"),
    ] = None,
    battery: Annotated[str | None, typer.Option("--battery", help=BATTERY)] = None,
    period: Annotated[str | None, typer.Option("--period", help=PERIOD)] = None,
    json: Json = None,
    out: Annotated[Path | None, typer.Option("--out", help="folder for latency.json, .csv and plots")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="PNG and SVG into the folder")] = False,
    force: Annotated[bool, typer.Option("--force", help="replace files of an earlier call")] = False,
    quiet: Quiet = False,
) -> None:
    """Measure act and observe apart on the host, an emulated Cortex-M or AVR, or MicroPython."""
    from adamb.host_sim.results.latency import FILES
    from adamb.tools.device.latency.measurement import LatencyRequest, find_worst, measure, record_stream
    from adamb.tools.device.latency.report import LatencyReport, table

    _check_choices(target, optimise, worst_of, board)
    if plot and out is None:
        out = default_folder("latency", problem, target)
    request = LatencyRequest(
        problem=problem,
        target=target,
        episodes=bounded("episodes", episodes, MIN_EPISODES, 1_000_000),
        budget_bytes=parse_size(budget),
        seed=bounded("seed", seed, 0, 2**32 - 1),
        optimise=optimise,
        board=board,
        options={"mode": mode, "share": share, "when_full": when_full},
        worst_of=worst_of,
        battery=_battery(battery, period, board, target),
        world={"horizon": horizon, "continuing": continuing, "params": pairs("set", parameter)},
    )
    check_outputs(json, out, FILES + (PLOTS if plot else ()), force=force)
    with waiting(f"recording {episodes} episodes on this computer", quiet=quiet) as say:
        settings, stream = record_stream(request)
        costs = measure(request, settings, stream, say)
        worst, done = None, costs.done
        if done[0] == done[1]:
            say("searching for the worst observe" if worst_of else "computing the bounds")
            try:
                worst = find_worst(request)
            except KeyboardInterrupt:
                done = (0, 1, "searches for the worst observe")
        report = LatencyReport(settings, stream.first(len(costs.act)), costs, request, worst)
        view = table(report)
    table_console(stderr=json == "-").print(view)
    write_json(json, report.summary.to_json())
    if out is not None:
        save(out, _files(report, plot=plot), replace=force)
    if done[0] < done[1]:
        raise stopped(*done)
    raise typer.Exit(VIOLATED if report.violations() else OK)


def _battery(battery: str | None, period: str | None, board: str | None, target: str) -> Battery | None:
    from adamb.budgets.battery import Battery

    asked = Battery.asked(battery, period)
    if asked is not None and (board is None or not target.startswith("cortex")):
        raise InputError("battery", battery, "needs the currents of a --board and a cortex target")
    return asked


def _check_choices(target: str, optimise: str, worst_of: int | None, board: str | None) -> None:
    if target not in TARGETS:
        raise InputError("target", target, "one of " + ", ".join(TARGETS))
    if optimise not in ("size", "speed"):
        raise InputError("optimise", optimise, "size or speed")
    if board is not None and not target.startswith("cortex"):
        elsewhere = f"; adamb plan --board {board} has its times under MicroPython"
        limit = "has its memory and clock mapped on a cortex target only"
        raise InputError("board", board, limit + (elsewhere if target == "micropython" else ""))
    if board is not None and target != "cortex-m0":
        from adamb.budgets.boards import load_board

        if load_board(board).cycles_of(target) is None:
            raise InputError("board", board, f"does not execute {target} code; take --target cortex-m0")
    if worst_of is not None:
        bounded("worst-of", worst_of, 10_000, 100_000_000)
        if not target.startswith("cortex"):
            raise InputError("worst-of", worst_of, "counts instructions: choose a cortex target")


def _files(report: LatencyReport, *, plot: bool) -> dict[str, bytes]:
    """latency.json comes last: where it is, the folder is complete."""
    if not plot:
        return report.files()
    from adamb.tools.figures.latency import plot_files

    return {**plot_files(report), **report.files()}
