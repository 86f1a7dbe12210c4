"""The contenders of `adamb compare`, and the figures of each: level, share of V*, bytes, recovery.

Every contender runs on the same seeds and so gets the same random draws, which is why the difference to the
controller is known much better than either return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.errors import BudgetExceeded, InputError, unknown_name
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.agents import CORES, agent_names, find_agent, make_agent
from adamb.host_sim.runner import Estimate, estimate, simulate
from adamb.host_sim.user_code import names_file

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import RunResult

LAST = 200
"""Episodes at the end of a run (and before a change) that tell the level an agent has reached."""
WINDOW = 20
"""Episodes that are averaged, over all seeds, before a curve is said to have come back."""
RECOVERED = 0.9
ALL = "all"
"""In place of a name: every contender."""
RESAMPLES = 400
BANDIT_BYTES = 100
"""Storage of the published bandit controller: no state, a few arms."""


@dataclass(frozen=True)
class Contender:
    """One row: an agent under a cap, `kind` says which part of the table it belongs to."""

    kind: str
    agent: str
    budget_bytes: int | None = None
    options: tuple[tuple[str, Any], ...] = ()
    """Given by the user; none means the agent's defaults."""

    @property
    def label(self) -> str:
        return self.agent if self.budget_bytes is None else f"{self.agent} {format_bytes(self.budget_bytes)}"


@dataclass(frozen=True)
class RecoveryTime:
    """Episodes from the change until the mean over seeds is back, and their 95 % range; None is never."""

    episodes: int | None
    low: int | None
    high: int | None

    def __str__(self) -> str:
        ends = [_or_never(end) for end in (self.low, self.high)]
        inside = "" if ends[0] == ends[1] else f" ({ends[0]}–{ends[1]})"
        return _or_never(self.episodes) + inside


def _or_never(episodes: int | None) -> str:
    return "∞" if episodes is None else str(episodes)


@dataclass
class Standing:
    """The figures of one contender; `why_not` is set, and nothing else, where it does not fit its cap."""

    contender: Contender
    why_not: str | None = None
    returns: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    level: Estimate | None = None
    raw: Estimate | None = None
    """The level in the task's own units, where those are not ours."""
    share: Estimate | None = None
    bytes_peak: int = 0
    difference: Estimate | None = None
    before: Estimate | None = None
    after: Estimate | None = None
    recovery: RecoveryTime | None = None
    lead_recovery: RecoveryTime | None = None
    notes: tuple[str, ...] = ()
    """Remarks of the problem on this run."""
    seeds_back: int | None = None
    """Number of seeds that end at 90 % of their own level before the change."""

    def to_json(self) -> dict[str, Any]:
        """Plain data; a recovery of null episodes means never."""
        estimates = {
            name: None if value is None else value.to_json()
            for name, value in (
                ("last", self.level), ("last_raw", self.raw), ("share", self.share),
                ("difference", self.difference),
                ("before_change", self.before), ("after_change", self.after),
            )
        }  # fmt: skip
        recoveries = {
            name: None if value is None else vars(value)
            for name, value in (("recovery", self.recovery), ("recovery_of_lead", self.lead_recovery))
        }
        who = self.contender
        return {
            "agent": who.agent, "kind": who.kind, "budget_bytes": who.budget_bytes,
            "options": dict(who.options),
            "bytes_peak": None if self.why_not else self.bytes_peak, "why_not": self.why_not,
            **estimates, **recoveries, "seeds_back": self.seeds_back,
        }  # fmt: skip


def contenders(problem: Problem, budgets: Sequence[int], cap: int, options: Mapping[str, Any]) -> list[Contender]:
    """The controller under every cap, the learners beside it, then what needs no learning."""
    given = tuple(options.items())
    line_up = [Contender("controller", "adamb", size, given) for size in sorted({*budgets, cap})]
    line_up += [Contender("baseline", name, cap) for name in ("zoom", "bandit")]
    line_up.append(Contender("baseline", "bandit", BANDIT_BYTES))
    line_up += [Contender("rule", f"rule:{name}") for name in problem.rules()]
    line_up.append(Contender("rule", "static"))
    if problem.optimal() is not None:
        line_up.append(Contender("optimum", "optimal"))
    return line_up


def chosen(line_up: list[Contender], names: Sequence[str], cap: int) -> list[Contender]:
    """The contenders with these names, and always the two the rest refers to: the controller and random.

    `all` are those that are there; another name is one more agent, tried here, so that a mistake is found
    before anything runs.
    """
    known = {_short(contender.agent) for contender in line_up}
    more = [name for name in dict.fromkeys(names) if name not in known and name != ALL]
    for name in more:
        if not names_file(name) and name not in agent_names():
            raise unknown_name("agents", name, sorted({*known, *agent_names(), ALL}))
        find_agent(name)
    added = [Contender("baseline", name, cap) for name in more]
    last = max(i for i, each in enumerate(line_up) if each.agent == "zoom") + 2
    line_up = [*line_up[:last], *added, *line_up[last:]]
    kept = {*names, "random", "adamb"}
    return [each for each in line_up if ALL in names or _short(each.agent) in kept]


