"""A sweep: tune what is open, play what is missing, write the tables.

The tables are put together from the stored cells in the order of the spec: an interrupted sweep and an
undisturbed one end in the same bytes. Times, which never repeat, have a table of their own.

Options are tuned on seeds of their own, then scored on seeds they never saw: for each problem and budget
separately, by the mean reward of the whole run, which is what the literature does for exploration constants.
A choice that does not fit the budget is no candidate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.experiments import Experiment, JobStore, Progress, Workers
from adamb.host_sim.experiments.cell import Cell, Choice, Outcome
from adamb.host_sim.experiments.spec import SweepSpec
from adamb.host_sim.files import csv_bytes, json_bytes, write_atomic
from adamb.host_sim.provenance import versions
from adamb.host_sim.ratios import Ratio, ratio
from adamb.host_sim.results import read_record, rows_as_csv
from adamb.host_sim.results.sweep import META, SUMMARY, SummaryRow, SweepMeta
from adamb.host_sim.runner import RESULT_COUNTERS, Estimate, estimate

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


def write_tables(folder: Path, outcomes: Sequence[tuple[Cell, Outcome]], tuned: Sequence[Tuned]) -> list[Combination]:
    """Everything but meta.json; the averages are also the answer."""
    rows = [row for cell, outcome in outcomes for row in _rows(cell, outcome)]
    combinations = summarise(outcomes)
    times = [
        [cell.key(), *cell.combination, cell.seeds[0], len(cell.seeds), *_times(outcome)] for cell, outcome in outcomes
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
        found.append(Combination(problem, agent, bonus, budget_bytes, len(rows), refused, estimates, peak, share))
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


PACKAGES = ("numpy", "scipy", "joblib")
Place = tuple[str, str, int | None]


@dataclass(frozen=True)
class Trial:
    """One choice for one place, played on the tuning seeds."""

    place: Place
    choice: Choice
    cell: Cell


@dataclass(frozen=True)
class Tuned:
    """The choices that were tried at a place, and the one that won."""

    place: Place
    choice: Choice
    tried: tuple[tuple[Trial, Estimate | None], ...]
    """None for a choice that does not fit."""


def place_of(cell: Cell) -> Place:
    return cell.problem_label, cell.agent_label, cell.budget_bytes


def trials(spec: SweepSpec) -> list[Trial]:
    """Every choice of every place that has something to tune, once."""
    places: dict[Place, Cell] = {}
    for cell in spec.cells:
        if cell.tune:
            places.setdefault(place_of(cell), cell)
    return [
        Trial(place, choice, replace(cell.with_choice(choice), seeds=spec.tune_seeds, curves=0))
        for place, cell in places.items()
        for choice in cell.choices()
    ]


def choose(tried: Sequence[Trial], store: JobStore) -> dict[Place, Tuned]:
    """The winner of every place; where nothing fits, the first choice stands for the refusal."""
    grouped: dict[Place, list[Trial]] = {}
    for trial in tried:
        grouped.setdefault(trial.place, []).append(trial)
    found = {}
    for place, group in grouped.items():
        scored = tuple((trial, _reward(store.get(trial.cell))) for trial in group)
        best = max(scored, key=lambda each: -np.inf if each[1] is None else each[1].mean)
        found[place] = Tuned(place, best[0].choice, scored)
    return found


def _reward(outcome: Outcome | None) -> Estimate | None:
    rows = outcome["rows"] if outcome else []
    return estimate(np.array([row["reward_per_episode"] for row in rows])) if rows else None


def store_of(folder: Path) -> JobStore:
    return JobStore(folder / "cells")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Two sweeps into one folder would each think the other's tables their own."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except BlockingIOError:
            raise InputError("out", str(folder), "another sweep is writing here") from None
        yield


def run_sweep(
    spec: SweepSpec, folder: Path, workers: Workers, *, command: str = "", progress: Progress | None = None
) -> list[Combination]:
    """Compute what is missing, then write the tables; `progress(done, of, cell)` follows it.

    A folder keeps the cells of a sweep that is changed, so that only the new ones are played; one of another
    name is refused.
    """
    store = store_of(folder)
    with locked(folder):
        store.clean()
        before = _meta_before(folder)
        if before is not None and before.spec_hash != spec.hash and before.name != spec.name:
            limit = f"holds another sweep ({before.name}); choose another folder"
            raise InputError("out", str(folder), limit)
        tried = trials(spec)
        trial_cells = [trial.cell for trial in tried]
        experiment = Experiment(store, workers, len(tried) + len(spec.cells), _describe, progress)
        _write_meta(spec, folder, command, finished=False)
        experiment.start([*trial_cells, *(cell for cell in spec.cells if not cell.tune)])
        experiment.play(trial_cells)
        tuned = choose(tried, store)
        cells = resolve(spec, tuned)
        experiment.play(cells)
        found = [(cell, store.get(cell)) for cell in cells]
        outcomes = [(cell, outcome) for cell, outcome in found if outcome is not None]
        combinations = write_tables(folder, outcomes, list(tuned.values()))
        place = f"{folder}, their means in summary.csv there"
        experiment.raise_failures(f"{experiment.done} finished cells are saved in {place}")
        _write_meta(spec, folder, command, finished=True, tuned=tuned)
        return combinations


def resolve(spec: SweepSpec, tuned: Mapping[Place, Tuned]) -> list[Cell]:
    """The cells to score, with every tuned option set to what won."""
    return [cell.with_choice(tuned[place_of(cell)].choice) if cell.tune else cell for cell in spec.cells]


def results_of(spec: SweepSpec, folder: Path) -> list[tuple[Cell, Outcome]]:
    """Cells and outcomes of a finished sweep, for an analysis that needs more than the tables hold."""
    store = store_of(folder)
    cells = resolve(spec, choose(trials(spec), store))
    return [(cell, store.get(cell) or {"refused": None, "rows": []}) for cell in cells]


def _describe(cell: Cell) -> str:
    return f"{cell.problem_label} × {cell.agent_label}, seeds {cell.seeds[0]}..{cell.seeds[-1]}"


def _meta_before(folder: Path) -> SweepMeta | None:
    """The sweep that was here before; None in a fresh folder, or where the file is not ours to keep."""
    try:
        return read_record(SweepMeta, folder / META)
    except (FileNotFoundError, InputError):
        return None


def _write_meta(
    spec: SweepSpec, folder: Path, command: str, *, finished: bool, tuned: Mapping[Place, Tuned] | None = None
) -> None:
    meta = SweepMeta(
        name=spec.name,
        spec_file=str(spec.path),
        spec_hash=spec.hash,
        spec=spec.text,
        quick=spec.quick,
        command=command,
        seeds=list(spec.seeds),
        tune_seeds=list(spec.tune_seeds) if any(cell.tune for cell in spec.cells) else [],
        cells=len(spec.cells),
        finished=finished,
        versions=versions(*PACKAGES),
        tuned=[
            {"problem": place[0], "agent": place[1], "budget_bytes": place[2], **dict(each.choice)}
            for place, each in (tuned or {}).items()
        ],
    )
    write_atomic(folder / META, json_bytes(meta.to_json()))
