"""Runs of the float64 reference, and what tests ask of it afterwards."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st

from adamb.host_sim.agents import Shape
from adamb.host_sim.agents.reference import ReferenceAgent

RUNS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def make(horizon=2, d_s=1, d_a=1, seeds=(0,), episodes=100, **options):
    return ReferenceAgent(Shape(d_s, d_a, horizon, seeds, episodes), **options)


def visit(agent, h, state, reward, next_state):
    action = agent.act(h, np.array([state], dtype=float))
    agent.observe(h, np.array([reward], dtype=float), np.array([next_state], dtype=float))
    return action[0].tolist()


def leaf_at(agent, h, state, action):
    (found,) = [
        leaf
        for leaf in agent.leaves(0, h)
        if all(a <= x < b for a, x, b in zip(leaf.state_low, state, leaf.state_high, strict=True))
        and all(a <= x < b for a, x, b in zip(leaf.action_low, action, leaf.action_high, strict=True))
    ]
    return found


def drive(agent, episodes, seed=0):
    """Any run will do: rewards fall with the distance of action and state, next states are noisy."""
    rng = np.random.default_rng(seed)
    for _ in range(episodes):
        states = rng.random((agent.n, agent.d_s))
        for h in range(agent.horizon):
            actions = agent.act(h, states)
            rewards = np.clip(1 - np.abs(actions[:, :1] - states[:, :1])[:, 0], 0, 1)
            states = np.clip(np.resize(actions, (agent.n, agent.d_s)) + rng.normal(0, 0.1, (agent.n, agent.d_s)), 0, 1)
            agent.observe(h, rewards, states)
        agent.end_episode()


class Wandering:
    """A task drawn from a seed: a reward with a random peak, next states near the action, noise in both."""

    def __init__(self, seed: int, d_s: int, d_a: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.d_s, self.peak = d_s, self.rng.random(d_s + d_a)
        self.sharpness, self.noise = self.rng.uniform(1, 10), self.rng.uniform(0, 0.3)

    def start(self) -> np.ndarray:
        return self.rng.random((1, self.d_s))

    def step(self, state: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distance = np.abs(np.append(state, action) - self.peak).max()
        reward = np.clip(math.exp(-self.sharpness * distance) + self.rng.normal(0, self.noise), 0, 1)
        following = np.resize(action, self.d_s) + self.rng.normal(0, self.noise, self.d_s)
        return np.array([reward]), np.clip(following, 0, 1)[None]


def play(task, agent, episodes, after_episode=None):
    for k in range(episodes):
        state = task.start()
        for h in range(agent.horizon):
            action = agent.act(h, state)
            reward, state = task.step(state, action)
            agent.observe(h, reward, state)
        agent.end_episode()
        if after_episode is not None:
            after_episode(k + 1)


@st.composite
def finished_runs(draw, values, most_d_s):
    """Agent and episodes of a finished run; every option is drawn from its list of values."""
    d_s, d_a = draw(st.integers(1, most_d_s)), draw(st.integers(1, 2))
    options = {name: draw(st.sampled_from(choices)) for name, choices in values.items()}
    episodes, seed = draw(st.integers(1, 120)), draw(st.integers(0, 2**32))
    note(f"d_s={d_s} d_a={d_a} episodes={episodes} seed={seed} {options}")
    agent = make(d_s=d_s, d_a=d_a, seeds=[seed], episodes=episodes, **options)
    play(Wandering(seed, d_s, d_a), agent, episodes)
    return agent, episodes


def assert_tiles_the_unit_cube(boxes):
    """Volumes add up to 1 and no two boxes overlap; exact, as doubles hold dyadic numbers."""
    volume = Fraction(0)
    for low, high in boxes:
        volume += math.prod(Fraction(b) - Fraction(a) for a, b in zip(low, high, strict=True))
    assert volume == 1
    lows, highs = np.array([low for low, _ in boxes]), np.array([high for _, high in boxes])
    overlap = (lows[:, None] < highs[None]) & (lows[None] < highs[:, None])
    assert overlap.all(axis=2).sum() == len(boxes)


def level_filling(samples, d, costs):
    """Most leaves after `samples`: levels filled in order, each split paid for with own samples."""
    splits, width = 0, 1
    for cost in costs:
        taken = min(width, samples // cost)
        splits, samples = splits + taken, samples - taken * cost
        if taken < width:
            break
        width *= 2**d
    return 1 + (2**d - 1) * splits
