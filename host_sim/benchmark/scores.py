"""Scores of the benchmark, the controller's place in it, cell by cell, and its targets, each decided by numbers alone.

A score is reward as a share of V*, or of the best rule where V* is unknown: means over the seeds divided
by one another. Seeds are paired, so the interval of a ratio comes from what each seed deviates from it. The
baseline to beat is the one with the best mean on the scored seeds, which favours the baselines a little.

A target holds, or does not, when the 95 % intervals leave no other answer; otherwise it is undecided, and the
figures say what the means alone would answer. A cell in which the controller does not fit counts as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.benchmark import (
    KIB,
    KIND_OF,
    OURS,
    OWN,
    PAPER,
    PUBLISHED,
    STRENGTHENED,
    TASKS,
    TUNED,
    UNTUNED,
    kind_of,
)
from adamb.host_sim.ratios import Ratio, average, ratio
from adamb.host_sim.runner import estimate

TIE = 0.01
"""Of the baseline's reward: mean differences up to this are ties."""
OUTCOMES = ("win", "tie", "loss", "open")
AGAINST: dict[str, tuple[str, ...]] = {
    "all": (PUBLISHED, STRENGTHENED),
    PUBLISHED: (PUBLISHED,),
    STRENGTHENED: (STRENGTHENED,),
}
"""Whom the controller is held against: both classes of baselines, and each alone."""
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
    """The controller against the best of some baselines in one cell; `gain` is None where it does not fit."""

    problem: str
    budget_bytes: int | None
    against: str
    ours: Score
    baseline: Score
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


class Benchmark:
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
        self.agents = [*(each for each in KIND_OF if each in played), *(each for each in played if each not in KIND_OF)]

    def score(self, problem: str, budget_bytes: int | None, agent: str) -> Score | None:
        return self.cells.get((problem, budget_bytes), {}).get(agent)

    def best(self, problem: str, budget_bytes: int | None, kinds: Sequence[str]) -> Score | None:
        """The best mean among the baselines of these classes that fit."""
        cell = self.cells.get((problem, budget_bytes), {})
        fitting = [each for each in cell.values() if each.kind in kinds and each.share is not None]
        return max(fitting, key=lambda each: each.share.value if each.share else 0.0, default=None)

    def comparisons(self, against: str) -> list[Comparison]:
        """Cell by cell where both have played; `against` is a class of baselines or a row of adamb."""
        found = []
        for problem in self.problems:
            for budget in self.budgets:
                ours = self.score(problem, budget, UNTUNED)
                if against in AGAINST or against == OWN:
                    baseline = self.best(problem, budget, AGAINST.get(against, (OWN,)))
                else:
                    baseline = self.score(problem, budget, against)
                if ours is None or baseline is None or baseline.share is None:
                    continue
                gain = None if ours.share is None else _gain(ours, baseline)
                found.append(Comparison(problem, budget, against, ours, baseline, gain))
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
            baselines = any(kind_of(label) != OURS for label in shares)
            count += baselines and bool(shares) and max(shares, key=lambda label: shares[label]) == agent
        return count


def _gain(ours: Score, baseline: Score) -> Ratio:
    found = ratio(ours.reward, baseline.reward)
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


HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "undecided", "not measured"
LEAST_BYTES = 2 * KIB
WITHIN, CELLS_SHARE, BEHIND = 0.01, 0.9, 0.03
DRIFT_GAIN, PAPER_GAIN, TUNED_BEHIND = 0.05, 0.10, 0.03
RECOVERED, ALARMS = 0.9, 0.2
RECOVERY_BUDGETS = (4 * KIB, None)


