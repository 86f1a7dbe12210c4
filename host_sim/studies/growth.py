"""Growth of regret, memory and time with the number of episodes: exponents, measured, and bounds kept; and what a
policy of the past loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.budgets.bounds.paper import Row, table_one
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import Agent, make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.experiments.spec import with_length
from adamb.host_sim.problem import Problem, make_problem
from adamb.host_sim.runner import Estimate, estimate
from adamb.host_sim.studies.claims import Verdict, decide, high, low

DECADE = 10
"""Exponents are taken over the last factor of this many in K."""
ROWS = {
    "AdaMB": "AdaMB",
    "AdaMB γ, φ of theory": "AdaMB",
    "AdaMB, bonus of theory": "AdaMB",
    "AdaQL": "adaptive Q-learning",
    "kernel UCBVI": "kernel UCBVI",
    "epsilonQL": "net-based Q-learning",
}
"""Algorithms of the sweep and their rows in Table 1."""
LIMIT = "the theorem is about the limit, up to constants and logarithms"


def exponents(episodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(seeds,) slopes of log values (seeds, points) over log episodes (points,) in the last decade.

    >>> exponents(np.array([10, 100, 1000]), np.array([[1.0, 10.0, 1000.0]])).round(2).tolist()
    [2.0]
    """
    late = episodes * DECADE >= episodes[-1] * (1 - 1e-9)
    return slopes(episodes[late], np.maximum(values[:, late], 1e-12))


