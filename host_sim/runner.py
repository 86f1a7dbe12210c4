"""The loop that runs an agent on a problem, and the numbers that it measures.

Time is split into what the agent took and what the environment took, because the agent's share is what a
board would pay. Regret is measured against the exact value of each episode's own start state, so chance in
the start does not count as skill.
"""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agents import Agent, CompiledAgent, Progress, SequentialAgent, compiled_backend, make_agent
from adamb.host_sim.compiled import ProblemInC, doubles
from adamb.host_sim.problem import EPISODES

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

Observer = Callable[[Progress], object]
"""Looks at a run while it plays."""
POINTS = 200
LAST = 100
RESULT_COUNTERS = ("leaves", "refused_splits", "reclaims", "saturations", "restarts")


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and the half width of its 95 % interval; no interval from one seed.

    >>> print(Estimate(2.5, 0.031))
    2.500 ± 0.031
    """

    mean: float
    ci95: float | None

    def __str__(self) -> str:
        """As many decimals as the interval leaves meaningful."""
        if not self.ci95 or self.ci95 < 5e-7:
            return f"{round(self.mean, 6) + 0.0:.4g}"
        decimals = min(6, max(0, 1 - math.floor(math.log10(self.ci95))))
        return f"{self.mean:.{decimals}f} ± {self.ci95:.{decimals}f}"

    def percent(self) -> str:
        return f"{100 * self.mean:.1f}{'' if self.ci95 is None else f' ± {100 * self.ci95:.1f}'} %"

    def to_json(self) -> dict[str, float | None]:
        return {"mean": self.mean, "ci95": self.ci95}


def estimate(values: np.ndarray) -> Estimate:
    """Student's t over independent seeds."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, None)
    return Estimate(mean, float(half_widths(np.asarray(values, dtype=float)[:, None])[0]))


def half_widths(values: np.ndarray) -> np.ndarray:
    """Half width of the 95 % interval of each column of values (seeds, columns); zeros from one seed."""
    from scipy import stats

    seeds = len(values)
    if seeds < 2:
        return np.zeros(values.shape[1])
    return stats.t.ppf(0.975, seeds - 1) * stats.sem(values, axis=0)


@dataclass(repr=False)
class RunResult:
    """Everything a run measured; the first axis of every array is the seed.

    >>> from adamb.host_sim import make_problem
    >>> result = simulate(make_problem("oil-laplace", seeds=[1, 2], episodes=10), "random")
    >>> result.returns.shape, result.episodes
    ((2, 10), 10)
    """

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
    raw_returns: np.ndarray | None = None  # in the task's own units, where those are not ours
    figures: dict[str, np.ndarray] = field(default_factory=dict)  # what else the problem tells, by seed
    statistics: dict[str, Any] | None = None  # counts of the whole run, where the problem has any
    target: dict[str, Any] | None = None
    """Measurements of the target where the controller ran, if that was not here."""
    unfinished: list[dict[str, Any]] = field(default_factory=list)
    """Learners that took turns and were stopped in the middle: seed, episodes, returns."""

    def __repr__(self) -> str:
        cap = "" if self.budget_bytes is None else f" in {format_bytes(self.budget_bytes)}"
        played = f"{self.episodes} episodes of {len(self.seeds)}"
        return f"<RunResult {self.agent} on {self.problem}{cap}: {played} seeds, reward {self.reward()}>"

    @property
    def episodes(self) -> int:
        return self.returns.shape[1]

    def reward(self, last: int | None = None) -> Estimate:
        """Return per episode over the run, or over its last episodes."""
        return estimate(self._tail(self.returns, last).mean(axis=1))

    def raw_reward(self, last: int | None = None) -> Estimate | None:
        """Return per episode in the task's own units; None where those are ours."""
        return None if self.raw_returns is None else estimate(self._tail(self.raw_returns, last).mean(axis=1))

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

    def _repr_html_(self) -> str:
        """What a notebook shows: the figures that `adamb run` prints first."""
        rows: dict[str, object] = {"reward per episode": self.reward(), "regret": self.regret()}
        share = self.share()
        rows["share of V*"] = share and share.percent()
        rows["most bytes in use"] = format_bytes(int(self.bytes_peak.max()))
        body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items() if value)
        return f"<p>{html.escape(repr(self)[1:-1])}</p><table>{body}</table>"

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per seed and episode: reward, and V* and regret where V* is known."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_frame", "pandas", "is not installed; pip install pandas") from None
        seeds, episodes = np.indices(self.returns.shape)
        columns = {"seed": np.array(self.seeds)[seeds], "episode": episodes, "reward": self.returns}
        if self.optimal is not None:
            columns |= {"optimum": self.optimal, "regret": self.optimal - self.returns}
        return pandas.DataFrame({name: values.ravel() for name, values in columns.items()})

    def to_json(self) -> dict[str, Any]:
        """The stable, documented fields: what run.json holds."""
        from adamb.host_sim.results.run import RunSummary  # the owner of the file builds on this module

        return RunSummary.of(self).to_json()

    @staticmethod
    def _tail(values: np.ndarray, last: int | None) -> np.ndarray:
        return values if last is None else values[:, -EPISODES.parse("last", last) :]


