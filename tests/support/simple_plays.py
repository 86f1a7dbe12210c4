"""Exact values of play that does not plan, for models whose workload no action moves."""

from __future__ import annotations

import numpy as np

from adamb.host_sim.exact_math import first_best
from adamb.host_sim.solvers.exogenous import ACTION_NODES, Evaluation, ExogenousModel


def myopic_play(model: ExogenousModel) -> Evaluation:
    """Play the best expected reward of the step and ignore what comes after."""

    def choose(reward: np.ndarray, future: np.ndarray) -> np.ndarray:
        best = first_best(reward)[:, :, None]
        return np.take_along_axis(reward + future, best, axis=2)[:, :, 0]

    return Evaluation(model, choose)


def random_play(model: ExogenousModel) -> Evaluation:
    """Uniform actions."""
    weights = np.full(ACTION_NODES, 1.0)
    weights[[0, -1]] = 0.5
    weights /= weights.sum()
    return Evaluation(model, lambda reward, future: (reward + future) @ weights)
