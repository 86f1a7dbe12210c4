"""`adamb sweep FILE.toml`: problems × agents × bonus × budgets × seeds, resumable, here or on a cluster.

`adamb sweep benchmark` is the benchmark: one untuned controller against baselines tuned for every cell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_bytes, format_cap
from adamb.host_sim.provenance import typed_command
from adamb.tools.options import MAX_JOBS, Jobs, Json, bounded, check_jobs
from adamb.tools.outputs import check_outputs, write_atomic, write_json
from adamb.tools.stopping import INTERRUPTED, OK, VIOLATED
from adamb.tools.terminal import counted, progress
from adamb.tools.terminal.frames import plain_table, table_console

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.experiments import Workers
    from adamb.host_sim.experiments.cell import Cell
    from adamb.host_sim.experiments.spec import SweepSpec
    from adamb.host_sim.experiments.sweep import Combination


EXAMPLE = """Example: adamb sweep budgets.toml --out runs/budgets --jobs 2

A file: problems = ["oil-laplace"], agents = ["adamb", "adaql"], bonus = ["auto"], budgets = ["2KiB", "4KiB"],
episodes = 2000, seeds = 20; one key a line. An entry may be a table: { name = "adamb", mode = "paper" }.
Shipped: paper repeats the paper's experiments and tests its claims; equal-bytes sets all agents side by side
at 1, 2, 4 and 8 KiB, headline at 4 KiB; guarantees shows what the bonus of the paper's theory costs. The
benchmark (docs/benchmark.md) has one untuned controller against tuned baselines: after a change of the core,
adamb sweep benchmark --only ours plays our rows again beside the stored baselines."""
SHIPPED = Path(__file__).resolve().parent.parent / "sweeps"
BENCHMARK = "benchmark"
GROWTH = "growth"
"""The folder of the second part of a sweep, inside that of the first."""
PLAIN_WIDTH = 140


def register(app: typer.Typer) -> None:
    app.command(name="sweep", epilog=EXAMPLE, rich_help_panel="Experiments")(sweep)


def sweep(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml",
            help="what to combine, or a shipped sweep: paper, equal-bytes, headline, guarantees, benchmark",
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="folder for cells and tables; runs/FILE unless given")] = None,
    jobs: Jobs = None,
    scheduler: Annotated[
        str | None, typer.Option(help="play on the cluster of this Dask scheduler: tcp://127.0.0.1:8786")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="the short version that the file offers")] = False,
    only: Annotated[
        str | None,
        typer.Option(
            "--only", metavar="PART,..", help="of the benchmark: problems, caps, rows (ours, adaql, file.py:Class)"
        ),
    ] = None,
    json: Json = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="print tables for a document")] = False,
) -> None:
    """Run every cell of a sweep file; after an interruption the same command resumes where it was.

    --jobs 0 plays nothing of the benchmark and shows what is stored.
    """
    if as_markdown and json == "-":
        raise InputError("json", json, "is standard output, where --markdown prints; give a file")
    folder = out or Path("runs") / (file.stem + ("-quick" if quick else ""))
    if str(file) == BENCHMARK:
        if scheduler is not None:
            raise InputError("scheduler", scheduler, "the benchmark plays on this computer")
        if jobs is not None:
            bounded("jobs", jobs, 0, MAX_JOBS)
        from adamb.tools.sweeps.benchmark import perform

        raise typer.Exit(perform(folder, only, quick=quick, jobs=jobs, json=json, as_markdown=as_markdown))
    if only is not None:
        raise InputError("only", only, "is for adamb sweep benchmark; write a file with fewer entries")
    _perform(file, folder, _workers(scheduler, jobs), jobs, quick=quick, json=json, as_markdown=as_markdown)


def _perform(
    file: Path, folder: Path, workers: Workers, jobs: int | None, *, quick: bool, json: str | None, as_markdown: bool
) -> None:
    from adamb.host_sim.experiments.spec import growth_spec, read_spec
    from adamb.host_sim.experiments.sweep import run_sweep
    from adamb.tools.device.loop.transports import WAIT

    check_outputs(json, folder, ["results.csv"], replace=True)
    spec = read_spec(find_file(file), quick=quick)
    growth = growth_spec(spec)
    os.environ[WAIT] = "1"  # cells on one board take turns, in whatever process they are
    with progress(spec.name) as display:
        try:
            follow = counted(display, spec.name, "cells", _describe)
            found = run_sweep(spec, folder, workers, command=typed_command(), progress=follow)
            if growth is not None:
                follow = counted(display, growth.name, "cells", _describe)
                run_sweep(growth, folder / GROWTH, workers, command=typed_command(), progress=follow)
        except KeyboardInterrupt:
            saved = f"{display.done} of {display.total} cells are saved in {folder}"
            print(f"adamb: stopped; {saved}; the same command resumes there", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        finally:
            os.environ.pop(WAIT, None)
    console = table_console(stderr=json == "-", plain_width=PLAIN_WIDTH)
    if spec.values.get("analysis") == "paper":
        from adamb.tools.sweeps.paper import analyse

        analyse(spec, folder, console, growth=growth, jobs=jobs)
    elif as_markdown:
        print(markdown(spec, found), end="")
    elif len({cell.budget_bytes for cell in spec.cells}) > 1:
        for grid in grids(spec, found):
            console.print(grid_table(grid))
    else:
        console.print(long_table(spec, found))
    write_atomic(folder / "table.md", markdown(spec, found).encode())
    place = f"seeds {spec.seeds[0]}..{spec.seeds[-1]}; tables in {folder}"
    print(place, file=sys.stderr if json == "-" or as_markdown else sys.stdout)
    write_json(json, _content(spec, folder, found))
    raise typer.Exit(_exit_code(spec, found))


def _content(spec: SweepSpec, folder: Path, found: list[Combination]) -> dict[str, Any]:
    """The averages by combination, as in summary.csv."""
    combinations = [
        {
            "problem": each.problem,
            "agent": each.agent,
            "bonus": each.bonus,
            "budget_bytes": each.budget_bytes,
            "seeds": each.seeds,
            "refused": each.refused,
            "bytes_peak": each.bytes_peak,
            **{name: None if value is None else value.to_json() for name, value in each.estimates.items()},
        }
        for each in found
    ]
    return {"name": spec.name, "folder": str(folder), "seeds": list(spec.seeds), "combinations": combinations}


def find_file(file: Path) -> Path:
    """The file as given, or the shipped one of that name."""
    from adamb.firmware_model.host.errors import unknown_name

    if file.suffix or file.exists():
        return file
    shipped = {path.stem.replace("_", "-"): path for path in SHIPPED.glob("*.toml")}
    if str(file) not in shipped:
        raise unknown_name("sweep", str(file), [*shipped, BENCHMARK, "FILE.toml"])
    return shipped[str(file)]


def _workers(scheduler: str | None, jobs: int | None) -> Workers:
    from adamb.host_sim.experiments import dask_workers, local_workers

    check_jobs(jobs)
    return local_workers(jobs) if scheduler is None else dask_workers(scheduler)


def _exit_code(spec: SweepSpec, found: list[Combination]) -> int:
    """A cap that was passed is a violation; so is one that a controller does not fit into, unless the file
    says that this is part of the question."""
    code = OK
    for each in found:
        place = f"{each.problem}, {each.agent}, {format_cap(each.budget_bytes)}"
        if each.refused and spec.values.get("refusals") == "shown":
            continue
        if each.refused:
            print(f"adamb: {place}: {each.refused}", file=sys.stderr)
            code = VIOLATED
        elif each.budget_bytes is not None and (each.bytes_peak or 0) > each.budget_bytes:
            print(f"adamb: {place}: budget violated, {each.bytes_peak} bytes used", file=sys.stderr)
            code = VIOLATED
    return code


def _describe(cell: Cell) -> str:
    return f"{cell.problem_label} × {cell.agent_label}, {format_cap(cell.budget_bytes)}"


KNOWING = ("optimal", "static")
"""Agents that know the model or searched it beforehand: shown, but not compared as learners."""


def long_table(spec: SweepSpec, found: list[Combination]) -> Table:
    """One line per combination; intervals are 95 % over the seeds."""
    rows = plain_table(spec.name)
    with_bonus = any(each.bonus is not None for each in found)
    words = ("problem", "agent", "bonus") if with_bonus else ("problem", "agent")
    for heading in (*words, "cap", "reward", "of V*", "bytes"):
        rows.add_column(heading, justify="left" if heading in words else "right")
    for each in found:
        bonus = ["" if each.bonus is None else str(each.bonus)] if with_bonus else []
        rows.add_row(
            each.problem,
            each.agent,
            *bonus,
            format_cap(each.budget_bytes),
            _reward(each),
            "" if each.share is None else f"{100 * each.share.value:.1f} %",
            "" if each.bytes_peak is None else format_bytes(each.bytes_peak),
        )
    return rows


def _reward(each: Combination) -> str:
    return "does not fit" if each.refused else str(each.reward)


class Grid:
    """Agents × budgets of one problem; a learner is best in a column by its mean."""

    def __init__(self, spec: SweepSpec, problem: str, found: list[Combination]) -> None:
        mine = [each for each in found if each.problem == problem]
        self.problem, self.seeds = problem, max(each.seeds for each in mine)
        self.shares = bool(spec.values.get("shares"))
        self.budgets = list(dict.fromkeys(each.budget_bytes for each in mine))
        self.rows: dict[str, dict[int | None, Combination]] = {}
        for each in mine:
            bonus = "" if each.bonus is None or _tuned(spec, each.agent) else f", c = {each.bonus}"
            self.rows.setdefault(each.agent + bonus, {})[each.budget_bytes] = each
        knowing = {cell.agent_label for cell in spec.cells if cell.agent in KNOWING}
        self.best = {budget: self._best(budget, knowing) for budget in self.budgets}
        known = (each.estimates["optimal"] for each in mine)
        self.optimum = next((value.mean for value in known if value is not None), None)
        self.title = problem if self.optimum is None else f"{problem}, V* = {self.optimum:.3f}"

    def _best(self, budget: int | None, knowing: set[str]) -> Combination | None:
        baselines = [row[budget] for row in self.rows.values() if budget in row]
        baselines = [each for each in baselines if each.reward is not None and each.agent not in knowing]
        return max(baselines, key=lambda each: each.reward.mean if each.reward else 0.0, default=None)

    def cells(self, row: dict[int | None, Combination]) -> Iterable[tuple[str, bool]]:
        """Text of each budget, and whether it is the column's best."""
        for budget in self.budgets:
            each = row.get(budget)
            yield ("", False) if each is None else (_short(each, self.shares), each is self.best[budget])


