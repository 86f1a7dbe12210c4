"""What the C core promises to earn: each test names its seeds, and tuning never sees them.

All on the paper's instance with random starts, K = 2000, no cap, unless a test says otherwise. Tuned bonus
factors were chosen on seeds 100-139 from .05 .1 .15 .2 .25 .3 .4 .5 .6 .8.
"""

from __future__ import annotations

import pytest
from scipy import stats

from adamb.firmware_model import _spec
from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim.agents import build, make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.problems import make_problem
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
    ("oil-noisy", "off"): 2.5,
    ("oil-laplace", "on"): 1.5,
}
#: What tracking earns at least with partitions of their own and the tuned factor.
LEAST = {("oil-laplace", "off"): 3.45, ("oil-quadratic", "off"): 4.54, ("oil-2d", "off"): 3.1}
#: Where acting by the cached action costs more than half a per cent.
LESS_BY_THE_CACHE = {("oil-laplace", "off"): 2.0}


def returns(name, seeds=HELD_OUT, *, kind=CoreAgent, budget=None, instance="paper", drift="none", **options):
    """Returns of every episode (seeds, episodes)."""
    params = {"start": "random"} if instance == "paper" else {}
    problem = make_problem(name, list(seeds), instance=instance, drift=drift, episodes=EPISODES, params=params)
    agent = build(kind, problem, budget_bytes=budget, **options)
    earned = simulate(problem, agent, optimum=False).returns
    assert budget is None or (agent.bytes_peak() <= budget).all()
    return earned


def loss(label, first, second, seeds=HELD_OUT):
    """By how many per cent the first earns less than the second on the same seeds, and the half width."""
    first, second = first.mean(axis=1), second.mean(axis=1)
    gap = 100 * (second - first) / second.mean()
    half = float(stats.t.ppf(0.975, len(gap) - 1) * stats.sem(gap))
    print(f"{label}: seeds {seeds[0]}-{seeds[-1]}, {first.mean():.4f} against {second.mean():.4f}, "
          f"{gap.mean():.2f} ± {half:.2f} % less")  # fmt: skip
    return float(gap.mean()), half


def test_reclaiming_beats_freezing_in_a_small_block():
    """At 1 KiB five partitions of laplace do not fit; at 2 KiB they nearly do."""

    def mean(budget, share, when_full):
        return returns("oil-laplace", budget=budget, share=share, when_full=when_full).mean()

    reclaim = mean(1024, "off", "reclaim")
    assert reclaim >= 2.3 and reclaim >= 1.5 * mean(1024, "off", "freeze")
    assert mean(2048, "off", "reclaim") >= 3.2
    assert mean(1024, "auto", "reclaim") >= 3.65


@pytest.mark.parametrize(("name", "share"), TUNED)
def test_the_self_tuning_bonus_costs_at_most_one_per_cent(name, share):
    """Of what the best factor earns; but more where a large one divides balls earlier, which few samples need."""
    # More seeds where a few of them differ by much.
    many = {("oil-sparse", "off"): 240, ("oil-laplace", "on"): 240, ("oil-2d", "on"): 80}
    seeds = range(1000, 1000 + many.get((name, share), len(HELD_OUT)))
    tuned, auto = (
        returns(name, seeds, share=share, bonus=bonus, detect="off") for bonus in (TUNED[name, share], "auto")
    )
    assert tuned.mean() >= LEAST.get((name, share), 0)
    lost, _ = loss(f"{name} share={share}", auto, tuned, seeds)
    if (name, share) in DIVIDED_BY_THE_BONUS:
        assert 0.5 < lost <= DIVIDED_BY_THE_BONUS[name, share]
    else:
        assert lost <= 1.0


def test_sharing_decides_for_itself():
    """One partition where the steps are alike, one each where they are not, and finding out costs little."""
    assert returns("oil-laplace", instance="random").mean() >= 3.9
    seeds = range(1000, 1240)
    for instance in ("paper", "random"):
        auto, apart = (returns("oil-sparse", seeds, instance=instance, share=share) for share in ("auto", "off"))
        assert loss(f"oil-sparse {instance}", auto, apart, seeds)[0] <= 4.0
    assert returns("oil-sparse", share="on").mean() < 0.8 * apart.mean(), "else there was nothing to decide"


@pytest.mark.parametrize("name", ["oil-laplace", "oil-quadratic", "oil-2d", "oil-sparse", "oil-noisy"])
def test_detection_costs_nothing_where_nothing_changes(name):
    assert loss(name, *(returns(name, share="auto", detect=detect) for detect in ("on", "off")))[0] <= 0.5


@pytest.mark.parametrize(("name", "share"), TUNED)
def test_acting_by_the_cached_action_costs_at_most_half_a_per_cent(name, share):
    """Against a search among all relevant balls at every act; the interval may reach into the limit."""
    seeds = range(1000, 1060)
    cached, exact = (returns(name, seeds, kind=kind, share=share, detect="off") for kind in (CoreAgent, ExactAgent))
    lost, half = loss(f"{name} share={share}", cached, exact, seeds)
    assert lost - half <= LESS_BY_THE_CACHE.get((name, share), 0.5)


@pytest.mark.parametrize(
    "params", [{"lam": 25.0}, {"lam": 33.0, "c": 0.615}, {"lam": 50.0}, {"place": "border"}], ids=str
)
def test_a_narrow_deposit_is_found_in_all_but_two_per_cent_of_runs(params):
    """Seeds 670000 to 670199 in 2 KiB: the last 200 episodes earn less than 80 % of V* in fewer than 2 % of runs."""
    made = make_problem("oil-laplace", range(670_000, 670_200), episodes=EPISODES, params=params)
    played = simulate(made, make_agent("adamb", made, budget_bytes=2048, core="c"))
    share = played.returns[:, -200:].mean(axis=1) / played.optimal[:, -200:].mean(axis=1)
    print(f"{params}: mean share {share.mean():.3f}, least {share.min():.3f}")
    assert (share < 0.8).mean() < 0.02


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
