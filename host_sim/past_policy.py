"""The policy of the paper's PAC guarantee: one drawn uniformly from those of all episodes, evaluated.

The guarantee says that such a policy is within epsilon of the optimum with probability 1 - delta after
`budgets.bounds_paper.pac_episodes` episodes. Here every seed draws an episode, its block is kept as it was
when that episode began, and after the training the kept block plays without learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.agents import Agent, make_agent
from adamb.host_sim.core_agent import CoreAgent
from adamb.host_sim.problem import Problem, make_problem

DRAW_STREAM = 0xD2A3


@dataclass(frozen=True)
class PastPolicy:
    """One past policy per seed: the episode it is from, what it earns, and what could be earned."""

    episodes: np.ndarray
    value: np.ndarray
    optimal: np.ndarray

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
    kept = np.empty_like(agent.blocks)
    for k in range(episodes):
        kept[drawn == k] = agent.blocks[drawn == k]
        _episode(problem, agent, learn=True)
    agent.blocks[:] = kept
    returns = np.mean([_episode(problem, agent, learn=False) for _ in range(evaluate)], axis=0)
    return PastPolicy(drawn, returns, optimum.mean)


def _episode(problem: Problem, agent: Agent, *, learn: bool) -> np.ndarray:
    states = problem.begin_episode()
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