def _short(each: Combination, shares: bool) -> str:
    if each.reward is None:
        return "–"
    half = "" if each.reward.ci95 is None else f" ± {each.reward.ci95:.3f}"
    share = f", {100 * each.share.value:.1f} %" if shares and each.share is not None else ""
    return f"{each.reward.mean:.3f}{half}{share}"


def _tuned(spec: SweepSpec, label: str) -> bool:
    return any(cell.tune for cell in spec.cells if cell.agent_label == label)


def grids(spec: SweepSpec, found: list[Combination]) -> list[Grid]:
    return [Grid(spec, problem, found) for problem in dict.fromkeys(each.problem for each in found)]


def grid_table(grid: Grid) -> Table:
    rows = plain_table(grid.title)
    rows.add_column("agent")
    for budget in grid.budgets:
        rows.add_column(format_cap(budget), justify="right")
    for label, row in grid.rows.items():
        rows.add_row(label, *(f"[bold]{text}[/]" if best else text for text, best in grid.cells(row)))
    return rows


def markdown(spec: SweepSpec, found: list[Combination]) -> str:
    """For a document: problems side by side at one budget, or a table of budgets for each problem."""
    every = grids(spec, found)
    budgets = {each.budget_bytes for each in found}
    lines = [_note(spec), ""]
    if len(budgets) == 1:
        lines += _side_by_side(every, budgets.pop())
    for grid in every if len(budgets) > 1 else ():
        lines += [f"**{grid.title}**", "", f"| agent | {' | '.join(map(format_cap, grid.budgets))} |"]
        lines.append("|---|" + "---|" * len(grid.budgets))
        lines += [_markdown_row(label, list(grid.cells(row))) for label, row in grid.rows.items()]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _side_by_side(every: list[Grid], budget: int | None) -> list[str]:
    """Agents × problems, with the mean share of the optimum at the end of each line where V* is known."""
    from adamb.host_sim.ratios import average, in_percent

    known = all(grid.optimum for grid in every)
    problems = " | ".join([grid.problem for grid in every] + ["mean share of V*"] * known)
    lines = [f"| {format_cap(budget)} | {problems} |", "|---|" + "---|" * (len(every) + known)]
    for label in dict.fromkeys(label for grid in every for label in grid.rows):
        cells = [next(iter(grid.cells(grid.rows.get(label, {})))) for grid in every]
        shares = [each.share for grid in every for each in grid.rows.get(label, {}).values()]
        given = [share for share in shares if share is not None]
        mean = f"{in_percent(average(given))} %" if len(given) == len(every) else "–"
        lines.append(_markdown_row(label, cells + [(mean, False)] * known))
    if known:
        best = [(f"{grid.optimum:.3f}", False) for grid in every]
        lines.append(_markdown_row("optimum V*", [*best, ("100 %", False)]))
    return lines


def _markdown_row(label: str, cells: list[tuple[str, bool]]) -> str:
    return f"| {label} | {' | '.join(f'**{text}**' if best else text for text, best in cells)} |"


def _note(spec: SweepSpec) -> str:
    cell = spec.cells[0]
    note = f"Reward per episode, {cell.episodes} episodes, seeds {spec.seeds[0]} to {spec.seeds[-1]}"
    note += ", 95 % intervals over the seeds; – does not fit."
    if spec.values.get("shares"):
        note += "\nPer cent are of V*."
    if any(each.tune for each in spec.cells):
        tuned = spec.tune_seeds
        note += f" Tuned options are chosen per problem and budget on seeds {tuned[0]} to {tuned[-1]}."
    return note
