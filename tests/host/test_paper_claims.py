"""A claim of the paper is decided by the numbers: turn the numbers round and the verdict turns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adamb.host_sim import make_agent
from adamb.host_sim.paper_claims import CLAIMS, PAPER_SECONDS, Scores, Timing, judge, judge_times, tally
from adamb.host_sim.partition_watch import Watcher, play_and_view
from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import Estimate, simulate

AGENTS = (
    "AdaMB", "AdaMB γ=2", "AdaMB 4^l", "AdaMB tracking", "AdaQL", "epsilonQL", "epsilonMB", "epsilonMB full",
)  # fmt: skip


def scores(rewards=None, early=None, leaves=None, *, spread=0.01, seeds=20):
    """Made-up results: every agent earns 4 of 5 unless said otherwise."""
    luck = np.random.default_rng(5).normal(0, spread, (len(AGENTS), seeds))
    results = []
    for agent, noise in zip(AGENTS, luck, strict=True):
        rows = [
            {
                "seed": seed,
                "reward_per_episode": (rewards or {}).get(agent, 4.0) + noise[seed],
                "reward_early": (early or {}).get(agent, 3.0) + noise[seed],
                "leaves": (leaves or {}).get(agent, 500 if agent.startswith("eps") else 100),
                "optimal": 5.0,
            }
            for seed in range(seeds)
        ]
        results.append((SimpleNamespace(problem_label="p", agent_label=agent), {"rows": rows}))
    return Scores(results)


def verdict(found, claim, compared):
    (each,) = (v for v in judge(found) if v.claim == claim and v.compared == compared)
    assert each.seeds == 20 and each.verdict.startswith("holds" if each.holds else "does not hold")
    return each.holds


def test_smaller_needs_fewer_leaves_and_no_less_reward():
    pair = ("smaller", "AdaMB : epsilonMB")
    assert verdict(scores(), *pair)
    assert verdict(scores({"AdaMB": 3.95}), *pair), "within 2 % of the optimum is equal"
    assert not verdict(scores({"AdaMB": 3.85}), *pair)
    assert not verdict(scores(leaves={"AdaMB": 501}), *pair)
    assert not verdict(scores(spread=1.0), *pair), "what the seeds cannot decide does not hold"


@pytest.mark.parametrize("claim", ["smaller", "alike", "gamma"])
def test_undecided_and_refuted_are_told_apart(claim):
    def first(found):
        return next(each for each in judge(found) if each.claim == claim)

    assert first(scores(spread=1.0)).verdict == "does not hold (undecided)"
    refuted = first(scores({"AdaMB": 3.0, "AdaMB γ=2": 2.0}))
    assert refuted.verdict == "does not hold" and not refuted.undecided
    assert not first(scores()).undecided


def test_faster_needs_more_reward_early():
    pair = ("faster", "epsilonMB : epsilonQL")
    assert verdict(scores(early={"epsilonMB": 3.1}), *pair)
    assert not verdict(scores(early={"epsilonMB": 2.9}), *pair)
    assert not verdict(scores(spread=0), *pair), "equal is not faster"


def test_alike_fails_on_either_side():
    pair = ("alike", "AdaMB : AdaQL")
    assert verdict(scores(), *pair)
    assert not verdict(scores({"AdaMB": 4.2}), *pair)
    assert not verdict(scores({"AdaMB": 3.8}), *pair)


def test_gamma_two_suffices_when_it_loses_nothing():
    pair = ("gamma", "AdaMB γ=2 : AdaMB")
    assert verdict(scores(), *pair) and verdict(scores({"AdaMB γ=2": 4.5}), *pair)
    assert not verdict(scores({"AdaMB γ=2": 3.8}), *pair)


def test_differences_are_paired_by_seed():
    """Luck that both share must not widen the interval."""
    found = scores(spread=0)
    shared = np.random.default_rng(1).normal(0, 1, 20)
    for place in found.rows:
        for row, luck in zip(found.rows[place], shared, strict=True):
            row["reward_per_episode"] += luck
    found.rows["p", "AdaMB"].reverse()
    assert found.difference("p", "AdaMB", "AdaQL", "reward_per_episode").ci95 == pytest.approx(0, abs=1e-12)


def test_times_hold_only_in_the_order_of_the_paper():
    row = {"AdaQL": 1.0, "epsilonQL": 2.0, "AdaMB": 3.0, "epsilonMB": 4.0, "epsilonMB full": 2.5}
    for paper in PAPER_SECONDS.values():
        assert sorted(paper, key=lambda name: paper[name]) == ["AdaQL", "epsilonQL", "AdaMB", "epsilonMB"]
    times = {"oil": {name: Timing(Estimate(value + 1, 0.1), value) for name, value in row.items()}}
    assert [each.holds for each in judge_times(times, 20)] == [True, False]


def test_the_tally_counts_problems():
    verdicts = judge(scores({"AdaMB": 3.0}))
    assert ("alike", "AdaMB : AdaQL", 0, 0, 1) in tally(verdicts)
    assert ("alike", "AdaMB 4^l : AdaQL", 1, 0, 1) in tally(verdicts)
    assert {each.claim for each in verdicts} == set(CLAIMS) - {"times"}


def played(name, agent, episodes=300, **options):
    problem = make_problem(name, [3], instance="paper", episodes=episodes)
    made = make_agent(agent, problem, **options)
    return problem, made


@pytest.mark.parametrize("bonus", [0.1, 1.0])
def test_the_partition_seen_from_outside_has_as_many_leaves_as_the_learner_counts(bonus):
    problem, agent = played("ambulance-1", "adaql", bonus=bonus)
    watcher = Watcher(agent)
    simulate(problem, watcher)
    boxes = [watcher.boxes(h) for h in range(problem.horizon)]
    assert sum(map(len, boxes)) == agent.stats()["leaves"][0] > 50
    for found in boxes:
        assert sum(box.side**2 for box in found) == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "options"), [("epsql", {}), ("epsmb", {}), ("adamb", {}), ("adaql", {})])
def test_every_learner_of_the_paper_can_be_drawn(name, options):
    problem, agent = played("oil-laplace", name, episodes=100, **options)
    boxes = play_and_view(problem, lambda: agent)(1)
    assert sum(box.side**2 for box in boxes) == pytest.approx(1.0)
    assert all(0 <= box.q <= problem.horizon for box in boxes) and any(box.visited for box in boxes)
    assert len({box.q for box in boxes}) > 3
