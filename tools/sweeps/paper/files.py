"""The files that `adamb sweep paper` adds to the folder of its sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.results.paper import CLAIMS_FILE, CURVES_FILE, PaperCurves, problem_curves
from adamb.host_sim.studies.claims import MARGIN, Scores, Verdict
from adamb.host_sim.sweep.spec import Cell, SweepSpec
from adamb.tools.figures import paper as paper_figures
from adamb.tools.measure import paper_times

VERDICT_COLUMNS = (
    "claim",
    "problem",
    "compared",
    "figures",
    "difference",
    "holds",
    "undecided",
    "seeds",
    "note",
)
SCORES = ("problem", "algorithm", "bonus", "reward_mean", "reward_ci95", "early_mean", "early_ci95",
          "last100_mean", "last100_ci95", "leaves_mean", "leaves_ci95", "optimal", "seeds")  # fmt: skip


def paper_files(
    spec: SweepSpec, results: Sequence[tuple[Cell, Any]], scores: Scores, verdicts: list[Verdict],
    times: paper_times.Times, length: paper_times.Length, note: str,
) -> dict[str, bytes]:  # fmt: skip
    bonuses = {(cell.problem_label, cell.agent_label): cell.bonus for cell, _ in results}
    rows = [
        [problem, agent, bonuses[problem, agent], *_numbers(scores, problem, agent)]
        for problem, agent in scores.rows
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
