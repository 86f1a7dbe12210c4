"""Judge, measure, draw, print and save what a finished sweep of the paper's experiments found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.host_sim.studies.claims import MARGIN, Scores, Verdict, judge
from adamb.host_sim.studies.nets import deposit_notes
from adamb.host_sim.studies.q_star import ADAPTIVE, QMap, judge_maps, q_map
from adamb.host_sim.studies.times import judge_times
from adamb.host_sim.sweep.run import results_of
from adamb.host_sim.sweep.spec import Cell, SweepSpec
from adamb.tools import outputs
from adamb.tools.figures.paper import STEP
from adamb.tools.measure import paper_times
from adamb.tools.sweeps.paper.files import paper_files
from adamb.tools.sweeps.paper.growth import MEASURED_BY, analyse_growth
from adamb.tools.sweeps.paper.pictures import flat_cells, pictures
from adamb.tools.sweeps.paper.tables import claim_tables, edge_line, score_tables, tally_lines, time_table

if TYPE_CHECKING:
    from rich.console import Console

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
    spec: SweepSpec, folder: Path, console: Console, errors: Console, *, growth: SweepSpec | None,
    jobs: int | None, quiet: bool,
) -> list[Verdict]:  # fmt: skip
    """A finished sweep is analysed again without playing it again; `growth` is its second part."""

    def tell(text: str) -> None:
        if not quiet:
            errors.print(f"{spec.name}: {text}", highlight=False)

    results = results_of(spec, folder)
    scores = Scores(results)
    length = paper_times.Length.quick() if spec.quick else paper_times.Length(spec.cells[0].episodes)
    tell(f"timing each algorithm, {length.episodes} episodes, alone on one core")
    alive = paced(tell)
    times = paper_times.measure([cell for cell, _ in results], length, alive)
    tell("comparing Q with Q*")
    verdicts = [*judge(scores), *judge_maps(_maps(results, jobs, alive))]
    tables = [*score_tables(scores), time_table(times, length)]
    lines = [FAIRNESS, GUARANTEES]
    if growth is not None:
        table, judged = analyse_growth(growth, folder)
        verdicts += judged
        tables.append(table)
        lines.append(MEASURED_BY)
    verdicts += judge_times(times)
    verdicts = _with_notes(verdicts, deposit_notes([cell for cell, _ in results]))
    tell("drawing")
    outputs.save(folder, pictures(results, scores, jobs))
    note = f"{GUARANTEES} {FAIRNESS}"
    outputs.save(folder, paper_files(spec, results, scores, verdicts, times, length, note))
    for table in (*tables, *claim_tables(verdicts)):
        console.print(table)
    lines = [EQUAL, *tally_lines(verdicts), edge_line(spec, results), *lines]
    console.print(*lines, sep="\n", highlight=False, soft_wrap=True)
    return verdicts


def _with_notes(verdicts: Sequence[Verdict], notes: dict[tuple[str, str], str]) -> list[Verdict]:
    """What there is to know about a grid of a problem stands beside every verdict on it."""
    found = []
    for each in verdicts:
        said = [
            notes[each.problem, name] for name in each.compared.split(" : ") if (each.problem, name) in notes
        ]
        found.append(replace(each, note="; ".join(filter(None, dict.fromkeys([each.note, *said])))))
    return found


def paced(tell: Callable[[str], None], seconds: float = 5.0) -> Callable[[str], None]:
    """The same, at most once in so many seconds: a sign of life of work that takes long."""
    last = time.monotonic()

    def say(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            tell(text)

    return say


def _maps(
    results: Sequence[tuple[Cell, Any]], jobs: int | None, alive: Callable[[str], None]
) -> dict[tuple[str, str], QMap]:
    from joblib import Parallel, cpu_count, delayed

    groups = flat_cells(results, ADAPTIVE)
    cells = [replace(cell, seeds=_seeds(cell)) for group in groups.values() for cell in group.values()]
    found = []
    for view in Parallel(n_jobs=jobs or cpu_count(), return_as="generator")(map(delayed(_map), cells)):
        found.append(view)
        alive(f"compared Q with Q* in {len(found)} of {len(cells)} cells")
    places = [(cell.problem_label, cell.agent_label) for cell in cells]
    return {place: view for place, view in zip(places, found, strict=True) if view is not None}


def _seeds(cell: Cell) -> tuple[int, ...]:
    return tuple(range(cell.seeds[0], cell.seeds[0] + MAP_SEEDS))


def _map(cell: Cell) -> QMap | None:
    problem, make = cell.build()
    return q_map(problem, make(), STEP)
