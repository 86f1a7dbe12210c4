"""The compiled reference is the Python one: same actions, same partition, same Q, whatever the options."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import make_agent, make_problem, simulate

EPISODES = 120
#: Full planning together with the envelope meets ties that only the order of a sum decides; it is left out.
CASES = [
    ("oil-laplace", {"bonus": 0.3}),
    ("oil-noisy", {"bonus": 0.1, "gamma": 2, "phi": 1, "split": "inherited"}),
    ("oil-noisy", {"bonus": 0.5, "planning": "full", "gamma": 1}),
    ("oil-sparse", {"bonus": 1.0, "q_rule": "decreasing", "gamma": 3, "phi": 1}),
    ("oil-quadratic", {"bonus": "theory", "envelope": "off", "L_r": 3}),
    ("oil-noisy", {"bonus": "theory", "L_r": 0.1, "L_T": 0.1, "L_V": 2, "c_T": 0.1}),
    ("oil-noisy", {"bonus": 0.2, "envelope": "on", "L_V": 0.5, "gamma": 2, "phi": 1}),
    ("ambulance-2", {"bonus": 0.2, "envelope": "on", "L_V": 0.2, "gamma": 2, "phi": 1}),
    ("ambulance-1", {"bonus": 0.2, "planning": "full", "q_rule": "decreasing", "gamma": 2, "phi": 2}),
    ("ambulance-2", {"bonus": 0.2, "gamma": 2, "phi": 1, "split": "inherited"}),
    ("ambulance-3", {"bonus": "theory", "envelope": "off"}),
]


def trained(core, name, options, seeds=(4, 5)):
    problem = make_problem(name, list(seeds), episodes=EPISODES)
    agent = make_agent("adamb", problem, core=core, mode="paper", **options)
    return problem, agent, simulate(problem, agent, optimum=False)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value).replace(" ", ""))
def test_both_references_play_and_learn_the_same(name, options):
    problem, compiled, fast = trained("double", name, options)
    _, written, slow = trained("reference", name, options)
    assert np.array_equal(fast.returns, slow.returns)
    for counter in ("leaves", "deepest_level"):
        assert fast.stats[counter].tolist() == slow.stats[counter].tolist(), counter
    assert fast.stats["leaves"].min() > problem.horizon
    for h in range(problem.horizon):
        for learner in range(problem.n):
            balls = written.leaves(learner, h)
            states = np.array([ball.state_low for ball in balls])
            actions = np.array([ball.action_low for ball in balls])
            found = compiled.balls(learner, h, states, actions)
            assert found[:, 0] == pytest.approx([ball.q for ball in balls])
            assert found[:, 1:].tolist() == [[ball.level, ball.own_n] for ball in balls]


def test_fresh_balls_forget_what_their_ancestors_saw():
    """Their Q starts at all that can still be earned, and stays there until they are played."""
    options = {"bonus": 0.3, "gamma": 2, "phi": 1, "split": "inherited"}
    _, fresh, result = trained("double", "oil-laplace", {**options, "estimates": "fresh"})
    _, _, inherited = trained("double", "oil-laplace", options)
    assert result.stats["leaves"].tolist() != inherited.stats["leaves"].tolist()
    line = np.linspace(0, 1, 64, endpoint=False)[:, None]
    square = np.repeat(line, 64, axis=0), np.tile(line, (64, 1))
    most = [fresh.balls(0, h, *square)[:, 0].max() for h in range(5)]
    assert most == [5.0, 4.0, 3.0, 2.0, 1.0], "balls that were never played promise everything"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"bonus": "auto"}, "bonus"),
        ({"deviations": "authors"}, "core double has"),
        ({"mode": "tracking"}, "mode"),
        ({"estimates": "old"}, "must be one of inherited, fresh"),
        ({"budget_bytes": 4096}, "leave the budget out"),
    ],
)
def test_what_it_has_not_is_refused_by_name(options, named):
    problem = make_problem("oil-laplace", [1], episodes=5)
    with pytest.raises(InputError, match=named):
        make_agent("adamb", problem, core="double", **options)
