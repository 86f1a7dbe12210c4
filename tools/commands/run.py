"""`adamb run PROBLEM`: one agent, one problem, many seeds at once; a table, and files when asked for."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from adamb.budgets.errors import AdambError, InputError
from adamb.budgets.sizes import format_bytes
from adamb.host_sim.files import PART
from adamb.tools import outputs
from adamb.tools.exit_codes import INTERRUPTED, OK, USAGE, VIOLATED
from adamb.tools.options import (
    BATTERY,
    CORE_HELP,
    LIVE_PORT,
    OUTPUT,
    PERIOD,
    TRACE_HELP,
    LivePage,
    PlayedProblem,
    Port,
    Record,
    References,
    ResultJson,
    RunFolder,
    Statistics,
    bounded,
    budget_from,
    default_folder,
    given,
    number_or_word,
    of_controller,
    pairs,
    seed_range,
    with_traces,
)
from adamb.tools.options import in_panel as _option

if TYPE_CHECKING:
    from adamb.budgets.battery import Battery
    from adamb.budgets.boards import Board
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.blocks.recording import Recording
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import Estimate, RunResult

MAX_RETURNS = 100_000_000
EXAMPLE = "Example: adamb run oil-laplace --budget 4KiB --seeds 10 --plot --out runs/demo"

LEARNER, TASK = "The agent", "The problem"


@dataclass
class RunRequest:
    """A command line that has been understood; building it finds every mistake that needs no simulation."""

    played: PlayedProblem
    agent: str
    budget_bytes: int | None
    options: dict[str, Any]
    json: str | None
    out: Path | None
    plot: bool
    record: bool
    force: bool
    quiet: bool
    references: bool
    live_port: int | None
    """Of the page that follows the run; None is no page."""
    statistics: bool
    powered: tuple[Board, Battery | None] | None = None
    """The board whose energy is asked for, and its battery."""

    def check_outputs(self) -> bool:
        """Whether the run is going to write files; an error where it cannot."""
        if self.out is None and self.json is None:
            return False
        from adamb.tools.measure.run_folder import names, stopped_before

        written = names(plot=self.plot, record=self.record)
        if self.out is not None and stopped_before(self.out):
            self.force = True
        return bool(outputs.check_outputs(self.json, self.out, written, force=self.force))


@dataclass
class Outcome:
    """What a simulation leaves: the numbers, and the two that met, for pictures of what was learnt."""

    result: RunResult
    problem: Problem
    agent: Agent
    recording: Recording | None
    references: tuple[dict[str, Estimate], int]
    """What agents earn that do not learn, and in how many episodes."""
    failure: AdambError | None = None
    """Why the run ended early; the result covers the episodes before."""


def register(app: typer.Typer) -> None:
    app.command(name="run", epilog=EXAMPLE)(run)


def run(
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="oil-laplace, ambulance-2, gym:<id>, file.py:Class, …")
    ],
    agent: Annotated[str, _option("--agent", help="adamb, a rival, file.py:Class", panel=LEARNER)] = "adamb",
    core: Annotated[str | None, _option("--core", help=CORE_HELP, panel=LEARNER)] = None,
    keep: Annotated[
        bool, _option("--keep", help="leave on the board what --core board:PORT copies to it", panel=LEARNER)
    ] = False,
    mode: Annotated[str | None, of_controller("mode", LEARNER)] = None,
    share: Annotated[str | None, of_controller("share", LEARNER)] = None,
    budget: Annotated[
        str | None, _option("--budget", help="cap in bytes: 4KiB, 512B, 4096", panel=LEARNER)
    ] = None,
    board: Annotated[
        str | None,
        _option("--board", help="take the cap from a board; on a target also energy", panel=LEARNER),
    ] = None,
    battery: Annotated[str | None, _option("--battery", help=BATTERY, panel=LEARNER)] = None,
    period: Annotated[str | None, _option("--period", help=PERIOD, panel=LEARNER)] = None,
    when_full: Annotated[str | None, of_controller("when_full", LEARNER)] = None,
    bonus: Annotated[
        str | None, of_controller("bonus", LEARNER, "; reference, double: or theory, of the proofs")
    ] = None,
    gamma: Annotated[str | None, of_controller("gamma", LEARNER)] = None,
    phi: Annotated[str | None, of_controller("phi", LEARNER)] = None,
    split: Annotated[str | None, of_controller("split", LEARNER)] = None,
    planning: Annotated[
        str | None, _option("--planning", help="one-step or full (reference, double)", panel=LEARNER)
    ] = None,
    action: Annotated[str | None, of_controller("action", LEARNER)] = None,
    detect: Annotated[str | None, of_controller("detect", LEARNER)] = None,
    agent_set: Annotated[
        list[str] | None, _option("--agent-set", help="another option of the agent, k=v", panel=LEARNER)
    ] = None,
    episodes: Annotated[int, _option("--episodes", help="episodes K", panel=TASK)] = 2000,
    horizon: Annotated[int | None, _option("--horizon", help="steps H of an episode", panel=TASK)] = None,
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
    trace: Annotated[list[str] | None, _option("--trace", help=TRACE_HELP, panel=TASK)] = None,
    json: ResultJson = None,
    out: RunFolder = None,
    plot: Annotated[bool, _option("--plot", help="PNG and SVG into the folder", panel=OUTPUT)] = False,
    record: Record = False,
    statistics: Statistics = False,
    force: Annotated[bool, _option("--force", help="replace files of an earlier run", panel=OUTPUT)] = False,
    references: References = True,
    live_page: LivePage = False,
    port: Port = LIVE_PORT,
    quiet: Annotated[bool, _option("--quiet", help="no progress display", panel=OUTPUT)] = False,
) -> None:
    """Run an agent on a problem and measure reward, regret, bytes and time."""
    options = given(
        core=core, keep=keep or None, mode=mode, share=share, when_full=when_full,
        bonus=number_or_word(bonus), gamma=number_or_word(gamma), phi=number_or_word(phi), split=split,
        planning=planning, action=action, detect=detect,
    )  # fmt: skip
    more = {name.replace("-", "_"): number_or_word(v) for name, v in pairs("agent-set", agent_set).items()}
    if (plot or record) and out is None:
        out = default_folder(problem, agent)
    played = PlayedProblem(
        problem,
        seed_range(seeds, seed_base),
        bounded("episodes", episodes, 1, 10_000_000),
        instance,
        drift,
        continuing,
        None if horizon is None else bounded("horizon", horizon, 1, 1000),
        with_traces(problem, pairs("set", parameter), trace),
    )
    cap = budget_from(budget, board)
    page = port if live_page else None
    powered = _powered(battery, period, board, core)
    output = (json, out, plot, record, force, quiet, references, page, statistics, powered)
    request = RunRequest(played, agent, cap, {**options, **more}, *output)
    code = perform(request)
    if trace and agent == "adamb" and code == OK:
        from adamb.tools.terminal.standings_table import show_rules

        show_rules(played, cap, request.options, quiet=quiet, stderr=json == "-")
    raise typer.Exit(code)


def perform(request: RunRequest) -> int:
    """Check, run, print, save; the exit code."""
    from adamb.tools.terminal.notes import tell
    from adamb.tools.terminal.run_view import done_of, table
    from adamb.tools.terminal.statistics_table import statistics_table

    writes = request.check_outputs()
    errors = Console(stderr=True)
    outcome = _simulate(request, errors)
    result = outcome.result
    (errors if request.json == "-" else Console()).print(table(result))
    if result.statistics is not None:
        (errors if request.json == "-" else Console()).print(statistics_table(result.statistics))
    if notes := outcome.problem.notes():
        tell(notes)
    saved = save(request, outcome)
    if not result.within_budget():
        used, cap = int(result.bytes_peak.max()), result.budget_bytes or 0
        message = f"budget violated: {format_bytes(used)} ({used} bytes) used, the cap is {cap} bytes"
        print(f"adamb: {message}", file=sys.stderr)
    if outcome.failure is not None:
        kept = "saved" if writes and saved else "above"
        print(f"adamb: error: {outcome.failure}; what was done before is {kept}", file=sys.stderr)
        return USAGE
    if result.interrupted:
        done = done_of(result, request.played)
        kept = "; what was done is saved" if writes and saved else ""
        print(f"adamb: stopped after {done}{kept}", file=sys.stderr)
        return INTERRUPTED
    if not saved:
        return USAGE
    if request.out is not None:
        whole = (path for path in request.out.iterdir() if path.is_file() and path.suffix != PART)
        names = ", ".join(sorted(path.name for path in whole))
        print(f"saved in {request.out}: {names}", file=sys.stderr)
    return OK if result.within_budget() else VIOLATED


def _simulate(request: RunRequest, errors: Console) -> Outcome:
    from adamb.host_sim.agents import make_agent
    from adamb.host_sim.runner import RunResult, simulate
    from adamb.tools.stopping import stop_on_interrupt
    from adamb.tools.terminal.run_view import run_title, told, watch

    episodes, seeds = request.played.episodes, len(request.played.seeds)
    if episodes * seeds > MAX_RETURNS:
        raise InputError(
            "episodes", episodes, f"with {seeds} seeds at most {MAX_RETURNS // seeds} fit into memory"
        )
    problem = request.played.make()
    if request.statistics and not problem.statistics():
        raise InputError("statistics", problem.name, "counts nothing; dram-1x1, dram-2x1 and dram-3x2 do")
    waiting = nullcontext() if request.quiet else errors.status("preparing the agent and the exact optimum")
    with waiting:
        agent = make_agent(request.agent, problem, budget_bytes=request.budget_bytes, **request.options)
        problem.optimal()
        recorder = _recorder(problem, agent, episodes) if request.record else None
    title = run_title(problem.name, request.agent, agent.core, request.budget_bytes)
    with (
        _live_page(request.live_port, title) as follow,
        stop_on_interrupt() as stop,
        told(agent, request.quiet),
        watch(errors, title, stop, quiet=request.quiet) as watcher,
    ):
        progress = follow(watcher if recorder is None else recorder.follow(watcher))
        failure = None
        try:
            result = simulate(problem, agent, episodes=episodes, progress=progress)
        except AdambError as error:
            if not isinstance(error.partial, RunResult):
                raise
            failure, result = error, error.partial
    result.statistics = problem.statistics() if request.statistics else None
    if request.powered is not None and result.target is not None:
        from adamb.tools.device.loop.energy import energy, why_none

        result.target["energy"] = energy(result.target, *request.powered)
        if result.target["energy"] is None:
            result.target["no_energy"] = why_none(result.target, request.powered[0])
    recording = None if recorder is None else recorder.finish(result.episodes)
    whole = failure is None and not result.interrupted
    found = _references(request, errors) if whole and request.references and request.out else ({}, 0)
    return Outcome(result, problem, agent, recording, found, failure)


def _powered(
    battery: str | None, period: str | None, board: str | None, core: str | None
) -> tuple[Board, Battery | None] | None:
    if board is None and battery is None and period is None:
        return None
    from adamb.budgets.boards import load_board
    from adamb.tools.device.loop.energy import asked_battery

    asked = asked_battery(battery, period, board, core)
    return None if board is None else (load_board(board), asked)


def _recorder(problem: Problem, agent: Agent, episodes: int) -> Any:
    from adamb.host_sim.blocks.recording import Recorder

    return Recorder(problem, agent, episodes)


def _live_page(port: int | None, title: str) -> Any:
    """What makes a progress hook one that a page follows; without a port, nothing."""
    if port is None:
        return nullcontext(lambda hook: hook)
    from adamb.tools.live.run import live_run

    return live_run(port, title)


def _references(request: RunRequest, errors: Console) -> tuple[dict[str, Estimate], int]:
    from adamb.tools.measure.references import play_references

    with nullcontext() if request.quiet else errors.status("playing random and static actions"):
        return play_references(request.played)


def save(request: RunRequest, outcome: Outcome) -> bool:
    """Write what was asked for; False, after a line that says why, where that is not possible."""
    try:
        if request.json is not None:
            outputs.write_json(request.json, outcome.result.to_json())
        if request.out is not None:
            outputs.save(request.out, _files(request, outcome), replace=request.force)
    except OSError as error:
        reason = outputs.describe_os_error(error)
        print(f"adamb: error: the results above could not be saved: {reason}", file=sys.stderr)
        return False
    except AdambError as error:
        print(f"adamb: error: {error}", file=sys.stderr)
        return False
    return True


def _files(request: RunRequest, outcome: Outcome) -> dict[str, bytes]:
    from adamb.tools.measure.run_folder import folder_files, pictures

    met = (outcome.result, outcome.problem, outcome.agent)
    asked: Any = {"asked_episodes": request.played.episodes, "recording": outcome.recording}
    files = folder_files(*met, outcome.references, **asked)
    return {**pictures(*met), **files} if request.plot else files
