"""Many agents in one run: each plays its own copies of the same instances.

An instance does the same alone and among many, so this changes no result; but the problem steps once for all
agents, and what a simulator draws is drawn once, which is most of what such runs cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adamb.budgets.errors import AdambError, BudgetExceeded
from adamb.host_sim.agent import Agent, CompiledAgent, offered
from adamb.host_sim.problem import Problem
from adamb.host_sim.runner import RunResult, simulate
from adamb.host_sim.sweep.cells import Outcome, failed, refused, rows_of, run_cell
from adamb.host_sim.sweep.spec import Cell


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


def play_cells(cells: Sequence[Cell]) -> list[Outcome]:
    """What `run_cell` gives for each cell without V*; they have one problem, its seeds and its episodes."""
    if len(cells) == 1:
        return [run_cell(cells[0], optimum=False)]
    problem, _ = cells[0].build()
    agents: dict[int, Agent] = {}
    found: dict[int, Outcome] = {}
    for i, cell in enumerate(cells):
        try:
            agents[i] = cell.agent_for(problem)
        except BudgetExceeded as error:
            found[i] = refused(error)
        except AdambError as error:
            found[i] = failed(error)
    if agents:
        try:
            found |= zip(agents, _play_side_by_side(cells[0], list(agents.values())), strict=True)
        except AdambError as error:
            found |= {i: failed(error) for i in agents}
    return [found[i] for i in range(len(cells))]


def _play_side_by_side(cell: Cell, agents: Sequence[Agent]) -> list[Outcome]:
    crowd, _ = cell.build(cell.seeds * len(agents))
    together = Together(crowd, agents)
    result = simulate(crowd, together, episodes=cell.episodes, record=1, optimum=False)
    return [
        {"refused": None, "rows": rows_of(_part(result, agent, part)), "seconds": result.seconds}
        for agent, part in together.parts
    ]


def _part(result: RunResult, agent: Agent, part: slice) -> RunResult:
    """What one of the agents did, as far as rows tell it."""
    return replace(
        result,
        agent=agent.name,
        core=agent.core,
        seeds=result.seeds[part],
        returns=result.returns[part],
        bytes_peak=result.bytes_peak[part],
        stats={name: np.array(values) for name, values in agent.stats().items()},
    )
