"""Cells: one combination of problem, agent and budget with some seeds, and the rows that playing it gives.

A cell is a job that is done whole or not at all. Its key is a hash of everything that decides its result, so a
cell that is finished is finished for every experiment that contains it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import AdambError, BudgetExceeded
from adamb.host_sim.agents import Agent, CompiledAgent, Progress, compiled_backend, make_agent
from adamb.host_sim.problem import Problem
from adamb.host_sim.problems import make_problem
from adamb.host_sim.provenance import spec_hash, version
from adamb.host_sim.runner import LAST, RESULT_COUNTERS, RunResult, record_points, simulate
from adamb.host_sim.user_code import file_digest

EARLY = 4
"""`reward_early` is the mean over the first part in so many of a run: where learning shows."""

Outcome = dict[str, Any]
"""Plain data that a job gives and JSON can hold; `failed` says that an error ended it, and then nothing is kept."""
Choice = tuple[tuple[str, Any], ...]
"""Options and the values chosen for them."""


@dataclass(frozen=True)
class Cell:
    """One combination and some of its seeds."""

    problem: str
    problem_label: str
    params: tuple[tuple[str, Any], ...]
    agent: str
    agent_label: str
    options: tuple[tuple[str, Any], ...]
    bonus: str | float | None
    budget_bytes: int | None
    seeds: tuple[int, ...]
    episodes: int
    horizon: int | None = None
    instance: str = "random"
    drift: str = "none"
    continuing: bool = False
    curves: int = 0
    tune: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Options that are still open, with the values to try; a cell that runs has none."""

    @property
    def combination(self) -> tuple[Any, ...]:
        """Everything that the seeds of one average have in common."""
        return (self.problem_label, self.agent_label, self.bonus, self.budget_bytes)

    def key(self) -> str:
        """A name for the result: equal for equal work of equal versions, whatever experiment it is part of."""
        content = {k: v for k, v in vars(self).items() if not k.endswith("_label")}
        core = spec_hash() if self.agent == "adamb" else None
        named = [self.problem, self.agent, *(text for _, text in self.params if isinstance(text, str))]
        own = [digest for digest in map(file_digest, named) if digest]
        return digest_of({**content, "version": version(), "core": core, **({"own": own} if own else {})})

    def holds(self, outcome: Outcome) -> bool:
        """Whether a stored outcome is a whole one of this cell."""
        seeds = [row.get("seed") for row in outcome.get("rows", [])]
        return seeds == list(self.seeds) or (seeds == [] and bool(outcome.get("refused")))

    def build(self, seeds: tuple[int, ...] | None = None) -> tuple[Any, Any]:
        """The problem and the agent of this cell."""
        problem = make_problem(
            self.problem,
            self.seeds if seeds is None else seeds,
            instance=self.instance,
            drift=self.drift,
            continuing=self.continuing,
            episodes=self.episodes,
            horizon=self.horizon,
            params=dict(self.params),
        )
        return problem, lambda: self.agent_for(problem)

    def agent_for(self, problem: Any) -> Any:
        options = dict(self.options) | ({} if self.bonus is None else {"bonus": self.bonus})
        return make_agent(self.agent, problem, budget_bytes=self.budget_bytes, **options)

    def choices(self) -> Iterator[Choice]:
        """Choices that tuning tries: the product of the listed values, the first option slowest."""
        names = [name for name, _ in self.tune]
        for values in itertools.product(*(values for _, values in self.tune)):
            yield tuple(zip(names, values, strict=True))

    def with_choice(self, choice: Choice) -> Cell:
        """The cell with the options of a choice in effect and nothing left to tune."""
        options = {**dict(self.options), **dict(choice)}
        bonus = options.pop("bonus", self.bonus)
        return replace(self, options=tuple(sorted(options.items())), bonus=bonus, tune=())

    def play(self, *, optimum: bool = True) -> Outcome:
        """The rows; what a budget cannot hold, or an environment that misbehaves, is an outcome too.

        `optimum=False` leaves V* out of the rows, as `simulate` does.
        """
        try:
            problem, make = self.build()
            agent = make()
            growth = _Growth(self.episodes, self.curves) if self.curves else None
            result = simulate(
                problem, agent, episodes=self.episodes, observers=[growth] if growth else [], optimum=optimum
            )
        except AdambError as error:
            return without_rows(error)
        curves = {} if growth is None else {"curves": growth.curves(result)}
        return {"refused": None, "rows": rows_of(result), "seconds": result.seconds, **curves}


