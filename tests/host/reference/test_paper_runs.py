"""What must hold of the reference in paper mode after any run: geometry, bounds, distributions, optimism."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from adamb.host_sim.agents import Shape
from adamb.host_sim.agents.reference import ReferenceAgent
from adamb.host_sim.problem import make_problem
from support.reference_runs import RUNS, Wandering, assert_tiles_the_unit_cube, finished_runs, level_filling, play

VALUES = {
    "split": ["own", "inherited"],
    "gamma": [1.0, 1.5, 2.0, 2.5, 3.0],
    "phi": [0.5, 1.0, 1.7, 5.0],
    "bonus": [0.0, 0.1, 1.0],
    "action": ["centre", "random"],
    "planning": ["one-step", "one-step", "full"],
    "transitions": ["dyadic", "induced", "nearest"],
    "cells": ["half-open", "closed"],
}
COARSE = {"gamma": [1.5, 2.0, 3.0], "phi": [1.0, 1.7, 5.0]}
"""Thresholds that keep the tree shallow: a deep ball spreads its ancestors' mass over 4^level cells."""


def runs(**narrowed):
    """A finished run of any configuration; options may be narrowed to lists of values."""
    return finished_runs(VALUES | narrowed, most_d_s=2)


@RUNS
@given(runs())
def test_leaves_partition_states_and_actions_and_cells_partition_states(run):
    agent, _ = run
    for h in range(2):
        leaves = agent.leaves(0, h)
        assert_tiles_the_unit_cube(
            [(leaf.state_low + leaf.action_low, leaf.state_high + leaf.action_high) for leaf in leaves]
        )
        cells = agent.state_cells(0, h)
        assert_tiles_the_unit_cube([(cell.low, cell.high) for cell in cells])
        # Equation (induced_state_partition_def): the cells are the minimal state sides.
        sides = {(leaf.state_low, leaf.state_high) for leaf in leaves}
        assert all((cell.low, cell.high) in sides for cell in cells)
    assert agent.stats()["leaves"][0] == sum(len(agent.leaves(0, h)) for h in range(2))


@RUNS
@given(runs(**COARSE))
def test_every_sample_is_counted_once_and_transition_estimates_sum_to_one(run):
    agent, episodes = run
    for h in range(2):
        root = agent.learners[0].roots[h]
        assert sum(ball.n for ball in root.walk()) == episodes
        for ball in root.walk():
            assert sum(ball.next_counts.values()) == ball.n
        for leaf in agent.leaves(0, h):
            assert math.fsum(leaf.next_states.values()) == pytest.approx(1, abs=1e-12)
            assert min(leaf.next_states.values()) > 0
            assert 0 <= leaf.reward <= 1 + 1e-12


@RUNS
@given(runs())
def test_leaves_stay_within_the_exact_bound_and_that_of_the_paper(run):
    """Level filling holds for every rule; Corollary (size_partition) is checked for k >= phi."""
    agent, episodes = run
    s = agent.settings
    d = s.d_s + s.d_a
    if s.split == "own":
        costs = [max(1, n - 1) for n in s.thresholds]
    else:
        costs = [max(1, n - m) for n, m in zip(s.thresholds, [0, *s.thresholds], strict=False)]
        for level in range(len(costs) - 2, 0, -1):  # ceilings can break the order; cheaper is still a bound
            costs[level] = min(costs[level], costs[level + 1])
    for h in range(2):
        leaves = len(agent.leaves(0, h))
        assert leaves <= level_filling(episodes, d, costs)
        if episodes >= s.phi:
            assert leaves <= 4**d * (episodes / s.phi) ** (d / (d + s.gamma))


@RUNS
@given(runs(split=["own"], gamma=[2.0, 2.5, 3.0], phi=[1.0, 1.7, 5.0]))
def test_ancestor_diameters_average_to_at_most_four_diameters_of_the_ball(run):
    """Lemma (sum_ancestors). It holds for own counts, gamma >= 2 and phi >= 1."""
    agent, _ = run
    for h in range(2):
        for leaf in agent.leaves(0, h):
            counts = [*leaf.ancestor_n, leaf.own_n]
            mean = sum(n * 0.5**level for level, n in enumerate(counts)) / sum(counts)
            assert mean <= 4 * 0.5**leaf.level


def test_the_ancestor_lemma_really_needs_gamma_of_two():
    """With gamma = 1 the ancestors hold 1, 1, 3, 7 samples and average above 4 D(B): the check can fail."""
    agent = ReferenceAgent(Shape(1, 1, 1, [0], 400), gamma=1.0, phi=1)
    play(Wandering(0, 1, 1), agent, 400)
    deep = [leaf for leaf in agent.leaves(0, 0) if leaf.level == 4]
    assert deep and deep[0].ancestor_n == (1, 1, 3, 7)
    assert sum(n * 0.5**level for level, n in enumerate(deep[0].ancestor_n)) / 12 > 4 * 0.5**4


