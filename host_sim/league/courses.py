"""How an entry gets its runs: it says which cells it wants next, and is told what they earned.

So entries can go on side by side, and what several of them want of one problem is played in one run.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from adamb.host_sim.league.together import play_cells
from adamb.host_sim.sweep.cells import Outcome
from adamb.host_sim.sweep.spec import Cell

Course = Generator[list[Cell], list[Outcome], Outcome]
"""Gives cells to play, takes their outcomes, ends with the outcome of all."""
Trials = Generator[list[Cell], list[Outcome], list[dict[str, Any]]]


def play_courses(courses: Sequence[Course]) -> list[Outcome]:
    """The end of every course."""
    ends: dict[int, Outcome] = {}
    told: dict[int, Any] = dict.fromkeys(range(len(courses)))
    while told:
        wanted: dict[int, list[Cell]] = {}
        for i, outcomes in told.items():
            try:
                wanted[i] = courses[i].send(outcomes)
            except StopIteration as end:
                ends[i] = end.value
        told = _play(wanted)
    return [ends[i] for i in range(len(courses))]


def _play(wanted: Mapping[int, Sequence[Cell]]) -> dict[int, list[Outcome]]:
    """Outcomes of the cells by who wanted them, in order."""
    groups: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for i, cells in wanted.items():
        for j, cell in enumerate(cells):
            alone = (i, j) if cell.curves else ()
            key = (cell.problem, cell.params, cell.seeds, cell.episodes, cell.horizon, cell.instance,
                   cell.drift, cell.continuing, alone)  # fmt: skip
            groups.setdefault(key, []).append((i, j))
    found: dict[tuple[int, int], Outcome] = {}
    for places in groups.values():
        found |= zip(places, play_cells([wanted[i][j] for i, j in places]), strict=True)
    return {i: [found[i, j] for j in range(len(cells))] for i, cells in wanted.items()}
