"""The value of planning: the best play beside the best myopic, the best static and random play.

Where the first two are close, a contextual bandit (H = 1) is all one needs; a learner that plans must be
judged on problems where they are not. All four get the same random draws, so their differences are much
better known than the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from adamb.host_sim.agents.fixed import PolicyAgent
from adamb.host_sim.problem import Policy, Problem, constant_policy
from adamb.host_sim.problems import make_problem
from adamb.host_sim.runner import half_widths, simulate

#: Constant actions are compared on seeds from here on, away from those that are reported.
SEARCH_SEED = 1_000_000
SEARCH_SEEDS, SEARCH_EPISODES = 16, 10
#: Points an action coordinate of the first pass, by number of coordinates; the second pass looks between
#: them.
SEARCH_POINTS = {1: 11, 2: 7, 3: 5}


@dataclass(frozen=True)
class Played:
    """Mean return of one way to play, with the half width of its 95 % interval over seeds."""

    name: str
    mean: float
    half_width: float
    by_seed: np.ndarray


@dataclass(frozen=True)
class PlanningValue:
    """`exact` is V* where the model is known; `best` is what earned most of all ways known."""

    problem: str
    exact: float | None
    best: Played
    myopic: Played | None
    static: Played
    static_action: tuple[float, ...]
    random: Played

    @property
    def share(self) -> float | None:
        """(best - myopic) / (best - random): the part of what can be won that only planning wins."""
        if self.myopic is None:
            return None
        return (self.best.mean - self.myopic.mean) / (self.best.mean - self.random.mean)

    @property
    def share_half_width(self) -> float | None:
        """95 % half width of the share, from the paired differences of the seeds."""
        if self.myopic is None or self.share is None:
            return None
        won = self.best.by_seed - self.myopic.by_seed
        range_ = self.best.by_seed - self.random.by_seed
        return float(half_widths((won - self.share * range_)[:, None])[0] / abs(range_.mean()))

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a table or JSON."""
        row: dict[str, Any] = {"problem": self.problem, "exact": self.exact, "share": self.share}
        row["share_ci95"] = self.share_half_width
        for column, played in (
            ("best", self.best), ("myopic", self.myopic), ("static", self.static), ("random", self.random),
        ):  # fmt: skip
            row[column] = None
            if played is not None:
                row[column] = {"policy": played.name, "mean": played.mean, "ci95": played.half_width}
        row["static_action"] = list(self.static_action)
        return row


def play(problem: Problem, policy: Policy, episodes: int) -> np.ndarray:
    """(episodes, n) returns."""
    agent = PolicyAgent(problem, policy, "policy")
    return np.ascontiguousarray(simulate(problem, agent, episodes=episodes, record=1, optimum=False).returns.T)


def value_of_planning(
    name: str, *, seeds: Sequence[int] = tuple(range(40)), episodes: int = 50, **world: Any
) -> PlanningValue:
    """Play a problem in all four ways over the same seeds and episodes; `world` is as make_problem takes it."""

    def fresh(chosen: Sequence[int] = seeds, **options: Any) -> Problem:
        return make_problem(name, chosen, episodes=episodes, **{**world, **options})

    def played(label: str, problem: Problem, policy: Policy) -> Played:
        by_seed = play(problem, policy, episodes).mean(axis=0)
        return Played(label, float(by_seed.mean()), float(half_widths(by_seed[:, None])[0]), by_seed)

    def rule(label: str) -> Played:
        problem = fresh()
        return played(label, problem, problem.rules()[label])

    problem = fresh()
    optimum = problem.optimal()
    known = problem.rules()
    action = best_static_action(fresh)
    static_problem = fresh()
    static = played("static", static_problem, constant_policy(static_problem, action))
    best = (
        played("optimal", problem, optimum.policy)
        if optimum is not None
        else max((rule(label) for label in known), key=lambda candidate: candidate.mean)
    )
    best = max(best, static, key=lambda candidate: candidate.mean)
    return PlanningValue(
        problem=name,
        exact=None if optimum is None else float(optimum.mean.mean()),
        best=best,
        myopic=_myopic(fresh, known, best, rule, played),
        static=static,
        static_action=action,
        random=rule("random"),
    )


def _myopic(fresh: Any, known: Mapping[str, Policy], best: Played, rule: Any, played: Any) -> Played | None:
    """The problem's own myopic rule; else the optimum of one step, if there is a model; else None.

    Where actions do not move the state the best play is myopic.
    """
    problem = fresh()
    if not getattr(problem, "action_moves_state", True):
        return best
    if "myopic" in known:
        return rule("myopic")
    one_step = fresh(horizon=1).optimal()
    if one_step is None:
        return None
    return played("myopic", problem, lambda h, states: one_step.policy(0, states))


def best_static_action(fresh: Any) -> tuple[float, ...]:
    """The constant action with the best mean return on seeds of its own."""
    seeds = range(SEARCH_SEED, SEARCH_SEED + SEARCH_SEEDS)
    d_a = fresh(list(seeds[:1])).d_a
    points = SEARCH_POINTS.get(d_a, 3)

    def worth(action: tuple[float, ...]) -> float:
        problem = fresh(list(seeds))
        return float(play(problem, constant_policy(problem, action), SEARCH_EPISODES).mean())

    coarse = max(product(np.linspace(0.0, 1.0, points).tolist(), repeat=d_a), key=worth)
    offsets = np.array([-0.5, -0.25, 0.0, 0.25, 0.5] if d_a == 1 else [-0.5, 0.0, 0.5]) / (points - 1)
    near = [np.unique(np.clip(place + offsets, 0.0, 1.0)).tolist() for place in coarse]
    return max(product(*near), key=worth)
