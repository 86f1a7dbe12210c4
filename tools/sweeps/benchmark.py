"""The benchmark as `adamb sweep benchmark` plays and shows it: every finished entry is a file in its folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import format_bytes, format_cap, parse_size
from adamb.host_sim.benchmark import (
    CONTENDERS,
    FIRST_BUDGETS,
    OWN,
    PUBLISHED,
    STRENGTHENED,
    TASKS,
    UNTUNED,
    BenchmarkContender,
    cut_reason,
    grid_for,
    kind_of,
)
from adamb.host_sim.benchmark.play import Bench, core_digest, describe, make_bench, missing, results, run_bench
from adamb.host_sim.benchmark.scores import (
    GROUP_OF,
    Benchmark,
    Comparison,
    Score,
    TargetVerdict,
    judge,
    percent,
    recoveries,
)
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.provenance import spec_hash, version
from adamb.host_sim.ratios import Ratio, average, in_percent
from adamb.tools.figures.benchmark import pareto_files
from adamb.tools.options import words
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.stopping import INTERRUPTED, OK, VIOLATED
from adamb.tools.terminal import counted, progress, say
from adamb.tools.terminal.frames import plain_table, table_console

if TYPE_CHECKING:
    from rich.table import Table


PLAIN_WIDTH = 140


def perform(
    folder: Path, only: str | None, *, quick: bool, jobs: int | None, json: str | None, as_markdown: bool
) -> int:
    """Play what is missing, unless there are 0 jobs, and show everything; the exit code."""
    check_outputs(json, folder, ["benchmark.json"], replace=True)
    asked = part(only, quick=quick)
    if jobs != 0:
        try:
            _play(asked, folder, jobs)
        except KeyboardInterrupt:
            saved = f"finished entries are saved in {folder}; the same command resumes there"
            print(f"adamb: stopped; {saved}", file=sys.stderr)
            return INTERRUPTED
    console = table_console(stderr=json == "-", plain_width=PLAIN_WIDTH)
    return _exit_code(_show(asked, folder, console, json=json, as_markdown=as_markdown))


def part(only: str | None, *, quick: bool = False) -> Bench:
    """The benchmark with the problems, caps and rows that are named; where none of a kind is, with all."""
    problems: list[str] = []
    budgets: list[int] = []
    agents: list[str] = []
    for word in words("only", only) if only is not None else ():
        if word[0].isdigit():
            budgets.append(parse_size(word, "only"))
        else:
            (problems if word in {task.label for task in TASKS} else agents).append(word)
    return make_bench(only=problems, budgets=budgets, agents=agents, quick=quick)


def _play(asked: Bench, folder: Path, jobs: int | None) -> None:
    for note in cuts(asked):
        say(f"benchmark: smaller grids on {note}")
    with progress("benchmark") as display:
        run_bench(asked, folder, jobs=jobs, progress=counted(display, "benchmark", "entries", describe))


def _show(asked: Bench, folder: Path, console: Console, *, json: str | None, as_markdown: bool) -> Benchmark:
    benchmark = Benchmark(*results(asked, folder))
    if not benchmark.cells:
        raise InputError("out", str(folder), "holds no entry of this benchmark; run without --jobs 0 first")
    verdicts = judge(benchmark)
    save(folder, files(asked, benchmark, verdicts))
    save(folder, pareto_files(benchmark))
    if as_markdown:
        print(markdown(asked, benchmark, verdicts), end="")
    else:
        for table in tables(benchmark):
            console.print(rich_table(*table))
        for line in [*verdict_lines(verdicts), edge_line(asked, benchmark)]:
            console.print(line, highlight=False, soft_wrap=True, markup=False)
    absent, total = missing(asked, folder)
    if absent:
        warning = f"adamb: {absent} of {total} entries are not played yet; what is absent counts nowhere"
        print(warning, file=sys.stderr)
    place = f"{seeds_line(asked)} Tables and pictures: {folder}"
    print(place, file=sys.stderr if json == "-" or as_markdown else sys.stdout)
    write_json(json, content(asked, benchmark, verdicts))
    return benchmark


def _exit_code(benchmark: Benchmark) -> int:
    """A target that is missed is a result; a cap that was passed is a violation."""
    code = OK
    for (problem, budget), cell in benchmark.cells.items():
        for score in cell.values():
            if budget is not None and (score.bytes_peak or 0) > budget:
                used = f"budget violated, {score.bytes_peak} bytes used of {budget}"
                print(f"adamb: {problem}, {score.agent}: {used}", file=sys.stderr)
                code = VIOLATED
    return code


SCORES = ("problem", "group", "episodes", "budget_bytes", "agent", "class", "status", "reward_mean", "unit",
          "score", "score_ci95", "above_chance", "bytes_peak", "restarts", "options")  # fmt: skip
CELLS = ("problem", "group", "budget_bytes", "against", "score", "baseline", "baseline_score", "baseline_bytes",
         "gain", "gain_ci95", "outcome")  # fmt: skip
COLOURS = {"win": "green", "loss": "red"}
TITLES = {
    "all": "the best tuned baseline",
    PUBLISHED: "the best published baseline",
    STRENGTHENED: "the best strengthened baseline",
    OWN: "the best agent of your own",
}
Rows = list[list[str]]


# ---- tables ---------------------------------------------------------------------------------------------


def gain_rows(benchmark: Benchmark, against: str) -> tuple[list[str], Rows]:
    """Problems × budgets: the controller's gain in percent over the best baseline."""
    cells = {(each.problem, each.budget_bytes): each for each in benchmark.comparisons(against)}
    budgets = [each for each in benchmark.budgets if each is not None]
    header = ["problem", *(format_cap(each) for each in budgets)]
    rows = [
        [problem, *(_gain_text(cells.get((problem, budget))) for budget in budgets)]
        for problem in benchmark.problems
        if any(place[0] == problem for place in cells)
    ]
    return header, rows


