"""A trained controller takes a few bad samples for what they are, and a change for a change.

Samples that never arrive, rewards that a sensor drops to 0, whole episodes without reward: none of them makes
the controller start again, and it earns what it did before. When the problem itself changes, it does.
"""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.agents import build
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.problems import make_problem

FIRST_SEED = 5000
TRAINED = 2000
BACK = 20
"""Episodes after the last glitch within which the return is back."""
WINDOW = 100
"""Episodes that returns are compared over."""
GLITCHES = 40
"""Episodes in which the glitches come."""


class Plant:
    """A problem and its trained controllers, one for each seed."""

    def __init__(self, name, seeds, episodes=TRAINED + 1000, drift="none"):
        params = {"start": "random"} if name.startswith("oil") else {}
        instance = "paper" if name.startswith("oil") else "random"
        self.problem = make_problem(name, list(seeds), instance=instance, drift=drift, episodes=episodes, params=params)
        self.agent = build(CoreAgent, self.problem, budget_bytes=None)

    def episode(self, lost=None, zero=None):
        """Returns of one episode. `lost` and `zero` say by seed and step which samples do not arrive, and
        which arrive with no reward."""
        agent, total = self.agent, np.zeros(self.problem.n)
        states = self.problem.begin_episode()
        for h in range(self.problem.horizon):
            rewards, states = self.problem.step(h, agent.act(h, states))
            total += rewards
            before = None if lost is None else agent.blocks[lost[:, h]].copy()
            agent.observe(h, rewards if zero is None else np.where(zero[:, h], 0.0, rewards), states)
            if before is not None:
                agent.blocks[lost[:, h]] = before  # as if observe had not been called
        agent.end_episode()
        return total

    def run(self, episodes):
        return np.array([self.episode() for _ in range(episodes)])

    @property
    def restarts(self):
        return self.agent.stats()["restarts"]


@pytest.fixture(scope="module")
def trained():
    """Trained once for a problem; what a test does to the controllers is undone for the next."""
    plants = {}

    def get(name, count):
        if name not in plants:
            plant = Plant(name, range(FIRST_SEED, FIRST_SEED + count))
            plant.run(TRAINED - WINDOW)
            earned = plant.run(WINDOW).mean(axis=0)
            plants[name] = plant, earned, plant.agent.blocks.copy()
        plant, earned, blocks = plants[name]
        plant.agent.blocks[:] = blocks
        return plant, earned

    return get


def places(rng, plant):
    """1 to 5 samples of each seed, as (episodes, seeds, steps) of booleans."""
    chosen = np.zeros((GLITCHES, plant.problem.n, plant.problem.horizon), dtype=bool)
    for seed in range(plant.problem.n):
        for _ in range(rng.integers(1, 6)):
            chosen[rng.integers(GLITCHES), seed, rng.integers(plant.problem.horizon)] = True
    return chosen


def lost_samples(plant, rng):
    for lost in places(rng, plant):
        plant.episode(lost=lost)


def zero_rewards(plant, rng):
    for zero in places(rng, plant):
        plant.episode(zero=zero)


def zero_episodes(plant, rng):
    for _ in range(3):
        plant.episode(zero=np.ones((plant.problem.n, plant.problem.horizon), dtype=bool))


KINDS = [lost_samples, zero_rewards, zero_episodes]


@pytest.mark.parametrize("glitch", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("name", "count"),
    [("oil-laplace", 100), ("oil-noisy", 20), ("dram-lite", 20), ("ambulance-1", 20), ("cache-lite", 20)],
)
def test_a_trained_controller_survives_glitches(trained, name, count, glitch):
    plant, before = trained(name, count)
    restarts = plant.restarts
    glitch(plant, np.random.default_rng(7))
    plant.run(BACK)
    change = 100 * (plant.run(WINDOW).mean(axis=0) - before) / before.mean()
    print(f"{name}: seeds from {FIRST_SEED}, {change.mean():+.2f} % after, worst {change.min():+.1f} %")
    assert (plant.restarts == restarts).all()
    assert change.mean() >= -3.0
    assert change.min() >= -15.0


@pytest.mark.parametrize("name", ["oil-laplace", "ambulance-1"])
def test_a_door_that_stands_open_three_episodes_in_a_thousand_restarts_nothing(name):
    plant = Plant(name, range(FIRST_SEED, FIRST_SEED + 4), episodes=20_000)
    open_door = np.ones((plant.problem.n, plant.problem.horizon), dtype=bool)
    for k in range(20_000):
        plant.episode(zero=open_door if k % 1000 >= 997 else None)
    print(f"{name}: seeds {FIRST_SEED}-{FIRST_SEED + 3}, restarts {plant.restarts.tolist()}")
    assert (plant.restarts == 0).all()


def test_a_real_jump_restarts_every_controller_and_each_recovers():
    """The deposit jumps after 2,000 episodes. The 100 before are compared with those that end 1,000 later."""
    plant = Plant("oil-laplace", range(FIRST_SEED, FIRST_SEED + 100), episodes=2 * TRAINED, drift="half")
    plant.run(TRAINED - WINDOW)
    before, restarts = plant.run(WINDOW).mean(axis=0), plant.restarts
    lost = plant.run(10).mean(axis=0)
    plant.run(1000 - WINDOW - 10)
    after = plant.run(WINDOW).mean(axis=0)
    print(f"seeds from {FIRST_SEED}: {before.mean():.3f} before, {lost.mean():.3f} after the jump, {after.mean():.3f}")
    assert lost.mean() < 0.5 * before.mean(), "else nothing changed"
    assert (plant.restarts > restarts).all()
    assert after.mean() >= 0.9 * before.mean()
    assert (after / before).min() >= 0.8
