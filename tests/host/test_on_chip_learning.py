"""What the shipped controller learns on chip: default options, 4 KiB, 2000 episodes, seeds nobody tuned on.

The level is the mean of the last 200 episodes. Rules are compared by their paired difference over seeds that
meet the same luck. docs/on-chip.md tells the same story with all the rules of the field, on other seeds.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import Estimate, RunResult, estimate, simulate

pytestmark = pytest.mark.slow

SEEDS = range(7000, 7020)
EPISODES, LAST, BUDGET = 2000, 200, 4096


@cache
def played(problem: str, agent: str = "adamb", budget: int | None = BUDGET, options: tuple = ()) -> RunResult:
    task = make_problem(problem, SEEDS, episodes=EPISODES)
    result = simulate(task, make_agent(agent, task, budget_bytes=budget, **dict(options)))
    assert result.within_budget()
    return result


def share(problem: str, **options: str) -> Estimate:
    found = played(problem, options=tuple(options.items())).share(LAST)
    assert found is not None and found.ci95 is not None
    print(f"{problem} {options or 'default'}: {found} of V*, seeds {SEEDS[0]}..{SEEDS[-1]}")
    return found


def lead(problem: str, rule: str, budget: int | None = None) -> Estimate:
    """Of the controller over a rule or rival."""
    controller, other = played(problem), played(problem, rule, budget)
    found = estimate((controller.returns - other.returns)[:, -LAST:].mean(axis=1))
    assert found.ci95 is not None
    print(f"{problem}: adamb - {rule} = {found}, seeds {SEEDS[0]}..{SEEDS[-1]}")
    return found


def certainly_above(found: Estimate) -> bool:
    return found.mean - (found.ci95 or 0.0) > 0


@pytest.mark.parametrize("problem", ["dram-lite", "allocation-2x1"])
def test_the_controller_reaches_96_percent_of_the_optimum(problem):
    assert share(problem).mean >= 0.96


def test_the_cache_controller_reaches_94_percent_and_97_when_it_freezes():
    """The target was 97 %: the default, reclaiming, stays ready to follow a change and misses it for that."""
    assert share("cache-lite").mean >= 0.94
    assert share("cache-lite", when_full="freeze").mean >= 0.97


@pytest.mark.parametrize("rule", ["baseline:adaptive", "baseline:open", "baseline:closed", "baseline:fcfs"])
def test_the_controller_beats_the_page_rules_of_dram_controllers(rule):
    assert certainly_above(lead("dram-1x1", rule))


@pytest.mark.parametrize("problem", ["dram-lite", "dram-drain", "dram-refresh", "allocation-2x1"])
def test_state_pays_against_the_best_fixed_setting_and_a_bandit_of_100_bytes(problem):
    assert certainly_above(lead(problem, "baseline:best-static"))
    assert certainly_above(lead(problem, "bandit", 100))


@pytest.mark.parametrize("problem", ["dram-drain", "dram-refresh"])
def test_planning_problems_stay_within_a_tenth_of_a_point_of_exact_myopic_play(problem):
    """Exact myopic play knows the model and is not reached in 4 KiB and 2000 episodes; this holds the gap."""
    gap = lead(problem, "baseline:myopic")
    assert gap.mean > -0.1
    optimum = played(problem).optimal
    assert optimum is not None
    myopic = played(problem, "baseline:myopic", None).returns[:, -LAST:]
    assert np.mean(optimum[:, -LAST:]) > myopic.mean(), "planning has something to win here"
