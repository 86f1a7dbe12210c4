"""The claims of the paper's experiments, each decided by numbers alone.

Seeds are paired: agents with the same seed meet the same luck, so a comparison is an interval for the mean of
the differences. "Equal" means within MARGIN of the optimal return; a claim holds when the whole 95 % interval
lies on its side, so a claim that the seeds cannot decide does not hold; it is then marked as undecided, which
is not the same as refuted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.host_sim.runner import Estimate, estimate

MARGIN = 0.02
"""Of the optimal return: differences below this are called equal."""

MODEL_BASED = ("AdaMB", "AdaMB 4^l", "AdaMB tracking")
PAPER_SECONDS = {
    "1 ambulance": {"AdaMB": 8.07, "AdaQL": 0.90, "epsilonQL": 1.10, "epsilonMB": 16.59},
    "2 ambulances": {"AdaMB": 22.92, "AdaQL": 1.57, "epsilonQL": 9.54, "epsilonMB": 90.92},
    "oil": {"AdaMB": 5.63, "AdaQL": 1.31, "epsilonQL": 2.21, "epsilonMB": 20.27},
}
"""Table 2 of the paper: seconds of a run of 2000 episodes of the authors' Python programs."""

CLAIMS = {
    "smaller": "adaptive partitions are smaller at equal or better reward",
    "faster": "on a fixed grid the model-based learner learns faster (reward of the first quarter)",
    "alike": "adaptive model-based and model-free earn alike",
    "gamma": "γ = 2 suffices: no less reward than with the γ of the theory",
    "times": "running times are in the order of the paper",
}


@dataclass(frozen=True)
class Verdict:
    """One claim on one problem for one pair of algorithms."""

    claim: str
    problem: str
    compared: str
    figures: str
    difference: str
    holds: bool
    seeds: int
    undecided: bool = False
    """It does not hold because the interval reaches to both sides."""

    @property
    def verdict(self) -> str:
        if self.undecided:
            return "does not hold (undecided)"
        return "holds" if self.holds else "does not hold"

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "statement": CLAIMS[self.claim], "verdict": self.verdict}


class Scores:
    """Per problem and algorithm, a number per seed for every measure."""

    def __init__(self, results: Iterable[tuple[Any, Mapping[str, Any]]]) -> None:
        rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell, outcome in results:
            rows.setdefault((cell.problem_label, cell.agent_label), []).extend(outcome["rows"])
        self.rows = {place: found for place, found in rows.items() if found}
        self.problems = list(dict.fromkeys(problem for problem, _ in self.rows))
        self.agents = list(dict.fromkeys(agent for _, agent in self.rows))

    def has(self, problem: str, *agents: str) -> bool:
        return all((problem, agent) in self.rows for agent in agents)

    def values(self, problem: str, agent: str, measure: str) -> np.ndarray:
        ordered = sorted(self.rows[problem, agent], key=lambda row: row["seed"])
        return np.array([row[measure] for row in ordered], dtype=float)

    def mean(self, problem: str, agent: str, measure: str) -> Estimate:
        return estimate(self.values(problem, agent, measure))

    def difference(self, problem: str, first: str, second: str, measure: str) -> Estimate:
        """Mean of first minus second over the common seeds."""
        return estimate(self.values(problem, first, measure) - self.values(problem, second, measure))

    def optimal(self, problem: str) -> float:
        """The optimal return, or the best mean return where none is known."""
        for (name, agent), rows in self.rows.items():
            if name == problem and all(row["optimal"] is not None for row in rows):
                return self.mean(problem, agent, "optimal").mean
        agents = [agent for agent in self.agents if self.has(problem, agent)]
        return max(self.mean(problem, agent, "reward_per_episode").mean for agent in agents)


def low(value: Estimate) -> float:
    return value.mean - (value.ci95 or 0.0)


def high(value: Estimate) -> float:
    return value.mean + (value.ci95 or 0.0)


def judge(scores: Scores) -> list[Verdict]:
    """Every claim that the scores can decide, claim by claim."""
    found: list[Verdict] = []
    for rule in (_smaller, _faster, _alike, _gamma):
        for problem in scores.problems:
            found += rule(scores, problem)
    return found