@dataclass(frozen=True)
class TargetVerdict:
    """One target, held against one class of baselines where that matters."""

    target: str
    statement: str
    against: str
    figures: str
    verdict: str

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def judge(benchmark: Benchmark) -> list[TargetVerdict]:
    """Every target, in order."""
    found: list[TargetVerdict] = []
    large = {
        against: [each for each in benchmark.comparisons(against) if (each.budget_bytes or 0) >= LEAST_BYTES]
        for against in AGAINST
    }
    found += [_within(cells, against) for against, cells in large.items()]
    statement = "from 2 KiB on, never more than 3 % behind the best tuned baseline"
    found += [_never_behind("1b", cells, against, BEHIND, statement) for against, cells in large.items()]
    for against in AGAINST:
        drift = [each for each in benchmark.comparisons(against) if each.group == "drift"]
        statement = "on average at least 5 % better where the problem drifts"
        found.append(_on_average("1c", drift, against, DRIFT_GAIN, statement))
    paper = [each for each in benchmark.comparisons(PAPER) if each.group == "stationary"]
    statement = "on average at least 10 % better than the paper's algorithm at equal bytes"
    found.append(_on_average("2", paper, PAPER, PAPER_GAIN, statement))
    statement = "never more than 3 % behind its own best tuned bonus"
    found.append(_never_behind("3", benchmark.comparisons(TUNED), TUNED, TUNED_BEHIND, statement))
    return [*found, _recovery(benchmark), _alarms(benchmark)]


def decide(certain: bool, possible: bool, by_means: bool) -> str:
    """The verdict that the intervals allow."""
    if certain:
        return HOLDS
    if not possible:
        return FAILS
    return f"{UNDECIDED} ({'holds' if by_means else 'does not hold'} by the means)"


def _within(cells: Sequence[Comparison], against: str) -> TargetVerdict:
    statement = "from 2 KiB on, within 1 % of the best tuned baseline or better in at least 90 % of the cells"
    if not cells:
        return TargetVerdict("1a", statement, against, "", UNMEASURED)

    def share_of(test: Callable[[Ratio], bool]) -> float:
        return sum(each.gain is not None and test(each.gain) for each in cells) / len(cells)

    means = share_of(lambda gain: gain.value >= -WITHIN)
    certain = share_of(lambda gain: gain.low >= -WITHIN)
    possible = share_of(lambda gain: gain.high >= -WITHIN)
    tally = {name: sum(each.outcome == name for each in cells) for name in OUTCOMES}
    figures = f"{100 * means:.0f} % of {len(cells)} cells ({100 * certain:.0f} to {100 * possible:.0f} %); "
    figures += f"{tally['win']} won, {tally['tie']} tied, {tally['loss']} lost, {tally['open']} open"
    verdict = decide(certain >= CELLS_SHARE, possible >= CELLS_SHARE, means >= CELLS_SHARE)
    return TargetVerdict("1a", statement, against, figures, verdict)


def _never_behind(
    target: str, cells: Sequence[Comparison], against: str, limit: float, statement: str
) -> TargetVerdict:
    if not cells:
        return TargetVerdict(target, statement, against, "", UNMEASURED)
    outside = [each for each in cells if each.gain is None]
    if outside:
        figures = f"does not fit in {len(outside)} of {len(cells)} cells, as {_place(outside[0])}"
        return TargetVerdict(target, statement, against, figures, FAILS)
    gains = [(each.gain, each) for each in cells if each.gain is not None]
    worst, where = min(gains, key=lambda pair: pair[0].value)
    behind = sum(gain.value < -limit for gain, _ in gains)
    baseline = "" if where.baseline.agent == against else f" behind {where.baseline.agent}"
    figures = f"worst {percent(worst)} %: {_place(where)}{baseline}; {behind} of {len(cells)} cells beyond"
    certain = all(gain.low >= -limit for gain, _ in gains)
    possible = all(gain.high >= -limit for gain, _ in gains)
    return TargetVerdict(target, statement, against, figures, decide(certain, possible, behind == 0))


def _on_average(target: str, cells: Sequence[Comparison], against: str, least: float, statement: str) -> TargetVerdict:
    gains = [each.gain for each in cells if each.gain is not None]
    if not gains:
        return TargetVerdict(target, statement, against, "", UNMEASURED)
    mean = average(gains)
    missing = len(cells) - len(gains)
    most = np.mean([1 / each.baseline.share.value - 1 for each in cells if each.baseline.share is not None])
    figures = f"{percent(mean)} % over {len(gains)} cells" + (f", {missing} do not fit" if missing else "")
    figures += f"; V* itself would gain {100 * most:+.1f} %"
    verdict = decide(not missing and mean.low >= least, mean.high >= least, mean.value >= least)
    return TargetVerdict(target, statement, against, figures, verdict)