@RUNS
@given(runs(**COARSE, envelope=[True], L_V=[0.7], planning=["one-step"]))
def test_the_envelope_is_lipschitz_and_below_the_values_it_envelops(run):
    agent, _ = run
    points = np.random.default_rng(1).random((30, agent.d_s))
    for h in range(2):
        values = np.array([agent.value(0, h, point) for point in points])
        gaps = np.abs(values[:, None] - values[None])
        distances = np.abs(points[:, None] - points[None]).max(axis=2)
        assert (gaps <= 0.7 * distances + 1e-12).all()
        for cell in agent.state_cells(0, h):
            centre = [(a + b) / 2 for a, b in zip(cell.low, cell.high, strict=True)]
            assert agent.value(0, h, centre) <= cell.value + 1e-12


@pytest.mark.parametrize("options", [{}, {"deviations": "authors"}, {"bonus": "theory"}])
def test_values_never_rise_in_paper_mode(options):
    agent = ReferenceAgent(Shape(1, 1, 2, [3], 150), **options)
    points = np.linspace(0, 0.999, 64)
    last = [np.full(64, np.inf)] * 2

    def compare(_episode):
        for h in range(2):
            cells = agent.learners[0].cells[h]
            now = np.array([cells.value((1 << 12) + int(x * 4096)) for x in points])
            assert (now <= last[h]).all()
            last[h] = now

    play(Wandering(3, 1, 1), agent, 150, compare)


# --- optimism ---------------------------------------------------------------------------------------------


class Gentle:
    """Coin-flip rewards and small slopes, so that the bonuses of the theory say something in 3000 episodes.

    r(x, a) = .45 + .02 x + .02 a (L_r = .04 in the max norm), x' = (x + a)/2 + U(-.1, .1) clipped (L_T = 1).
    """

    L_r, L_T, L_V, horizon = 0.04, 1.0, 0.08, 2

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def start(self) -> np.ndarray:
        return self.rng.random((1, 1))

    def step(self, state: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chance = 0.45 + 0.02 * state[0, 0] + 0.02 * action[0, 0]
        following = np.clip((state + action) / 2 + self.rng.uniform(-0.1, 0.1), 0, 1)
        return np.array([float(self.rng.random() < chance)]), following

    def q_star(self, h: int, grid: np.ndarray) -> np.ndarray:
        """Q*(x, a) on grid x grid: the best action is 1 at every state of both steps."""
        x, a = np.meshgrid(grid, grid, indexing="ij")
        reward = 0.45 + 0.02 * x + 0.02 * a
        if h == 1:
            return reward
        offsets = np.linspace(-0.1, 0.1, 201)
        landing = np.clip(((x + a) / 2)[..., None] + offsets, 0, 1).mean(axis=-1)
        return reward + 0.47 + 0.02 * landing


def worst_optimism(agent, task):
    """Smallest Q^(B) - Q*(x, a) over all leaves and the grid points inside them."""
    grid = np.linspace(0, 1, 65)
    worst = math.inf
    for h in range(task.horizon):
        exact = task.q_star(h, grid)
        for leaf in agent.leaves(0, h):
            rows = (grid >= leaf.state_low[0]) & (grid <= leaf.state_high[0])
            columns = (grid >= leaf.action_low[0]) & (grid <= leaf.action_high[0])
            worst = min(worst, leaf.q - exact[np.ix_(rows, columns)].max())
    return worst


@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_optimistic_with_the_bonuses_of_the_theory(seed):
    """Lemma (optimism): Q^ >= Q* on every ball. Thresholds are raised so that the bonuses are below H."""
    print(f"seed {seed}")
    task = Gentle(seed)
    options = {"mode": "paper", "L_r": task.L_r, "L_T": task.L_T, "L_V": task.L_V, "phi": 400.0}
    agent = ReferenceAgent(Shape(1, 1, 2, [seed], 3000), bonus="theory", **options)
    margins = []
    play(task, agent, 3000, lambda k: margins.append(worst_optimism(agent, task)) if k % 250 == 0 else None)
    assert min(margins) >= 0
    # Not vacuous: at the last step the estimate has come below the trivial bound of 1.
    assert min(leaf.q for leaf in agent.leaves(0, 1)) < 1


def test_estimates_are_optimistic_on_the_oil_problem():
    """Against the exact optimum of a real task, whose steep slopes ask for large bonuses."""
    problem = make_problem("oil-quadratic", [7], instance="random", episodes=300)
    options = {"mode": "paper", "bonus": "theory", "L_r": 4.0, "L_T": 1.0, "L_V": 4.0}
    agent = ReferenceAgent(Shape(1, 1, 5, [7], 300), **options)
    for _ in range(300):
        states = problem.begin_episode()
        for h in range(5):
            rewards, states = problem.step(h, agent.act(h, states))
            agent.observe(h, rewards, states)
        agent.end_episode()
    optimum = problem.optimal()
    for h in range(5):
        exact = optimum.q(0, h)
        grid = np.linspace(0, 1, len(exact))
        for leaf in agent.leaves(0, h):
            rows = (grid >= leaf.state_low[0]) & (grid <= leaf.state_high[0])
            columns = (grid >= leaf.action_low[0]) & (grid <= leaf.action_high[0])
            assert leaf.q >= exact[np.ix_(rows, columns)].max()
        for cell in agent.state_cells(0, h):
            rows = (grid >= cell.low[0]) & (grid <= cell.high[0])
            assert cell.value >= exact[rows].max() - 1e-3  # the optimum is exact to 1e-3
