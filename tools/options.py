"""Options that several commands take: their declaration, and what their texts mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.controller import OPTIONS
from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

MAX_SEEDS = 10_000
MAX_JOBS = 1024
CORE_HELP = "where adamb runs: c, python, reference, double, cortex-m0, cortex-m3, micropython or board:PORT"
TRACE_HELP = "trace file to replay in place of the synthetic workload; once more for a second tenant"

Json = Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")]
BATTERY = "how long this lasts, 1000mAh or 2Ah; with --board and --period"
PERIOD = "how often the controller decides and learns: 20ms, 1s, 5min"
Force = Annotated[bool, typer.Option("--force", help="replace files that are there already")]
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress display")]
Seeds = Annotated[int, typer.Option("--seeds", help="how many seeds run together")]
SeedBase = Annotated[int, typer.Option("--seed-base", help="the first seed")]
Instance = Annotated[str, typer.Option("--instance", help="random or paper")]
Parameters = Annotated[list[str] | None, typer.Option("--set", help="a parameter of the problem, k=v")]
Traces = Annotated[list[str] | None, typer.Option("--trace", help=TRACE_HELP)]
Jobs = Annotated[
    int | None, typer.Option("--jobs", help="processes on this computer; all cores unless given")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="print tables for a document")]


def of_controller(name: str, panel: str | None = None, more: str = "") -> Any:
    """An option of the controller, as the table that all share describes it; `more` is a command's own."""
    row = OPTIONS[name]
    return typer.Option(row.flag, help=row.help + more, rich_help_panel=panel)


Mode = Annotated[str, of_controller("mode")]
Share = Annotated[str | None, of_controller("share")]


def in_panel(*names: str, help: str, panel: str) -> Any:
    """An option under a heading of its own in the help text."""
    return typer.Option(*names, help=help, rich_help_panel=panel)


OUTPUT = "Output"
ResultJson = Annotated[
    str | None, in_panel("--json", help="write the result as JSON to a file, - is stdout", panel=OUTPUT)
]
RunFolder = Annotated[
    Path | None, in_panel("--out", help="folder for run.json, curves.csv and plots", panel=OUTPUT)
]
Record = Annotated[
    bool, in_panel("--record", help="snapshots of the first seed for adamb report", panel=OUTPUT)
]
Statistics = Annotated[
    bool, in_panel("--statistics", help="latency histogram, row hits, bank conflicts", panel=OUTPUT)
]
References = Annotated[
    bool, in_panel("--references/--no-references", help="also play random and static actions", panel=OUTPUT)
]
LivePage = Annotated[
    bool, in_panel("--live-page", help="follow the run in a browser on this computer", panel=OUTPUT)
]
LIVE_PORT = 8321
Port = Annotated[int, in_panel("--port", help="of the live page on 127.0.0.1; 0 is any", panel=OUTPUT)]


def bounded(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InputError(name, value, f"must be from {low} to {high}")
    return value


def seed_range(count: int, base: int) -> tuple[int, ...]:
    bounded("seeds", count, 1, MAX_SEEDS)
    bounded("seed-base", base, 0, 2**63 - MAX_SEEDS)
    return tuple(range(base, base + count))


def seeds_text(seeds: Sequence[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}..{seeds[-1]}"


def check_jobs(jobs: int | None) -> None:
    if jobs is not None:
        bounded("jobs", jobs, 1, MAX_JOBS)


def check_markdown(as_markdown: bool, json: str | None) -> None:
    """Two texts on standard output would be neither."""
    if as_markdown and json == "-":
        raise InputError("json", json, "is standard output, where --markdown prints; give a file")


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


def words(name: str, text: str) -> list[str]:
    """`a, b` as a list; at least one word."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise InputError(name, text, "is empty; give names with commas between them")
    return found


def number_or_word(text: str | None) -> float | int | str | None:
    """Options reach the agent typed; what is not a number is a word for the agent to judge."""
    for kind in (int, float):
        try:
            return kind(text) if text is not None else None
        except ValueError:
            continue
    return text


def given(**options: Any) -> dict[str, Any]:
    """The options that were typed; the others are left to whoever takes them."""
    return {name: value for name, value in options.items() if value is not None}


def budget_from(budget: str | None, board: str | None = None) -> int | None:
    """The cap in bytes from one of the two options."""
    if board is None:
        return None if budget is None else parse_size(budget)
    if budget is not None:
        raise InputError("board", board, f"the cap is given by --budget {budget} already")
    from adamb.budgets.boards import load_board

    return load_board(board).available_bytes()


def default_folder(*parts: str) -> Path:
    """Where a command writes that was asked for files but not told where: runs/PROBLEM-AGENT."""
    return Path("runs") / "-".join(Path(part).name.replace(":", "-") for part in parts)


def with_traces(problem: str, parameters: dict[str, str], traces: list[str] | None) -> dict[str, str]:
    """The parameters with `trace` set; an InputError where the problem takes another number of files."""
    if not traces:
        return parameters
    from adamb.host_sim.registry import problem_class

    cls, _ = problem_class(problem)
    taken = getattr(cls, "trace_files", 0)
    shown = " ".join(traces)
    if not taken:
        raise InputError("trace", shown, f"{problem} replays no trace; dram-* take one, cache-* two")
    if "trace" in parameters:
        raise InputError("trace", shown, f"is given by --set trace={parameters['trace']} already")
    if len(traces) != taken:
        files = "one file" if taken == 1 else f"{taken} files, --trace A --trace B, one a tenant"
        raise InputError("trace", shown, f"{problem} takes {files}")
    if taken > 1 and any("," in path for path in traces):
        raise InputError("trace", shown, "a comma separates the files, so none may have one in its name")
    return {**parameters, "trace": ",".join(traces)}


@dataclass(frozen=True)
class PlayedProblem:
    """The problem that a command line asks for; `make` gives a fresh one with the same seeds each time."""

    problem: str
    seeds: tuple[int, ...]
    episodes: int
    instance: str = "random"
    drift: str = "none"
    continuing: bool = False
    horizon: int | None = None
    parameters: dict[str, Any] | None = None

    def make(self) -> Problem:
        from adamb.host_sim.registry import make_problem

        return make_problem(
            self.problem,
            self.seeds,
            instance=self.instance,
            drift=self.drift,
            continuing=self.continuing,
            episodes=self.episodes,
            horizon=self.horizon,
            params=self.parameters,
        )
