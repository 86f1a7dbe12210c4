"""What `adamb sweep paper` makes of a finished sweep: claims judged, Table 1 beside measured exponents, regret over K
beside the theorem; tables, pictures and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.bounds import paper
from adamb.host_sim.experiments.cell import Cell
from adamb.host_sim.experiments.spec import SweepSpec
from adamb.host_sim.experiments.sweep import results_of
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.results.sweep import CLAIMS_FILE, CURVES_FILE, PaperCurves, problem_curves
from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.studies.claims import (
    ADAPTIVE,
    CLAIMS,
    MARGIN,
    QMap,
    Scores,
    Verdict,
    deposit_notes,
    judge,
    judge_maps,
    q_map,
    tally,
)
from adamb.host_sim.studies.growth import DECADE, Exponents, Growth, collect, judge_growth, measured_table
from adamb.tools import outputs
from adamb.tools.figures import paper as paper_figures
from adamb.tools.figures import picture_files
from adamb.tools.figures.growth import Regret, regret_figure
from adamb.tools.figures.paper import STEP, Box, play_and_view
from adamb.tools.measure import paper_times
from adamb.tools.measure.paper_times import OURS, judge_times
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


VARIANTS = ("AdaMB γ=1", "AdaMB γ=4", "AdaMB γ, φ of theory", "AdaMB full", "AdaMB fresh")


def score_tables(scores: Scores) -> list[Table]:
    """The algorithms side by side, then AdaMB beside its variants."""
    variants = [name for name in scores.agents if name in VARIANTS]
    algorithms = [name for name in scores.agents if name not in VARIANTS]
    found = [_scores(scores, algorithms, "reward per episode (leaves); the best of each problem in bold")]
    if variants:
        found.append(_scores(scores, ["AdaMB", *variants], "the same for variants of AdaMB"))
    return found


def _scores(scores: Scores, agents: Sequence[str], title: str) -> Table:
    rows = plain_table(title)
    rows.add_column("problem")
    for agent in agents:
        rows.add_column(agent, justify="right")
    for problem in scores.problems:
        means = {
            agent: scores.mean(problem, agent, "reward_per_episode") for agent in agents if scores.has(problem, agent)
        }
        best = max(means, key=lambda agent: means[agent].mean)
        texts = []
        for agent in agents:
            if agent not in means:
                texts.append("–")
                continue
            half = f" ± {means[agent].ci95:.3f}" if means[agent].ci95 else ""
            text = f"{means[agent].mean:.3f}{half}\n({scores.mean(problem, agent, 'leaves').mean:.0f})"
            texts.append(f"[bold]{text}[/]" if agent == best else text)
        rows.add_row(f"{problem}\nV* = {scores.optimal(problem):.3f}", *texts)
    return rows


def time_table(times: paper_times.Times, length: paper_times.Length) -> Table:
    """All in the same language and in doubles, but for the rows that are marked as ours."""
    title = f"agent time, µs a step ({length.episodes} episodes, {paper_times.LEARNERS} learners together, c = 1)"
    rows = plain_table(f"{title}; compiled, in doubles; (ours): the integer core")
    for heading in ("problem", "algorithm", "mean", "fastest", "× AdaQL", "paper, s a run", "× AdaQL"):
        rows.add_column(heading, justify="left" if heading in ("problem", "algorithm") else "right")
    for row in paper_times.table_rows(times, length):
        problem, agent, mean, half, fastest, *others = row
        ratio, printed, paper = ("" if value is None else f"{value:.2f}" for value in others[:3])
        name = f"{agent} (ours)" if agent in OURS else agent
        rows.add_row(problem, name, f"{mean:.3f} ± {half:.3f}", f"{fastest:.3f}", ratio, printed, paper)
    return rows


def claim_tables(verdicts: Sequence[Verdict]) -> list[Table]:
    """A table for each claim."""
    found = []
    for claim in dict.fromkeys(each.claim for each in verdicts):
        rows = plain_table(f"claim: {CLAIMS[claim]}")
        noted = any(each.note for each in verdicts if each.claim == claim)
        headings = ["problem", "compared", "figures", "difference", "seeds", "verdict", *["note"] * noted]
        for heading in headings:
            rows.add_column(heading, justify="right" if heading == "seeds" else "left")
        for each in verdicts:
            if each.claim == claim:
                shown = (each.problem, each.compared, each.figures, each.difference, str(each.seeds))
                judged = f"[{'green' if each.holds else 'red'}]{each.verdict}[/]"
                rows.add_row(*shown, judged, *[each.note] * noted)
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


DRAWN = ("AdaMB", "AdaMB tracking", "AdaQL", "epsilonQL", "epsilonMB")
"""Algorithms whose partitions are drawn."""


def pictures(results: Sequence[tuple[Cell, Any]], scores: Scores, jobs: int | None) -> dict[str, bytes]:
    figures: dict[str, Any] = {}
    for problem in scores.problems:
        curves = {
            agent: found
            for agent, found in paper_figures.collect_curves(results, problem).items()
            if agent in paper_figures.COLOURS
        }
        if curves:
            name = f"curves-{file_name(problem)}"
            figures[name] = paper_figures.curves_figure(problem, curves, scores.optimal(problem))
    groups = flat_cells(results, DRAWN)
    boxes = dict(map_cells(_one_partition, groups, jobs))
    optima = {}
    for problem, group in groups.items():
        optimum = _optimum(next(iter(group.values())))
        found = {agent: boxes[problem, agent] for agent in group}
        figures[f"partitions-{file_name(problem)}"] = paper_figures.partition_figure(problem, found, optimum)
        if optimum is not None:
            optima[problem] = optimum
    if optima:
        figures["q-star"] = paper_figures.heat_figure(optima)
    return picture_files(figures)


def file_name(label: str) -> str:
    """A label as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower().replace("α", "alpha")).strip("-.")


