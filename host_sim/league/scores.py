"""Scores of the league and the controller's place in it, cell by cell.

A score is reward as a share of V*, or of the best baseline where V* is unknown: means over the seeds divided
by one another. Seeds are paired, so the interval of a ratio comes from what each seed deviates from it. The
rival to beat is the one with the best mean on the scored seeds, which favours the rivals a little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adamb.host_sim.league.protocol import (
    KIND_OF,
    OURS,
    OWN,
    PUBLISHED,
    STRENGTHENED,
    TASKS,
    UNTUNED,
    kind_of,
)
from adamb.host_sim.ratios import Ratio, ratio

TIE = 0.01
"""Of the rival's reward: mean differences up to this are ties."""
OUTCOMES = ("win", "tie", "loss", "open")
AGAINST: dict[str, tuple[str, ...]] = {
    "all": (PUBLISHED, STRENGTHENED),
    PUBLISHED: (PUBLISHED,),
    STRENGTHENED: (STRENGTHENED,),
}
"""Whom the controller is held against: both classes of rivals, and each alone."""
GROUP_OF = {task.label: task.group for task in TASKS}
Place = tuple[str, int | None]


@dataclass(frozen=True)
class Score:
    """One contender on one problem at one budget."""

    problem: str
    agent: str
    budget_bytes: int | None
    episodes: int
    refused: str | None
    choice: Mapping[str, Any]
    reward: np.ndarray
    share: Ratio | None
    above_chance: float | None
    """0 is what random actions earn, 1 is the unit of the score."""
    bytes_peak: int | None
    restarts: float | None
    curve: np.ndarray | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        return kind_of(self.agent)


@dataclass(frozen=True)
class Comparison:
    """The controller against the best of some rivals in one cell; `gain` is None where it does not fit."""

    problem: str
    budget_bytes: int | None
    against: str
    ours: Score
    rival: Score
    gain: Ratio | None

    @property
    def group(self) -> str:
        return GROUP_OF[self.problem]

    @property
    def outcome(self) -> str:
        """A win or a loss has an interval that leaves no other answer; a larger mean without it is open."""
        if self.gain is None or (self.gain.value < -TIE and self.gain.high < 0):
            return "loss"
        if self.gain.value > TIE and self.gain.low > 0:
            return "win"
        return "tie" if abs(self.gain.value) <= TIE else "open"


class League:
    """All scores by place (problem and budget) and contender."""

    def __init__(self, references: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]]) -> None:
        self.references = dict(references)
        self.cells: dict[Place, dict[str, Score]] = {}
        for outcome in outcomes:
            score = _score(outcome, self.references[outcome["problem"]])
            self.cells.setdefault((score.problem, score.budget_bytes), {})[score.agent] = score
        order = {task.label: i for i, task in enumerate(TASKS)}
        self.problems = sorted({problem for problem, _ in self.cells}, key=lambda name: order[name])
        budgets = {budget for _, budget in self.cells}
        self.budgets = [*sorted(each for each in budgets if each is not None), *({None} & budgets)]
        played = dict.fromkeys(label for cell in self.cells.values() for label in cell)
        self.agents = [
            *(each for each in KIND_OF if each in played),
            *(each for each in played if each not in KIND_OF),
        ]

    def score(self, problem: str, budget_bytes: int | None, agent: str) -> Score | None:
        return self.cells.get((problem, budget_bytes), {}).get(agent)

    def best(self, problem: str, budget_bytes: int | None, kinds: Sequence[str]) -> Score | None:
        """The best mean among the rivals of these classes that fit."""
        cell = self.cells.get((problem, budget_bytes), {})
        fitting = [each for each in cell.values() if each.kind in kinds and each.share is not None]
        return max(fitting, key=lambda each: each.share.value if each.share else 0.0, default=None)

    def comparisons(self, against: str) -> list[Comparison]:
        """Cell by cell where both have played; `against` is a class of rivals or a row of adamb."""
        found = []
        for problem in self.problems:
            for budget in self.budgets:
                ours = self.score(problem, budget, UNTUNED)
                if against in AGAINST or against == OWN:
                    rival = self.best(problem, budget, AGAINST.get(against, (OWN,)))
                else:
                    rival = self.score(problem, budget, against)
                if ours is None or rival is None or rival.share is None:
                    continue
                gain = None if ours.share is None else _gain(ours, rival)
                found.append(Comparison(problem, budget, against, ours, rival, gain))
        return found

    def untuned(self) -> list[Score]:
        """The controller's own rows, in order."""
        found = [self.score(p, b, UNTUNED) for p in self.problems for b in self.budgets]
        return [each for each in found if each is not None]

    def firsts(self, agent: str) -> int:
        """In how many cells a contender has the best mean of all that fit."""
        count = 0
        for cell in self.cells.values():
            shares = {label: each.share.value for label, each in cell.items() if each.share is not None}
            rivals = any(kind_of(label) != OURS for label in shares)
            count += rivals and bool(shares) and max(shares, key=lambda label: shares[label]) == agent
        return count


def _gain(ours: Score, rival: Score) -> Ratio:
    found = ratio(ours.reward, rival.reward)
    return Ratio(found.value - 1.0, found.deviations)


def _score(outcome: Mapping[str, Any], reference: Mapping[str, Any]) -> Score:
    reward = np.asarray(outcome["reward"], dtype=float)
    fits = reward.size > 0
    best, chance = np.mean(reference["best"]), np.mean(reference["random"])
    restarts = [value for value in outcome["restarts"] if value is not None]
    return Score(
        problem=outcome["problem"],
        agent=outcome["agent"],
        budget_bytes=outcome["budget_bytes"],
        episodes=outcome["episodes"],
        refused=outcome["refused"],
        choice=outcome["choice"],
        reward=reward,
        share=ratio(reward, reference["best"]) if fits else None,
        above_chance=float((reward.mean() - chance) / (best - chance)) if fits and best > chance else None,
        bytes_peak=max(outcome["bytes_peak"], default=None),
        restarts=float(np.mean(restarts)) if restarts else None,
        curve=None if outcome["curve"] is None else np.asarray(outcome["curve"]),
    )
