"""What `adamb sweep paper` makes of its results: the paper's figures, running times, and claims judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.paper_claims import CLAIMS, MARGIN, Scores, Verdict, judge, judge_times, tally
from adamb.host_sim.partition_watch import Box, play_and_view
from adamb.host_sim.sweep import results_of
from adamb.host_sim.sweep_spec import Cell, SweepSpec
from adamb.tools import outputs, paper_figures, paper_times

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

QUICK_TIMING_EPISODES = 500
GUARANTEES = (
    "AdaMB is the mode paper: the paper's regret and PAC guarantees cover only it, with the bonus of the "
    "theory in place of c/√n. AdaMB tracking is the default of a board; nothing was tuned for it."
)
EQUAL = f"Intervals are 95 % over seeds or repeats; equal means within {100 * MARGIN:.0f} % of V*."
VERDICT_COLUMNS = ("claim", "problem", "compared", "figures", "difference", "holds", "undecided", "seeds")
SCORES = ("problem", "algorithm", "bonus", "reward_mean", "reward_ci95", "early_mean", "early_ci95",
          "last100_mean", "last100_ci95", "leaves_mean", "leaves_ci95", "optimal", "seeds")  # fmt: skip


def analyse(
    spec: SweepSpec, folder: Path, console: Console, errors: Console, *, jobs: int | None, quiet: bool
) -> list[Verdict]:
    """Judge, measure, draw, print and save; a finished sweep is analysed again without playing it again."""

    def tell(text: str) -> None:
        if not quiet:
            errors.print(f"{spec.name}: {text}", highlight=False)

    results = results_of(spec, folder)
    scores = Scores(results)
    episodes = QUICK_TIMING_EPISODES if spec.quick else spec.cells[0].episodes
    tell(f"timing each algorithm, {episodes} episodes, alone on one core")
    times = paper_times.measure([cell for cell, _ in results], episodes)
    verdicts = judge(scores) + judge_times(times, paper_times.LEARNERS)
    tell("drawing")
    outputs.save(folder, _pictures(results, scores, jobs))
    outputs.save(folder, _files(spec, results, scores, verdicts, times, episodes))
    for table in (score_table(scores), time_table(times, episodes), *claim_tables(verdicts)):
        console.print(table)
    lines = [EQUAL, *tally_lines(verdicts), edge_line(spec, results), GUARANTEES]
    console.print(*lines, sep="\n", highlight=False, soft_wrap=True)
    return verdicts


# ---- files ------------------------------------------------------------------------------------------------


def _files(
    spec: SweepSpec, results: Sequence[tuple[Cell, Any]], scores: Scores, verdicts: list[Verdict],
    times: paper_times.Times, episodes: int,
) -> dict[str, bytes]:  # fmt: skip
    bonuses = {(cell.problem_label, cell.agent_label): cell.bonus for cell, _ in results}
    rows = [
        [problem, agent, bonuses[problem, agent], *_numbers(scores, problem, agent)]
        for problem, agent in scores.rows
    ]
    timing = paper_times.table_rows(times, episodes)
    listed = [[getattr(each, name) for name in VERDICT_COLUMNS] for each in verdicts]
    report = {
        "seeds": spec.seeds,
        "tune_seeds": list(spec.tune_seeds),
        "margin": MARGIN,
        "note": GUARANTEES,
        "claims": [each.to_json() for each in verdicts],
        "scores": [dict(zip(SCORES, row, strict=True)) for row in rows],
        "times": [dict(zip(paper_times.COLUMNS, row, strict=True)) for row in timing],
    }
    return {
        "scores.csv": csv_bytes(SCORES, rows),
        "times.csv": csv_bytes(paper_times.COLUMNS, timing),
        "claims.csv": csv_bytes(VERDICT_COLUMNS, listed),
        "claims.json": json_bytes(report),
    }


def _numbers(scores: Scores, problem: str, agent: str) -> list[float | None]:
    found: list[float | None] = []
    for measure in ("reward_per_episode", "reward_early", "reward_last100", "leaves"):
        value = scores.mean(problem, agent, measure)
        found += [value.mean, value.ci95]
    return [*found, scores.optimal(problem), len(scores.rows[problem, agent])]


# ---- pictures ---------------------------------------------------------------------------------------------


def _pictures(results: Sequence[tuple[Cell, Any]], scores: Scores, jobs: int | None) -> dict[str, bytes]:
    figures: dict[str, Any] = {}
    for problem in scores.problems:
        curves = paper_figures.collect_curves(results, problem)
        if curves:
            name = f"curves-{file_name(problem)}"
            figures[name] = paper_figures.curves_figure(problem, curves, scores.optimal(problem))
    groups = _flat_cells(results)
    boxes = _boxes([cell for group in groups.values() for cell in group.values()], jobs)
    optima = {}
    for problem, group in groups.items():
        optimum = _optimum(next(iter(group.values())))
        found = {agent: boxes[problem, agent] for agent in group}
        figures[f"partitions-{file_name(problem)}"] = paper_figures.partition_figure(problem, found, optimum)
        if optimum is not None:
            optima[problem] = optimum
    if optima:
        figures["q-star"] = paper_figures.heat_figure(optima)
    return paper_figures.render(figures)


def file_name(label: str) -> str:
    """A label as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower().replace("α", "alpha")).strip("-.")


