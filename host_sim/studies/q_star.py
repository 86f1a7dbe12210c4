"""How near a learner's Q comes to Q*, and where its balls are small: the paper shows both as maps.

Both are taken over a uniform grid of states and actions of one step, for problems with one dimension each.
The distance is the mean of |Q - Q*|; balls that were never played hold what is still possible and count too,
as they do in the paper's maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.host_sim.runner import estimate, simulate
from adamb.host_sim.studies.claims import Verdict, decide, high, low

HIGH = 0.9
"""Where Q* is above this quantile it is called high."""
ADAPTIVE = ("AdaMB", "AdaMB γ=3", "AdaQL")
"""The algorithms whose maps are compared."""


@dataclass(frozen=True)
class QMap:
    """One number per seed each."""

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
                found.append(_more("focus", problem, names, view.level_high, view.level_elsewhere))
        for agent in ADAPTIVE[:-1]:
            if (problem, agent) in maps and (problem, "AdaQL") in maps:
                theirs, ours = maps[problem, "AdaQL"], maps[problem, agent]
                names = ("", "AdaQL", agent)
                found.append(_more("closer", problem, names, theirs.distance, ours.distance, sign=-1))
                found.append(_more("finer", problem, names, theirs.level_high, ours.level_high))
    return sorted(found, key=lambda each: ("focus", "closer", "finer").index(each.claim))


def _more(
    claim: str,
    problem: str,
    names: tuple[str, str, str],
    first: np.ndarray,
    second: np.ndarray,
    sign: int = 1,
) -> Verdict:
    gap = estimate(first - second)
    up, down = (low(gap), high(gap)) if sign > 0 else (-high(gap), -low(gap))
    unit = "distance" if claim == "closer" else "level"
    compared = f"{names[0]}{', ' if names[0] else ''}{names[1]} : {names[2]}"
    figures = f"{estimate(first)} : {estimate(second)} {unit}"
    return decide(claim, problem, compared, figures, f"{unit} {gap}", gap, (up > 0, down <= 0), len(first))
