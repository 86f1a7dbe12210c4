"""Runs on the stand-in problem, whose answers are known by hand."""

from __future__ import annotations

import numpy as np

from adamb.host_sim.agents import Agent, make_agent
from adamb.host_sim.runner import simulate
from support.standin_problem import Standin

SEEDS = range(40, 46)


class Growing(Agent):
    """Plays the middle and grows by 10 bytes an episode."""

    name = "growing"

    def __init__(self, shape, **options):
        super().__init__(shape, **options)
        self.used = np.zeros(self.n, dtype=int)

    def act(self, h, states):
        return np.full((self.n, self.d_a), 0.5)

    def end_episode(self):
        self.used += 10

    def bytes_used(self):
        return self.used

    def stats(self):
        return {"leaves": np.arange(self.n), "reclaims": np.full(self.n, 7)}


def play(agent="random", *, seeds=SEEDS, episodes=30, options=None, budget_bytes=None, run=None, **problem):
    task = Standin(list(seeds), episodes=episodes, **problem)
    player = make_agent(agent, task, budget_bytes=budget_bytes, **(options or {}))
    return simulate(task, player, **(run or {}))
