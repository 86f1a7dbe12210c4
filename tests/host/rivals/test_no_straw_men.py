"""Rivals earn what a reader of their papers may expect, with a bonus tuned on other seeds."""

from __future__ import annotations

import pytest

from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import simulate


def tuned_reward(problem: str, agent: str, bonuses: tuple[float, ...], **options: object) -> float:
    """Reward per episode on seeds that had no part in choosing c."""

    def reward(c: float, seeds: range) -> float:
        task = make_problem(problem, list(seeds), episodes=2000)
        return simulate(task, make_agent(agent, task, bonus=c, **options), record=1).reward().mean

    best = max(bonuses, key=lambda c: reward(c, range(5000, 5020)))
    result = reward(best, range(6000, 6040))
    print(f"{problem} {agent} {options}: c = {best}, {result:.3f} on seeds 6000..6039")
    return result


@pytest.mark.parametrize(
    ("problem", "options", "least"),
    [
        ("oil-laplace", {}, 3.3),
        ("oil-laplace", {"phi": 0.25}, 3.4),
        ("oil-noisy", {"phi": 0.5}, 2.5),
        ("oil-laplace", {"phi": 0.25, "share": "on"}, 3.7),
    ],
)
def test_adaql_is_no_straw_man(problem, options, least):
    assert tuned_reward(problem, "adaql", (0.1, 0.3, 0.6, 1.0), **options) >= least


@pytest.mark.parametrize(
    ("agent", "least"),
    [
        ("epsql", 2.9),
        ("epsmb", 2.9),
        ("bandit", 3.4),
        ("bandit-zoom", 3.6),
        ("cmac", 2.9),
        ("kernel-ucbvi", 2.2),
    ],
)
def test_other_rivals_learn_the_deposit(agent, least):
    bonuses = (0.7, 1.0) if agent == "cmac" else (0.05, 0.3)
    assert tuned_reward("oil-laplace", agent, bonuses) >= least