def record_points(episodes: int, record: int | Sequence[int] | None) -> np.ndarray:
    """After which episodes (1-based) memory is recorded: given ones, or evenly spread, always the last."""
    if record is None or isinstance(record, int):
        count = POINTS if record is None else record
        if count < 1:
            raise InputError("record", record, "at least one point")
        return np.linspace(0, episodes, min(count, episodes) + 1)[1:].round().astype(int)  # at least 1 apart
    points = np.unique(np.append(np.asarray(record, dtype=int), episodes))
    if points[0] < 1 or points[-1] > episodes:
        raise InputError("record", list(record), f"episodes from 1 to {episodes}")
    return points


def simulate(
    problem: Problem,
    agent: Agent | str,
    *,
    episodes: int | None = None,
    record: int | Sequence[int] | None = None,
    observers: Sequence[Observer] = (),
    optimum: bool = True,
    compiled: bool = True,
    **options: Any,
) -> RunResult:
    """Play `episodes` episodes and measure; an agent's name is built with `make_agent` and the options.

    >>> from adamb.host_sim import make_problem
    >>> simulate(make_problem("oil-laplace", seeds=[1, 2], episodes=5), "static", budget_bytes="1KiB")
    <RunResult static on oil-laplace in 1 KiB: 5 episodes of 2 seeds, reward ...>

    `record` is how many times (or after which episodes) the bytes in use are recorded. `observers` are called
    after every episode, or, with a method `next_call(done)`, after the episode that this names; when one
    returns True the run ends there and the result covers what was done. Where the problem and the agent are
    both compiled, whole episodes are played in C; `compiled=False` plays every step in Python, with the same
    result in a longer time. An environment that returns nonsense (NaN, a reward outside [0,1]) ends the run
    with an error whose `partial` is the result of the episodes before. `optimum=False` leaves V* out, for a
    caller who has it from another run on the same seeds: while a problem walks, it is solved again in every
    episode.
    """
    if isinstance(agent, str):
        agent = make_agent(agent, problem, **options)
    elif isinstance(agent, type):
        raise InputError("agent", agent.__name__, "is a class; give an object of it or a registered name")
    elif not hasattr(agent, "act"):
        raise InputError("agent", agent, "must be a name, or an Agent")
    elif options:
        raise InputError("agent", agent.name, f"is built already; give {', '.join(options)} to make_agent")
    total = problem.episodes if episodes is None else episodes
    total = EPISODES.parse("episodes", total)
    plan = RunPlan(total, record_points(total, record), optimum, compiled)
    if isinstance(agent, SequentialAgent):
        from adamb.host_sim.sequential import play_sequentially

        return play_sequentially(problem, agent, plan, observers)
    return play(problem, agent, plan, observers)


@dataclass(frozen=True)
class RunPlan:
    """Request of a run: episodes, after which of them memory is recorded, V*, C where it can be."""

    episodes: int
    points: np.ndarray
    optimum: bool
    compiled: bool = True


def _next_call(observer: Observer, done: int) -> int:
    named = getattr(observer, "next_call", None)
    return done + 1 if named is None else max(done + 1, named(done))


class Paced:
    """An observer that is called again about every `seconds`, however many episodes that is."""

    def __init__(self, observer: Observer, seconds: float = 0.1) -> None:
        self.observer, self.seconds = observer, seconds
        self.began = time.perf_counter()

    def __call__(self, progress: Progress) -> object:
        return self.observer(progress)

    def next_call(self, done: int) -> int:
        """At most twice as many episodes as are done, as the first ones say little about the others."""
        passed = time.perf_counter() - self.began
        return done + max(1, min(done, int(self.seconds * done / passed)))


