"""The claims of the paper's experiments, each decided by numbers alone.

Seeds are paired: agents with the same seed get the same random draws, so a comparison is an interval for the
mean of the differences. "Equal" means within MARGIN of the optimal return; a claim holds when the whole 95 %
interval lies on its side, so a claim that the seeds cannot decide does not hold; it is then marked as
undecided, which is not the same as refuted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.host_sim.runner import Estimate, estimate

MARGIN = 0.02
"""Of the optimal return: differences below this are called equal."""

MODEL_BASED = ("AdaMB", "AdaMB γ=3", "AdaMB tracking")
FULL_PLANNING = {"AdaMB full": "AdaMB", "epsilonMB full": "epsilonMB"}
OTHER_GAMMAS = ("AdaMB γ=1", "AdaMB γ=3", "AdaMB γ=4", "AdaMB γ, φ of theory")

CLAIMS = {
    "smaller": "adaptive partitions are smaller at equal or better reward",
    "better": "adaptive partitions earn more than uniform ones (the paper: on the ambulances)",
    "faster": "on a fixed grid the model-based learner learns faster (reward of the first quarter)",
    "sooner": "adaptive partitions learn faster than uniform ones (reward of the first quarter)",
    "alike": "adaptive model-based and model-free earn alike",
    "pace": "adaptive model-based and model-free learn alike fast (reward of the first quarter)",
    "leaner": "AdaQL's partition is smaller than AdaMB's",
    "closer": "AdaQL's Q is closer to Q* than AdaMB's (mean distance at step 2)",
    "focus": "balls are finer where Q* is high (mean level in its highest tenth, and elsewhere)",
    "finer": "AdaQL's balls are finer than AdaMB's where Q* is high (mean level in its highest tenth)",
    "planning": "full planning earns no less than one-step planning",
    "inherited": "balls that inherit their parents' estimates earn no less than balls that start afresh",
    "gamma": "γ = 2 suffices: no less reward than with another γ",
    "regret": "regret grows no faster than the exponent of the theorem",
    "times": "running times are in the order of the paper",
}
"""Every claim of the paper that a run can decide."""

SAME_RUN = "every seed plays the same run: one sample, no interval"


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
    """It does not hold because the interval reaches to both sides, or because there is none."""
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.undecided:
            return "undecided"
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
    """Every claim that rewards and sizes of partitions can decide, claim by claim."""
    found: list[Verdict] = []
    for rule in (_smaller, _better, _faster, _sooner, _alike, _pace, _leaner, _planning, _inherited, _gamma):
        for problem in scores.problems:
            found += rule(scores, problem)
    return found


Pair = tuple[str, str]


def _adaptive_and_uniform(scores: Scores, problem: str) -> list[Pair]:
    pairs = [*((agent, "epsilonMB") for agent in MODEL_BASED), ("AdaQL", "epsilonQL")]
    return [pair for pair in pairs if scores.has(problem, *pair)]


def _smaller(scores: Scores, problem: str) -> Iterator[Verdict]:
    margin = MARGIN * scores.optimal(problem)
    for pair in _adaptive_and_uniform(scores, problem):
        leaves = scores.difference(problem, *pair, "leaves")
        reward = scores.difference(problem, *pair, "reward_per_episode")
        sides = (
            high(leaves) < 0 and low(reward) > -margin,
            low(leaves) >= 0 or high(reward) < -margin,
        )
        yield _verdict(scores, "smaller", problem, pair, f"reward {reward}", reward, sides, "leaves")


def _better(scores: Scores, problem: str) -> Iterator[Verdict]:
    for pair in _adaptive_and_uniform(scores, problem):
        yield _signed(scores, "better", problem, pair, "reward_per_episode")


def _sooner(scores: Scores, problem: str) -> Iterator[Verdict]:
    for pair in _adaptive_and_uniform(scores, problem):
        yield _signed(scores, "sooner", problem, pair, "reward_early")


def _faster(scores: Scores, problem: str) -> Iterator[Verdict]:
    for first in ("epsilonMB", "epsilonMB full"):
        if scores.has(problem, first, "epsilonQL"):
            yield _signed(scores, "faster", problem, (first, "epsilonQL"), "reward_early")


def _alike(scores: Scores, problem: str) -> Iterator[Verdict]:
    yield from _equal(scores, "alike", problem, "reward_per_episode")


def _pace(scores: Scores, problem: str) -> Iterator[Verdict]:
    yield from _equal(scores, "pace", problem, "reward_early")


def _equal(scores: Scores, claim: str, problem: str, measure: str) -> Iterator[Verdict]:
    margin = MARGIN * scores.optimal(problem)
    for first in MODEL_BASED:
        if scores.has(problem, first, "AdaQL"):
            pair = (first, "AdaQL")
            gap = scores.difference(problem, *pair, measure)
            sides = (
                low(gap) > -margin and high(gap) < margin,
                high(gap) < -margin or low(gap) > margin,
            )
            yield _verdict(scores, claim, problem, pair, f"{_name(measure)} {gap}", gap, sides, measure)


def _leaner(scores: Scores, problem: str) -> Iterator[Verdict]:
    for second in ("AdaMB", "AdaMB γ=3"):
        if scores.has(problem, "AdaQL", second):
            yield _signed(scores, "leaner", problem, ("AdaQL", second), "leaves", sign=-1)


def _planning(scores: Scores, problem: str) -> Iterator[Verdict]:
    for pair in FULL_PLANNING.items():
        yield from _no_less(scores, "planning", problem, pair)


def _inherited(scores: Scores, problem: str) -> Iterator[Verdict]:
    yield from _no_less(scores, "inherited", problem, ("AdaMB", "AdaMB fresh"))


def _gamma(scores: Scores, problem: str) -> Iterator[Verdict]:
    for other in OTHER_GAMMAS:
        yield from _no_less(scores, "gamma", problem, ("AdaMB", other))


def _name(measure: str) -> str:
    return {"reward_per_episode": "reward", "reward_early": "early reward"}.get(measure, measure)


def _signed(scores: Scores, claim: str, problem: str, pair: Pair, measure: str, sign: int = 1) -> Verdict:
    """The first has more of a measure than the second; with sign -1, less."""
    found = scores.difference(problem, *pair, measure)
    up, down = (low(found), high(found)) if sign > 0 else (-high(found), -low(found))
    return _verdict(
        scores, claim, problem, pair, f"{_name(measure)} {found}", found, (up > 0, down <= 0), measure
    )


def _no_less(scores: Scores, claim: str, problem: str, pair: Pair) -> Iterator[Verdict]:
    """The first earns as much as the second, or more."""
    if scores.has(problem, *pair):
        reward = scores.difference(problem, *pair, "reward_per_episode")
        margin = MARGIN * scores.optimal(problem)
        sides = low(reward) > -margin, high(reward) < -margin
        yield _verdict(scores, claim, problem, pair, f"reward {reward}", reward, sides)


def _verdict(
    scores: Scores, claim: str, problem: str, pair: Pair, shown: str, deciding: Estimate,
    sides: tuple[bool, bool], measure: str = "reward_per_episode",
) -> Verdict:  # fmt: skip
    """`sides`: whether the interval says that it holds, and that it is refuted."""
    means = [scores.mean(problem, agent, measure) for agent in pair]
    seeds = len(scores.values(problem, pair[0], measure))
    return decide(
        claim,
        problem,
        f"{pair[0]} : {pair[1]}",
        f"{means[0]} : {means[1]} {_name(measure)}",
        shown,
        deciding,
        sides,
        seeds,
    )


def decide(
    claim: str, problem: str, compared: str, figures: str, shown: str, deciding: Estimate,
    sides: tuple[bool, bool], seeds: int,
) -> Verdict:  # fmt: skip
    """A verdict where the interval of the deciding difference gives one."""
    single = seeds > 1 and (deciding.ci95 or 0.0) < 1e-12 and deciding.mean != 0.0
    holds = bool(sides[0]) and not single
    undecided = single or not (holds or sides[1])
    note = SAME_RUN if single else ""
    return Verdict(claim, problem, compared, figures, shown, holds, seeds, bool(undecided), note)


def tally(verdicts: Sequence[Verdict]) -> list[tuple[str, str, int, int, int]]:
    """Per claim and pair: on how many problems it holds, on how many it is undecided, of how many."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for each in verdicts:
        groups.setdefault((each.claim, each.compared), []).append(each)
    return [
        (claim, compared, sum(v.holds for v in group), sum(v.undecided for v in group), len(group))
        for (claim, compared), group in groups.items()
    ]
