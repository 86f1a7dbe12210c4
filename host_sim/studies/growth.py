"""How fast regret, memory and time grow with the number of episodes: exponents, measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.budgets.bounds.table_one import Row, table_one
from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.studies.claims import Verdict, decide, high, low
from adamb.host_sim.sweep.growth import with_length

DECADE = 10
"""Exponents are taken over the last factor of this many in K."""
ROWS = {
    "AdaMB": "AdaMB",
    "AdaMB γ, φ of theory": "AdaMB",
    "AdaMB, bonus of theory": "AdaMB",
    "AdaQL": "adaptive Q-learning",
    "kernel UCBVI": "kernel UCBVI",
    "epsilonQL": "net-based Q-learning",
}
"""Algorithms of the sweep and their rows in Table 1."""
LIMIT = "the theorem is about the limit, up to constants and logarithms"


def exponents(episodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(seeds,) slopes of log values (seeds, points) over log episodes (points,) in the last decade.

    >>> exponents(np.array([10, 100, 1000]), np.array([[1.0, 10.0, 1000.0]])).round(2).tolist()
    [2.0]
    """
    late = episodes * DECADE >= episodes[-1] * (1 - 1e-9)
    at = np.log(episodes[late])
    grown = np.log(np.maximum(values[:, late], 1e-12))
    centred = at - at.mean()
    return (grown - grown.mean(axis=1, keepdims=True)) @ centred / (centred @ centred)


@dataclass(frozen=True)
class Growth:
    """One algorithm on one problem, told to play each of some numbers of episodes."""

    episodes: np.ndarray
    regret: np.ndarray
    """(seeds, points)."""
    size: np.ndarray
    """(seeds, points) most bytes."""
    seconds: np.ndarray
    """(1, points) of the agent, all seeds together."""


def collect(results: Iterable[tuple[Any, Mapping[str, Any]]]) -> dict[tuple[str, str], Growth]:
    """By problem and algorithm, from the cells of a growth sweep."""
    runs: dict[tuple[str, str], dict[int, list[Mapping[str, Any]]]] = {}
    for cell, outcome in results:
        problem = cell.problem_label.removesuffix(with_length("", cell.episodes))
        lengths = runs.setdefault((problem, cell.agent_label), {})
        lengths.setdefault(cell.episodes, []).append(outcome)
    return {place: _growth(lengths) for place, lengths in runs.items()}


def _growth(lengths: Mapping[int, Sequence[Mapping[str, Any]]]) -> Growth:
    episodes = sorted(lengths)
    rows = [sorted((row for each in lengths[k] for row in each["rows"]), key=_seed) for k in episodes]
    seconds = [sum(each["seconds"]["agent"] for each in lengths[k]) for k in episodes]
    columns = {
        name: np.array([[float(row[name]) for row in found] for found in rows]).T
        for name in ("regret", "bytes_peak")
    }
    return Growth(np.array(episodes), columns["regret"], columns["bytes_peak"], np.array([seconds]))


def _seed(row: Mapping[str, Any]) -> int:
    return int(row["seed"])


@dataclass(frozen=True)
class Exponents:
    """A row of Table 1: what the theory says of an algorithm, and what was measured."""

    problem: str
    algorithm: str
    theory: Row
    regret: Estimate
    time: Estimate
    space: Estimate
    last: Estimate
    """Regret after the most episodes."""


def measured_table(growths: Mapping[tuple[str, str], Growth], d: int, d_s: int) -> list[Exponents]:
    """Table 1 with measured exponents; an algorithm that it does not list is left out."""
    rows = {row.algorithm: row for row in table_one(d, d_s)}
    return [
        Exponents(
            problem,
            agent,
            rows[ROWS[agent]],
            estimate(exponents(each.episodes, each.regret)),
            estimate(exponents(each.episodes, each.seconds)),
            estimate(exponents(each.episodes, each.size)),
            estimate(each.regret[:, -1]),
        )
        for (problem, agent), each in growths.items()
        if agent in ROWS
    ]


def judge_growth(table: Sequence[Exponents], episodes: Sequence[int], seeds: int) -> list[Verdict]:
    """Whether the exponent of regret in the last decade is at most the theorem's."""
    late = [k for k in episodes if k * DECADE >= max(episodes)]
    found = []
    for row in table:
        power, limit = row.regret, row.theory.regret_k
        sides = high(power) <= limit, low(power) > limit
        names = f"{row.algorithm} : theorem", f"K^({power}) : K^{limit:.3f}", f"exponent {power}"
        verdict = decide("regret", row.problem, *names, power, sides, seeds)
        found.append(replace(verdict, note=f"K from {late[0]} to {late[-1]}; {LIMIT}"))
    return found
