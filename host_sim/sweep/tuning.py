"""Tuning inside a sweep: options are chosen on seeds of their own, then scored on seeds they never saw.

The choice is made for each problem and budget apart, by the mean reward of the whole run, which is what the
literature does for exploration constants. A choice that does not fit the budget is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.sweep.spec import Cell, Choice

Place = tuple[str, str, int | None]


@dataclass(frozen=True)
class Trial:
    """One choice for one place, played on the tuning seeds."""

    place: Place
    choice: Choice
    cell: Cell


@dataclass(frozen=True)
class Tuned:
    """What was tried at a place, and what won."""

    place: Place
    choice: Choice
    tried: tuple[tuple[Trial, Estimate | None], ...]
    """None for a choice that does not fit."""


def place_of(cell: Cell) -> Place:
    return cell.problem_label, cell.agent_label, cell.budget_bytes


def trials(cells: Sequence[Cell], seeds: tuple[int, ...]) -> Iterator[Trial]:
    """Every choice of every place that has something to tune, once."""
    done: set[Place] = set()
    for cell in cells:
        place = place_of(cell)
        if not cell.tune or place in done:
            continue
        done.add(place)
        for choice in cell.choices():
            yield Trial(place, choice, replace(cell.with_choice(choice), seeds=seeds, curves=0))


def choose(
    tried: Sequence[Trial], outcome_of: Callable[[Cell], Mapping[str, Any] | None]
) -> dict[Place, Tuned]:
    """The winner of every place; where nothing fits, the first choice stands for the refusal."""
    grouped: dict[Place, list[Trial]] = {}
    for trial in tried:
        grouped.setdefault(trial.place, []).append(trial)
    found = {}
    for place, group in grouped.items():
        scored = tuple((trial, _reward(outcome_of(trial.cell))) for trial in group)
        best = max(scored, key=lambda each: -np.inf if each[1] is None else each[1].mean)
        found[place] = Tuned(place, best[0].choice, scored)
    return found


def _reward(outcome: Mapping[str, Any] | None) -> Estimate | None:
    rows = outcome["rows"] if outcome else []
    return estimate(np.array([row["reward_per_episode"] for row in rows])) if rows else None
