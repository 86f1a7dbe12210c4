"""`adamb run PROBLEM`: one agent, one problem, many seeds at once; a table, and files when asked for."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.options import (
    CORE_HELP,
    AgentSettings,
    Battery,
    Json,
    PlayedProblem,
    Seeds,
    Settings,
    agent_settings,
    bounded,
    budget_from,
    default_folder,
    seed_range,
)
from adamb.tools.stopping import INTERRUPTED, OK, USAGE, VIOLATED, stop_on_interrupt

if TYPE_CHECKING:
    from adamb.budgets import battery as batteries
    from adamb.budgets.boards import Board
    from adamb.host_sim.agents import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.recording import Recording
    from adamb.host_sim.runner import Estimate, RunResult

MAX_RETURNS = 100_000_000
PLOTS = ("reward.png", "reward.svg", "bytes.png", "bytes.svg", "partition.png", "partition.svg")
EXAMPLE = "Example: adamb run oil-laplace --budget 4KiB --seeds 10 --plot --out runs/demo"


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
    live_port: int | None
    """Of the page that follows the run; None is no page."""
    explain: bool
    powered: tuple[Board, batteries.Battery | None] | None = None
    """The board whose energy is asked for, and its battery."""
    replace: bool = False

    def check_outputs(self) -> bool:
        """Whether the run is going to write files; an error where it cannot."""
        if self.out is None and self.json is None:
            return False
        from adamb.host_sim.results.run import FILES, LINES, RECORDS
        from adamb.tools.outputs import check_outputs

        written = (*FILES, LINES, *(PLOTS if self.plot else ()), *(RECORDS if self.record else ()))
        self.replace = self.out is not None and _stopped_before(self.out)
        return bool(check_outputs(self.json, self.out, written, replace=self.replace))


def _stopped_before(folder: Path) -> bool:
    """Whether the folder holds what this very command left when it was stopped; it may then replace that."""
    from adamb.host_sim.provenance import typed_command
    from adamb.host_sim.results.run import RunFolder

    try:
        details = RunFolder.read(folder).details
    except (OSError, InputError):
        return False
    return details.interrupted and details.command == typed_command()


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
    app.command(name="run", epilog=EXAMPLE, rich_help_panel="Experiments")(run)


def run(
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="oil-laplace, ambulance-2, gym:<id>, file.py:Class, …")
    ],
    agent: Annotated[str, typer.Option("--agent", help="adamb, a baseline, file.py:Class")] = "adamb",
    core: Annotated[str | None, typer.Option("--core", help=CORE_HELP)] = None,
    agent_set: AgentSettings = None,
    budget: Annotated[str | None, typer.Option("--budget", help="cap in bytes: 4KiB, 512B, 4096")] = None,
    board: Annotated[
        str | None, typer.Option("--board", help="take the cap from a board; on a target also energy")
    ] = None,
    battery: Battery = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 2000,
    seeds: Seeds = "5",
    parameter: Settings = None,
    json: Json = None,
    out: Annotated[Path | None, typer.Option("--out", help="folder for run.json, curves.csv and plots")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="PNG and SVG into the folder")] = False,
    record: Annotated[bool, typer.Option("--record", help="snapshots of the first seed for adamb report")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="what each line means; of dram-* row hits, conflicts, latency histogram")
    ] = False,
    live: Annotated[
        int | None,
        typer.Option("--live", metavar="PORT", help="follow the run in a browser on this computer; 0 is any port"),
    ] = None,
) -> None:
    """Run an agent on a problem and measure reward, regret, bytes and time."""
    options = agent_settings(agent_set) | ({} if core is None else {"core": core})
    if (plot or record) and out is None:
        out = default_folder(problem, agent)
    played = PlayedProblem.of(problem, seed_range(seeds), bounded("episodes", episodes, 1, 10_000_000), parameter)
    cap = budget_from(budget, board)
    powered = _powered(battery, board, core)
    request = RunRequest(played, agent, cap, options, json, out, plot, record, live, explain, powered)
    code = perform(request)
    if "trace" in (played.parameters or {}) and agent == "adamb" and code == OK:
        from adamb.tools.terminal.ranking_table import show_rules

        show_rules(played, cap, options, stderr=json == "-")
    raise typer.Exit(code)


def perform(request: RunRequest) -> int:
    """Check, run, print, save; the exit code."""
    from rich.console import Console

    from adamb.tools.terminal import tell
    from adamb.tools.terminal.run_view import done_of, statistics_table, table, words_table

    writes = request.check_outputs()
    outcome = _simulate(request)
    result = outcome.result
    console = Console(stderr=request.json == "-")
    console.print(table(result, explained=request.explain))
    if request.explain:
        console.print(words_table(result))
        if result.statistics:
            console.print("", statistics_table(result.statistics), sep="\n")
    if notes := outcome.problem.report().notes:
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
        from adamb.host_sim.files import PART

        whole = (path for path in request.out.iterdir() if path.is_file() and path.suffix != PART)
        names = ", ".join(sorted(path.name for path in whole))
        print(f"saved in {request.out}: {names}", file=sys.stderr)
    return OK if result.within_budget() else VIOLATED


def _simulate(request: RunRequest) -> Outcome:
    from adamb.host_sim.agents import make_agent
    from adamb.host_sim.runner import Paced, RunResult, simulate
    from adamb.tools.terminal import notes, progress
    from adamb.tools.terminal.run_view import follower, run_title

    episodes, seeds = request.played.episodes, len(request.played.seeds)
    if episodes * seeds > MAX_RETURNS:
        raise InputError("episodes", episodes, f"with {seeds} seeds at most {MAX_RETURNS // seeds} fit into memory")
    problem = request.played.make()
    with progress("preparing the agent and the exact optimum") as display:
        agent = make_agent(request.agent, problem, budget_bytes=request.budget_bytes, **request.options)
        problem.optimal()
        recorder = _recorder(problem, agent, episodes) if request.record else None
        title = run_title(problem.name, request.agent, agent.core, request.budget_bytes)
        told = notes() if hasattr(agent, "devices") else nullcontext()  # nothing is told of a run on this computer
        with _live_page(request.live_port, title) as page, stop_on_interrupt() as stop, told:
            recorders = [] if recorder is None else [recorder]
            observers = [*page, *recorders, Paced(follower(display, title, stop))]
            failure = None
            try:
                result = simulate(problem, agent, episodes=episodes, observers=observers)
            except AdambError as error:
                if not isinstance(error.partial, RunResult):
                    raise
                failure, result = error, error.partial
    result.statistics = problem.report().statistics or None
    if request.powered is not None and result.target is not None:
        from adamb.tools.device.loop.energy import energy, why_no_energy

        result.target["energy"] = energy(result.target, *request.powered)
        if result.target["energy"] is None:
            result.target["no_energy"] = why_no_energy(result.target, request.powered[0])
    recording = None if recorder is None else recorder.finish(result.episodes)
    whole = failure is None and not result.interrupted
    found = _references(request) if whole and request.out else ({}, 0)
    return Outcome(result, problem, agent, recording, found, failure)


def _powered(battery: str | None, board: str | None, core: str | None) -> tuple[Board, batteries.Battery | None] | None:
    if board is None and battery is None:
        return None
    from adamb.budgets.boards import load_board
    from adamb.tools.device.loop.energy import asked_battery

    asked = asked_battery(battery, board, core)
    return None if board is None else (load_board(board), asked)


def _recorder(problem: Problem, agent: Agent, episodes: int) -> Any:
    from adamb.host_sim.recording import Recorder

    return Recorder(problem, agent, episodes)


def _live_page(port: int | None, title: str) -> Any:
    """Observers for a page that follows the run; without a port, none."""
    if port is None:
        return nullcontext([])
    from adamb.tools.live.run import live_run

    return live_run(port, title)


REFERENCES: dict[str, dict[str, Any]] = {"random": {}, "static": {"trials": 16}}
"""Agents and their options; few trials find the best action well enough for a line in a picture."""
REFERENCE_EPISODES = 200
"""They earn the same in every episode, so a part tells it; where the world changes, all are played."""


def _references(request: RunRequest) -> tuple[dict[str, Estimate], int]:
    """Mean reward of an episode by agent, and the episodes played; one that cannot play here is left out."""
    from adamb.host_sim.runner import simulate
    from adamb.tools.terminal import progress

    played = request.played
    changes = played.drift != "none" or "trace" in (played.parameters or {})
    episodes = played.episodes if changes else min(played.episodes, REFERENCE_EPISODES)
    found: dict[str, Estimate] = {}
    with progress("playing random and static actions"):
        for agent, options in REFERENCES.items():
            try:
                result = simulate(played.make(), agent, episodes=episodes, optimum=False, **options)
            except AdambError:
                continue
            except KeyboardInterrupt:  # the run itself is done, and must be kept
                return {}, 0
            found[agent] = result.reward()
    return found, episodes


def save(request: RunRequest, outcome: Outcome) -> bool:
    """Write what was asked for; False, after a line that says why, where that is not possible."""
    if request.json is None and request.out is None:
        return True
    from adamb.tools import outputs

    try:
        if request.json is not None:
            outputs.write_json(request.json, outcome.result.to_json())
        if request.out is not None:
            outputs.save(request.out, _files(request, outcome), replace=request.replace)
    except OSError as error:
        reason = outputs.describe_os_error(error)
        print(f"adamb: error: the results above could not be saved: {reason}", file=sys.stderr)
        return False
    except AdambError as error:
        print(f"adamb: error: {error}", file=sys.stderr)
        return False
    return True


def _files(request: RunRequest, outcome: Outcome) -> dict[str, bytes]:
    """run.json comes last: where it is, the folder is complete."""
    from adamb.host_sim.files import json_bytes
    from adamb.host_sim.results.run import LINES, RunLines, run_files

    result, met = outcome.result, (outcome.result, outcome.problem, outcome.agent)
    lines = json_bytes(RunLines.of(result, *outcome.references).to_json(), indent=None)
    asked: Any = {"asked_episodes": request.played.episodes, "recording": outcome.recording}
    files = {LINES: lines, **run_files(*met, **asked)}
    if not request.plot:
        return files
    from adamb.tools.figures.run import agent_files, plot_files
    from adamb.tools.terminal.run_view import run_title

    title = run_title(result.problem, result.agent, result.core, result.budget_bytes)
    return {**plot_files(result), **agent_files(outcome.agent, result, outcome.problem, title), **files}
