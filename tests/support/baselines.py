"""The learners that ours is compared with, made and driven by hand."""

from __future__ import annotations

import numpy as np

from adamb.host_sim.agents import Agent, Shape
from adamb.host_sim.baselines.action_zoom import ActionZooming
from adamb.host_sim.baselines.bandit import ArmBandit
from adamb.host_sim.baselines.cmac import TileSarsa
from adamb.host_sim.baselines.grid import NetQLearning
from adamb.host_sim.baselines.model import GridUCBVI, KernelUCBVI
from adamb.host_sim.baselines.tree import AdaptiveQLearning, ContextualZooming

BASELINES = (
    AdaptiveQLearning,
    ContextualZooming,
    NetQLearning,
    GridUCBVI,
    KernelUCBVI,
    TileSarsa,
    ArmBandit,
    ActionZooming,
)
H = 3


def build(cls, *, d_s=1, d_a=1, horizon=H, seeds=(7,), episodes=2000, budget=None, **options):
    return cls(Shape(d_s, d_a, horizon, seeds, episodes), budget_bytes=budget, **options)


def play(agent: Agent, episodes: int, seed: int = 1):
    """Drive an agent with random states and rewards; yields (h, states, actions, rewards, next states)."""
    rng = np.random.default_rng(seed)
    for _ in range(episodes):
        states = rng.random((agent.n, agent.d_s))
        for h in range(agent.horizon):
            actions = agent.act(h, states)
            rewards, following = rng.random(agent.n), rng.random((agent.n, agent.d_s))
            yield h, states, actions, rewards, following
            agent.observe(h, rewards, following)
            states = following
        agent.end_episode()
