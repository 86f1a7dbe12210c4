"""What the C core promises to earn: each test names its seeds, and tuning never sees them.

All on the paper's instance with random starts, K = 2000, no cap, unless a test says otherwise. Tuned bonus
factors were chosen on seeds 100-139 from .05 .1 .15 .2 .25 .3 .4 .5 .6 .8.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adamb.firmware_model import _spec
from adamb.host_sim.agents import build, make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.blocks.view import BlockView
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate
from support.exact_agent import ExactAgent

EPISODES = 2000
HELD_OUT = range(1000, 1040)
TUNED = {
    ("oil-laplace", "off"): 0.8,
    ("oil-laplace", "on"): 0.6,
    ("oil-quadratic", "off"): 0.1,
    ("oil-quadratic", "on"): 0.05,
    ("oil-2d", "off"): 0.6,
    ("oil-2d", "on"): 0.6,
    ("oil-sparse", "off"): 0.15,
    ("oil-noisy", "off"): 0.5,
    ("oil-noisy", "on"): 0.8,
}
#: Steps kept apart, each with few samples: a larger factor earns more, because balls are divided early by it
#: too. Most per cent lost.
DIVIDED_BY_THE_BONUS = {
    ("oil-laplace", "off"): 10.0,
    ("oil-2d", "off"): 7.0,
    ("oil-sparse", "off"): 2.0,
    ("oil-noisy", "off"): 2.0,
}
#: Where acting by the cached action costs more than half a per cent.
LESS_BY_THE_CACHE = {("oil-laplace", "off"): 2.0}
OIL = ["oil-laplace", "oil-quadratic", "oil-2d", "oil-sparse", "oil-noisy"]


def returns(name, seeds=HELD_OUT, *, kind=CoreAgent, budget=None, instance="paper", drift="none", **options):
    """Returns of every episode (seeds, episodes)."""
    params = {"start": "random"} if instance == "paper" else {}
    problem = make_problem(
        name, list(seeds), instance=instance, drift=drift, episodes=EPISODES, params=params
    )
    agent = build(kind, problem, budget_bytes=budget, **options)
    earned = simulate(problem, agent, optimum=False).returns
    assert budget is None or (agent.bytes_peak() <= budget).all()
    return earned


def report(label, values, seeds=HELD_OUT):
    """Mean over seeds, printed with its interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    print(f"{label}: seeds {seeds[0]}-{seeds[-1]}, {values.mean():.4f} ± {half:.4f}")
    return float(values.mean())


def mean_of(name, *, seeds=HELD_OUT, **options):
    return report(f"{name} {options}", returns(name, seeds, **options).mean(axis=1), seeds)


def loss(first, second):
    """By how many per cent the first earns less than the second on the same seeds, and the half width."""
    gap = 100 * (second - first) / second.mean()
    return float(gap.mean()), float(stats.t.ppf(0.975, len(gap) - 1) * stats.sem(gap))


@pytest.mark.parametrize(("name", "least"), [("oil-laplace", 3.45), ("oil-quadratic", 4.54), ("oil-2d", 3.1)])
def test_tracking_per_step_with_a_tuned_bonus_earns_at_least(name, least):
    seeds = range(1000, 1100) if name == "oil-laplace" else HELD_OUT
    assert mean_of(name, seeds=seeds, share="off", bonus=TUNED[name, "off"], detect="off") >= least


def test_reclaiming_beats_freezing_in_a_small_block():
    """At 1 KiB five partitions of laplace do not fit; at 2 KiB they nearly do."""
    reclaim = mean_of("oil-laplace", budget=1024, share="off", when_full="reclaim")
    freeze = mean_of("oil-laplace", budget=1024, share="off", when_full="freeze")
    assert reclaim >= 2.65
    assert reclaim >= 1.5 * freeze
    assert mean_of("oil-laplace", budget=2048, share="off", when_full="reclaim") >= 3.2
    assert mean_of("oil-laplace", budget=1024, share="auto", when_full="reclaim") >= 3.65


@pytest.mark.parametrize(("name", "share"), [pair for pair in TUNED if pair not in DIVIDED_BY_THE_BONUS])
def test_the_self_tuning_bonus_costs_at_most_one_per_cent(name, share):
    assert cost_of_tuning_itself(name, share) <= 1.0


@pytest.mark.parametrize(("name", "share"), DIVIDED_BY_THE_BONUS)
def test_where_a_large_bonus_divides_earlier_the_self_tuning_one_costs_more(name, share):
    """With few samples for each of five partitions; the default shares one on oil-laplace and oil-2d."""
    cost = cost_of_tuning_itself(name, share)
    assert 0.5 < cost <= DIVIDED_BY_THE_BONUS[name, share]


