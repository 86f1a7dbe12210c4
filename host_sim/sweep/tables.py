"""The tables of a sweep: a row per seed, an average per combination; times, which never repeat, apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adamb.host_sim.files import csv_bytes, write_atomic
from adamb.host_sim.ratios import Ratio, ratio
from adamb.host_sim.results.record import rows_as_csv
from adamb.host_sim.results.sweep import SUMMARY, SummaryRow
from adamb.host_sim.runner import RESULT_COUNTERS, Estimate, estimate
from adamb.host_sim.sweep.cells import Outcome
from adamb.host_sim.sweep.spec import Cell
from adamb.host_sim.sweep.tuning import Tuned

COLUMNS = (
    "problem", "agent", "core", "bonus", "budget_bytes", "seed", "status", "reward_per_episode",
    "reward_early", "reward_last100", "optimal", "regret", "bytes_peak", *RESULT_COUNTERS, "episodes",
    "horizon",
)  # fmt: skip
MEASURES = ("reward_per_episode", "reward_last100", "optimal", "regret")
TIMINGS = ("cell", "problem", "agent", "bonus", "budget_bytes", "first_seed", "seeds", "agent_seconds",
           "environment_seconds", "total_seconds")  # fmt: skip
TUNING = ("problem", "agent", "budget_bytes", "options", "seeds", "reward_per_episode_mean",
          "reward_per_episode_ci95", "chosen")  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """The average of one combination over its seeds."""

    problem: str
    agent: str
    bonus: str | float | None
    budget_bytes: int | None
    seeds: int
    refused: str | None
    estimates: dict[str, Estimate | None]
    bytes_peak: int | None
    share: Ratio | None
    """Of V*, where that is known."""

    @property
    def reward(self) -> Estimate | None:
        return self.estimates["reward_per_episode"]


def write_tables(
    folder: Path, outcomes: Sequence[tuple[Cell, Outcome]], tuned: Sequence[Tuned]
) -> list[Combination]:
    """Everything but meta.json; the averages are also the answer."""
    rows = [row for cell, outcome in outcomes for row in _rows(cell, outcome)]
    combinations = summarise(outcomes)
    times = [
        [cell.key(), *cell.combination, cell.seeds[0], len(cell.seeds), *_times(outcome)]
        for cell, outcome in outcomes
    ]
    write_atomic(folder / "timings.csv", csv_bytes(TIMINGS, times))
    write_atomic(folder / SUMMARY, rows_as_csv(SummaryRow, [_summary_row(each) for each in combinations]))
    if tuned:
        trials = [row for each in tuned for row in _tuning_rows(each)]
        write_atomic(folder / "tuning.csv", csv_bytes(TUNING, trials))
    listed = [[row[name] for name in COLUMNS] for row in rows]
    write_atomic(folder / "results.csv", csv_bytes(COLUMNS, listed))
    _write_parquet(folder / "results.parquet", rows)
    return combinations


def _rows(cell: Cell, outcome: Outcome) -> Iterator[dict[str, Any]]:
    problem, agent, bonus, budget_bytes = cell.combination
    shared = {"problem": problem, "agent": agent, "bonus": bonus, "budget_bytes": budget_bytes}
    if outcome["refused"]:
        blank = dict.fromkeys(COLUMNS)
        for seed in cell.seeds:
            yield {**blank, **shared, "seed": seed, "status": outcome["refused"]}
    for row in outcome["rows"]:
        yield {**dict.fromkeys(COLUMNS), **shared, "status": "ok", **row}


def _times(outcome: Outcome) -> list[float | None]:
    return [outcome.get("seconds", {}).get(name) for name in ("agent", "environment", "total")]


def _tuning_rows(tuned: Tuned) -> Iterator[list[object]]:
    problem, agent, budget_bytes = tuned.place
    for trial, reward in tuned.tried:
        figures = [None, None] if reward is None else [reward.mean, reward.ci95]
        options = json.dumps(dict(trial.choice))
        seeds = len(trial.cell.seeds)
        yield [problem, agent, budget_bytes, options, seeds, *figures, trial.choice == tuned.choice]


def summarise(outcomes: Sequence[tuple[Cell, Outcome]]) -> list[Combination]:
    """One entry per combination, in the order of the spec."""
    grouped: dict[tuple[Any, ...], list[Outcome]] = {}
    for cell, outcome in outcomes:
        grouped.setdefault(cell.combination, []).append(outcome)
    found = []
    for combination, group in grouped.items():
        rows = [row for outcome in group for row in outcome["rows"]]
        estimates: dict[str, Estimate | None] = {}
        for measure in MEASURES:
            values = [row[measure] for row in rows]
            estimates[measure] = estimate(np.array(values)) if values and None not in values else None
        refused = next((outcome["refused"] for outcome in group if outcome["refused"]), None)
        peak = max((row["bytes_peak"] for row in rows), default=None)
        problem, agent, bonus, budget_bytes = combination
        share = _share(rows) if estimates["reward_per_episode"] and estimates["optimal"] else None
        found.append(
            Combination(problem, agent, bonus, budget_bytes, len(rows), refused, estimates, peak, share)
        )
    return found


def _share(rows: Sequence[dict[str, Any]]) -> Ratio | None:
    best = [row["optimal"] for row in rows]
    return ratio([row["reward_per_episode"] for row in rows], best) if sum(best) > 0 else None


def _summary_row(each: Combination) -> SummaryRow:
    estimates: dict[str, float | None] = {}
    for measure in MEASURES:
        value = each.estimates[measure]
        estimates[f"{measure}_mean"] = None if value is None else value.mean
        estimates[f"{measure}_ci95"] = None if value is None else value.ci95
    return SummaryRow(
        problem=each.problem,
        agent=each.agent,
        bonus=None if each.bonus is None else str(each.bonus),
        budget_bytes=each.budget_bytes,
        seeds=each.seeds,
        refused=each.refused,
        bytes_peak_max=each.bytes_peak,
        **estimates,
    )


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    """Also as Parquet where pyarrow is installed; the bonus is text there, as `auto` is not a number."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    columns["bonus"] = [None if value is None else str(value) for value in columns["bonus"]]
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(columns), sink)
    write_atomic(path, sink.getvalue().to_pybytes())
