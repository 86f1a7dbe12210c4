"""Running times of the paper's algorithms, measured one after another on one core, and judged pair by pair.

`speeds` are those of the controller in C beside the paper's algorithm in Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.agents import Agent, make_agent
from adamb.host_sim.experiments.cell import Cell
from adamb.host_sim.problem import Problem
from adamb.host_sim.runner import Estimate, estimate, simulate
from adamb.host_sim.studies.claims import FULL_PLANNING, Verdict, decide, high, low

if TYPE_CHECKING:
    from adamb.tools.options import PlayedProblem

PAPER_SECONDS = {
    "1 ambulance": {"AdaMB": 8.07, "AdaQL": 0.90, "epsilonQL": 1.10, "epsilonMB": 16.59},
    "2 ambulances": {"AdaMB": 22.92, "AdaQL": 1.57, "epsilonQL": 9.54, "epsilonMB": 90.92},
    "oil": {"AdaMB": 5.63, "AdaQL": 1.31, "epsilonQL": 2.21, "epsilonMB": 20.27},
}
"""Table 2 of the paper: seconds of a run of 2000 episodes of the authors' Python programs, with c = 1."""

OURS = ("AdaMB tracking",)
"""Not of the paper: a row of the table, and part of no verdict."""
LEARNERS = 20
"""Learners stepped together: enough that the time is the algorithm's and not the interpreter's."""
BONUS = 1.0
"""The constant c that the paper's times are for."""
NAMES = {"ambulance-1": "1 ambulance", "ambulance-2": "2 ambulances", "oil": "oil"}
COLUMNS = ("problem", "algorithm", "microseconds_per_step", "ci95", "fastest", "of_adaql", "paper_seconds",
           "paper_of_adaql", "episodes", "learners", "repeats")  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """Microseconds a step of one algorithm, one number a round; all algorithms take part in every round."""

    rounds: np.ndarray

    @property
    def mean(self) -> Estimate:
        return estimate(self.rounds)

    @property
    def fastest(self) -> float:
        """No disturbance can lower it."""
        return float(self.rounds.min())


Times = dict[str, dict[str, Timing]]


@dataclass(frozen=True)
class Length:
    """Length of the timing of each algorithm."""

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
            cell.agent_label: cell for cell in mine if cell.problem_label in labels and cell.agent_label in wanted
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
    problem, make = cell.build()
    agent = make()
    return of_processor(lambda: _per_step(problem, agent))


def _per_step(problem: Problem, agent: Agent) -> float:
    return simulate(problem, agent, record=1, optimum=False).microseconds_per_step()


def of_processor(measure: Callable[[], float]) -> float:
    """What `measure` finds by the clock, times the share of it that this process was given: others do not count."""
    clock, processor = time.perf_counter(), time.process_time()
    found = measure()
    return found * min(1.0, (time.process_time() - processor) / (time.perf_counter() - clock))


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


def pairs(row: str) -> list[tuple[str, str]]:
    """The faster one first: neighbours in the paper's order, model-free and model-based, one-step and full.

    The paper does not say which planning its epsilonMB was timed with, so both are held against it.
    """
    paper = PAPER_SECONDS[row]
    order = sorted(paper, key=lambda name: paper[name])
    found = list(pairwise(order))
    found += [(fast, f"{slow} full") for fast, slow in found if slow == "epsilonMB"]
    found += [("AdaQL", "AdaMB"), ("epsilonQL", "epsilonMB")]
    return found + [(one_step, full) for full, one_step in FULL_PLANNING.items()]


def judge_times(times: Mapping[str, Mapping[str, Timing]]) -> list[Verdict]:
    """Rounds are paired, so a computer that is busy for a while slows both of a pair."""
    found = []
    for row, measured in times.items():
        for pair in pairs(row):
            if not all(name in measured for name in pair):
                continue
            first, second = (measured[name] for name in pair)
            gap = estimate(first.rounds - second.rounds)
            sides = high(gap) < 0, low(gap) >= 0
            figures = f"{first.mean} : {second.mean} µs a step"
            compared = f"{pair[0]} < {pair[1]}"
            found.append(decide("times", row, compared, figures, f"{gap} µs", gap, sides, len(first.rounds)))
    return found


MANY, ROUNDS = 64, 3
"""Learners that step together; repetitions, the fastest of which counts: what disturbs only ever adds."""
IN_PYTHON = "paper's algorithm in Python"
PAPER: dict[str, Any] = {
    "mode": "paper", "bonus": 0.5, "gamma": 2, "phi": 1, "split": "inherited", "q_rule": "decreasing",
}  # fmt: skip
"""The constants of the paper's experiments, with one c of c/√n."""


def speeds(played: PlayedProblem, budget_bytes: int | None, options: dict[str, Any]) -> dict[str, float]:
    """Nanoseconds of one act and one observe of one learner: in C, of many learners and of one, and in Python."""

    def in_c(learners: int) -> float:
        first = played.seeds[0]
        problem = replace(played, seeds=tuple(range(first, first + learners))).make()
        agent = make_agent("adamb", problem, budget_bytes=budget_bytes, core="c", **options)
        return 1e3 * of_processor(lambda: _per_step(problem, agent))

    ways: dict[str, Callable[[], float]] = {
        f"C, {MANY} learners": lambda: in_c(MANY),
        "C, one learner": lambda: in_c(1),
        IN_PYTHON: lambda: of_processor(lambda: in_python(played.make())),
    }
    return {name: min(way() for _ in range(ROUNDS)) for name, way in ways.items()}


def in_python(problem: Problem) -> float:
    """Nanoseconds of a step of the paper's algorithm by itself: the simulator's arrays would take as long again."""
    from adamb.host_sim.agents.reference import ReferenceAgent

    learner, clock, spent = ReferenceAgent(problem.shape, **PAPER).learners[0], time.perf_counter_ns, 0
    for _ in range(problem.episodes):
        state = problem.begin_episode()[0].tolist()
        for h in range(problem.horizon):
            before = clock()
            action = learner.act(h, state)
            spent += clock() - before
            rewards, states = problem.step(h, np.array([action]))
            reward, state = float(rewards[0]), states[0].tolist()
            before = clock()
            learner.observe(h, reward, state)
            spent += clock() - before
        learner.end_episode()
    return spent / (problem.episodes * problem.horizon)
