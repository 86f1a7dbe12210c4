"""`adamb run PROBLEM`: one agent, one problem, many seeds at once; a table, and files when asked for."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.errors import AdambError, InputError
from adamb.budgets.sizes import format_bytes, parse_size
from adamb.tools import trace_option

if TYPE_CHECKING:
    from adamb.host_sim.agents import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.recording import Recording
    from adamb.host_sim.runner import RunResult

MAX_SEEDS = 10_000
MAX_RETURNS = 100_000_000
FILES = ("run.json", "curves.csv", "details.json")
RECORDS = ("recording.npz", "block.bin")
PLOTS = ("reward.png", "reward.svg", "bytes.png", "bytes.svg", "partition.png", "partition.svg")
EXAMPLE = "Example: adamb run oil-laplace --budget 4KiB --seeds 10 --plot --out runs/demo"

LEARNER, TASK, OUTPUT = "The agent", "The problem", "Output"


def _option(*names: str, help: str, panel: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=True)


@dataclass
class Request:
    """A command line that has been understood; building it finds every mistake that needs no simulation."""

    problem: str
    agent: str
    episodes: int
    seeds: tuple[int, ...]
    horizon: int | None
    instance: str
    drift: str
    continuing: bool
    parameters: dict[str, str]
    budget_bytes: int | None
    options: dict[str, Any]
    json: str | None
    out: Path | None
    plot: bool
    record: bool
    force: bool
    quiet: bool

    def files(self) -> list[Path]:
        """What the run is going to write."""
        listed = [] if self.json in (None, "-") else [Path(str(self.json))]
        if self.out is not None:
            names = FILES + (PLOTS if self.plot else ()) + (RECORDS if self.record else ())
            listed += [self.out / name for name in names]
        return listed


@dataclass
class Outcome:
    """What a simulation leaves: the numbers, and the two that met, for pictures of what was learnt."""

    result: RunResult
    problem: Problem
    agent: Agent
    recording: Recording | None
    failure: AdambError | None = None
    """Why the run ended early; the result covers the episodes before."""


def register(app: typer.Typer) -> None:
    app.command(name="run", epilog=EXAMPLE)(run)


def run(
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="oil-laplace, ambulance-2, gym:<id>, file.py:Class, …")
    ],
    agent: Annotated[str, _option("--agent", help="adamb, a rival or a baseline", panel=LEARNER)] = "adamb",
    core: Annotated[
        str | None, _option("--core", help="adamb runs on: c, python or reference", panel=LEARNER)
    ] = None,
    mode: Annotated[str | None, _option("--mode", help="tracking or paper", panel=LEARNER)] = None,
    share: Annotated[
        str | None, _option("--share", help="one tree for all steps: off, on or auto", panel=LEARNER)
    ] = None,
    budget: Annotated[
        str | None, _option("--budget", help="cap in bytes: 4KiB, 512B, 4096", panel=LEARNER)
    ] = None,
    board: Annotated[
        str | None, _option("--board", help="take the cap from a board instead", panel=LEARNER)
    ] = None,
    when_full: Annotated[
        str | None, _option("--when-full", help="reclaim or freeze", panel=LEARNER)
    ] = None,
    bonus: Annotated[str | None, _option("--bonus", help="auto, or c of c/√n", panel=LEARNER)] = None,
    gamma: Annotated[
        float | None, _option("--gamma", help="exponent of the split threshold", panel=LEARNER)
    ] = None,
    phi: Annotated[
        float | None, _option("--phi", help="factor of the split threshold", panel=LEARNER)
    ] = None,
    split: Annotated[
        str | None, _option("--split", help="samples that count: own or inherited", panel=LEARNER)
    ] = None,
    planning: Annotated[
        str | None, _option("--planning", help="one-step or full (reference only)", panel=LEARNER)
    ] = None,
    action: Annotated[
        str | None, _option("--action", help="point played in a ball: centre or random", panel=LEARNER)
    ] = None,
    agent_set: Annotated[
        list[str] | None, _option("--agent-set", help="another option of the agent, k=v", panel=LEARNER)
    ] = None,
    episodes: Annotated[int, _option("--episodes", help="episodes K", panel=TASK)] = 2000,
    horizon: Annotated[
        int | None, _option("--horizon", help="steps H of an episode", panel=TASK)
    ] = None,
    seeds: Annotated[int, _option("--seeds", help="how many seeds run together", panel=TASK)] = 5,
    seed_base: Annotated[int, _option("--seed-base", help="the first seed", panel=TASK)] = 0,
    instance: Annotated[str, _option("--instance", help="random or paper", panel=TASK)] = "random",
    drift: Annotated[str, _option("--drift", help="none, half or walk", panel=TASK)] = "none",
    continuing: Annotated[
        bool, _option("--continuing", help="an episode starts where the last ended", panel=TASK)
    ] = False,
    parameter: Annotated[
        list[str] | None, _option("--set", help="a parameter of the problem, k=v", panel=TASK)
    ] = None,
    trace: Annotated[list[str] | None, _option("--trace", help=trace_option.HELP, panel=TASK)] = None,
    json: Annotated[
        str | None, _option("--json", help="write the result as JSON to a file, - is stdout", panel=OUTPUT)
    ] = None,
    out: Annotated[
        Path | None, _option("--out", help="folder for run.json, curves.csv and plots", panel=OUTPUT)
    ] = None,
    plot: Annotated[bool, _option("--plot", help="PNG and SVG into the folder", panel=OUTPUT)] = False,
    record: Annotated[
        bool, _option("--record", help="snapshots of the first seed for adamb report", panel=OUTPUT)
    ] = False,
    force: Annotated[bool, _option("--force", help="replace files of an earlier run", panel=OUTPUT)] = False,
    quiet: Annotated[bool, _option("--quiet", help="no progress display", panel=OUTPUT)] = False,
) -> None:
    """Let an agent play a problem and measure reward, regret, bytes and time."""
    given = {
        "core": core, "mode": mode, "share": share, "when_full": when_full, "bonus": _number_or_word(bonus),
        "gamma": gamma, "phi": phi, "split": split, "planning": planning, "action": action,
        **{name.replace("-", "_"): _number_or_word(v) for name, v in pairs("agent-set", agent_set).items()},
    }  # fmt: skip
    if (plot or record) and out is None:
        out = Path("runs") / f"{Path(problem).name.replace(':', '-')}-{agent.replace(':', '-')}"
    request = Request(
        problem=problem,
        agent=agent,
        episodes=bounded("episodes", episodes, 1, 10_000_000),
        seeds=seed_range(seeds, seed_base),
        horizon=None if horizon is None else bounded("horizon", horizon, 1, 1000),
        instance=instance,
        drift=drift,
        continuing=continuing,
        parameters=trace_option.with_traces(problem, pairs("set", parameter), trace),
        budget_bytes=budget_from(budget, board),
        options={name: value for name, value in given.items() if value is not None},
        json=json,
        out=out,
        plot=plot,
        record=record,
        force=force,
        quiet=quiet,
    )
    from adamb.tools.cli import OK

    code = perform(request)
    if trace and agent == "adamb" and code == OK:
        _show_rules(request)
    raise typer.Exit(code)


def _show_rules(request: Request) -> None:
    """On a trace nothing says what could be earned, so the rules of the problem play it too."""
    from rich.console import Console

    from adamb.tools.compare_command import Task, beside

    task = Task(
        request.problem,
        request.seeds,
        request.episodes,
        request.instance,
        request.drift,
        request.continuing,
        request.parameters,
        request.horizon,
    )
    console = Console(stderr=request.json == "-")
    console.print(beside(task, request.budget_bytes, request.options, quiet=request.quiet))


def bounded(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InputError(name, value, f"must be from {low} to {high}")
    return value


def seed_range(count: int, base: int) -> tuple[int, ...]:
    bounded("seeds", count, 1, MAX_SEEDS)
    bounded("seed-base", base, 0, 2**63 - MAX_SEEDS)
    return tuple(range(base, base + count))


def pairs(name: str, given: list[str] | None) -> dict[str, str]:
    """`k=v` options as a dictionary."""
    found: dict[str, str] = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(name, text, "write name=value")
        if key.strip() in found:
            raise InputError(name, text, f"{key.strip()} is set twice")
        found[key.strip()] = value.strip()
    return found


def _number_or_word(text: str | None) -> float | int | str | None:
    """Options reach the agent typed; what is not a number is a word for the agent to judge."""
    for kind in (int, float):
        try:
            return kind(text) if text is not None else None
        except ValueError:
            continue
    return text


def budget_from(budget: str | None, board: str | None) -> int | None:
    """The cap in bytes from one of the two options."""
    if board is None:
        return None if budget is None else parse_size(budget)
    if budget is not None:
        raise InputError("board", board, f"the cap is given by --budget {budget} already")
    from adamb.budgets.boards import load_board

    return load_board(board).available_bytes()


def perform(request: Request) -> int:
    """Check, run, print, save; the exit code."""
    from rich.console import Console

    from adamb.tools import outputs, summary
    from adamb.tools.cli import INTERRUPTED, OK, USAGE, VIOLATED

    outputs.refuse_to_overwrite(request.files(), force=request.force)
    errors = Console(stderr=True)
    outcome = _simulate(request, errors)
    result = outcome.result
    console = errors if request.json == "-" else Console()
    console.print(summary.table(result))
    saved = save(request, outcome)
    if not result.within_budget():
        used, cap = int(result.bytes_peak.max()), result.budget_bytes or 0
        message = f"budget violated: {format_bytes(used)} ({used} bytes) used, the cap is {cap} bytes"
        print(f"adamb: {message}", file=sys.stderr)
    if outcome.failure is not None:
        kept = "saved" if request.files() and saved else "above"
        print(f"adamb: error: {outcome.failure}; what was done before is {kept}", file=sys.stderr)
        return USAGE
    if result.interrupted:
        done = f"after {result.episodes} of {request.episodes} episodes"
        kept = "; what was done is saved" if request.files() and saved else ""
        print(f"adamb: stopped {done}{kept}", file=sys.stderr)
        return INTERRUPTED
    if not saved:
        return USAGE
    if request.out is not None:
        names = ", ".join(sorted(path.name for path in request.out.iterdir() if path.is_file()))
        print(f"saved in {request.out}: {names}", file=sys.stderr)
    return OK if result.within_budget() else VIOLATED


def _simulate(request: Request, errors: Any) -> Outcome:
    from adamb.host_sim.agents import default_core, make_agent
    from adamb.host_sim.recording import Recorder
    from adamb.host_sim.registry import make_problem
    from adamb.host_sim.runner import RunResult, simulate
    from adamb.tools import live, summary

    if request.episodes * len(request.seeds) > MAX_RETURNS:
        limit = f"with {len(request.seeds)} seeds at most {MAX_RETURNS // len(request.seeds)} fit into memory"
        raise InputError("episodes", request.episodes, limit)
    problem = make_problem(
        request.problem,
        request.seeds,
        instance=request.instance,
        drift=request.drift,
        continuing=request.continuing,
        episodes=request.episodes,
        horizon=request.horizon,
        params=request.parameters,
    )
    if request.agent == "adamb" and "core" not in request.options and default_core() != "c":
        print("adamb: note: no C core is built here; the float64 reference runs instead", file=sys.stderr)
    waiting = nullcontext() if request.quiet else errors.status("preparing the agent and the exact optimum")
    with waiting:
        agent = make_agent(request.agent, problem, budget_bytes=request.budget_bytes, **request.options)
        problem.optimal()
        recorder = Recorder(problem, agent, request.episodes) if request.record else None
    title = summary.run_title(request.problem, request.agent, agent.core, request.budget_bytes)
    with live.stop_on_interrupt() as stop, live.watch(errors, title, stop, quiet=request.quiet) as watcher:
        progress = watcher if recorder is None else recorder.follow(watcher)
        failure = None
        try:
            result = simulate(problem, agent, episodes=request.episodes, progress=progress)
        except AdambError as error:
            if not isinstance(error.partial, RunResult):
                raise
            failure, result = error, error.partial
    recording = None if recorder is None else recorder.finish(result.episodes)
    return Outcome(result, problem, agent, recording, failure)


def save(request: Request, outcome: Outcome) -> bool:
    """Write what was asked for; False, after a line that says why, where that is not possible."""
    from adamb.tools import outputs
    from adamb.tools.cli import describe_os_error

    summary_json = outputs.json_bytes(outcome.result.to_json())
    try:
        if request.json == "-":
            sys.stdout.write(summary_json.decode())
        elif request.json is not None:
            outputs.write_atomic(Path(request.json), summary_json)
        if request.out is not None:
            outputs.save(request.out, _files(request, outcome, summary_json), replace=request.force)
    except OSError as error:
        line = f"adamb: error: the results above could not be saved: {describe_os_error(error)}"
        print(line, file=sys.stderr)
        return False
    except AdambError as error:
        print(f"adamb: error: {error}", file=sys.stderr)
        return False
    return True


def _files(request: Request, outcome: Outcome, summary_json: bytes) -> dict[str, bytes]:
    """run.json comes last: where it is, the folder is complete."""
    from adamb.tools import outputs, summary
    from adamb.tools.run_details import details

    result = outcome.result
    files = {
        "curves.csv": outputs.csv_bytes(summary.CURVES, summary.curve_rows(result)),
        "details.json": outputs.json_bytes(details(result, outcome.problem, request.episodes)),
    }
    if request.plot:
        from adamb.tools.plots import plot_files

        files |= {**plot_files(result), **_partition_files(request, outcome)}
    if outcome.recording is not None:
        files |= {"recording.npz": outcome.recording.to_bytes(), "block.bin": _block(outcome.agent)}
    return {**files, "run.json": summary_json}


def _block(agent: Any) -> bytes:
    """The first learner's memory as a board would dump it: little-endian words."""
    return agent.blocks[0].astype("<u2").tobytes()


def _partition_files(request: Request, outcome: Outcome) -> dict[str, bytes]:
    """Pictures of the first learner's partition, where it has one in a block."""
    from adamb.host_sim.recording import optimum_now
    from adamb.tools import partition_plot, summary

    blocks = getattr(outcome.agent, "blocks", None)
    if blocks is None:
        return {}
    result = outcome.result
    title = summary.run_title(request.problem, request.agent, result.core, result.budget_bytes)
    title += f", seed {result.seeds[0]}"
    return partition_plot.plot_files(blocks[0], title, optimum_now(outcome.problem))
