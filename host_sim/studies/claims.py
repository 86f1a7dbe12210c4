"""The claims of the paper's experiments, each decided by numbers alone.

Seeds are paired: agents with the same seed get the same random draws, so a comparison is an interval for the
mean of the differences. "Equal" means within MARGIN of the optimal return; a claim holds when the whole 95 %
interval lies on its side, so a claim that the seeds cannot decide does not hold; it is then marked as
undecided, which is not the same as refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.host_sim.baselines import TableBaseline
from adamb.host_sim.runner import Estimate, estimate, simulate

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


Pair = tuple[str, str]
Sides = tuple[bool, bool]
"""Whether the interval says that a claim holds, and that it is refuted."""

UNIFORM: tuple[Pair, ...] = (*((agent, "epsilonMB") for agent in MODEL_BASED), ("AdaQL", "epsilonQL"))
FREE: tuple[Pair, ...] = tuple((agent, "AdaQL") for agent in MODEL_BASED)
EARLY, LEAVES, REWARD = "reward_early", "leaves", "reward_per_episode"
NAMES = {REWARD: "reward", EARLY: "early reward", LEAVES: "leaves"}


def _more(gap: Estimate, margin: float) -> Sides:
    return low(gap) > 0, high(gap) <= 0


def _less(gap: Estimate, margin: float) -> Sides:
    return high(gap) < 0, low(gap) >= 0


def _equal(gap: Estimate, margin: float) -> Sides:
    return low(gap) > -margin and high(gap) < margin, high(gap) < -margin or low(gap) > margin


def _no_less(gap: Estimate, margin: float) -> Sides:
    return low(gap) > -margin, high(gap) < -margin


RULES: dict[str, tuple[Callable[[Estimate, float], Sides], str, tuple[Pair, ...]]] = {
    "smaller": (_no_less, REWARD, UNIFORM),
    "better": (_more, REWARD, UNIFORM),
    "faster": (_more, EARLY, (("epsilonMB", "epsilonQL"), ("epsilonMB full", "epsilonQL"))),
    "sooner": (_more, EARLY, UNIFORM),
    "alike": (_equal, REWARD, FREE),
    "pace": (_equal, EARLY, FREE),
    "leaner": (_less, LEAVES, (("AdaQL", "AdaMB"), ("AdaQL", "AdaMB γ=3"))),
    "planning": (_no_less, REWARD, tuple(FULL_PLANNING.items())),
    "inherited": (_no_less, REWARD, (("AdaMB", "AdaMB fresh"),)),
    "gamma": (_no_less, REWARD, tuple(("AdaMB", other) for other in OTHER_GAMMAS)),
}
"""Rule for the first of a pair beside the second, the measure, and the pairs; `smaller` asks for fewer leaves too."""


def judge(scores: Scores) -> list[Verdict]:
    """Every claim that rewards and sizes of partitions can decide, claim by claim."""
    return [
        _verdict(scores, claim, problem, pair)
        for claim, (_, _, pairs) in RULES.items()
        for problem in scores.problems
        for pair in pairs
        if scores.has(problem, *pair)
    ]


def _verdict(scores: Scores, claim: str, problem: str, pair: Pair) -> Verdict:
    rule, measure, _ = RULES[claim]
    gap = scores.difference(problem, *pair, measure)
    sides, shown = rule(gap, MARGIN * scores.optimal(problem)), f"{NAMES[measure]} {gap}"
    if claim == "smaller":
        leaves, measure = scores.difference(problem, *pair, LEAVES), LEAVES
        sides = high(leaves) < 0 and sides[0], low(leaves) >= 0 or sides[1]
    means = [scores.mean(problem, agent, measure) for agent in pair]
    figures, compared = f"{means[0]} : {means[1]} {NAMES[measure]}", f"{pair[0]} : {pair[1]}"
    seeds = len(scores.values(problem, pair[0], measure))
    return decide(claim, problem, compared, figures, shown, gap, sides, seeds)


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


def nearest_point(places: np.ndarray, size: int, offset: float) -> float:
    """Mean distance from the places to the nearest of `size` centres of cells, moved left by the offset.

    >>> nearest_point(np.array([0.75]), 10, 0.0), round(nearest_point(np.array([0.75]), 10, 0.05), 3)
    (0.0, 0.05)
    """
    points = (np.arange(size) + 0.5) / size - offset
    return float(np.abs(np.asarray(places)[:, None] - points).min(axis=1).mean().round(12))


def deposit_notes(cells: Sequence[Any]) -> dict[tuple[str, str], str]:
    """Problem and grid -> a note, for every grid on a problem whose deposits are the same for all seeds."""
    notes: dict[tuple[str, str], str] = {}
    for cell in cells:
        place = cell.problem_label, cell.agent_label
        if place in notes or cell.instance != "paper":
            continue
        problem, make = cell.build(cell.seeds[:1])
        deposits = getattr(problem, "c", None)
        if deposits is None or problem.d_s > 1:
            notes[place] = ""
            continue
        agent = make()
        notes[place] = ""
        if isinstance(agent, TableBaseline):
            distance = nearest_point(deposits[0], agent.size, agent.offset)
            notes[place] = f"deposit {distance:.3g} from the net, {0.25 / agent.size:.3g} for a random place"
    return {place: text for place, text in notes.items() if text}


HIGH = 0.9
"""Quantile above which Q* is called high."""
ADAPTIVE = ("AdaMB", "AdaMB γ=3", "AdaQL")
"""The algorithms whose maps are compared."""


@dataclass(frozen=True)
class QMap:
    """Distance of a learner's Q from Q*, and how fine its balls are, one number per seed each.

    Both are taken over a uniform grid of states and actions of one step, for problems with one dimension each;
    balls that were never played hold what is still possible and count too, as they do in the paper's maps.
    """

    distance: np.ndarray
    """Mean of |Q - Q*|."""
    level_high: np.ndarray
    """Mean level of the balls where Q* is high."""
    level_elsewhere: np.ndarray


def q_map(problem: Any, agent: Any, h: int) -> QMap | None:
    """Let the learners play all episodes, then compare; None where Q* is not known or not flat."""
    optimum = problem.optimal()
    if optimum is None or (problem.d_s, problem.d_a) != (1, 1):
        return None
    simulate(problem, agent, optimum=False, record=1)
    rows = []
    for i in range(problem.n):
        exact = np.asarray(optimum.q(0 if problem.instance == "paper" else i, h))
        line = np.linspace(0.0, 1.0, len(exact))
        states, actions = np.meshgrid(line, line, indexing="ij")
        balls = agent.balls(i, h, states.reshape(-1, 1), actions.reshape(-1, 1))
        wanted = exact.ravel()
        best = wanted >= np.quantile(wanted, HIGH)
        rows.append((np.abs(balls[:, 0] - wanted).mean(), balls[best, 1].mean(), balls[~best, 1].mean()))
    return QMap(*np.array(rows).T)


def judge_maps(maps: Mapping[tuple[str, str], QMap]) -> list[Verdict]:
    """The maps by problem and algorithm."""
    problems = dict.fromkeys(problem for problem, _ in maps)
    found: list[Verdict] = []
    for problem in problems:
        for agent in ADAPTIVE:
            if (problem, agent) in maps:
                view = maps[problem, agent]
                names = (agent, "where Q* is high", "elsewhere")
                found.append(_compared_maps("focus", problem, names, view.level_high, view.level_elsewhere))
        for agent in ADAPTIVE[:-1]:
            if (problem, agent) in maps and (problem, "AdaQL") in maps:
                theirs, ours = maps[problem, "AdaQL"], maps[problem, agent]
                names = ("", "AdaQL", agent)
                found.append(_compared_maps("closer", problem, names, theirs.distance, ours.distance, sign=-1))
                found.append(_compared_maps("finer", problem, names, theirs.level_high, ours.level_high))
    return sorted(found, key=lambda each: ("focus", "closer", "finer").index(each.claim))


def _compared_maps(
    claim: str, problem: str, names: tuple[str, str, str], first: np.ndarray, second: np.ndarray, sign: int = 1
) -> Verdict:
    gap = estimate(first - second)
    up, down = (low(gap), high(gap)) if sign > 0 else (-high(gap), -low(gap))
    unit = "distance" if claim == "closer" else "level"
    compared = f"{names[0]}{', ' if names[0] else ''}{names[1]} : {names[2]}"
    figures = f"{estimate(first)} : {estimate(second)} {unit}"
    return decide(claim, problem, compared, figures, f"{unit} {gap}", gap, (up > 0, down <= 0), len(first))
