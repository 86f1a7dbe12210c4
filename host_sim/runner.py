"""The loop that lets an agent meet a problem, and the numbers that come out of it.

Time is split into what the agent took and what the environment took, because the agent's share is what a
board would pay. Regret is measured against the exact value of each episode's own start state, so luck in the
start does not count as skill.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import AdambError, InputError
from adamb.host_sim.agents import Agent

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

MAX_EPISODES = 10_000_000
POINTS = 200
LAST = 100
COUNTERS = ("leaves", "refused_splits", "reclaims", "saturations", "restarts")


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and the half width of its 95 % interval; no interval from one seed."""

    mean: float
    ci95: float | None

    def __str__(self) -> str:
        """As many decimals as the interval leaves meaningful."""
        if not self.ci95 or self.ci95 < 5e-7:
            return f"{round(self.mean, 6) + 0.0:.4g}"
        decimals = min(6, max(0, 1 - math.floor(math.log10(self.ci95))))
        return f"{self.mean:.{decimals}f} ± {self.ci95:.{decimals}f}"

    def to_json(self) -> dict[str, float | None]:
        return {"mean": self.mean, "ci95": self.ci95}


def estimate(values: np.ndarray) -> Estimate:
    """Student's t over independent seeds."""
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, None)
    return Estimate(mean, float(half_widths(values[:, None])[0]))


def half_widths(values: np.ndarray) -> np.ndarray:
    """Half width of the 95 % interval of each column of values (seeds, columns); zeros from one seed."""
    from scipy import stats

    seeds = len(values)
    if seeds < 2:
        return np.zeros(values.shape[1])
    return stats.t.ppf(0.975, seeds - 1) * stats.sem(values, axis=0)


@dataclass
class Progress:
    """What a run looks like from outside while it runs; one object, updated after every episode."""

    agent: Agent
    episodes: int
    returns: np.ndarray
    optimal: np.ndarray | None
    done: int = 0


@dataclass
class RunResult:
    """Everything a run measured; the first axis of every array is the seed."""

    problem: str
    instance: str
    agent: str
    core: str | None
    settings: dict[str, Any]
    horizon: int
    seeds: tuple[int, ...]
    budget_bytes: int | None
    returns: np.ndarray
    optimal: np.ndarray | None
    points: np.ndarray
    bytes: np.ndarray
    bytes_peak: np.ndarray
    stats: dict[str, np.ndarray]
    clipped: np.ndarray
    digest: str | None
    seconds: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def episodes(self) -> int:
        return self.returns.shape[1]

    def reward(self, last: int | None = None) -> Estimate:
        """Return per episode over the run, or over its last episodes."""
        return estimate(self._tail(self.returns, last).mean(axis=1))

    def share(self, last: int | None = None) -> Estimate | None:
        """Return as a share of the best possible from the same start states."""
        if self.optimal is None:
            return None
        best = self._tail(self.optimal, last).mean(axis=1)
        if not (best > 0).all():
            return None
        return estimate(self._tail(self.returns, last).mean(axis=1) / best)

    def regret(self) -> Estimate | None:
        """Sum over the episodes of V*(x1) minus the return."""
        return None if self.optimal is None else estimate((self.optimal - self.returns).sum(axis=1))

    def within_budget(self) -> bool:
        return self.budget_bytes is None or bool((self.bytes_peak <= self.budget_bytes).all())

    def microseconds_per_step(self) -> float:
        """Agent time of one act and one observe of one learner."""
        return 1e6 * self.seconds["agent"] / self.returns.size / self.horizon

    def mean_stat(self, name: str) -> float | None:
        return float(np.mean(self.stats[name])) if name in self.stats else None

    def to_json(self) -> dict[str, Any]:
        """The stable, documented fields; counters are means over the seeds, bytes_peak is the worst seed."""
        regret = self.regret()
        return {
            "problem": self.problem,
            "instance": self.instance,
            "agent": self.agent,
            "core": self.core,
            "mode": self.settings.get("mode"),
            "share": self.settings.get("share"),
            "budget_bytes": self.budget_bytes,
            "bytes_peak": int(self.bytes_peak.max()),
            "episodes": self.episodes,
            "horizon": self.horizon,
            "seeds": len(self.seeds),
            "seed_base": self.seeds[0],
            "reward_per_episode": self.reward().to_json(),
            "reward_last100": self.reward(LAST).to_json(),
            "optimal": None if self.optimal is None else float(self.optimal.mean()),
            "regret": None if regret is None else regret.to_json(),
            **{name: self.mean_stat(name) for name in COUNTERS},
            "digest": self.digest,
            "seconds": dict(self.seconds),
            "version": version(),
            "spec_hash": spec_hash(),
        }

    @staticmethod
    def _tail(values: np.ndarray, last: int | None) -> np.ndarray:
        return values if last is None else values[:, -last:]


def version() -> str:
    return metadata.version("adamb")


def spec_hash() -> str | None:
    """Hash of the number formats and layout the core was generated from; None where there is no core."""
    try:
        from adamb.firmware_model import _spec
    except ImportError:
        return None
    return getattr(_spec, "SPEC_HASH", None)


