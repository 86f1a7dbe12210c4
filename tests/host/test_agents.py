"""Agents are made by name: ours on the core that was asked for, baselines, rules and factories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import agents
from adamb.host_sim.agents import agent_names, make_agent, register_agent
from adamb.host_sim.runner import simulate
from support.standin_problem import Standin
from support.standin_runs import Growing, play


def test_an_agent_made_for_another_problem_is_refused():
    agent = make_agent("random", Standin([1, 2]))
    with pytest.raises(InputError, match="another problem"):
        simulate(Standin([1]), agent)


def test_unknown_agents_and_options_name_the_nearest():
    task = Standin([1])
    with pytest.raises(InputError, match="did you mean random"):
        make_agent("randm", task)
    with pytest.raises(InputError, match="did you mean follow"):
        make_agent("folow", task)
    with pytest.raises(InputError, match="did you mean trials"):
        make_agent("static", task, trails=3)
    with pytest.raises(InputError, match="agent random has no such option"):
        make_agent("random", task, mode="paper")
    with pytest.raises(InputError, match="trials"):
        make_agent("static", task, trials=0)


def test_rules_of_the_problem_are_agents_under_their_name():
    assert np.array_equal(play("follow").returns, play("rule:follow").returns)
    assert play("rule:random").agent == "rule:random"


def test_a_factory_gets_the_problem_and_a_class_its_dimensions(growing):
    register_agent("made", lambda problem, *, budget_bytes, speed: Growing(replace(problem.shape, episodes=speed)))
    task = Standin([5, 6], horizon=3)
    made = make_agent("made", task, speed=9)
    assert (made.name, made.episodes, made.n) == ("made", 9, 2)
    assert make_agent("growing", task).horizon == 3
    assert {"growing", "made", "adamb", "random", "static", "optimal"} <= set(agent_names())


@pytest.mark.parametrize("options", [{}, {"core": "c"}])
def test_a_core_that_is_not_built_is_named(monkeypatch, options):
    monkeypatch.setitem(agents.CORES, "c", agents.CoreLocation("adamb.host_sim.no_such_module", "CoreAgent"))
    with pytest.raises(InputError, match=r"not available here .*no_such_module"):
        make_agent("adamb", Standin([1]), **options)
    with pytest.raises(InputError, match="did you mean reference"):
        make_agent("adamb", Standin([1]), core="referenc")


def test_a_baseline_with_missing_requirements_leaves_the_others_usable(tmp_path, monkeypatch):
    from adamb.host_sim import baselines

    (tmp_path / "needs_too_much.py").write_text("import a_package_nobody_has\n")
    monkeypatch.setattr(baselines, "__path__", [*baselines.__path__, str(tmp_path)])
    assert "random" in agent_names()
    with pytest.raises(InputError, match="agent"):
        make_agent("needs_too_much", Standin([1]))


def test_an_agent_is_a_name_or_an_agent():
    with pytest.raises(InputError, match="agent = None: must be a name"):
        simulate(Standin([0]), None)


def test_the_name_of_a_problem_in_its_place_is_told_what_to_write():
    with pytest.raises(InputError, match=r'make_problem\("oil-laplace", seeds=range\(5\)\)'):
        simulate("oil-laplace", "adamb")
