"""`adamb latency PROBLEM`: what one decision and one lesson cost on a target, call by call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from adamb.tools.device.heaviest import Worst
    from adamb.tools.device.measure import Costs
    from adamb.tools.device.settings import Settings
    from adamb.tools.device.stream import Stream

TARGETS = ("host", "cortex-m0", "cortex-m3", "micropython")
MIN_EPISODES = 2000
FILES = ("latency.json", "latency.csv")
PLOTS = ("latency.png", "latency.svg")
EXAMPLE = "Example: adamb latency oil-laplace --target cortex-m0 --budget 4KiB --out runs/latency --plot"


@dataclass(frozen=True)
class Request:
    """A command line that has been understood."""

    problem: str
    target: str
    episodes: int
    budget_bytes: int
    seed: int
    optimise: str
    board: str | None
    options: dict[str, Any]
    json: str | None
    out: Path | None
    plot: bool
    force: bool
    worst_of: int | None = None

    def files(self) -> list[Path]:
        """What the command is going to write."""
        listed = [] if self.json in (None, "-") else [Path(str(self.json))]
        if self.out is not None:
            listed += [self.out / name for name in FILES + (PLOTS if self.plot else ())]
        return listed


def register(app: typer.Typer) -> None:
    app.command(name="latency", epilog=EXAMPLE)(latency)


def latency(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="as for adamb run")],
    target: Annotated[str, typer.Option("--target", help=", ".join(TARGETS))] = "cortex-m0",
    budget: Annotated[
        str | None, typer.Option("--budget", help="cap in bytes: 4KiB, 512B, 4096; 4KiB unless given")
    ] = None,
    board: Annotated[
        str | None, typer.Option("--board", help="map exactly this board's RAM and flash, and give its time")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K to record and replay")] = 2000,
    mode: Annotated[str, typer.Option("--mode", help="tracking or paper")] = "tracking",
    share: Annotated[str | None, typer.Option("--share", help="off, on or auto")] = None,
    when_full: Annotated[str, typer.Option("--when-full", help="reclaim or freeze")] = "reclaim",
    optimise: Annotated[
        str, typer.Option("--optimise", help="compile the C core for size or speed")
    ] = "size",
    seed: Annotated[int, typer.Option("--seed", help="seed of the recorded run")] = 0,
    worst_of: Annotated[
        int | None,
        typer.Option("--worst-of", help="also play so many steps on the host and replay the 1,000 heaviest"),
    ] = None,
    json: Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="folder for latency.json, .csv and plots")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="PNG and SVG into the folder")] = False,
    force: Annotated[bool, typer.Option("--force", help="replace files of an earlier call")] = False,
) -> None:
    """Measure act and observe apart on the host, an emulated Cortex-M or MicroPython."""
    from adamb.budgets.sizes import parse_size
    from adamb.tools.run_command import bounded

    if target not in TARGETS:
        raise InputError("target", target, "one of " + ", ".join(TARGETS))
    if optimise not in ("size", "speed"):
        raise InputError("optimise", optimise, "size or speed")
    if plot and out is None:
        out = Path("runs") / f"latency-{Path(problem).name.replace(':', '-')}-{target}"
    request = Request(
        problem=problem,
        target=target,
        episodes=bounded("episodes", episodes, MIN_EPISODES, 1_000_000),
        budget_bytes=parse_size(budget or "4KiB"),
        seed=bounded("seed", seed, 0, 2**32 - 1),
        optimise=optimise,
        board=board,
        options={"mode": mode, "share": share, "when_full": when_full},
        json=json,
        out=out,
        plot=plot,
        force=force,
        worst_of=None if worst_of is None else bounded("worst-of", worst_of, 10_000, 100_000_000),
    )
    if request.worst_of is not None and not target.startswith("cortex"):
        raise InputError("worst-of", worst_of, "counts instructions: choose a cortex target")
    raise typer.Exit(perform(request))


def perform(request: Request) -> int:
    """Record, replay with a meter, print, save; the exit code says whether every bound held."""
    from rich.console import Console

    from adamb.tools import outputs
    from adamb.tools.cli import OK, VIOLATED
    from adamb.tools.device.latency_report import Report, table

    outputs.refuse_to_overwrite(request.files(), force=request.force)
    settings, stream = record_stream(request)
    costs = measure(request, settings, stream)
    report = Report.build(settings, stream, costs, request, find_worst(request))
    summary = outputs.json_bytes(report.to_json())
    Console(stderr=request.json == "-").print(table(report))
    if request.json == "-":
        typer.echo(summary.decode(), nl=False)
    elif request.json is not None:
        outputs.write_atomic(Path(request.json), summary)
    if request.out is not None:
        files = {"latency.csv": report.csv()}
        if request.plot:
            from adamb.tools.device.latency_plot import plot_files

            files |= plot_files(report)
        outputs.save(request.out, {**files, "latency.json": summary}, replace=request.force)
    return VIOLATED if report.violations() else OK


def record_stream(request: Request) -> tuple[Settings, Stream]:
    """Play the problem on the host and write down what the controller saw."""
    from adamb.host_sim.registry import make_problem
    from adamb.tools.device.core import HostCore
    from adamb.tools.device.settings import Settings
    from adamb.tools.device.stream import record

    made = make_problem(
        request.problem,
        [request.seed],
        instance="random",
        drift="none",
        continuing=False,
        episodes=request.episodes,
        horizon=None,
        params={},
    )
    settings = Settings(made.d_s, made.d_a, made.horizon, seed=request.seed & 0xFFFF, **request.options)
    config, words = settings.config(), request.budget_bytes // 2
    if words < settings.required_words():
        raise InputError(
            "budget", request.budget_bytes, f"this configuration needs {2 * settings.required_words()} bytes"
        )
    core = HostCore(config, words)
    return settings, record(request.problem, made, core, config, words, request.episodes)


def find_worst(request: Request) -> Worst | None:
    """The dearest lesson of many lives, found on the host and priced on the target."""
    if request.worst_of is None:
        return None
    from adamb.tools.device.heaviest import price, watch

    settings, agent = watch(
        request.problem,
        steps=request.worst_of,
        first_seed=request.seed,
        budget_bytes=request.budget_bytes,
        options=request.options,
    )
    return price(settings, agent, request.target, request.optimise)


def measure(request: Request, settings: Settings, stream: Stream) -> Costs:
    """Replay on the target with a meter on every call."""
    from adamb.tools.device import measure as meters

    if request.target == "host":
        return meters.measure_host(stream)
    if request.target == "micropython":
        from adamb.tools.device.measure_micropython import measure_micropython

        return measure_micropython(stream, settings.fields())
    memory = None
    if request.board is not None:
        from adamb.budgets.boards import load_board
        from adamb.tools.device.compile import MemoryMap

        board = load_board(request.board)
        memory = MemoryMap(flash_bytes=board.flash_bytes, ram_bytes=board.ram_bytes)
    return meters.measure_cortex(stream, request.target, optimise=request.optimise, memory=memory)
