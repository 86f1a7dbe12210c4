"""The targets of the league, each decided by numbers alone.

A target holds, or does not, when the 95 % intervals leave no other answer; otherwise it is undecided, and the
figures say what the means alone would answer. A cell in which the controller does not fit counts as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.league.protocol import KIB, PAPER, TUNED
from adamb.host_sim.league.scores import (
    AGAINST,
    OUTCOMES,
    Comparison,
    League,
    Score,
)
from adamb.host_sim.ratios import Ratio, average, ratio
from adamb.host_sim.runner import estimate

HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "undecided", "not measured"
LEAST_BYTES = 2 * KIB
WITHIN, CELLS_SHARE, BEHIND = 0.01, 0.9, 0.03
DRIFT_GAIN, PAPER_GAIN, TUNED_BEHIND = 0.05, 0.10, 0.03
RECOVERED, ALARMS = 0.9, 0.2
RECOVERY_BUDGETS = (4 * KIB, None)


@dataclass(frozen=True)
class TargetVerdict:
    """One target, held against one class of rivals where that matters."""

    target: str
    statement: str
    against: str
    figures: str
    verdict: str

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def judge(league: League) -> list[TargetVerdict]:
    """Every target, in order."""
    found: list[TargetVerdict] = []
    large = {
        against: [each for each in league.comparisons(against) if (each.budget_bytes or 0) >= LEAST_BYTES]
        for against in AGAINST
    }
    found += [_within(cells, against) for against, cells in large.items()]
    statement = "from 2 KiB on, never more than 3 % behind the best tuned rival"
    found += [_never_behind("1b", cells, against, BEHIND, statement) for against, cells in large.items()]
    for against in AGAINST:
        drift = [each for each in league.comparisons(against) if each.group == "drift"]
        statement = "on average at least 5 % better where the problem drifts"
        found.append(_on_average("1c", drift, against, DRIFT_GAIN, statement))
    paper = [each for each in league.comparisons(PAPER) if each.group == "stationary"]
    statement = "on average at least 10 % better than the paper's algorithm at equal bytes"
    found.append(_on_average("2", paper, PAPER, PAPER_GAIN, statement))
    statement = "never more than 3 % behind its own best tuned bonus"
    found.append(_never_behind("3", league.comparisons(TUNED), TUNED, TUNED_BEHIND, statement))
    return [*found, _recovery(league), _alarms(league)]


def decide(certain: bool, possible: bool, by_means: bool) -> str:
    """What the intervals allow."""
    if certain:
        return HOLDS
    if not possible:
        return FAILS
    return f"{UNDECIDED} ({'holds' if by_means else 'does not hold'} by the means)"


def _within(cells: Sequence[Comparison], against: str) -> TargetVerdict:
    statement = "from 2 KiB on, within 1 % of the best tuned rival or better in at least 90 % of the cells"
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
    rival = "" if where.rival.agent == against else f" behind {where.rival.agent}"
    figures = f"worst {percent(worst)} %: {_place(where)}{rival}; {behind} of {len(cells)} cells beyond"
    certain = all(gain.low >= -limit for gain, _ in gains)
    possible = all(gain.high >= -limit for gain, _ in gains)
    return TargetVerdict(target, statement, against, figures, decide(certain, possible, behind == 0))


def _on_average(
    target: str, cells: Sequence[Comparison], against: str, least: float, statement: str
) -> TargetVerdict:
    gains = [each.gain for each in cells if each.gain is not None]
    if not gains:
        return TargetVerdict(target, statement, against, "", UNMEASURED)
    mean = average(gains)
    missing = len(cells) - len(gains)
    most = np.mean([1 / each.rival.share.value - 1 for each in cells if each.rival.share is not None])
    figures = f"{percent(mean)} % over {len(gains)} cells" + (f", {missing} do not fit" if missing else "")
    figures += f"; V* itself would gain {100 * most:+.1f} %"
    verdict = decide(not missing and mean.low >= least, mean.high >= least, mean.value >= least)
    return TargetVerdict(target, statement, against, figures, verdict)


@dataclass(frozen=True)
class Recovery:
    """How a run came back after a jump: shares of V* before it and at the end of a quarter of the run."""

    score: Score
    before: float
    after: Ratio
    """The share at the deadline minus the part of `before` that is asked for."""
    episodes: int | None
    """From the jump to the first window that is back; None when none is."""


def recoveries(league: League) -> Iterator[Recovery]:
    """The controller on every problem that jumps, at the budgets that the target names."""
    for score in league.untuned():
        reference = league.references[score.problem]
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


def _recovery(league: League) -> TargetVerdict:
    statement = "K/4 episodes after a jump, 90 % of the share of V* from before it, at 4 KiB and uncapped"
    found = list(recoveries(league))
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


def _alarms(league: League) -> TargetVerdict:
    statement = "fewer than 0.2 restarts a run on every problem that does not drift"
    rates: dict[str, list[float]] = {}
    for score in league.untuned():
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