def play(problem: Problem, agent: Agent, plan: RunPlan, observers: Sequence[Observer]) -> RunResult:
    """All episodes, all learners in step; an error carries the result of the episodes before it."""
    began, total, loop = time.perf_counter(), plan.episodes, None
    try:
        loop = Loop(problem, agent, plan)
        calls, stopped = [_next_call(each, 0) for each in observers], False
        while loop.progress.done < total and not stopped:
            call = min([*calls, total])
            while loop.progress.done < call:
                loop.advance(call)
            loop.read_optima()
            for i, observer in enumerate(observers):
                if calls[i] <= call:
                    stopped |= observer(loop.progress) is True
                    calls[i] = _next_call(observer, call)
        return loop.result(loop.progress.done < total, time.perf_counter() - began)
    except Exception as error:
        from adamb.host_sim.user_code import locate_in_user_code

        found = locate_in_user_code(error)
        if isinstance(found, AdambError) and loop is not None and loop.progress.done > 0:
            with suppress(Exception):  # what fails may be a hook that the result asks
                found.partial = loop.result(True, time.perf_counter() - began)
        raise found from found.__cause__


class CompiledPlay:
    """The episodes of one run."""

    def __init__(self, problem: ProblemInC, agent: CompiledAgent) -> None:
        self.problem, self.agent = problem, agent
        self._version = -1
        self._world: Any = None
        self._run = ffi.new("play_run *")
        run, n = self._run, problem.n
        run.n, run.d_s, run.d_a, run.horizon = n, problem.d_s, problem.d_a, problem.horizon
        run.carry = problem.continuing
        widths = (problem.d_s,), (problem.d_a,), (), (problem.d_s,)
        self._last = [np.empty((n, *width)) for width in widths]
        run.last_states, run.last_actions, run.last_rewards, run.end_states = map(doubles, self._last)

    @classmethod
    def of(cls, problem: Problem, agent: Agent) -> CompiledPlay | None:
        """None where one of the two is not compiled."""
        learners = compiled_backend(agent)
        if learners is None or not isinstance(problem, ProblemInC) or compiled_backend(problem) is None:
            return None
        return cls(problem, learners)

    def play(self, starts: np.ndarray, noise: np.ndarray, returns: np.ndarray) -> tuple[float, float]:
        """Episodes that the problem has begun, into `returns` (n, m); gives the shares of act and observe."""
        problem, run = self.problem, self._run
        if self._version != problem.version:
            self._version, self._world = problem.version, compiled_backend(problem)
        noise = np.ascontiguousarray(noise, dtype=float)
        run.episodes, run.numbers = len(starts), noise[0, 0].size // problem.n
        if run.numbers < self._world.numbers:
            limit = f"a step needs {self._world.numbers} numbers"
            raise InputError("draw_noise", run.numbers, limit)
        run.starts, run.noise, run.returns = doubles(starts), doubles(noise), doubles(returns)
        run.stride = returns.strides[0] // returns.itemsize
        run.clipped = ffi.from_buffer("int64_t[]", problem.clipped)
        run.act_ns = run.observe_ns = run.environment_ns = 0
        first = 0
        for calls, n, _ in self.agent.groups:
            code = lib.play_episodes(run, self._world.pointer, calls, first, n)
            if code:
                raise AdambError(f"a learner refused a call (code {code})")
            first += n
        problem.end_episodes(*(array.copy() for array in self._last))
        timed = max(1, run.act_ns + run.observe_ns + run.environment_ns)
        return run.act_ns / timed, run.observe_ns / timed


