"""Agents that do not learn: random, one fixed policy, the optimum, the best fixed action."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import Agent, Shape, generators, register_agent, take_options
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import with_seeds

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem


class RandomAgent(Agent):
    """Uniform actions: what every learner must exceed."""

    name = "random"
    BLOCK = 64

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        self._generators = generators(self.seeds)
        self._episode = 0
        self._draws = np.empty(0)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        row = self._episode % self.BLOCK
        if h == 0 and row == 0:
            shape = (self.BLOCK, self.horizon, self.d_a)
            self._draws = np.stack([generator.random(shape) for generator in self._generators], axis=2)
        return self._draws[row, h]

    def end_episode(self) -> None:
        self._episode += 1


class PolicyAgent(Agent):
    """A fixed policy of the problem, as an agent."""

    #: Built from the problem itself, not from its shape.
    needs_problem = True

    def __init__(
        self,
        problem: Problem,
        policy: Callable[[int, np.ndarray], np.ndarray],
        name: str,
        *,
        budget_bytes: int | str | None = None,
        **options: Any,
    ) -> None:
        self.name = name
        super().__init__(problem.shape, budget_bytes=budget_bytes, **options)
        self.policy = policy

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        return self.policy(h, states)


class OptimalAgent(PolicyAgent):
    """The policy of the problem's dynamic program: how much knowing the model gains."""

    def __init__(self, problem: Problem, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        take_options("optimal", options)
        optimum = problem.optimal()
        if optimum is None:
            raise InputError("agent", "optimal", f"no exact optimum is known for {problem.name}")
        super().__init__(problem, optimum.policy, "optimal", budget_bytes=budget_bytes)
        self._problem = problem
        self._drifts = problem.drift != "none"

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        if h == 0 and self._drifts:
            optimum = self._problem.optimal()
            assert optimum is not None, "the model was known when the run started"
            self.policy = optimum.policy
        return self.policy(h, states)


class StaticAgent(PolicyAgent):
    """The best action to play always, found per instance by trial on copies of the problem before the run.

    The trials replay the first episodes of the run's own noise, so this is the best fixed action in
    hindsight: a baseline no controller that keeps one setting can beat by much.
    """

    options_known: ClassVar[Mapping[str, Parameter]] = {
        "trials": Parameter(64, "int", "episodes for each candidate action", 1, 100_000)
    }

    def __init__(self, problem: Problem, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(problem, lambda h, states: self.action, "static", budget_bytes=budget_bytes, **options)
        self.action = best_fixed_action(problem, self.options["trials"])

    def describe(self) -> dict[str, Any]:
        return {"action": self.action.tolist()}


def best_fixed_action(problem: Problem, trials: int) -> np.ndarray:
    """Actions (n, d_a), one per instance: a coarse grid with few trials, its best with all of them, then
    halving steps around the winner. Candidates get the same noise, so few trials distinguish them."""
    n, d_a = problem.n, problem.d_a
    points = {1: 33, 2: 9}.get(d_a, 5)
    grid = np.array(list(itertools.product(np.linspace(0, 1, points), repeat=d_a)))
    coarse = np.stack([_fixed_return(problem, np.tile(row, (n, 1)), -(-trials // 4)) for row in grid])
    best, best_return = np.empty((n, d_a)), np.full(n, -np.inf)

    def challenge(candidates: np.ndarray) -> None:
        returns = _fixed_return(problem, candidates, trials)
        better = returns > best_return
        best[better], best_return[better] = candidates[better], returns[better]

    for order in np.argsort(-coarse, axis=0, kind="stable")[:8]:
        challenge(grid[order])
    step = 1 / (points - 1)
    for _ in range(4):
        step /= 2
        centre = best.copy()
        for offset in itertools.product((-step, 0.0, step), repeat=d_a):
            if any(offset):
                challenge(np.clip(centre + offset, 0, 1))
    return best


def _fixed_return(problem: Problem, actions: np.ndarray, episodes: int) -> np.ndarray:
    trial = with_seeds(problem, problem.seeds)
    total = np.zeros(trial.n)
    for _ in range(episodes):
        trial.begin_episode()
        for h in range(trial.horizon):
            rewards, _ = trial.step(h, actions)
            total += rewards
    return total / episodes


register_agent("random", RandomAgent)
register_agent("static", StaticAgent)
register_agent("optimal", OptimalAgent)