def _short(agent: str) -> str:
    return agent.removeprefix("rule:")


def compare(
    make: Callable[[], Problem],
    line_up: Sequence[Contender],
    cap: int | None,
    announce: Callable[[str], object] = lambda label: None,
) -> list[Standing]:
    """Run every agent; `make` gives a fresh problem with the same seeds each time.

    Ctrl-C ends it with fewer rows than contenders: half a run cannot be compared with whole ones.
    """
    rows: list[Standing] = []
    try:
        for contender in line_up:
            announce(contender.label)
            rows.append(_play(make(), contender))
    except KeyboardInterrupt:
        if not rows:
            raise
    by_label = {row.contender.label: row for row in rows}
    controller = by_label.get(Contender("controller", "adamb", cap).label)
    random = by_label.get("rule:random")
    for row in rows:
        if row.why_not is None:
            _relate(row, controller, random)
    return rows


def _play(problem: Problem, contender: Contender) -> Standing:
    try:
        given = dict(contender.options)
        agent = make_agent(contender.agent, problem, budget_bytes=contender.budget_bytes, **given)
    except BudgetExceeded as error:
        return Standing(contender, why_not=f"needs {error.required} bytes")
    row = measured(contender, simulate(problem, agent), problem.drift)
    row.notes = tuple(problem.report().notes)
    return row


def measured(contender: Contender, result: RunResult, drift: str) -> Standing:
    """The figures of one run that need no other run."""
    row = Standing(
        contender,
        returns=result.returns,
        level=result.reward(LAST),
        raw=result.raw_reward(LAST),
        share=result.share(LAST),
        bytes_peak=int(result.bytes_peak.max()),
    )
    if drift == "half":
        change = result.episodes // 2
        row.before = estimate(result.returns[:, max(0, change - LAST) : change].mean(axis=1))
        row.after = estimate(result.returns[:, change : change + WINDOW].mean(axis=1))
        row.recovery = recovery(result.returns, change)
        level = result.returns[:, max(0, change - LAST) : change].mean(axis=1)
        ends = result.returns[:, max(change, result.episodes - LAST) :].mean(axis=1)
        row.seeds_back = int((ends >= RECOVERED * level).sum())
    return row


def _relate(row: Standing, controller: Standing | None, random: Standing | None) -> None:
    """Figures against others: paired by seed, so that shared random draws cancel."""
    if controller is not None and controller is not row and controller.why_not is None:
        gap = row.returns[:, -LAST:] - controller.returns[:, -LAST:]
        row.difference = estimate(gap.mean(axis=1))
    if row.recovery is not None and random is not None and random is not row:
        row.lead_recovery = recovery(row.returns - random.returns, row.returns.shape[1] // 2)


def recovery(curves: np.ndarray, change: int) -> RecoveryTime | None:
    """Episodes until the mean of `curves` (seeds, episodes) is back at 90 % of its level before the change.

    The level is the mean of the last 200 episodes before. None where there is nothing to come back to: a
    level that is not above zero. The range comes from drawing seeds again (fixed stream, so it repeats).
    """
    before = curves[:, max(0, change - LAST) : change].mean(axis=1)
    after = curves[:, change:]
    if change < 1 or after.shape[1] < WINDOW or before.mean() <= 0:
        return None
    sums = np.cumsum(np.pad(after, ((0, 0), (1, 0))), axis=1)
    smooth = (sums[:, WINDOW:] - sums[:, :-WINDOW]) / WINDOW
    draws = np.random.default_rng(0).integers(0, len(curves), (RESAMPLES, len(curves)))
    times = sorted(_first_back(smooth[draw], before[draw]) for draw in draws)
    low, high = (times[int(share * (RESAMPLES - 1))] for share in (0.025, 0.975))
    point = _first_back(smooth, before)
    return RecoveryTime(*(None if np.isinf(time) else int(time) for time in (point, low, high)))


def _first_back(smooth: np.ndarray, before: np.ndarray) -> float:
    back = smooth.mean(axis=0) >= RECOVERED * before.mean()
    return float(np.argmax(back)) if back.any() else np.inf


def rules_beside(problem: Problem, cap: int | None, options: Mapping[str, Any]) -> list[Contender]:
    """The controller under one cap, and all rules of the problem; what ran on a target is played here."""
    played = {k: v for k, v in options.items() if k not in ("core", "keep") or options.get("core") in CORES}
    controller = Contender("controller", "adamb", cap, tuple(played.items()))
    rules = [Contender("rule", f"rule:{name}") for name in problem.rules()]
    return [controller, *rules, Contender("rule", "static")]


def check_episodes(episodes: int, drift: str) -> None:
    """A change needs a level before it and a window after it."""
    if drift == "half" and episodes < 2 * WINDOW:
        raise InputError("episodes", episodes, f"at least {2 * WINDOW} are needed to measure recovery")