@dataclass(frozen=True)
class Recovery:
    """Recovery of a run after a jump: shares of V* before it and at the end of a quarter of the run."""

    score: Score
    before: float
    after: Ratio
    """The share at the deadline minus the part of `before` that is asked for."""
    episodes: int | None
    """From the jump to the first window that is back; None when none is."""


def recoveries(benchmark: Benchmark) -> Iterator[Recovery]:
    """The controller on every problem that jumps, at the budgets that the target names."""
    for score in benchmark.untuned():
        reference = benchmark.references[score.problem]
        jumps = score.problem.endswith("-jump") and score.budget_bytes in RECOVERY_BUDGETS
        if jumps and score.curve is not None and reference["curve"] is not None:
            yield recovery(score, np.asarray(reference["curve"]))


def recovery(score: Score, optimum: np.ndarray) -> Recovery:
    """Windows (seeds, W) of V* and of reward; the jump is in the middle, the deadline a quarter later."""
    reward = np.asarray(score.curve)
    windows = optimum.shape[1]
    jump, tenth, deadline = windows // 2, windows // 10, windows // 2 + windows // 4

    def share(first: int, last: int) -> Ratio:
        return ratio(reward[:, first:last].mean(axis=1), optimum[:, first:last].mean(axis=1))

    before, after = share(jump - tenth, jump), share(deadline - tenth // 2, deadline)
    gap = Ratio(after.value - RECOVERED * before.value, after.deviations - RECOVERED * before.deviations)
    back = [w for w in range(jump, windows) if share(w, w + 1).value >= RECOVERED * before.value]
    waited = (back[0] + 1 - jump) * score.episodes // windows if back else None
    return Recovery(score, before.value, gap, waited)


def _recovery(benchmark: Benchmark) -> TargetVerdict:
    statement = "K/4 episodes after a jump, 90 % of the share of V* from before it, at 4 KiB and uncapped"
    found = list(recoveries(benchmark))
    if not found:
        return TargetVerdict("4a", statement, "", "", UNMEASURED)
    back = sum(each.after.value >= 0 for each in found)
    worst = min(found, key=lambda each: each.after.value)
    waits = [each.episodes for each in found if each.episodes is not None]
    slowest = f"after {max(waits)} episodes" if len(waits) == len(found) else "never"
    share = worst.after.value + RECOVERED * worst.before
    figures = f"{back} of {len(found)} runs; worst {_place(worst.score)}: from {100 * worst.before:.1f} % to "
    figures += f"{100 * share:.1f} % of V*; the last is back {slowest}"
    certain, possible = all(r.after.low >= 0 for r in found), all(r.after.high >= 0 for r in found)
    return TargetVerdict("4a", statement, "", figures, decide(certain, possible, back == len(found)))


def _alarms(benchmark: Benchmark) -> TargetVerdict:
    statement = "fewer than 0.2 restarts a run on every problem that does not drift"
    rates: dict[str, list[float]] = {}
    for score in benchmark.untuned():
        if not score.problem.endswith(("-jump", "-walk", "-long")) and score.restarts is not None:
            rates.setdefault(score.problem, []).append(score.restarts)
    if not rates:
        return TargetVerdict("4b", statement, "", "", UNMEASURED)
    means = {problem: estimate(np.array(values)).mean for problem, values in rates.items()}
    worst = max(means, key=lambda problem: means[problem])
    figures = f"{np.mean(list(means.values())):.3f} a run; most on {worst}: {means[worst]:.3f}"
    return TargetVerdict("4b", statement, "", figures, HOLDS if means[worst] < ALARMS else FAILS)


def percent(value: Ratio) -> str:
    """A gain in percent with its interval."""
    return f"{100 * value.value:+.1f} ± {100 * value.ci95:.1f}"


def _place(each: Comparison | Score) -> str:
    cap = "uncapped" if each.budget_bytes is None else format_bytes(each.budget_bytes)
    return f"{each.problem} at {cap}"
