"""The policy of the paper's PAC guarantee: one drawn uniformly from those of all episodes, evaluated.

The guarantee says that such a policy is within epsilon of the optimum with probability 1 - delta after
`budgets.bounds.paper.pac_episodes` episodes. Here every seed draws an episode, its block is kept as it was
when that episode began, and after the training the kept block plays without learning. The controller is the
integer core, which the guarantee does not cover (docs/paper.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.agent import Agent
from adamb.host_sim.agents import make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.problem import Problem, make_problem

DRAW_STREAM = 0xD2A3


@dataclass(frozen=True)
class PastPolicy:
    """One past policy per seed: the episode it is from, what it earns, and what could be earned."""

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