def _smaller(scores: Scores, problem: str) -> Iterator[Verdict]:
    pairs = [(agent, "epsilonMB") for agent in MODEL_BASED] + [("AdaQL", "epsilonQL")]
    for first, second in pairs:
        if not scores.has(problem, first, second):
            continue
        leaves = scores.difference(problem, first, second, "leaves")
        reward = scores.difference(problem, first, second, "reward_per_episode")
        sizes = f"{scores.mean(problem, first, 'leaves')} : {scores.mean(problem, second, 'leaves')} leaves"
        margin = MARGIN * scores.optimal(problem)
        holds = high(leaves) < 0 and low(reward) > -margin
        refuted = low(leaves) >= 0 or high(reward) < -margin
        shown = f"reward {reward}"
        yield _verdict(scores, "smaller", problem, (first, second), shown, holds, refuted, sizes)


def _faster(scores: Scores, problem: str) -> Iterator[Verdict]:
    for first in ("epsilonMB", "epsilonMB full"):
        if scores.has(problem, first, "epsilonQL"):
            early = scores.difference(problem, first, "epsilonQL", "reward_early")
            pair = (first, "epsilonQL")
            means = [scores.mean(problem, agent, "reward_early") for agent in pair]
            figures = f"{means[0]} : {means[1]} early reward"
            sides = low(early) > 0, high(early) <= 0
            yield _verdict(scores, "faster", problem, pair, f"early reward {early}", *sides, figures)


def _alike(scores: Scores, problem: str) -> Iterator[Verdict]:
    margin = MARGIN * scores.optimal(problem)
    for first in MODEL_BASED:
        if scores.has(problem, first, "AdaQL"):
            reward = scores.difference(problem, first, "AdaQL", "reward_per_episode")
            holds = low(reward) > -margin and high(reward) < margin
            refuted = high(reward) < -margin or low(reward) > margin
            yield _verdict(scores, "alike", problem, (first, "AdaQL"), f"reward {reward}", holds, refuted)


def _gamma(scores: Scores, problem: str) -> Iterator[Verdict]:
    pair = ("AdaMB γ=2", "AdaMB")
    if scores.has(problem, *pair):
        reward = scores.difference(problem, *pair, "reward_per_episode")
        margin = MARGIN * scores.optimal(problem)
        sides = low(reward) > -margin, high(reward) < -margin
        yield _verdict(scores, "gamma", problem, pair, f"reward {reward}", *sides)


def _verdict(
    scores: Scores, claim: str, problem: str, pair: tuple[str, str], difference: str, holds: bool,
    refuted: bool, figures: str | None = None,
) -> Verdict:  # fmt: skip
    rewards = [scores.mean(problem, agent, "reward_per_episode") for agent in pair]
    shown = figures or f"{rewards[0]} : {rewards[1]} reward"
    seeds = len(scores.values(problem, pair[0], "reward_per_episode"))
    undecided = bool(not holds and not refuted)
    compared = f"{pair[0]} : {pair[1]}"
    return Verdict(claim, problem, compared, shown, difference, bool(holds), seeds, undecided)


@dataclass(frozen=True)
class Timing:
    """Microseconds a step: the mean of some repeats, and the fastest, which no disturbance can lower."""

    mean: Estimate
    fastest: float


def judge_times(times: Mapping[str, Mapping[str, Timing]], seeds: int) -> list[Verdict]:
    """Whether our times, the fastest of the repeats, are in the order of the paper's, per row of its table.

    The paper does not say which planning its epsilonMB was timed with, so both are held against it.
    """
    found = []
    for problem, measured in times.items():
        for grid in ("epsilonMB", "epsilonMB full"):
            paper = PAPER_SECONDS[problem]
            names = [grid if name == "epsilonMB" else name for name in sorted(paper, key=lambda n: paper[n])]
            if not all(name in measured for name in names):
                continue
            ours = sorted(names, key=lambda name: measured[name].fastest)
            figures = ", ".join(f"{name} {measured[name].mean}" for name in names)
            shown = (" < ".join(names), f"{figures} µs a step", " < ".join(ours))
            found.append(Verdict("times", problem, *shown, ours == names, seeds))
    return found


def tally(verdicts: Sequence[Verdict]) -> list[tuple[str, str, int, int, int]]:
    """Per claim and pair: on how many problems it holds, on how many it is undecided, of how many."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for each in verdicts:
        groups.setdefault((each.claim, each.compared), []).append(each)
    return [
        (claim, compared, sum(v.holds for v in group), sum(v.undecided for v in group), len(group))
        for (claim, compared), group in groups.items()
    ]