def cost_of_tuning_itself(name, share):
    """By how many per cent less it earns than the best factor."""
    # More seeds where a few of them differ by much.
    many = {("oil-sparse", "off"): 240, ("oil-laplace", "on"): 240, ("oil-2d", "on"): 80}
    seeds = range(1000, 1000 + many.get((name, share), len(HELD_OUT)))
    tuned = returns(name, seeds, share=share, bonus=TUNED[name, share], detect="off").mean(axis=1)
    auto = returns(name, seeds, share=share, bonus="auto", detect="off").mean(axis=1)
    report(f"{name} share={share} tuned {TUNED[name, share]}", tuned, seeds)
    report(f"{name} share={share} auto", auto, seeds)
    lost, half = loss(auto, tuned)
    print(f"{name} share={share}: auto earns {lost:.2f} ± {half:.2f} % less")
    return lost


def test_sharing_decides_for_itself():
    """One partition where the steps are alike, one each where they are not, and finding out costs little."""
    assert mean_of("oil-laplace", instance="random") >= 3.9
    seeds = range(1000, 1240)
    for instance in ("paper", "random"):
        auto = returns("oil-sparse", seeds, instance=instance).mean(axis=1)
        apart = returns("oil-sparse", seeds, instance=instance, share="off").mean(axis=1)
        report(f"oil-sparse {instance} auto", auto, seeds)
        report(f"oil-sparse {instance} off", apart, seeds)
        assert loss(auto, apart)[0] <= 3.0
    assert mean_of("oil-sparse", share="on") < 0.8 * apart.mean(), "else there was nothing to decide"


@pytest.mark.parametrize("share", ["off", "auto"])
def test_after_a_jump_detection_brings_the_reward_back_within_a_quarter_of_the_run(share):
    """The deposit jumps at half time. Reward of the 50 episodes that end K/4 later against the 100 before."""
    half, quarter = EPISODES // 2, EPISODES // 4
    share_of_old = {}
    for detect in ("on", "off"):
        earned = returns("oil-laplace", drift="half", share=share, detect=detect)
        before = earned[:, half - 100 : half].mean()
        after = earned[:, half + quarter - 50 : half + quarter].mean()
        share_of_old[detect] = after / before
        print(f"detect={detect}: seeds {HELD_OUT[0]}-{HELD_OUT[-1]}, {before:.3f} before, {after:.3f} after")
    assert share_of_old["on"] >= 0.9
    assert share_of_old["off"] < 0.75, "without detection a third does not come back"


def test_detection_costs_nothing_where_nothing_changes():
    for name in OIL:
        on = returns(name, share="auto", detect="on").mean(axis=1)
        off = returns(name, share="auto", detect="off").mean(axis=1)
        lost, half = loss(on, off)
        print(f"{name}: seeds {HELD_OUT[0]}-{HELD_OUT[-1]}, detection costs {lost:.2f} ± {half:.2f} %")
        assert lost <= 0.5


@pytest.mark.parametrize(("name", "share"), TUNED)
def test_acting_by_the_cached_action_costs_at_most_half_a_per_cent(name, share):
    """Against a search among all relevant balls at every act; the interval may reach into the limit."""
    seeds = range(1000, 1060)
    cached = returns(name, seeds, share=share, detect="off").mean(axis=1)
    exact = returns(name, seeds, kind=ExactAgent, share=share, detect="off").mean(axis=1)
    lost, half = loss(cached, exact)
    print(
        f"{name} share={share}: seeds {seeds[0]}-{seeds[-1]}, cached {cached.mean():.4f}, "
        f"exact {exact.mean():.4f}, loses {lost:.2f} ± {half:.2f} %"
    )
    assert lost - half <= LESS_BY_THE_CACHE.get((name, share), 0.5)


@pytest.mark.parametrize("name", ["oil-laplace", "oil-2d"])
def test_the_exact_variant_acts_like_the_core_where_its_cache_is_fresh(name):
    """Up to the first split there is one ball, so both must do the same: the variant is wired correctly."""
    earned = [returns_of_first_episode(name, kind) for kind in (CoreAgent, ExactAgent)]
    assert (earned[0] == earned[1]).all()


def returns_of_first_episode(name, kind):
    problem = make_problem(name, [1, 2, 3], instance="paper", episodes=1, params={"start": "random"})
    agent = build(kind, problem, budget_bytes=None, share="off")
    states, rewards = problem.begin_episode(), []
    for h in range(problem.horizon):
        received, states = problem.step(h, agent.act(h, states))
        agent.observe(h, received, states)
        rewards.append(received)
    return np.array(rewards)


@pytest.mark.parametrize("problem", ["oil-2d", "ambulance-2"])
def test_values_of_five_steps_take_less_than_half_of_a_small_block(problem):
    """Seeds 7 to 10 in 2 KiB; a tree of V with n cells takes n - 1 units."""
    made = make_problem(problem, range(7, 11), episodes=1000)
    agent = make_agent("adamb", made, budget_bytes=2048, core="c")
    simulate(made, agent, optimum=False)
    for block in agent.blocks:
        view = BlockView(block)
        taken = sum(len(view.values(h)) - 1 for h in range(made.horizon))
        assert 2 * taken < block[_spec.H_UNITS] - block[_spec.H_POOL_AT]
