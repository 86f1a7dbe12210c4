"""`adamb latency PROBLEM`: what one act and one observe cost on a target, call by call.

`--target implementations` compares all implementations on this computer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import parse_size
from adamb.tools.options import (
    AgentSettings,
    Battery,
    Budget,
    Folder,
    Json,
    PlayedProblem,
    Settings,
    bounded,
    controller_settings,
    one_of,
)
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import OK, VIOLATED, stopped
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.budgets import battery as batteries
    from adamb.tools.device.latency.report import LatencyReport

ALL = "implementations"
TARGETS = ("host", "cortex-m0", "cortex-m3", "micropython", "atmega2560", "atmega328p")
MIN_EPISODES = 2000
PLOTS = ("latency.png", "latency.svg")
EXAMPLE = (
    "Example: adamb latency oil-laplace --target cortex-m0 --budget 4KiB --out runs/latency; "
    "adamb latency oil-laplace --target implementations --episodes 500"
)


def register(app: typer.Typer) -> None:
    app.command(name="latency", epilog=EXAMPLE, rich_help_panel="Boards and chips")(latency)


def latency(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="as for adamb run")],
    target: Annotated[str, typer.Option("--target", help=", ".join((*TARGETS, ALL)))] = "cortex-m0",
    budget: Budget = "4KiB",
    board: Annotated[
        str | None, typer.Option("--board", help="map exactly this board's RAM and flash, and give its time")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K to record and replay")] = MIN_EPISODES,
    parameter: Settings = None,
    agent_set: AgentSettings = None,
    battery: Battery = None,
    json: Json = None,
    out: Folder = None,
) -> None:
    """Measure act and observe separately on the host, an emulated Cortex-M or AVR, or MicroPython.

    Target implementations is this computer: steps in C, as a run plays them, of 64 learners and of one, beside the
    paper's algorithm in Python, in doubles, with the constants of its experiments (γ = 2, φ = 1).
    """
    options = controller_settings(agent_set)
    if target == ALL:
        if board is not None or battery is not None or out is not None:
            raise InputError("target", ALL, "is about this computer; leave --board, --battery and --out out")
        played = PlayedProblem.of(problem, (0,), bounded("episodes", episodes, 1, 100_000), parameter)
        return _compare_implementations(played, parse_size(budget), options, json)
    from adamb.host_sim.results.measurements import CURVES, LATENCY
    from adamb.tools.device.latency.report import LatencyReport, LatencyRequest, measure, record_stream, table

    _check_choices(target, board)
    played = PlayedProblem.of(problem, (0,), bounded("episodes", episodes, MIN_EPISODES, 1_000_000), parameter)
    asked = _battery(battery, board, target)
    request = LatencyRequest(played, target, parse_size(budget), options, board=board, battery=asked)
    check_outputs(json, out, (LATENCY, CURVES, *PLOTS))
    with progress(f"recording {episodes} episodes on this computer") as say:
        settings, stream = record_stream(request)
        costs = measure(request, settings, stream, say)
        say("computing the bounds")
        report = LatencyReport(settings, stream.first(len(costs.act)), costs, request)
        view = table(report)
    table_console(stderr=json == "-").print(view)
    write_json(json, report.summary.to_json())
    if out is not None:
        save(out, _files(report))
    if costs.done[0] < costs.done[1]:
        raise stopped(*costs.done)
    raise typer.Exit(VIOLATED if report.violations() else OK)


def _compare_implementations(played: PlayedProblem, cap: int, options: dict[str, Any], json: str | None) -> None:
    from rich.table import Table

    from adamb.host_sim.agents import check_horizon
    from adamb.tools.measure.paper_times import IN_PYTHON, ROUNDS, speeds

    check_outputs(json, replace=True)
    check_horizon(played.make().horizon)
    found = speeds(played, cap, options)
    fastest = min(found.values())
    rows = [{"implementation": name, "step_ns": ns, "ratio": ns / fastest} for name, ns in found.items()]
    said = {"problem": played.problem, "episodes": played.episodes, "seed": played.seeds[0], "budget_bytes": cap}
    faster = {name: found[IN_PYTHON] / ns for name, ns in found.items() if name != IN_PYTHON}
    write_json(json, {**said, "rounds": ROUNDS, "rows": rows, "times_faster": faster})
    if json == "-":
        return
    caption = f"mean over {played.episodes} episodes, seeds from {played.seeds[0]}, fastest of {ROUNDS} rounds"
    table = Table(title=f"one act and one observe on {played.problem}", caption=caption, title_justify="left")
    for heading in ("implementation", "ns", "times faster than in Python"):
        table.add_column(heading, justify="left" if heading == "implementation" else "right", no_wrap=True)
    for name, ns in found.items():
        table.add_row(name, f"{ns:,.0f}", f"{faster[name]:.3g}" if name in faster else "")
    table_console().print(table)


def _battery(text: str | None, board: str | None, target: str) -> batteries.Battery | None:
    from adamb.budgets.battery import Battery

    asked = Battery.asked(text)
    if asked is not None and (board is None or not target.startswith("cortex")):
        raise InputError("battery", text, "needs the currents of a --board and a cortex target")
    return asked


def _check_choices(target: str, board: str | None) -> None:
    one_of("target", target, (*TARGETS, ALL))
    if board is not None and not target.startswith("cortex"):
        elsewhere = f"; adamb plan --board {board} has its times under MicroPython"
        limit = "has its memory and clock mapped on a cortex target only"
        raise InputError("board", board, limit + (elsewhere if target == "micropython" else ""))
    if board is not None and target != "cortex-m0":
        from adamb.budgets.boards import load_board

        if load_board(board).cycles_of(target) is None:
            raise InputError("board", board, f"does not execute {target} code; take --target cortex-m0")


def _files(report: LatencyReport) -> dict[str, bytes]:
    """latency.json comes last: where it is, the folder is complete."""
    from adamb.tools.figures import picture_files
    from adamb.tools.figures.growth import latency_figure

    return {**picture_files({"latency": latency_figure(report)}), **report.files()}
