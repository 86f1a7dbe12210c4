"""The yardstick of `adamb speed` is the authors' algorithm: it plays what the float reference plays."""

from __future__ import annotations

from copy import deepcopy

import pytest

from adamb.host_sim import make_agent, make_problem
from adamb.tools.measure.plain_program import PlainLearner


@pytest.mark.parametrize(
    ("name", "seed", "episodes"), [("oil-laplace", 3, 300), ("ambulance-1", 4, 300), ("ambulance-2", 5, 100)]
)
def test_it_plays_the_games_of_the_reference_with_the_authors_deviations(name, seed, episodes):
    """Fewer in two dimensions: of equally near cells either takes the first of its own list."""
    problem = make_problem(name, [seed], episodes=episodes)
    agent = make_agent("adamb", problem, core="reference", deviations="authors", bonus=0.4)
    rng = deepcopy(agent.learners[0].rng)
    plain = PlainLearner(problem.d_s, problem.d_a, problem.horizon, 0.4, rng)
    for k in range(episodes):
        states = problem.begin_episode()
        for h in range(problem.horizon):
            actions = agent.act(h, states)
            assert plain.act(h, states[0].tolist()) == pytest.approx(actions[0].tolist(), abs=1e-12), (k, h)
            rewards, states = problem.step(h, actions)
            agent.observe(h, rewards, states)
            plain.observe(h, float(rewards[0]), states[0].tolist())
    cells = [len(step.cells) for step in plain.steps]
    balls = sum(len(step.balls) for step in plain.steps)
    assert balls == agent.stats()["leaves"][0] > 50
    assert sum(cells) == agent.stats()["state_cells"][0]