def _gain_text(cell: Comparison | None) -> str:
    if cell is None:
        return ""
    return f"does not fit {cell.outcome}" if cell.gain is None else f"{percent(cell.gain)} {cell.outcome}"


def benchmark_rows(benchmark: Benchmark) -> tuple[list[str], Rows]:
    """Contenders by their mean share: each budget without drift, drift, and how often each is first."""
    budgets = [each for each in benchmark.budgets if each is not None]
    header = ["agent", "class", *(format_cap(each) for each in budgets), "drift", "first in cells"]
    found = []
    for agent in benchmark.agents:
        shares = [_mean_share(benchmark, agent, "stationary", [budget]) for budget in budgets]
        drift = _mean_share(benchmark, agent, "drift", budgets)
        key = np.mean([share.value for share in shares if share is not None] or [0.0])
        texts = ["–" if share is None else in_percent(share) for share in (*shares, drift)]
        found.append((-key, [agent, kind_of(agent), *texts, str(benchmark.firsts(agent))]))
    return header, [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _mean_share(benchmark: Benchmark, agent: str, group: str, budgets: Sequence[int]) -> Ratio | None:
    """Over the cells of a group; None when the contender is missing from one of them."""
    places = [place for place in benchmark.cells if GROUP_OF[place[0]] == group and place[1] in budgets]
    scores = [benchmark.cells[place].get(agent) for place in places]
    shares = [each.share for each in scores if each is not None and each.share is not None]
    return average(shares) if shares and len(shares) == len(places) else None


def baseline_rows(benchmark: Benchmark) -> tuple[list[str], Rows]:
    """Every cell with its best baselines of both classes and the controller, in shares of the unit."""
    header = ["problem", "cap", "best published", "best strengthened", "adamb, untuned", "gain %"]
    against = {(each.problem, each.budget_bytes): each for each in benchmark.comparisons("all")}
    rows = []
    for problem in benchmark.problems:
        for budget in benchmark.budgets:
            cell = against.get((problem, budget))
            best = [benchmark.best(problem, budget, (kind,)) for kind in (PUBLISHED, STRENGTHENED)]
            if any(best):
                ours = benchmark.score(problem, budget, UNTUNED)
                shown = [_baseline_text(each) for each in best]
                rows.append([problem, format_cap(budget), *shown, _share_text(ours), _gain_text(cell)])
    return header, rows


def _share_text(score: Score | None) -> str:
    if score is None:
        return ""
    if score.share is None:
        return "does not fit"
    return in_percent(score.share)


def _baseline_text(score: Score | None) -> str:
    if score is None:
        return "–"
    options = ", ".join(f"{name} {value}" for name, value in score.choice.items())
    return f"{_share_text(score)} {score.agent} ({options}; {score.bytes_peak} B)"


def recovery_rows(benchmark: Benchmark) -> tuple[list[str], Rows]:
    header = ["problem", "cap", "% of V* before the jump", "K/4 after it", "back after episodes", "restarts"]
    rows = []
    for each in recoveries(benchmark):
        score, after = each.score, each.after.value + 0.9 * each.before
        waited = "never" if each.episodes is None else str(each.episodes)
        restarts = "" if score.restarts is None else f"{score.restarts:.2f}"
        shares = [f"{100 * each.before:.1f}", f"{100 * after:.1f}"]
        rows.append([score.problem, format_cap(score.budget_bytes), *shares, waited, restarts])
    return header, rows


def tables(benchmark: Benchmark) -> list[tuple[str, list[str], Rows]]:
    """Title, header and rows of what a terminal shows."""
    found = [(f"gain in % over {TITLES[against]}", *gain_rows(benchmark, against)) for against in TITLES]
    found.append(("mean share of V* in %", *benchmark_rows(benchmark)))
    found.append(("after a jump", *recovery_rows(benchmark)))
    return [each for each in found if each[2]]


def rich_table(title: str, header: Sequence[str], rows: Rows) -> Table:
    table = plain_table(title)
    for name in header:
        table.add_column(name, justify="left" if name in ("problem", "agent", "class") else "right")
    for row in rows:
        table.add_row(*map(_coloured, row))
    return table


def _coloured(text: str) -> str:
    colour = COLOURS.get(text.rpartition(" ")[2], "")
    return f"[{colour}]{text}[/]" if colour else text


def verdict_lines(verdicts: Sequence[TargetVerdict]) -> list[str]:
    return [
        f"{each.target} {each.verdict}: {each.statement}"
        + (f" (against {each.against})" if each.against else "")
        + (f": {each.figures}" if each.figures else "")
        for each in verdicts
    ]


def markdown_table(header: Sequence[str], rows: Rows) -> str:
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def markdown(bench: Bench, benchmark: Benchmark, verdicts: Sequence[TargetVerdict], *, full: bool = False) -> str:
    """For a document: the gains, the benchmark, the verdicts; `full` adds the best baselines of every cell."""
    parts = [seeds_line(bench) + "\n"]
    for title, header, rows in tables(benchmark):
        parts.append(f"**{title[0].upper()}{title[1:]}**\n\n{markdown_table(header, rows)}")
    if full:
        table = markdown_table(*baseline_rows(benchmark))
        parts.append(f"**Best tuned baselines of every cell, % of the unit**\n\n{table}")
    parts.append("\n".join(f"- {line}" for line in verdict_lines(verdicts)) + "\n")
    parts.append(edge_line(bench, benchmark) + "\n")
    return "\n".join(parts)


def seeds_line(bench: Bench) -> str:
    scored, tuning = bench.seeds.scored, bench.seeds.tuning
    line = f"Scored on seeds {scored[0]} to {scored[-1]}, tuned on seeds {tuning[0]} to {tuning[-1]}"
    return f"{line}; a win or a loss is more than 1 % with an interval beyond 0."


def edge_line(bench: Bench, benchmark: Benchmark) -> str:
    """A choice at the end of its grid may have been better still outside: say how often that was."""
    contenders, tasks = {each.label: each for each in CONTENDERS}, {each.label: each for each in bench.tasks}
    best = [benchmark.best(*place, (PUBLISHED, STRENGTHENED)) for place in benchmark.cells]
    found = [each for each in best if each is not None]
    ends: dict[str, int] = {}
    for score in found:
        grid = grid_for(contenders[score.agent], tasks[score.problem], quick=bench.quick)
        for name, value in score.choice.items():
            numbers = grid.get(name, ())
            ends[name] = ends.get(name, 0) + (len(numbers) > 1 and value in (numbers[0], numbers[-1]))
    counts = ", ".join(f"{name} {count}" for name, count in ends.items() if count) or "none"
    return f"Choices of the {len(found)} best baselines at an end of their grid: {counts}."


# ---- files ----------------------------------------------------------------------------------------------


def files(bench: Bench, benchmark: Benchmark, verdicts: Sequence[TargetVerdict]) -> dict[str, bytes]:
    cells = [_cell_row(each) for against in TITLES for each in benchmark.comparisons(against)]
    scores = [_score_row(benchmark, each) for cell in benchmark.cells.values() for each in cell.values()]
    return {
        "scores.csv": csv_bytes(SCORES, scores),
        "cells.csv": csv_bytes(CELLS, cells),
        "benchmark.json": json_bytes(content(bench, benchmark, verdicts)),
        "benchmark.md": markdown(bench, benchmark, verdicts, full=True).encode(),
    }


def content(bench: Bench, benchmark: Benchmark, verdicts: Sequence[TargetVerdict]) -> dict[str, Any]:
    """The benchmark as data; the fields of scores and cells are the columns of their CSV files."""
    return {
        "quick": bench.quick,
        "seeds": list(bench.seeds.scored),
        "tune_seeds": list(bench.seeds.tuning),
        "version": version(),
        "spec_hash": spec_hash(),
        "core": core_digest(),
        "verdicts": [each.to_json() for each in verdicts],
        "cells": [
            dict(zip(CELLS, _cell_row(each), strict=True))
            for against in TITLES
            for each in benchmark.comparisons(against)
        ],
        "scores": [
            dict(zip(SCORES, _score_row(benchmark, each), strict=True))
            for cell in benchmark.cells.values()
            for each in cell.values()
        ],
    }


def _cell_row(cell: Comparison) -> list[Any]:
    share = None if cell.ours.share is None else cell.ours.share.value
    baseline = None if cell.baseline.share is None else cell.baseline.share.value
    gain = [None, None] if cell.gain is None else [cell.gain.value, cell.gain.ci95]
    return [cell.problem, cell.group, cell.budget_bytes, cell.against, share, cell.baseline.agent, baseline,
            cell.baseline.bytes_peak, *gain, cell.outcome]  # fmt: skip


def _score_row(benchmark: Benchmark, score: Score) -> list[Any]:
    share = [None, None] if score.share is None else [score.share.value, score.share.ci95]
    reward = None if score.share is None else float(score.reward.mean())
    return [
        score.problem, GROUP_OF[score.problem], score.episodes, score.budget_bytes, score.agent, score.kind,
        score.refused or "ok", reward, benchmark.references[score.problem]["unit"], *share, score.above_chance,
        score.bytes_peak, score.restarts, json.dumps(dict(score.choice)),
    ]  # fmt: skip


# ---- protocol ------------------------------------------------------------------------------------------

DRIFTS = {"none": "none", "half": "jumps at K/2", "walk": "walks"}


def protocol_text(bench: Bench) -> str:
    """Seeds and budgets, problems, contenders."""
    budgets = ", ".join(format_bytes(each) for each in bench.budgets)
    scored, tuning = bench.seeds.scored, bench.seeds.tuning
    lines = [
        f"Budgets: {budgets}; long runs: {', '.join(format_bytes(each) for each in sorted(FIRST_BUDGETS))}.",
        f"Scored on {len(scored)} seeds, {scored[0]} to {scored[-1]}; "
        f"tuned on {len(tuning)} others, {tuning[0]} to {tuning[-1]}.",
    ]
    return "\n".join([*lines, "", _problems(bench), _contenders(bench)])


def _problems(bench: Bench) -> str:
    rows = []
    for task in bench.tasks:
        d_s, d_a = task.dimensions()
        unit = "V*" if not task.rules else f"the best of {', '.join(task.rules)}"
        rows.append([task.label, f"{d_s}+{d_a}", str(task.episodes), DRIFTS[task.drift], unit])
    return markdown_table(["problem", "dimensions", "episodes K", "drift", "unit of the score"], rows)


def _contenders(bench: Bench) -> str:
    task = next((each for each in bench.tasks if not each.slow), bench.tasks[0])
    rows = [[each.label, each.kind, each.about, _fixed(each), _tuned(bench, each)] for each in bench.contenders]
    header = ["row", "class", "what it is", "fixed", f"tuned (the grid of {task.label})"]
    baselines = sum(each.kind in (PUBLISHED, STRENGTHENED) for each in bench.contenders)
    notes = [f"Smaller grids: {'; '.join(cuts(bench))}."] if cuts(bench) else []
    return "\n".join([f"{baselines} baselines.", "", markdown_table(header, rows), *notes]).rstrip() + "\n"


def cuts(bench: Bench) -> list[str]:
    """Where baselines have smaller grids, who, and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for task in bench.tasks:
        for each in bench.contenders:
            reason = cut_reason(each, task)
            if reason:
                found.setdefault((task.label, reason), []).append(each.label)
    return [
        f"{problem} ({', '.join(labels) if len(labels) < 4 else 'all rows'}): {reason}"
        for (problem, reason), labels in found.items()
    ]


def _fixed(contender: BenchmarkContender) -> str:
    return ", ".join(f"{name} {value}" for name, value in contender.options.items()) or "defaults"


def _tuned(bench: Bench, contender: BenchmarkContender) -> str:
    task = next((each for each in bench.tasks if not each.slow), bench.tasks[0])
    grid = grid_for(contender, task, quick=bench.quick)
    return "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in grid.items()) or "nothing"
