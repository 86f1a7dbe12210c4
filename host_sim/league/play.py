"""Playing the league: which entries, in which order, kept where.

Every finished entry is a file of its own, written whole, so a bench that is killed goes on where it was, and
two that play different rows may share a folder. What is under way is played again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adamb.budgets.errors import AdambError
from adamb.host_sim.files import json_bytes, write_atomic
from adamb.host_sim.league.entries import Entry, Joint, Piece, Reference, make_entry, play, with_known
from adamb.host_sim.league.protocol import (
    BUDGETS,
    FIRST_BUDGETS,
    OWN,
    QUICK_SEEDS,
    SEEDS,
    UNTUNED,
    LeagueContender,
    LeagueTask,
    Seeds,
    find_contenders,
    find_tasks,
)
from adamb.host_sim.sweep.cells import Outcome
from adamb.host_sim.sweep.engines import processes
from adamb.host_sim.user_code import names_file

Progress = Callable[[int, int, Piece | None], None]
PARTS = 2
"""Into so many runs the entries of one slow simulator at one budget are put: its draws are drawn so often."""


@dataclass(frozen=True)
class Bench:
    """What is asked for: problems, budgets, rows; `quick` has fewer seeds, episodes and choices."""

    tasks: tuple[LeagueTask, ...]
    budgets: tuple[int, ...]
    contenders: tuple[LeagueContender, ...]
    seeds: Seeds
    quick: bool = False

    def budgets_of(self, task: LeagueTask, contender: LeagueContender) -> list[int | None]:
        """Long runs have the first budgets only; after a jump the controller is watched without a cap too."""
        found: list[int | None] = [
            each for each in self.budgets if task.group != "long" or each in FIRST_BUDGETS
        ]
        uncapped = task.drift == "half" and contender.label == UNTUNED
        return [*found, None] if uncapped else found

    def with_everyone(self) -> Bench:
        """The same with all rows of the league, and those of the user that were asked for."""
        own = [each for each in self.contenders if each.kind == OWN]
        return replace(self, contenders=(*find_contenders(None), *own))

    def entries(self) -> list[Entry]:
        """Everything, whether played already or not."""
        return [entry for phase in self.phases() for entry in phase]

    def references(self) -> list[Reference]:
        return [Reference(task, self.seeds.scored) for task in self.tasks]

    def phases(self) -> Iterator[list[Entry]]:
        """Entries that do not wait for one another, the most telling first."""
        rest = [each for each in self.budgets if each not in FIRST_BUDGETS]
        first = [each for each in FIRST_BUDGETS if each in self.budgets]
        orders: list[tuple[Sequence[int | None], tuple[str, ...]]] = [
            (first, ("stationary", "drift", "slow", "long")),
            ([*rest, None], ("stationary", "drift", "slow")),
        ]
        for budgets, groups in orders:
            for group in groups:
                for budget in budgets:
                    found = list(self._phase(group, budget))
                    if found:
                        yield found

    def _phase(self, group: str, budget: int | None) -> Iterator[Entry]:
        for task in self.tasks:
            if ("slow" if task.slow else task.group) != group:
                continue
            for contender in self.contenders:
                if contender.drift_only and task.drift == "none":
                    continue
                if budget in self.budgets_of(task, contender):
                    yield make_entry(task, contender, budget, self.seeds, quick=self.quick)


def make_bench(
    *,
    only: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    agents: Sequence[str] | None = None,
    quick: bool = False,
) -> Bench:
    """The league or a part of it; unknown names are InputErrors."""
    wanted = tuple(sorted(set(budgets))) if budgets else FIRST_BUDGETS if quick else BUDGETS
    return Bench(
        tuple(find_tasks(only, quick=quick)),
        tuple(sorted(wanted)),
        tuple(find_contenders(agents)),
        QUICK_SEEDS if quick else SEEDS,
        quick,
    )


class EntryStore:
    """A folder of outcomes, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "entries"

    def get(self, piece: Piece) -> Outcome | None:
        """The outcome, or None while it is not there or its file is not whole."""
        try:
            found = json.loads((self.folder / f"{piece.key()}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) and "problem" in found else None

    def put(self, piece: Piece, outcome: Outcome) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{piece.key()}.json", json_bytes(outcome, indent=None))

    def relatives(self, entry: Entry, budgets: Sequence[int]) -> Iterator[Outcome]:
        """What the same contender did at other budgets, or in the shorter runs of the same problem."""
        if entry.core is not None:
            return
        lengths = {entry.cell.episodes, entry.screening_episodes or entry.cell.episodes}
        for episodes in sorted(lengths):
            for budget in (*BUDGETS, *(each for each in budgets if each not in BUDGETS)):
                cell = replace(entry.cell, budget_bytes=budget, episodes=episodes)
                screening = entry.screening_episodes if episodes == entry.cell.episodes else None
                found = self.get(Entry(cell, entry.tuning_seeds, screening, None))
                if found is not None:
                    yield found


def run_bench(
    bench: Bench, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> None:
    """Play what is missing; `progress(done, of, piece)` follows it."""
    store = EntryStore(folder)
    engine = processes(play, jobs)
    phases = list(_with_references(bench))
    total = sum(len(phase) for phase in phases)
    missing = [[piece for piece in phase if store.get(piece) is None] for phase in phases]
    done = total - sum(len(phase) for phase in missing)
    if progress is not None:
        progress(done, total, None)
    failures: list[str] = []
    for phase in missing:
        ready = _joined([_informed(piece, store, bench.budgets) for piece in phase], bench)
        for piece, outcome in _apart(engine(ready)) if ready else ():
            done += 1
            if outcome.get("failed"):
                failures.append(f"{describe(piece)}: {outcome['failed']}")
                continue
            store.put(piece, outcome)
            if progress is not None:
                progress(done, total, piece)
    if failures:
        others = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise AdambError(f"{failures[0]}{others}; the other entries are saved")


def _with_references(bench: Bench) -> Iterator[list[Piece]]:
    """The phases; what a problem has to offer is measured with the first of its entries."""
    waiting = {piece.task.label: piece for piece in bench.references()}
    for phase in bench.phases():
        labels = dict.fromkeys(entry.cell.problem_label for entry in phase)
        first = [waiting.pop(label) for label in labels if label in waiting]
        yield [*first, *phase]


def _informed(piece: Piece, store: EntryStore, budgets: Sequence[int]) -> Piece:
    if isinstance(piece, Reference):
        return piece
    return with_known(piece, list(store.relatives(piece, budgets)))


def _joined(pieces: Sequence[Piece], bench: Bench) -> list[Piece | Joint]:
    """The pieces of a phase, with the entries of a slow simulator in a few common runs."""
    slow = {task.label for task in bench.tasks if task.slow}
    by_task: dict[str, list[Entry]] = {}
    rest: list[Piece | Joint] = []
    for piece in pieces:
        if isinstance(piece, Entry) and piece.cell.problem_label in slow and not names_file(piece.cell.agent):
            by_task.setdefault(piece.cell.problem_label, []).append(piece)
        else:
            rest.append(piece)
    joined = [Joint(tuple(found[i::PARTS])) for found in by_task.values() for i in range(PARTS) if found[i:]]
    return [*joined, *rest]


def _apart(played: Iterator[tuple[Piece | Joint, Outcome]]) -> Iterator[tuple[Piece, Outcome]]:
    for piece, outcome in played:
        if isinstance(piece, Joint):
            yield from zip(piece.entries, outcome["entries"], strict=True)
        else:
            yield piece, outcome


def describe(piece: Piece) -> str:
    """A piece in words."""
    from adamb.budgets.sizes import format_bytes

    if isinstance(piece, Reference):
        return f"{piece.task.label} × V*"
    budget = piece.cell.budget_bytes
    cap = "no cap" if budget is None else format_bytes(budget)
    return f"{piece.cell.problem_label} × {piece.cell.agent_label}, {cap}"


def missing(bench: Bench, folder: Path) -> tuple[int, int]:
    """How many entries of the asked problems and budgets are not there, and of how many, all rows counted."""
    store = EntryStore(folder)
    everyone = bench.with_everyone().entries()
    return sum(store.get(entry) is None for entry in everyone), len(everyone)


def results(bench: Bench, folder: Path) -> tuple[dict[str, Outcome], list[Outcome]]:
    """What is there: references by problem, outcomes of entries. A part that was not played is absent."""
    store = EntryStore(folder)
    references = {piece.task.label: store.get(piece) for piece in bench.references()}
    everyone = bench.with_everyone()
    outcomes = [store.get(entry) for entry in everyone.entries()]
    known = {label: found for label, found in references.items() if found is not None}
    return known, [found for found in outcomes if found is not None and found["problem"] in known]
