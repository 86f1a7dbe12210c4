"""Promises every agent keeps: the seed decides everything, a cap is a cap, arrays have a row a learner."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import agent_names, make_agent, make_problem, simulate
from adamb.host_sim.agents import CORES

BUDGET = 2048
EPISODES = 12
SEEDS = [3, 11, 1000003]
UNCAPPED = [("adamb", {"core": "reference"}), ("adamb", {"core": "double"})]
CAPPED = [("adamb", {"core": core}) for core in CORES if ("adamb", {"core": core}) not in UNCAPPED]
CAPPED += [(name, {}) for name in agent_names() if name != "adamb"]
AGENTS = [*CAPPED, *UNCAPPED]
"""Every name, adamb once for each of its cores; two have no budget."""


def label(value):
    return "-".join([value[0], *value[1].values()]) if isinstance(value, tuple) else str(value)


def built(agent, problem, **more):
    name, options = agent
    return make_agent(name, problem, **{**options, **more})


def capped(agent):
    return {"budget_bytes": BUDGET} if agent in CAPPED else {}


class Watched:
    """Between problem and agent: checks what goes in and out of every call."""

    def __init__(self, agent):
        self.agent = agent
        self.__dict__.update({name: getattr(agent, name) for name in ("n", "horizon", "name", "core")})
        self.budget_bytes = agent.budget_bytes

    def act(self, h, states):
        given = states.copy()
        actions = self.agent.act(h, states)
        assert actions.shape == (self.n, self.agent.d_a)
        assert np.isfinite(actions).all() and actions.min() >= 0 and actions.max() <= 1
        assert (states == given).all(), "the states are the caller's"
        return actions

    def observe(self, h, rewards, next_states):
        given = rewards.copy(), next_states.copy()
        self.agent.observe(h, rewards, next_states)
        assert (rewards == given[0]).all() and (next_states == given[1]).all()

    def end_episode(self):
        self.agent.end_episode()
        used, peak = self.agent.bytes_used(), self.agent.bytes_peak()
        assert used.shape == peak.shape == (self.n,) and (used >= 0).all() and (used <= peak).all()
        if self.budget_bytes is not None:
            assert (peak <= self.budget_bytes).all()

    def __getattr__(self, name):
        return getattr(self.agent, name)


@pytest.mark.parametrize("problem", ["oil-laplace", "ambulance-2", "dram-refresh"])
@pytest.mark.parametrize("agent", AGENTS, ids=label)
def test_actions_lie_in_the_unit_cube_and_bytes_below_the_cap(agent, problem):
    task = make_problem(problem, SEEDS, episodes=EPISODES)
    result = simulate(task, Watched(built(agent, task, **capped(agent))))
    assert result.within_budget() and (result.clipped == 0).all()
    assert all(values.shape == (task.n,) for values in result.stats.values())
    assert json.loads(json.dumps(result.settings)) == result.settings


@pytest.mark.parametrize("agent", AGENTS, ids=label)
def test_a_learner_does_alone_what_it_does_among_others(agent):
    def returns(seeds):
        task = make_problem("oil-noisy", seeds, episodes=EPISODES)
        return simulate(task, built(agent, task, **capped(agent))).returns

    many = returns(SEEDS)
    assert many.tobytes() == returns(SEEDS).tobytes()
    for i, seed in enumerate(SEEDS):
        assert returns([seed]).tobytes() == many[i : i + 1].tobytes(), f"seed {seed}"


@pytest.mark.parametrize("agent", CAPPED, ids=label)
def test_a_cap_may_be_written_as_people_write_sizes(agent):
    task = make_problem("oil-laplace", SEEDS, episodes=EPISODES)
    assert built(agent, task, budget_bytes="2KiB").budget_bytes == BUDGET
    for wrong in ("2 kilos", 0, -1, "0"):
        with pytest.raises(InputError, match="budget_bytes = "):
            built(agent, task, budget_bytes=wrong)


@pytest.mark.parametrize("agent", AGENTS, ids=label)
def test_an_option_it_does_not_have_is_refused(agent):
    task = make_problem("oil-laplace", [1], episodes=EPISODES)
    with pytest.raises(InputError, match="no_such_option"):
        built(agent, task, no_such_option=1)


def test_a_name_is_built_with_its_options_and_a_built_agent_takes_none():
    task = make_problem("oil-laplace", SEEDS, episodes=EPISODES)
    by_name = simulate(task, "adamb", budget_bytes="2KiB", mode="paper")
    task = make_problem("oil-laplace", SEEDS, episodes=EPISODES)
    agent = make_agent("adamb", task, budget_bytes=BUDGET, mode="paper")
    assert simulate(task, agent).returns.tobytes() == by_name.returns.tobytes()
    assert repr(by_name).startswith("<RunResult adamb on oil-laplace in 2 KiB: 12 episodes of 3 seeds, ")
    assert "\n" not in repr(by_name)
    with pytest.raises(InputError, match="is built already; give budget_bytes to make_agent"):
        simulate(task, agent, budget_bytes=BUDGET)
    with pytest.raises(InputError, match="agent = 'CoreAgent': is a class; give an object of it"):
        simulate(task, type(agent))