def record_points(episodes: int, record: int | Sequence[int] | None) -> np.ndarray:
    """After which episodes (1-based) memory is recorded: given ones, or evenly spread, always the last."""
    if record is None or isinstance(record, int):
        count = POINTS if record is None else record
        if count < 1:
            raise InputError("record", record, "at least one point")
        return np.unique(np.linspace(0, episodes, min(count, episodes) + 1)[1:].round().astype(int))
    points = np.unique(np.append(np.asarray(record, dtype=int), episodes))
    if points[0] < 1 or points[-1] > episodes:
        raise InputError("record", list(record), f"episodes from 1 to {episodes}")
    return points


def simulate(
    problem: Problem,
    agent: Agent,
    *,
    episodes: int | None = None,
    record: int | Sequence[int] | None = None,
    progress: Callable[[Progress], object] | None = None,
    optimum: bool = True,
) -> RunResult:
    """Play `episodes` episodes and measure.

    `record` is how many times (or after which episodes) the bytes in use are recorded. `progress` is called
    after every episode; when it returns True the run ends there and the result covers what was done. An
    environment that returns nonsense (NaN, a reward outside [0,1]) ends the run with an error whose
    `partial` is the result of the episodes before. `optimum=False` leaves V* out, for a caller who has it
    from another run on the same seeds: while a problem walks, it is solved anew in every episode.
    """
    total = problem.episodes if episodes is None else episodes
    if not 1 <= total <= MAX_EPISODES:
        raise InputError("episodes", total, f"between 1 and {MAX_EPISODES}")
    began = time.perf_counter()
    loop = _Loop(problem, agent, total, record_points(total, record), optimum)
    interrupted = False
    for k in range(total):
        try:
            loop.episode(k)
        except AdambError as error:
            if k > 0:
                error.partial = loop.result(True, time.perf_counter() - began)
            raise
        if progress is not None and progress(loop.progress) is True:
            interrupted = k + 1 < total
            break
    return loop.result(interrupted, time.perf_counter() - began)


class _Loop:
    """The state of one run between two episodes."""

    def __init__(
        self, problem: Problem, agent: Agent, episodes: int, points: np.ndarray, optimum: bool
    ) -> None:
        if agent.n != problem.n or agent.horizon != problem.horizon:
            raise InputError("agent", agent.name, "was made for another problem (learners or horizon differ)")
        self.problem, self.agent = problem, agent
        self.points = points
        self.recorded: list[np.ndarray] = []
        self.agent_ns = self.environment_ns = 0
        known = optimum and problem.optimal() is not None
        shape = (problem.n, episodes)
        self.progress = Progress(
            agent, episodes, returns=np.zeros(shape), optimal=np.zeros(shape) if known else None
        )

    def episode(self, k: int) -> None:
        clock = time.perf_counter_ns
        problem, agent = self.problem, self.agent
        start = clock()
        states = problem.begin_episode()
        environment_ns, agent_ns = clock() - start, 0
        self._record_optimum(k, states)
        rewards_sum = np.zeros(problem.n)
        for h in range(problem.horizon):
            before_act = clock()
            actions = agent.act(h, states)
            before_step = clock()
            rewards, states = problem.step(h, actions)
            before_observe = clock()
            agent.observe(h, rewards, states)
            agent_ns += clock() - before_observe + before_step - before_act
            environment_ns += before_observe - before_step
            rewards_sum += rewards
        before_end = clock()
        agent.end_episode()
        self.agent_ns += agent_ns + clock() - before_end
        self.environment_ns += environment_ns
        self.progress.returns[:, k] = rewards_sum
        self.progress.done = k + 1
        if self.points[len(self.recorded)] == k + 1:
            self.recorded.append(np.asarray(agent.bytes_used()).copy())

    def _record_optimum(self, k: int, states: np.ndarray) -> None:
        if self.progress.optimal is None:
            return
        optimum = self.problem.optimal()
        assert optimum is not None, "the model was known when the run started"
        self.progress.optimal[:, k] = optimum.value(0, states)

    def result(self, interrupted: bool, seconds: float) -> RunResult:
        problem, agent, done = self.problem, self.agent, self.progress.done
        points = self.points[: len(self.recorded)]
        if points.size == 0 or points[-1] != done:
            points = np.append(points, done)
            self.recorded.append(np.asarray(agent.bytes_used()).copy())
        optimal = self.progress.optimal
        return RunResult(
            problem=problem.name,
            instance=problem.instance,
            agent=agent.name,
            core=agent.core,
            settings=agent.describe(),
            horizon=problem.horizon,
            seeds=tuple(problem.seeds),
            budget_bytes=agent.budget_bytes,
            returns=self.progress.returns[:, :done],
            optimal=None if optimal is None else optimal[:, :done],
            points=points,
            bytes=np.stack(self.recorded, axis=1),
            bytes_peak=np.asarray(agent.bytes_peak()).copy(),
            stats={name: np.asarray(values).copy() for name, values in agent.stats().items()},
            clipped=problem.clipped.copy(),
            digest=agent.digest(),
            seconds={
                "agent": self.agent_ns / 1e9,
                "environment": self.environment_ns / 1e9,
                "total": seconds,
            },
            interrupted=interrupted,
        )