def flat_cells(results: Sequence[tuple[Cell, Any]], agents: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Problem -> algorithm -> cell with one seed, where state and action have one dimension each."""
    found: dict[str, dict[str, Cell]] = {}
    flat: dict[str, bool] = {}
    for cell, _ in results:
        label = cell.problem_label
        if label not in flat:
            problem, _ = cell.build(cell.seeds[:1])
            flat[label] = problem.d_s == problem.d_a == 1
        if flat[label] and cell.agent_label in agents:
            first = replace(cell, seeds=cell.seeds[:1], curves=0)
            found.setdefault(label, {}).setdefault(cell.agent_label, first)
    return found


def map_cells(
    function: Callable[[Cell], Any], groups: Mapping[str, Mapping[str, Cell]], jobs: int | None
) -> Iterator[tuple[tuple[str, str], Any]]:
    """Results of a function for every cell, in processes: by problem and algorithm."""
    from joblib import Parallel, cpu_count, delayed

    cells = {(problem, agent): cell for problem, group in groups.items() for agent, cell in group.items()}
    found = Parallel(n_jobs=jobs or cpu_count(), return_as="generator")(map(delayed(function), cells.values()))
    return zip(cells, found, strict=True)


def _one_partition(cell: Cell) -> list[Box]:
    problem, make = cell.build()
    return play_and_view(problem, make)(paper_figures.STEP)


def _optimum(cell: Cell) -> np.ndarray | None:
    problem, _ = cell.build()
    optimum = problem.optimal()
    return None if optimum is None else np.nan_to_num(np.asarray(optimum.q(0, paper_figures.STEP)))


MAP_SEEDS = 20
"""Seeds whose Q is compared with Q*."""
GUARANTEES = (
    "AdaMB, AdaQL and both epsilons are played as in the paper's experiments: bonus c/√n with c tuned, and "
    "in AdaMB γ = 2, φ = 1, a random action of the ball. AdaMB is --core double; the paper's regret and PAC "
    "guarantees ask for the bonus of its theory and cover none of these: docs/paper.md. "
    "AdaMB tracking is ours, the default of a board; nothing was tuned for it."
)
FAIRNESS = (
    "A deposit at a fixed place can lie on a point of a grid, or between two; so whether a grid wins there "
    "is decided by where its points are. The grids have the net of the authors' program, 0, 1/m, 2/m, …; "
    "the notes give its distance from the deposit. Judge by the problems with a random place."
)
EQUAL = f"Intervals are 95 % over seeds or repeats; equal means within {100 * MARGIN:.0f} % of V*."


def analyse(
    spec: SweepSpec, folder: Path, console: Console, *, growth: SweepSpec | None, jobs: int | None
) -> list[Verdict]:
    """A finished sweep is analysed again without playing it again; `growth` is its second part."""
    results = results_of(spec, folder)
    scores = Scores(results)
    length = paper_times.Length.quick() if spec.quick else paper_times.Length(spec.cells[0].episodes)
    with progress(f"timing each algorithm, {length.episodes} episodes, alone on one core") as show:
        times = paper_times.measure([cell for cell, _ in results], length, show)
        show("comparing Q with Q*")
        verdicts = [*judge(scores), *judge_maps(_maps(results, jobs, show))]
    tables = [*score_tables(scores), time_table(times, length)]
    lines = [FAIRNESS, GUARANTEES]
    if growth is not None:
        table, judged = analyse_growth(growth, folder)
        verdicts += judged
        tables.append(table)
        lines.append(MEASURED_BY)
    verdicts += judge_times(times)
    verdicts = _with_notes(verdicts, deposit_notes([cell for cell, _ in results]))
    outputs.save(folder, pictures(results, scores, jobs))
    note = f"{GUARANTEES} {FAIRNESS}"
    outputs.save(folder, paper_files(spec, results, scores, verdicts, times, length, note))
    for table in (*tables, *claim_tables(verdicts)):
        console.print(table)
    lines = [EQUAL, *tally_lines(verdicts), edge_line(spec, results), *lines]
    console.print(*lines, sep="\n", highlight=False, soft_wrap=True)
    return verdicts


def _with_notes(verdicts: Sequence[Verdict], notes: dict[tuple[str, str], str]) -> list[Verdict]:
    """Verdicts with what there is to know about a grid of their problem beside them."""
    found = []
    for each in verdicts:
        said = [notes[each.problem, name] for name in each.compared.split(" : ") if (each.problem, name) in notes]
        found.append(replace(each, note="; ".join(filter(None, dict.fromkeys([each.note, *said])))))
    return found


def _maps(
    results: Sequence[tuple[Cell, Any]], jobs: int | None, alive: Callable[[str], None]
) -> dict[tuple[str, str], QMap]:
    groups, found = flat_cells(results, ADAPTIVE), {}
    for place, view in map_cells(_map, groups, jobs):
        found[place] = view
        alive(f"compared Q with Q* in {len(found)} of {sum(map(len, groups.values()))} cells")
    return {place: view for place, view in found.items() if view is not None}


def _map(cell: Cell) -> QMap | None:
    problem, make = cell.build(tuple(range(cell.seeds[0], cell.seeds[0] + MAP_SEEDS)))
    return q_map(problem, make(), STEP)


VERDICT_COLUMNS = ("claim", "problem", "compared", "figures", "difference", "holds", "undecided", "seeds", "note")
SCORES = ("problem", "algorithm", "bonus", "reward_mean", "reward_ci95", "early_mean", "early_ci95",
          "last100_mean", "last100_ci95", "leaves_mean", "leaves_ci95", "optimal", "seeds")  # fmt: skip


def paper_files(
    spec: SweepSpec, results: Sequence[tuple[Cell, Any]], scores: Scores, verdicts: list[Verdict],
    times: paper_times.Times, length: paper_times.Length, note: str,
) -> dict[str, bytes]:  # fmt: skip
    bonuses = {(cell.problem_label, cell.agent_label): cell.bonus for cell, _ in results}
    rows = [
        [problem, agent, bonuses[problem, agent], *_numbers(scores, problem, agent)] for problem, agent in scores.rows
    ]
    timing = paper_times.table_rows(times, length)
    listed = [[getattr(each, name) for name in VERDICT_COLUMNS] for each in verdicts]
    report = {
        "seeds": spec.seeds,
        "tune_seeds": list(spec.tune_seeds),
        "margin": MARGIN,
        "note": note,
        "claims": [each.to_json() for each in verdicts],
        "scores": [dict(zip(SCORES, row, strict=True)) for row in rows],
        "times": [dict(zip(paper_times.COLUMNS, row, strict=True)) for row in timing],
    }
    drawn = {
        problem: problem_curves(found, scores.optimal(problem))
        for problem in scores.problems
        if (found := paper_figures.collect_curves(results, problem))
    }
    return {
        CURVES_FILE: json_bytes(PaperCurves(problems=drawn).to_json(), indent=None),
        "scores.csv": csv_bytes(SCORES, rows),
        "times.csv": csv_bytes(paper_times.COLUMNS, timing),
        "claims.csv": csv_bytes(VERDICT_COLUMNS, listed),
        CLAIMS_FILE: json_bytes(report),
    }


def _numbers(scores: Scores, problem: str, agent: str) -> list[float | None]:
    found: list[float | None] = []
    for measure in ("reward_per_episode", "reward_early", "reward_last100", "leaves"):
        value = scores.mean(problem, agent, measure)
        found += [value.mean, value.ci95]
    return [*found, scores.optimal(problem), len(scores.rows[problem, agent])]


COLUMNS = ("problem", "algorithm", "episodes", "regret_mean", "regret_ci95", "bytes_mean", "bytes_ci95", "seconds")
MEASURED_BY = (
    "In Table 1 AdaMB is --core double, so that K can be large; baselines are compiled as well. Times contain "
    "the call from Python, which costs the same at any K."
)


def analyse_growth(spec: SweepSpec, folder: Path) -> tuple[Table, list[Verdict]]:
    """The table and the verdicts on the exponents of regret; saves regret.png, .svg and growth.csv."""
    results = results_of(spec, folder / "growth")
    problem, _ = spec.cells[0].build(spec.cells[0].seeds[:1])
    growths = collect(results)
    table = measured_table(growths, problem.d_s + problem.d_a, problem.d_s)
    bound = paper.regret(1, horizon=problem.horizon, d=problem.d_s + problem.d_a, d_s=problem.d_s)
    outputs.save(folder, {**_pictures(growths, bound), "growth.csv": csv_bytes(COLUMNS, _rows(growths))})
    episodes = spec.values["episodes"]
    return growth_table(table, episodes), judge_growth(table, episodes, len(spec.seeds))


def growth_table(table: Sequence[Exponents], episodes: Sequence[int]) -> Table:
    late = [k for k in episodes if k * DECADE >= max(episodes)]
    rows = plain_table(f"Table 1: exponents of K, of the theory and measured for K from {late[0]} to {late[-1]}")
    for heading in ("problem", "algorithm", "regret", "measured", "time", "measured", "space", "measured"):
        rows.add_column(heading, justify="left" if heading in ("problem", "algorithm") else "right")
    rows.add_column(f"R({episodes[-1]})", justify="right")
    for row in table:
        pairs: list[str] = []
        for theory, found in (
            (row.theory.regret_k, row.regret), (row.theory.time_k, row.time), (row.theory.space_k, row.space),
        ):  # fmt: skip
            pairs += ["–" if theory is None else f"{theory:.3f}", _shown(found)]
        rows.add_row(row.problem, row.algorithm, *pairs, str(row.last))
    return rows


def _shown(found: Estimate) -> str:
    return f"{found.mean:.3f}{'' if found.ci95 is None else f' ± {found.ci95:.3f}'}"


def _rows(growths: Mapping[tuple[str, str], Growth]) -> list[list[object]]:
    found: list[list[object]] = []
    for (problem, agent), each in growths.items():
        for i, episodes in enumerate(each.episodes.tolist()):
            regret, size = estimate(each.regret[:, i]), estimate(each.size[:, i])
            numbers = (regret.mean, regret.ci95, size.mean, size.ci95, float(each.seconds[0, i]))
            found.append([problem, agent, episodes, *numbers])
    return found


def _pictures(growths: Mapping[tuple[str, str], Growth], bound: paper.Bound) -> dict[str, bytes]:
    figures = {}
    for problem in dict.fromkeys(problem for problem, _ in growths):
        measured = {
            agent: Regret(each.episodes, each.regret) for (where, agent), each in growths.items() if where == problem
        }
        points = next(iter(measured.values())).episodes
        power = bound.exponent or 1.0
        lines = {f"AdaMB's theorem, constant 1: K^{power:.3f}": (points, bound.value * np.power(points, power))}
        seeds = len(next(iter(measured.values())).values)
        figures["regret"] = regret_figure(
            f"{problem}: true regret", f"{seeds} seeds, 95 % bands; each algorithm told each K", measured, lines
        )
    return picture_files(figures)