class Loop:
    """The state of one run between two episodes."""

    def __init__(self, problem: Problem, agent: Agent, plan: RunPlan) -> None:
        if agent.n != problem.n or agent.horizon != problem.horizon:
            raise InputError("agent", agent.name, "was made for another problem (learners or horizon differ)")
        self.users = not type(agent).__module__.startswith("adamb.")  # what it returns is then checked
        if self.users:
            from adamb.host_sim.user_code import check_calls

            check_calls(agent)
        self.problem, self.agent, self.points = problem, agent, plan.points
        self.compiled = CompiledPlay.of(problem, agent) if plan.compiled else None
        self.actions_shape = (problem.n, problem.d_a)
        self.recorded: list[np.ndarray] = []
        self._waiting: list[np.ndarray] = []
        self.agent_ns = self.environment_ns = 0
        shape = (problem.n, plan.episodes)
        best = np.zeros(shape) if plan.optimum and problem.optimal() is not None else None
        self.progress = Progress(agent, plan.episodes, np.zeros(shape), best)

    def advance(self, until: int) -> None:
        """One episode, or some at once where they are played in C."""
        done, point = self.progress.done, int(self.points[len(self.recorded)])
        if self.compiled is None:
            self._episode(done)
        else:
            self._episodes(self.compiled, min(until, point) - done)
        if self.progress.done == point:
            self.recorded.append(self._bytes("bytes_used"))

    def _bytes(self, hook: str) -> np.ndarray:
        given = getattr(self.agent, hook)()
        if not self.users:
            return np.array(given)
        from adamb.host_sim.user_code import numbers_of_learners

        return numbers_of_learners(self.agent, hook, given)

    def _stats(self) -> dict[str, np.ndarray]:
        if self.users:
            from adamb.host_sim.user_code import stats_of

            return stats_of(self.agent)
        return {name: np.array(values) for name, values in self.agent.stats().items()}

    def _episodes(self, compiled: CompiledPlay, most: int) -> None:
        clock, k = time.perf_counter_ns, self.progress.done
        start = clock()
        starts, noise = compiled.problem.begin_episodes(most)
        begun, done = clock(), k + len(starts)
        shares = compiled.play(starts, noise, self.progress.returns[:, k:done])
        played = clock()
        agent_ns = round(sum(shares) * (played - begun))
        self.agent_ns += agent_ns
        self.environment_ns += played - start - agent_ns
        self.progress.done = done
        if self.progress.optimal is not None:
            self._waiting.append(starts)
            if self.problem.drift != "none":
                self.read_optima()

    def read_optima(self) -> None:
        """V* of the episodes in C that wait for it, all of one set of parameters."""
        if not self._waiting:
            return
        first, starts = self.progress.done - sum(map(len, self._waiting)), np.concatenate(self._waiting)
        self._waiting.clear()
        read = getattr(self.problem.optimal(), "values_at", None)  # not every optimum reads many at once
        if read is None:
            for i, states in enumerate(starts):
                self._record_optimum(first + i, states)
        elif self.progress.optimal is not None:
            self.progress.optimal[:, first : self.progress.done] = read(0, starts.transpose(1, 0, 2))

    def _episode(self, k: int) -> None:
        clock = time.perf_counter_ns
        problem, agent = self.problem, self.agent
        start, agent_ns = clock(), 0
        states = problem.begin_episode()
        environment_ns = clock() - start
        self._record_optimum(k, states)
        rewards_sum = np.zeros(problem.n)
        for h in range(problem.horizon):
            before_act = clock()
            actions = agent.act(h, states)
            if getattr(actions, "shape", None) != self.actions_shape:
                from adamb.host_sim.user_code import check_actions

                check_actions(agent, h, actions)
            before_step = clock()
            rewards, states = problem.step(h, actions)
            before_observe = clock()
            agent.observe(h, rewards, states)
            agent_ns += clock() - before_observe + before_step - before_act
            environment_ns += before_observe - before_step
            rewards_sum += rewards
            states = problem.state.copy()
        before_end = clock()
        agent.end_episode()
        self.agent_ns += agent_ns + clock() - before_end
        self.environment_ns += environment_ns
        self.progress.returns[:, k] = rewards_sum
        self.progress.done = k + 1

    def _record_optimum(self, k: int, states: np.ndarray) -> None:
        if self.progress.optimal is None:
            return
        optimum = self.problem.optimal()
        assert optimum is not None, "the model was known when the run started"
        values = np.asarray(optimum.value(0, states))
        if values.shape not in ((), (self.problem.n,)):
            raise InputError("value", values.shape, f"of the optimum must have the shape {(self.problem.n,)}")
        self.progress.optimal[:, k] = values

    def result(self, interrupted: bool, seconds: float) -> RunResult:
        problem, agent, done = self.problem, self.agent, self.progress.done
        self.read_optima()
        points, recorded = self.points[: len(self.recorded)], self.recorded
        if points.size == 0 or points[-1] != done:
            points, recorded = np.append(points, done), [*recorded, self._bytes("bytes_used")]
        optimal, report = self.progress.optimal, problem.report()
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
            bytes=np.stack(recorded, axis=1),
            bytes_peak=self._bytes("bytes_peak"),
            stats=self._stats(),
            clipped=problem.clipped.copy(),
            digest=_told(agent, "digest"),
            seconds={
                "agent": self.agent_ns / 1e9, "environment": self.environment_ns / 1e9, "total": seconds,
            },
            interrupted=interrupted,
            raw_returns=None if report.raw_returns is None else report.raw_returns[:, :done],
            figures=report.figures,
            target=_told(agent, "measured"),
        )  # fmt: skip


def _told(agent: Agent, name: str) -> Any:
    """Something that only some agents tell: `digest`, a hash of the first learner's block; `measured`, on a target."""
    method = getattr(agent, name, None)
    return None if method is None else method()
