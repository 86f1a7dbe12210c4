"""What the shipped controller learns on chip: default options, 4 KiB, 2000 episodes, no tuned seeds.

The level is the mean of the last 200 episodes. Rules are compared by their paired difference over seeds that
get the same random draws. docs/on-chip.md has the same results with all standard heuristics, on other seeds.
"""

from __future__ import annotations

from functools import cache

import pytest

from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import Estimate, RunResult, estimate, simulate
from adamb.tools.measure.standings import recovery

SEEDS = range(7000, 7020)
FEW = SEEDS[:6]
"""Of a channel that simulates every request; leads there are eight times their intervals."""
EPISODES, LAST, BUDGET, LARGE = 2000, 200, 4096, 24 * 1024
CHANGE = EPISODES // 2
EXACT = ["dram-lite", "dram-drain", "dram-refresh", "allocation-2x1", "cache-lite"]


@cache
def played(
    problem: str,
    agent: str = "adamb",
    budget: int | None = BUDGET,
    when_full: str | None = None,
    drift: str = "none",
    seeds: range = SEEDS,
) -> RunResult:
    task = make_problem(problem, seeds, episodes=EPISODES, drift=drift)
    options = {} if when_full is None else {"when_full": when_full}
    result = simulate(task, make_agent(agent, task, budget_bytes=budget, **options))
    assert result.within_budget()
    return result


def share(problem: str, budget: int = BUDGET, when_full: str | None = None) -> float:
    found = played(problem, "adamb", budget, when_full).share(LAST)
    assert found is not None
    print(f"{problem}, {budget} bytes, {when_full or 'default'}: {found} of V*, {SEEDS}")
    return found.mean


def lead(
    problem: str,
    other: str,
    *,
    budget: int = BUDGET,
    cap: int | None = None,
    drift: str = "none",
    seeds: range = SEEDS,
) -> Estimate:
    """Of the controller over a rule, or over a rival under a cap."""
    mine = played(problem, "adamb", budget, drift=drift, seeds=seeds).returns
    others = played(problem, other, cap, drift=drift, seeds=seeds).returns
    found = estimate((mine - others)[:, -LAST:].mean(axis=1))
    assert found.ci95 is not None
    print(f"{problem}: adamb {budget} - {other} = {found}, {seeds}")
    return found


def certainly_above(found: Estimate) -> bool:
    return found.mean - (found.ci95 or 0.0) > 0


def certainly_below(found: Estimate) -> bool:
    return found.mean + (found.ci95 or 0.0) < 0


# ---- how much of the optimum ----------------------------------------------------------------------------


@pytest.mark.parametrize("problem", ["dram-lite", "allocation-2x1"])
def test_the_controller_reaches_96_percent_of_the_optimum(problem):
    assert share(problem) >= 0.96


def test_the_cache_controller_reaches_96_percent_and_97_frozen_or_with_8_kib():
    """97 % are wanted in 4 KiB: staying ready for a change costs the half point that is missing."""
    assert share("cache-lite") >= 0.96
    assert share("cache-lite", when_full="freeze") >= 0.97
    assert share("cache-lite", 2 * BUDGET) >= 0.97


# ---- against standard heuristics ------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["adaptive", "best-static", "open", "closed", "fcfs"])
def test_the_controller_beats_the_page_rules_of_dram_controllers(rule):
    assert certainly_above(lead("dram-1x1", f"baseline:{rule}", seeds=FEW))


@pytest.mark.parametrize("problem", EXACT)
def test_state_pays_against_the_best_fixed_setting_and_a_bandit_of_100_bytes(problem):
    assert certainly_above(lead(problem, "baseline:best-static"))
    assert certainly_above(lead(problem, "bandit", cap=100))


@pytest.mark.parametrize("rule", ["follow", "keep"])
def test_provisioning_beats_the_rules_that_know_no_law(rule):
    assert certainly_above(lead("allocation-2x1", f"baseline:{rule}"))


@pytest.mark.parametrize(("problem", "wide"), [("dram-drain", 0.07), ("dram-refresh", 0.045)])
def test_no_learner_reaches_exact_myopic_play_in_4_kib(problem, wide):
    """Myopic play knows the model. The gap of the controller is held; the rivals do not close it either."""
    gap = lead(problem, "baseline:myopic")
    assert certainly_below(gap) and gap.mean > -wide
    known = played(problem, "baseline:myopic", None).returns
    for rival in ("zoom", "bandit"):
        apart = estimate((played(problem, rival).returns - known)[:, -LAST:].mean(axis=1))
        assert certainly_below(apart), rival


def test_24_kib_are_level_with_exact_myopic_play_in_the_drain_and_close_in_the_refresh():
    assert lead("dram-drain", "baseline:myopic", budget=LARGE).mean > -0.01
    assert lead("dram-refresh", "baseline:myopic", budget=LARGE).mean > -0.02


def test_the_drain_is_not_below_the_watermark_rule_nor_below_zoom():
    for other, cap in (("baseline:watermark", None), ("zoom", BUDGET)):
        assert not certainly_below(lead("dram-drain", other, cap=cap))


def test_what_beats_the_controller_is_known():
    """A cache is better divided by rule, and where actions move no state a bandit with context is ahead."""
    for rule in ("proportional", "greedy"):
        assert certainly_below(lead("cache-lite", f"baseline:{rule}"))
    assert lead("dram-lite", "zoom", cap=BUDGET).mean > -0.03


# ---- when the workload turns around ---------------------------------------------------------------------


def test_after_a_change_the_page_controller_comes_back_within_100_episodes():
    result = played("dram-lite", drift="half")
    back = recovery(result.returns, CHANGE)
    print(f"dram-lite: back after {back} episodes, {SEEDS}")
    assert back is not None and back.episodes is not None and back.episodes <= 100
    before = result.returns[:, CHANGE - LAST : CHANGE].mean(axis=1)
    after = result.returns[:, -LAST:].mean(axis=1)
    assert (after >= 0.9 * before).sum() >= 19


@pytest.mark.parametrize("other, cap", [("zoom", BUDGET), ("bandit", 100), ("baseline:best-static", None)])
def test_after_a_change_the_page_controller_is_ahead_of_what_cannot_forget_or_never_learned(other, cap):
    assert certainly_above(lead("dram-lite", other, cap=cap, drift="half"))
