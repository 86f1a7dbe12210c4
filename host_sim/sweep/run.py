"""Run a sweep, on this computer or on a cluster, so that no finished cell is ever computed twice.

Every finished cell is a file of its own, written whole and flushed before the next is taken, so a sweep that
is killed at any moment goes on where it was. The tables are put together from those files in the order of the
spec: an interrupted sweep and an undisturbed one end in the same bytes. Times, which never repeat, have a
table of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adamb.budgets.errors import AdambError, InputError
from adamb.host_sim.files import json_bytes, write_atomic
from adamb.host_sim.provenance import versions
from adamb.host_sim.results.record import read_record
from adamb.host_sim.results.sweep import META, SweepMeta
from adamb.host_sim.sweep.cells import Outcome, run_cell
from adamb.host_sim.sweep.engines import Engine, dask_engine, local_engine
from adamb.host_sim.sweep.spec import Cell, SweepSpec
from adamb.host_sim.sweep.tables import Combination, summarise, write_tables
from adamb.host_sim.sweep.tuning import Trial, Tuned, choose, place_of, trials

__all__ = [
    "CellFiles",
    "Combination",
    "Engine",
    "Outcome",
    "dask_engine",
    "local_engine",
    "results_of",
    "run_cell",
    "run_sweep",
    "summarise",
]

PACKAGES = ("numpy", "scipy", "joblib")
Progress = Callable[[int, int, Cell | None], None]


class CellFiles:
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

    def meta(self) -> SweepMeta | None:
        """What was swept here before; None in a fresh folder, or where the file is not ours to keep."""
        try:
            return read_record(SweepMeta, self.folder / META)
        except (FileNotFoundError, InputError):
            return None

    def describe(self, meta: SweepMeta) -> None:
        write_atomic(self.folder / META, json_bytes(meta.to_json()))

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


def run_sweep(
    spec: SweepSpec,
    folder: Path,
    engine: Engine,
    *,
    force: bool = False,
    command: str = "",
    progress: Progress | None = None,
) -> list[Combination]:
    """Compute what is missing, then write the tables; `progress(done, of, cell)` follows it."""
    store = CellFiles(folder)
    with store.lock():
        before = store.meta()
        if before is not None and before.spec_hash != spec.hash and not force:
            limit = f"holds another sweep ({before.name}); choose another folder or add --force"
            raise InputError("out", str(folder), limit)
        tried = tuple(trials(spec.cells, spec.tune_seeds))
        work = _Work(store, engine, len(tried) + len(spec.cells), progress)
        store.describe(describe(spec, command, finished=False))
        work.start([trial.cell for trial in tried] + [cell for cell in spec.cells if not cell.tune])
        work.compute([trial.cell for trial in tried])
        tuned = choose(tried, store.get)
        cells = resolve(spec, tuned)
        work.compute(cells)
        found = [(cell, store.get(cell)) for cell in cells]
        outcomes = [(cell, outcome) for cell, outcome in found if outcome is not None]
        combinations = write_tables(folder, outcomes, list(tuned.values()))
        work.raise_failures()
        store.describe(describe(spec, command, finished=True, tuned=tuned))
        return combinations


def resolve(spec: SweepSpec, tuned: dict[Any, Tuned]) -> list[Cell]:
    """The cells to score, with every tuned option set to what won."""
    return [cell.with_choice(tuned[place_of(cell)].choice) if cell.tune else cell for cell in spec.cells]


def results_of(spec: SweepSpec, folder: Path) -> list[tuple[Cell, Outcome]]:
    """Cells and outcomes of a finished sweep, for an analysis that needs more than the tables hold."""
    store = CellFiles(folder)
    tried: tuple[Trial, ...] = tuple(trials(spec.cells, spec.tune_seeds))
    cells = resolve(spec, choose(tried, store.get))
    return [(cell, store.get(cell) or {"refused": None, "rows": []}) for cell in cells]


class _Work:
    """Computes cells that are not in the store, and counts."""

    def __init__(self, store: CellFiles, engine: Engine, total: int, progress: Progress | None) -> None:
        self.store, self.engine, self.progress = store, engine, progress
        self.done, self.total = 0, total
        self.counted: set[Cell] = set()
        self.failures: list[str] = []

    def start(self, known: Sequence[Cell]) -> None:
        """Tell how much is there from before; tuned cells are not known yet and count when they come."""
        self._count(known)
        if self.progress is not None:
            self.progress(self.done, self.total, None)

    def _count(self, cells: Sequence[Cell]) -> list[Cell]:
        """Count what is there; the rest is missing."""
        missing = [cell for cell in cells if self.store.get(cell) is None]
        there = set(cells) - set(missing) - self.counted
        self.counted |= there
        self.done += len(there)
        return missing

    def compute(self, cells: Sequence[Cell]) -> None:
        """A cell whose environment or agent misbehaves does not stop the others; it is named at the end."""
        missing = self._count(cells)
        for cell, outcome in self.engine(missing) if missing else ():
            if outcome.get("failed"):
                seeds = f"seeds {cell.seeds[0]}..{cell.seeds[-1]}"
                place = f"{cell.problem_label} × {cell.agent_label}, {seeds}"
                self.failures.append(f"{place}: {outcome['failed']}")
                continue
            self.store.put(cell, outcome)
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total, cell)

    def raise_failures(self) -> None:
        if self.failures:
            others = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            place = f"{self.store.folder}, their means in summary.csv there"
            raise AdambError(f"{self.failures[0]}{others}; {self.done} finished cells are saved in {place}")


def describe(
    spec: SweepSpec, command: str, *, finished: bool, tuned: dict[Any, Tuned] | None = None
) -> SweepMeta:
    return SweepMeta(
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