def _flat_cells(results: Sequence[tuple[Cell, Any]]) -> dict[str, dict[str, Cell]]:
    """Problem -> algorithm -> cell with one seed, where state and action have one dimension each."""
    found: dict[str, dict[str, Cell]] = {}
    flat: dict[str, bool] = {}
    for cell, _ in results:
        label = cell.problem_label
        if label not in flat:
            problem, _ = cell.build(cell.seeds[:1])
            flat[label] = problem.d_s == problem.d_a == 1
        if flat[label]:
            first = replace(cell, seeds=cell.seeds[:1], curves=0)
            found.setdefault(label, {}).setdefault(cell.agent_label, first)
    return found


def _boxes(cells: Sequence[Cell], jobs: int | None) -> dict[tuple[str, str], list[Box]]:
    from joblib import Parallel, cpu_count, delayed

    run: Callable[..., Any] = delayed(_one_partition)
    found = Parallel(n_jobs=jobs or cpu_count())(run(cell) for cell in cells)
    places = [(cell.problem_label, cell.agent_label) for cell in cells]
    return dict(zip(places, found, strict=True))


def _one_partition(cell: Cell) -> list[Box]:
    problem, make = cell.build()
    return play_and_view(problem, make)(paper_figures.STEP)


def _optimum(cell: Cell) -> np.ndarray | None:
    problem, _ = cell.build()
    optimum = problem.optimal()
    return None if optimum is None else np.nan_to_num(np.asarray(optimum.q(0, paper_figures.STEP)))


# ---- tables -----------------------------------------------------------------------------------------------


def score_table(scores: Scores) -> Table:
    rows = _table("reward per episode (leaves); the best of each problem in bold")
    rows.add_column("problem")
    for agent in scores.agents:
        rows.add_column(agent, justify="right")
    for problem in scores.problems:
        means = {
            agent: scores.mean(problem, agent, "reward_per_episode")
            for agent in scores.agents
            if scores.has(problem, agent)
        }
        best = max(means, key=lambda agent: means[agent].mean)
        texts = []
        for agent in scores.agents:
            if agent not in means:
                texts.append("–")
                continue
            half = f" ± {means[agent].ci95:.3f}" if means[agent].ci95 else ""
            text = f"{means[agent].mean:.3f}{half}\n({scores.mean(problem, agent, 'leaves').mean:.0f})"
            texts.append(f"[bold]{text}[/]" if agent == best else text)
        rows.add_row(f"{problem}\nV* = {scores.optimal(problem):.3f}", *texts)
    return rows


def time_table(times: paper_times.Times, episodes: int) -> Table:
    rows = _table(f"agent time, µs a step ({episodes} episodes, {paper_times.LEARNERS} learners together)")
    for heading in ("problem", "algorithm", "mean", "fastest", "× AdaQL", "paper, s a run", "× AdaQL"):
        rows.add_column(heading, justify="left" if heading in ("problem", "algorithm") else "right")
    for row in paper_times.table_rows(times, episodes):
        problem, agent, mean, half, fastest, *others = row
        ratio, printed, paper = ("" if value is None else f"{value:.2f}" for value in others[:3])
        rows.add_row(problem, agent, f"{mean:.3f} ± {half:.3f}", f"{fastest:.3f}", ratio, printed, paper)
    return rows


def claim_tables(verdicts: Sequence[Verdict]) -> list[Table]:
    """A table for each claim."""
    found = []
    for claim in dict.fromkeys(each.claim for each in verdicts):
        rows = _table(f"claim: {CLAIMS[claim]}")
        for heading in ("problem", "compared", "figures", "difference", "seeds", "verdict"):
            rows.add_column(heading, justify="right" if heading == "seeds" else "left")
        for each in verdicts:
            if each.claim == claim:
                shown = (each.problem, each.compared, each.figures, each.difference, str(each.seeds))
                rows.add_row(*shown, f"[{'green' if each.holds else 'red'}]{each.verdict}[/]")
        found.append(rows)
    return found


def tally_lines(verdicts: Sequence[Verdict]) -> list[str]:
    lines = []
    for claim, compared, holds, undecided, count in tally(verdicts):
        open_ones = f", undecided on {undecided}" if undecided else ""
        lines.append(f"{claim}: {CLAIMS[claim]} ({compared}): holds on {holds} of {count}{open_ones}")
    return lines


def edge_line(spec: SweepSpec, results: Sequence[tuple[Cell, Any]]) -> str:
    """A constant at the end of the range may have its best value outside: say where."""
    grid = spec.values.get("bonus_grid", ())
    chosen = {(cell.problem_label, cell.agent_label): cell.bonus for cell, _ in results}
    tuned = {(cell.problem_label, cell.agent_label) for cell in spec.cells if cell.tune}
    ends = [place for place in chosen if place in tuned and grid and chosen[place] in (min(grid), max(grid))]
    listed = "; ".join(f"{agent} on {problem} ({chosen[problem, agent]})" for problem, agent in ends)
    found = f"tuned constants at an end of the grid: {len(ends)} of {len(tuned)}"
    return f"{found}: {listed}" if ends else found


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