def slopes(episodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(seeds,) slopes of log values (seeds, points) over log episodes (points,)."""
    x = np.log(episodes)
    x -= x.mean()
    return np.log(values) @ x / (x @ x)


@dataclass(frozen=True)
class Growth:
    """One algorithm on one problem, told to play each of some numbers of episodes."""

    episodes: np.ndarray
    regret: np.ndarray
    """(seeds, points)."""
    size: np.ndarray
    """(seeds, points) most bytes."""
    seconds: np.ndarray
    """(1, points) of the agent, all seeds together."""


def collect(results: Iterable[tuple[Any, Mapping[str, Any]]]) -> dict[tuple[str, str], Growth]:
    """By problem and algorithm, from the cells of a growth sweep."""
    runs: dict[tuple[str, str], dict[int, list[Mapping[str, Any]]]] = {}
    for cell, outcome in results:
        problem = cell.problem_label.removesuffix(with_length("", cell.episodes))
        lengths = runs.setdefault((problem, cell.agent_label), {})
        lengths.setdefault(cell.episodes, []).append(outcome)
    return {place: _growth(lengths) for place, lengths in runs.items()}


def _growth(lengths: Mapping[int, Sequence[Mapping[str, Any]]]) -> Growth:
    episodes = sorted(lengths)
    rows = [sorted((row for each in lengths[k] for row in each["rows"]), key=_seed) for k in episodes]
    seconds = [sum(each["seconds"]["agent"] for each in lengths[k]) for k in episodes]
    columns = {
        name: np.array([[float(row[name]) for row in found] for found in rows]).T for name in ("regret", "bytes_peak")
    }
    return Growth(np.array(episodes), columns["regret"], columns["bytes_peak"], np.array([seconds]))


def _seed(row: Mapping[str, Any]) -> int:
    return int(row["seed"])


@dataclass(frozen=True)
class Exponents:
    """A row of Table 1: what the theory says of an algorithm, and what was measured."""

    problem: str
    algorithm: str
    theory: Row
    regret: Estimate
    time: Estimate
    space: Estimate
    last: Estimate
    """Regret after the most episodes."""


def measured_table(growths: Mapping[tuple[str, str], Growth], d: int, d_s: int) -> list[Exponents]:
    """Table 1 with measured exponents; an algorithm that it does not list is left out."""
    rows = {row.algorithm: row for row in table_one(d, d_s)}
    return [
        Exponents(
            problem,
            agent,
            rows[ROWS[agent]],
            estimate(exponents(each.episodes, each.regret)),
            estimate(exponents(each.episodes, each.seconds)),
            estimate(exponents(each.episodes, each.size)),
            estimate(each.regret[:, -1]),
        )
        for (problem, agent), each in growths.items()
        if agent in ROWS
    ]


def judge_growth(table: Sequence[Exponents], episodes: Sequence[int], seeds: int) -> list[Verdict]:
    """Whether the exponent of regret in the last decade is at most the theorem's."""
    late = [k for k in episodes if k * DECADE >= max(episodes)]
    found = []
    for row in table:
        power, limit = row.regret, row.theory.regret_k
        sides = high(power) <= limit, low(power) > limit
        names = f"{row.algorithm} : theorem", f"K^({power}) : K^{limit:.3f}", f"exponent {power}"
        verdict = decide("regret", row.problem, *names, power, sides, seeds)
        found.append(replace(verdict, note=f"K from {late[0]} to {late[-1]}; {LIMIT}"))
    return found


#: A fit uses the last part of a run: the first hundredth is start-up, where constants hide the growth.
FIT_FROM = 0.01


@dataclass(frozen=True)
class Exponent:
    """The slope of log(value) over log(episode): mean over seeds, and the half width of its 95 % interval."""

    measured: float
    ci95: float | None
    seeds: int
    first_episode: int
    last_episode: int


@dataclass(frozen=True)
class Violation:
    """A measurement above its bound; there must be none."""

    quantity: str
    episode: int
    seed: int
    measured: float
    bound: float

    def __str__(self) -> str:
        return (
            f"{self.quantity} = {self.measured:g} after episode {self.episode} of seed {self.seed}, "
            f"above the bound {self.bound:g}"
        )


def log_points(episodes: int, per_decade: int = 8) -> list[int]:
    """Episodes 1 … K, evenly spaced on a logarithmic axis, always with the last."""
    if episodes < 1:
        raise InputError("episodes", episodes, "must be at least 1")
    if per_decade < 1:
        raise InputError("per_decade", per_decade, "must be at least 1")
    count = max(2, round(np.log10(episodes) * per_decade) + 1)
    return sorted({*np.geomspace(1, episodes, count).round().astype(int).tolist(), episodes})


def fit_exponent(points: Sequence[int], values: np.ndarray) -> Exponent | None:
    """The growth exponent of values (seeds, points); None when fewer than three usable points remain.

    One slope per seed, then Student's t over the seeds: seeds are independent, the points of one run are not.
    """
    episodes, table = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(episodes):
        raise InputError("values", table.shape, "must have one row per seed and one column per point")
    usable = (episodes >= FIT_FROM * episodes[-1]) & (table > 0).all(axis=0)
    if usable.sum() < 3:
        return None
    found = slopes(episodes[usable], table[:, usable])
    mean, first, last = estimate(found), int(episodes[usable][0]), int(episodes[usable][-1])
    return Exponent(mean.mean, mean.ci95, len(found), first, last)


def violations(
    quantity: str, points: Sequence[int], values: np.ndarray, bounds: Sequence[float], seeds: Sequence[int]
) -> list[Violation]:
    """Every measurement (seeds, points) that is above the bound of its point."""
    table, limits = np.asarray(values, dtype=float), np.asarray(bounds, dtype=float)
    rows, columns = np.nonzero(table > limits[None, :])
    return [
        Violation(quantity, int(points[j]), int(seeds[i]), float(table[i, j]), float(limits[j]))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


DRAW_STREAM = 0xD2A3


@dataclass(frozen=True)
class PastPolicy:
    """The policy of the paper's PAC guarantee, one drawn uniformly from those of all episodes, for every seed.

    Every seed draws an episode, its block is kept as it was when that episode began, and after the training the
    kept block plays without learning. The controller is the integer core, which the guarantee does not cover.
    """

    episodes: np.ndarray
    value: np.ndarray
    optimal: np.ndarray
    lost: np.ndarray
    """(seeds, episodes) what each episode of the training lost against V* of its start; regret is its sum."""

    @property
    def gap(self) -> np.ndarray:
        return self.optimal - self.value

    def share_within(self, epsilon: float) -> float:
        """The share of drawn policies that lose at most epsilon."""
        return float((self.gap <= epsilon).mean())


def past_policy(
    name: str, seeds: Sequence[int], *, episodes: int = 2000, evaluate: int = 200, **options: Any
) -> PastPolicy:
    """Train on a problem, draw one past policy per seed, and play each for `evaluate` episodes."""
    for field, count in (("episodes", episodes), ("evaluate", evaluate)):
        if count < 1:
            raise InputError(field, count, "must be at least 1")
    problem = make_problem(name, seeds, episodes=episodes)
    optimum = problem.optimal()
    if optimum is None:
        raise InputError("problem", name, "has no known optimum to measure a gap against")
    agent = make_agent("adamb", problem, core="c", **options)
    assert isinstance(agent, CoreAgent)
    drawn = np.array([np.random.default_rng([seed, DRAW_STREAM]).integers(episodes) for seed in seeds])
    kept, lost = np.empty_like(agent.blocks), np.empty((problem.n, episodes))
    for k in range(episodes):
        kept[drawn == k] = agent.blocks[drawn == k]
        start = problem.begin_episode()
        lost[:, k] = optimum.value(0, start) - _episode(problem, agent, start, learn=True)
    agent.blocks[:] = kept
    played = [_episode(problem, agent, problem.begin_episode(), learn=False) for _ in range(evaluate)]
    return PastPolicy(drawn, np.mean(played, axis=0), optimum.mean, lost)


def _episode(problem: Problem, agent: Agent, states: np.ndarray, *, learn: bool) -> np.ndarray:
    total = np.zeros(problem.n)
    for h in range(problem.horizon):
        rewards, following = problem.step(h, agent.act(h, states))
        if learn:
            agent.observe(h, rewards, following)
        total += rewards
        states = following
    if learn:
        agent.end_episode()
    return total