def digest_of(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def without_rows(error: AdambError) -> Outcome:
    """The outcome of a cell whose budget cannot hold its agent, or that an error ended."""
    failed = {} if isinstance(error, BudgetExceeded) else {"failed": str(error)}
    return {**failed, "refused": None if failed else str(error), "rows": [], "seconds": {}}


def rows_of(result: RunResult) -> list[dict[str, Any]]:
    """The figures that are kept of a run, a row per seed."""
    optimal = result.optimal
    early = max(1, result.episodes // EARLY)
    rows = []
    for i, seed in enumerate(result.seeds):
        rows.append(
            {
                "core": result.core,
                "seed": seed,
                "reward_per_episode": float(result.returns[i].mean()),
                "reward_early": float(result.returns[i, :early].mean()),
                "reward_last100": float(result.returns[i, -LAST:].mean()),
                "optimal": None if optimal is None else float(optimal[i].mean()),
                "regret": None if optimal is None else float((optimal[i] - result.returns[i]).sum()),
                "bytes_peak": int(result.bytes_peak[i]),
                **{name: _plain(result.stats[name][i]) for name in RESULT_COUNTERS if name in result.stats},
                "episodes": result.episodes,
                "horizon": result.horizon,
            }
        )
    return rows


def _plain(value: Any) -> int | float:
    return value.item() if isinstance(value, np.generic) else value


def windows(values: np.ndarray, count: int) -> np.ndarray:
    """Means of (n, K) over so many parts of the run, each as long as the others."""
    points = record_points(values.shape[1], count)
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, [0, *points]]
    return np.diff(sums, axis=1) / np.diff([0, *points])


class _Growth:
    """Reward between two points and leaves at each, per seed: the curves of the paper's figures."""

    def __init__(self, episodes: int, count: int) -> None:
        self.points = record_points(episodes, count)
        self.count = count
        self.leaves: list[list[float]] = []

    def __call__(self, progress: Progress) -> None:
        if len(self.leaves) < len(self.points) and progress.done == self.points[len(self.leaves)]:
            found = progress.agent.stats().get("leaves")
            self.leaves.append([] if found is None else np.asarray(found).tolist())

    def next_call(self, done: int) -> int:
        """For `simulate`: the next point, or the end."""
        return int(self.points[min(len(self.leaves), len(self.points) - 1)])

    def curves(self, result: RunResult) -> dict[str, Any]:
        rewards = windows(result.returns, self.count)
        leaves = None if [] in self.leaves else np.array(self.leaves).T.tolist()
        return {"episodes": self.points.tolist(), "reward": rewards.round(6).tolist(), "leaves": leaves}


class BatchedAgents(Agent):
    """Agents side by side in one run, each with its own copies of the same instances.

    An instance does the same alone and among many, so this changes no result; but the problem steps once for
    all agents, and what a simulator draws is drawn once, which is most of what such runs cost.
    """

    name = "batch"

    def __init__(self, problem: Problem, agents: Sequence[Agent]) -> None:
        super().__init__(problem.shape)
        ends = np.cumsum([agent.n for agent in agents])
        self.parts = [(agent, slice(end - agent.n, end)) for agent, end in zip(agents, ends, strict=True)]
        self._actions = np.empty((self.n, self.d_a))

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        for agent, part in self.parts:
            self._actions[part] = agent.act(h, states[part])
        return self._actions.copy()

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        for agent, part in self.parts:
            agent.observe(h, rewards[part], next_states[part])

    def end_episode(self) -> None:
        for agent, _ in self.parts:
            agent.end_episode()

    def compiled(self) -> CompiledAgent | None:
        parts = [compiled_backend(agent) for agent, _ in self.parts]
        if any(part is None for part in parts):
            return None
        return CompiledAgent(tuple(group for part in parts for group in part.groups))

    def bytes_used(self) -> np.ndarray:
        return np.concatenate([agent.bytes_used() for agent, _ in self.parts])

    def bytes_peak(self) -> np.ndarray:
        return np.concatenate([agent.bytes_peak() for agent, _ in self.parts])


def play_cells(cells: Sequence[Cell]) -> list[Outcome]:
    """Play cells in one run, without V*: they have one problem, its seeds and its episodes."""
    if len(cells) == 1:
        return [cells[0].play(optimum=False)]
    problem, _ = cells[0].build()
    agents: dict[int, Agent] = {}
    found: dict[int, Outcome] = {}
    for i, cell in enumerate(cells):
        try:
            agents[i] = cell.agent_for(problem)
        except AdambError as error:
            found[i] = without_rows(error)
    if agents:
        try:
            found |= zip(agents, _play_batch(cells[0], list(agents.values())), strict=True)
        except AdambError as error:
            found |= dict.fromkeys(agents, without_rows(error))
    return [found[i] for i in range(len(cells))]


def _play_batch(cell: Cell, agents: Sequence[Agent]) -> list[Outcome]:
    problem, _ = cell.build(cell.seeds * len(agents))
    batch = BatchedAgents(problem, agents)
    result = simulate(problem, batch, episodes=cell.episodes, record=1, optimum=False)
    return [
        {"refused": None, "rows": rows_of(_part(result, agent, part)), "seconds": result.seconds}
        for agent, part in batch.parts
    ]


def _part(result: RunResult, agent: Agent, part: slice) -> RunResult:
    """The result of one of the agents, as far as rows need it."""
    return replace(
        result,
        agent=agent.name,
        core=agent.core,
        seeds=result.seeds[part],
        returns=result.returns[part],
        bytes_peak=result.bytes_peak[part],
        stats={name: np.array(values) for name, values in agent.stats().items()},
    )
