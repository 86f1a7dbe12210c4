"""Running times of the paper's algorithms, measured one after another on one core."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.host_sim.runner import simulate
from adamb.host_sim.studies.times import OURS, PAPER_SECONDS, Timing, pairs
from adamb.host_sim.sweep.spec import Cell

LEARNERS = 20
"""Learners stepped together: enough that the time is the algorithm's and not the interpreter's."""
BONUS = 1.0
"""The constant c that the paper's times are for."""
NAMES = {"ambulance-1": "1 ambulance", "ambulance-2": "2 ambulances", "oil": "oil"}
COLUMNS = ("problem", "algorithm", "microseconds_per_step", "ci95", "fastest", "of_adaql", "paper_seconds",
           "paper_of_adaql", "episodes", "learners", "repeats")  # fmt: skip

Times = dict[str, dict[str, Timing]]


@dataclass(frozen=True)
class Length:
    """How long each algorithm is timed."""

    episodes: int
    repeats: int = 5

    @classmethod
    def quick(cls) -> Length:
        return cls(200, 4)


def rows_to_time(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """One problem for each row of the paper's table, with a cell for every algorithm that a verdict needs."""
    found: dict[str, list[Cell]] = {}
    for row, problem in ((NAMES[key], key) for key in NAMES):
        mine = [cell for cell in cells if cell.problem.startswith(problem)]
        labels = {cell.problem_label for cell in mine[:1]}
        wanted = {*OURS, *(name for pair in pairs(row) for name in pair)}
        by_agent = {
            cell.agent_label: cell
            for cell in mine
            if cell.problem_label in labels and cell.agent_label in wanted
        }
        if by_agent:
            found[row] = list(by_agent.values())
    return found


def measure(cells: Sequence[Cell], length: Length, alive: Callable[[str], object] = str) -> Times:
    """Agent time of one act and one observe of one learner, in µs; `alive` hears how far it is.

    The algorithms take turns, so that a computer that is busy for a while slows all of them.
    """

    def play(row: str, single: Cell, turn: int) -> float:
        alive(f"timing {single.agent_label} on {row}, round {turn + 1} of {length.repeats}")
        return _once(single)

    times: Times = {}
    for row, group in rows_to_time(cells).items():
        singles = [_timed(cell, length.episodes) for cell in group]
        rounds = np.array([[play(row, single, turn) for single in singles] for turn in range(length.repeats)])
        times[row] = {cell.agent_label: Timing(column) for cell, column in zip(group, rounds.T, strict=True)}
    return times


def _timed(cell: Cell, episodes: int) -> Cell:
    bonus = cell.bonus if cell.agent_label in OURS else BONUS
    return replace(cell, seeds=tuple(range(LEARNERS)), episodes=episodes, curves=0, bonus=bonus)


def _once(cell: Cell) -> float:
    """Of processor time: the share of the clock that this process was given takes other programs out."""
    problem, make = cell.build()
    agent = make()
    clock, processor = time.perf_counter(), time.process_time()
    result = simulate(problem, agent, episodes=cell.episodes, record=1, optimum=False)
    share = (time.process_time() - processor) / (time.perf_counter() - clock)
    return share * result.microseconds_per_step()


def table_rows(times: Times, length: Length) -> list[list[Any]]:
    """Our time and the paper's, each also as a multiple of AdaQL's."""
    rows: list[list[Any]] = []
    for row, measured in times.items():
        unit = measured["AdaQL"].fastest if "AdaQL" in measured else None
        for algorithm, value in measured.items():
            paper = PAPER_SECONDS[row]
            printed = paper.get(algorithm.removesuffix(" full"))
            ratio = None if printed is None else printed / paper["AdaQL"]
            ours = None if unit is None else value.fastest / unit
            mean = value.mean
            figures = [mean.mean, mean.ci95, value.fastest, ours, printed, ratio]
            rows.append([row, algorithm, *figures, length.episodes, LEARNERS, length.repeats])
    return rows
