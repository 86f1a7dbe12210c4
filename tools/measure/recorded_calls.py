"""A run of the C core as what its controllers met, for other implementations to be given."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamb.host_sim.agent import Shape
from adamb.host_sim.agents import build
from adamb.host_sim.agents.core import CoreAgent, _fractions
from adamb.host_sim.problem import Problem


@dataclass(frozen=True)
class RecordedCalls:
    """What n controllers met: arrays over (episode, step, controller)."""

    states: np.ndarray
    rewards: np.ndarray
    next_states: np.ndarray
    options: dict[str, Any]
    problem: Callable[[int], Problem]
    """The problem once more, with so many of its instances."""

    def shape(self, seeds: int) -> Shape:
        episodes, horizon, _, d_s = self.states.shape
        return Shape(d_s, self.options["d_a"], horizon, range(seeds), episodes)

    def core(self, seeds: int, of: Sequence[int] = ()) -> CoreAgent:
        """So many controllers, with the seeds from 0 or with those given."""
        words = {name: value for name, value in self.options.items() if name not in ("d_a", "budget_bytes")}
        shape = replace(self.shape(seeds), seeds=of) if of else self.shape(seeds)
        return CoreAgent(shape, budget_bytes=self.options["budget_bytes"], **words)

    def points(self, values: np.ndarray) -> list[list[array]]:
        """Coordinates of the first controller as the core takes them, by episode and step."""
        return [[array("H", row.tolist()) for row in episode] for episode in _fractions(values[:, :, 0])]

    def first_rewards(self) -> list[list[int]]:
        return _fractions(self.rewards[:, :, 0] + 0.5 / 65536).tolist()


def record(problem: Problem, budget_bytes: int | None, options: dict[str, Any]) -> RecordedCalls:
    """Play the whole problem with the C core."""
    agent = build(CoreAgent, problem, budget_bytes=budget_bytes, **options)
    shape = (problem.episodes, problem.horizon, problem.n)
    states, next_states = np.empty((*shape, problem.d_s)), np.empty((*shape, problem.d_s))
    rewards = np.empty(shape)
    for k in range(problem.episodes):
        state = problem.begin_episode()
        for h in range(problem.horizon):
            states[k, h] = state
            rewards[k, h], state = problem.step(h, agent.act(h, state))
            agent.observe(h, rewards[k, h], state)
            next_states[k, h] = state
        agent.end_episode()
    kept = {**options, "d_a": problem.d_a, "budget_bytes": budget_bytes}
    return RecordedCalls(
        states, rewards, next_states, kept, lambda seeds: problem.again(problem.seeds[:seeds])
    )
