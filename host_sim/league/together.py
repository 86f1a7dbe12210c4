"""Many choices tuned in one run: every choice plays its own copies of the same instances.

An instance does the same alone and among many, so this changes no result; but the problem steps once for all
choices, which is most of what a short run costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamb.budgets.errors import BudgetExceeded
from adamb.host_sim.agent import Agent, CompiledAgent, offered
from adamb.host_sim.problem import Problem
from adamb.host_sim.runner import simulate
from adamb.host_sim.sweep.spec import Cell, Choice


class Together(Agent):
    """Agents side by side, each with as many learners as there are seeds."""

    name = "together"

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
        parts = [offered(agent) for agent, _ in self.parts]
        if any(part is None for part in parts):
            return None
        return CompiledAgent(tuple(group for part in parts for group in part.groups))

    def bytes_used(self) -> np.ndarray:
        return np.concatenate([agent.bytes_used() for agent, _ in self.parts])

    def bytes_peak(self) -> np.ndarray:
        return np.concatenate([agent.bytes_peak() for agent, _ in self.parts])


def play_choices(cell: Cell, choices: Sequence[Choice]) -> list[dict[str, Any]]:
    """For each choice the mean reward and the largest peak; None where it does not fit the budget."""
    if not choices:
        return []
    problem, _ = cell.build()
    agents: dict[int, Agent] = {}
    for i, choice in enumerate(choices):
        try:
            agents[i] = cell.with_choice(choice).agent_for(problem)
        except BudgetExceeded:
            continue
    found: list[dict[str, Any]] = [{"reward": None, "bytes_peak": None} for _ in choices]
    if not agents:
        return found
    crowd, _ = cell.build(cell.seeds * len(agents))
    together = Together(crowd, list(agents.values()))
    result = simulate(crowd, together, episodes=cell.episodes, record=1, optimum=False)
    for i, (_, part) in zip(agents, together.parts, strict=True):
        rewards = [float(returns.mean()) for returns in result.returns[part]]
        found[i] = {"reward": float(np.mean(rewards)), "bytes_peak": int(result.bytes_peak[part].max())}
    return found
