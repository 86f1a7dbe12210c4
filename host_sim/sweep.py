"""Run a sweep, on this computer or on a cluster, so that no finished cell is ever computed twice.

Every finished cell is a file of its own, written whole and flushed before the next is taken, so a sweep that
is killed at any moment goes on where it was. The tables are put together from those files in the order of the
spec: an interrupted sweep and an undisturbed one end in the same bytes. Times, which never repeat, have a
table of their own.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import AdambError, BudgetExceeded, InputError
from adamb.host_sim.files import csv_bytes, json_bytes, write_atomic
from adamb.host_sim.runner import COUNTERS, LAST, Estimate, estimate, simulate, spec_hash, version
from adamb.host_sim.sweep_spec import Cell, SweepSpec

COLUMNS = (
    "problem", "agent", "core", "bonus", "budget_bytes", "seed", "status", "reward_per_episode",
    "reward_last100", "optimal", "regret", "bytes_peak", *COUNTERS, "episodes", "horizon",
)  # fmt: skip
MEASURES = ("reward_per_episode", "reward_last100", "optimal", "regret")
SUMMARY = (
    "problem", "agent", "bonus", "budget_bytes", "seeds", "refused",
    *(f"{measure}_{part}" for measure in MEASURES for part in ("mean", "ci95")), "bytes_peak_max",
)  # fmt: skip
RETRIES = 3

Outcome = dict[str, Any]
Engine = Callable[[Sequence[Cell]], Iterator[tuple[Cell, Outcome]]]


def run_cell(cell: Cell, expected_version: str = "") -> Outcome:
    """Play one cell; what a budget cannot hold is an outcome, not an accident."""
    if expected_version and expected_version != version():
        raise AdambError(f"a worker has adamb {version()}, the sweep {expected_version}; they must be equal")
    try:
        problem, make = cell.build()
        agent = make()
    except BudgetExceeded as error:
        return {"refused": str(error), "rows": [], "seconds": {}}
    result = simulate(problem, agent, episodes=cell.episodes)
    optimal = result.optimal
    rows = []
    for i, seed in enumerate(result.seeds):
        rows.append(
            {
                "core": result.core,
                "seed": seed,
                "reward_per_episode": float(result.returns[i].mean()),
                "reward_last100": float(result.returns[i, -LAST:].mean()),
                "optimal": None if optimal is None else float(optimal[i].mean()),
                "regret": None if optimal is None else float((optimal[i] - result.returns[i]).sum()),
                "bytes_peak": int(result.bytes_peak[i]),
                **{name: _plain(result.stats[name][i]) for name in COUNTERS if name in result.stats},
                "episodes": result.episodes,
                "horizon": result.horizon,
            }
        )
    return {"refused": None, "rows": rows, "seconds": result.seconds}


def _plain(value: Any) -> int | float:
    return value.item() if isinstance(value, np.generic) else value


class Store:
    """The folder of a sweep: one file per finished cell, then the tables."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cells = folder, folder / "cells"
        self.cells.mkdir(parents=True, exist_ok=True)

    def get(self, cell: Cell) -> Outcome | None:
        """What the cell gave, or None while it is not done (or its file is not ours)."""
        try:
            outcome = json.loads((self.cells / f"{cell.key()}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        seeds = [row.get("seed") for row in outcome.get("rows", [])] if isinstance(outcome, dict) else None
        return outcome if seeds == list(cell.seeds) or (seeds == [] and outcome.get("refused")) else None

    def put(self, cell: Cell, outcome: Outcome) -> None:
        write_atomic(self.cells / f"{cell.key()}.json", json_bytes(outcome))

    def meta(self) -> dict[str, Any] | None:
        try:
            found = json.loads((self.folder / "meta.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Two sweeps into one folder would each think the other's tables their own."""
        with open(self.folder / ".lock", "w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:
                pass
            except BlockingIOError:
                raise InputError("out", str(self.folder), "another sweep is writing here") from None
            for part in self.cells.glob(".*.part"):
                part.unlink()
            yield


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

    def share(self) -> float | None:
        reward, best = self.estimates["reward_per_episode"], self.estimates["optimal"]
        return reward.mean / best.mean if reward and best and best.mean > 0 else None


def run_sweep(
    spec: SweepSpec,
    folder: Path,
    engine: Engine,
    *,
    force: bool = False,
    command: str = "",
    progress: Callable[[int, int, Cell | None], None] | None = None,
) -> list[Combination]:
    """Compute what is missing, then write the tables; `progress(done, of, cell)` follows it."""
    store = Store(folder)
    with store.lock():
        before = store.meta()
        if before is not None and before.get("spec_hash") != spec.hash and not force:
            limit = f"holds another sweep ({before.get('name')}); choose another folder or add --force"
            raise InputError("out", str(folder), limit)
        missing = [cell for cell in spec.cells if store.get(cell) is None]
        done = len(spec.cells) - len(missing)
        write_atomic(folder / "meta.json", json_bytes(describe(spec, command, finished=not missing)))
        if progress is not None:
            progress(done, len(spec.cells), None)
        for cell, outcome in engine(missing) if missing else ():
            store.put(cell, outcome)
            done += 1
            if progress is not None:
                progress(done, len(spec.cells), cell)
        return _write_tables(spec, store, command)


def describe(spec: SweepSpec, command: str, *, finished: bool) -> dict[str, Any]:
    """meta.json: all that is needed to know where the numbers come from."""
    packages = ("numpy", "scipy", "joblib")
    return {
        "name": spec.name,
        "spec_file": str(spec.path),
        "spec_hash": spec.hash,
        "spec": spec.text,
        "command": command,
        "seeds": spec.seeds,
        "cells": len(spec.cells),
        "finished": finished,
        "versions": {
            "adamb": version(),
            "core_spec_hash": spec_hash(),
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{name: metadata.version(name) for name in packages},
        },
    }


def _write_tables(spec: SweepSpec, store: Store, command: str) -> list[Combination]:
    outcomes = [(cell, store.get(cell)) for cell in spec.cells]
    rows = [row for cell, outcome in outcomes if outcome is not None for row in _rows(cell, outcome)]
    combinations = summarise(spec, [outcome or {} for _, outcome in outcomes])
    times = [
        [cell.key(), *cell.combination, cell.seeds[0], len(cell.seeds), *_times(outcome or {})]
        for cell, outcome in outcomes
    ]
    header = ("cell", "problem", "agent", "bonus", "budget_bytes", "first_seed", "seeds", "agent_seconds",
              "environment_seconds", "total_seconds")  # fmt: skip
    folder = store.folder
    write_atomic(folder / "timings.csv", csv_bytes(header, times))
    write_atomic(folder / "summary.csv", csv_bytes(SUMMARY, [_summary_row(each) for each in combinations]))
    listed = [[row[name] for name in COLUMNS] for row in rows]
    write_atomic(folder / "results.csv", csv_bytes(COLUMNS, listed))
    _write_parquet(folder / "results.parquet", rows)
    write_atomic(folder / "meta.json", json_bytes(describe(spec, command, finished=True)))
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


def summarise(spec: SweepSpec, outcomes: Sequence[Outcome]) -> list[Combination]:
    """One entry per combination, in the order of the spec."""
    grouped: dict[tuple[Any, ...], list[Outcome]] = {}
    for cell, outcome in zip(spec.cells, outcomes, strict=True):
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
        found.append(
            Combination(problem, agent, bonus, budget_bytes, len(rows), refused, estimates, peak)
        )
    return found


def _summary_row(each: Combination) -> list[object]:
    row: list[object] = [each.problem, each.agent, each.bonus, each.budget_bytes, each.seeds, each.refused]
    for measure in MEASURES:
        value = each.estimates[measure]
        row += [None, None] if value is None else [value.mean, value.ci95]
    return [*row, each.bytes_peak]


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


def local_engine(jobs: int | None = None) -> Engine:
    """Processes on this computer; a process that dies (out of memory, killed) costs only its own cell."""

    def run(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        from joblib import Parallel, cpu_count, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        workers = min(jobs or cpu_count(), len(cells))
        left, failures = {cell.key(): cell for cell in cells}, 0
        while left:
            pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
            try:
                for key, outcome in pool(delayed(_keyed)(cell) for cell in list(left.values())):
                    yield left.pop(key), outcome
            except BrokenProcessPool as error:
                failures += 1
                if failures > RETRIES:
                    reason = "a worker process died again and again (out of memory?); try fewer --jobs"
                    raise AdambError(f"{reason}; the finished cells are saved") from error

    return run


def _keyed(cell: Cell) -> tuple[str, Outcome]:
    return cell.key(), run_cell(cell)


def dask_engine(address: str, timeout_seconds: float = 10) -> Engine:
    """Workers of a Dask cluster; a worker that dies gives its cells back to the scheduler."""

    def run(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        with _client(address, timeout_seconds) as client:
            from distributed import KilledWorker, as_completed
            from distributed.client import FutureCancelledError
            from distributed.comm import CommClosedError

            here = version()
            futures = {
                client.submit(run_cell, cell, here, key=f"adamb-{cell.key()}", retries=RETRIES): cell
                for cell in cells
            }
            try:
                for future in as_completed(list(futures), loop=client.loop):
                    yield futures[future], future.result()
            except KilledWorker as error:
                raise AdambError(f"{error}; the finished cells are saved") from error
            except (CommClosedError, FutureCancelledError) as error:
                lost = f"the scheduler {address} went away; the finished cells are saved"
                raise AdambError(f"{lost}, the same command goes on from there") from error

    return run


def _client(address: str, timeout_seconds: float) -> Any:
    try:
        import logging

        from distributed import Client
    except ImportError:
        raise InputError("engine", "dask", "is not installed; pip install 'adamb[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=timeout_seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or "no answer"
        raise InputError("scheduler", address, f"cannot be reached: {reason}") from None
    try:
        client.wait_for_workers(1, timeout=timeout_seconds)
    except TimeoutError:
        client.close()
        raise InputError("scheduler", address, "has no workers") from None
    return client
