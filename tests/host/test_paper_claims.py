"""A claim of the paper is decided by the numbers: turn the numbers round and the verdict turns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adamb.host_sim import make_agent
from adamb.host_sim.experiments.spec import read_spec
from adamb.host_sim.problem import make_problem
from adamb.host_sim.studies.claims import (
    SAME_RUN,
    QMap,
    Scores,
    deposit_notes,
    judge,
    judge_maps,
    nearest_point,
    q_map,
    tally,
)
from adamb.host_sim.studies.growth import Growth, judge_growth, measured_table
from adamb.tools.commands.sweep import SHIPPED
from adamb.tools.figures.paper import play_and_view
from adamb.tools.measure.paper_times import Timing, judge_times

AGENTS = (
    "AdaMB", "AdaMB γ=3", "AdaMB full", "AdaMB fresh", "AdaMB tracking", "AdaQL", "epsilonQL", "epsilonMB",
    "epsilonMB full",
)  # fmt: skip


def scores(rewards=None, early=None, leaves=None, *, spread=0.01, seeds=20):
    """Made-up results: every agent earns 4 of 5 unless said otherwise."""
    noises = np.random.default_rng(5).normal(0, spread, (len(AGENTS), seeds))
    results = []
    for agent, noise in zip(AGENTS, noises, strict=True):
        rows = [
            {
                "seed": seed,
                "reward_per_episode": (rewards or {}).get(agent, 4.0) + noise[seed],
                "reward_early": (early or {}).get(agent, 3.0) + noise[seed],
                "leaves": (leaves or {}).get(agent, 500 if agent.startswith("eps") else 100)
                + seed % 3 * (agent == "AdaQL"),
                "optimal": 5.0,
            }
            for seed in range(seeds)
        ]
        results.append((SimpleNamespace(problem_label="p", agent_label=agent), {"rows": rows}))
    return Scores(results)


def verdict(found, claim, compared):
    (each,) = (v for v in judge(found) if v.claim == claim and v.compared == compared)
    assert each.seeds == 20 and (each.verdict == "holds") is each.holds
    return each.holds


def less(agent, reward):
    return {"rewards": {agent: reward}}


def early(agent, reward):
    return {"early": {agent: reward}}


CLAIMED = [
    # Claim and pair; results by which it holds; results by which it does not.
    ("smaller", "AdaMB : epsilonMB", [{}, less("AdaMB", 3.95)], [less("AdaMB", 3.85), {"leaves": {"AdaMB": 501}}]),
    ("faster", "epsilonMB : epsilonQL", [early("epsilonMB", 3.1)], [early("epsilonMB", 2.9), {"spread": 0}]),
    ("alike", "AdaMB : AdaQL", [{}], [less("AdaMB", 4.2), less("AdaMB", 3.8)]),
    ("pace", "AdaMB : AdaQL", [{}], [early("AdaMB", 3.2), early("AdaMB", 2.8)]),
    *(
        (claim, f"{one} : {other}", [{}, less(one, 4.5), less(other, 4.05)], [less(other, 4.2)])
        for claim, one, other in (
            ("gamma", "AdaMB", "AdaMB γ=3"),
            ("planning", "AdaMB full", "AdaMB"),
            ("planning", "epsilonMB full", "epsilonMB"),
            ("inherited", "AdaMB", "AdaMB fresh"),
        )
    ),
    ("better", "AdaQL : epsilonQL", [less("AdaQL", 4.1)], [{}, less("AdaQL", 3.9)]),
    ("sooner", "AdaQL : epsilonQL", [early("AdaQL", 3.1)], [{}, less("AdaQL", 4.1)]),
    ("leaner", "AdaQL : AdaMB", [{"leaves": {"AdaQL": 90}}], [{"leaves": {"AdaQL": 110}}]),
]


@pytest.mark.parametrize(("claim", "compared", "holding", "failing"), CLAIMED)
def test_a_claim_holds_by_results_that_say_so_and_by_no_others(claim, compared, holding, failing):
    assert all(verdict(scores(**results), claim, compared) for results in holding)
    assert not any(verdict(scores(**results), claim, compared) for results in failing)
    assert not verdict(scores(spread=1.0), claim, compared), "what the seeds cannot decide does not hold"


@pytest.mark.parametrize("claim", ["smaller", "alike", "gamma"])
def test_undecided_and_refuted_are_told_apart(claim):
    def first(found):
        return next(each for each in judge(found) if each.claim == claim)

    assert first(scores(spread=1.0)).verdict == "undecided"
    refuted = first(scores({"AdaMB": 3.0}))
    assert refuted.verdict == "does not hold" and not refuted.undecided
    assert not first(scores()).undecided


def test_seeds_that_all_play_the_same_run_decide_nothing():
    """A problem without random draws and a learner without: 20 seeds are one sample."""
    (found,) = (each for each in judge(scores({"AdaMB": 4.5}, spread=0)) if each.compared == "AdaMB : AdaMB fresh")
    assert found.undecided and not found.holds and found.note == SAME_RUN


def test_differences_are_paired_by_seed():
    """Random draws that both share must not widen the interval."""
    found = scores(spread=0)
    shared = np.random.default_rng(1).normal(0, 1, 20)
    for place in found.rows:
        for row, draw in zip(found.rows[place], shared, strict=True):
            row["reward_per_episode"] += draw
    found.rows["p", "AdaMB"].reverse()
    assert found.difference("p", "AdaMB", "AdaQL", "reward_per_episode").ci95 == pytest.approx(0, abs=1e-12)


def test_times_are_judged_in_pairs_by_the_rounds_they_share():
    row = {"AdaQL": 1.0, "epsilonQL": 2.0, "AdaMB": 3.0, "epsilonMB": 4.0, "epsilonMB full": 2.5}
    busy = np.array([5.0, 0.0, 0.0, 1.0, 0.0])
    jitter = np.random.default_rng(3).normal(0, 0.01, (len(row), 5))
    timings = {name: Timing(value + busy + each) for (name, value), each in zip(row.items(), jitter, strict=True)}
    found = {each.compared: each for each in judge_times({"oil": timings})}
    assert found["AdaQL < epsilonQL"].holds and found["epsilonMB < epsilonMB full"].holds is False
    assert not found["AdaMB < epsilonMB full"].undecided, "a busy computer slowed both"
    alone = {name: Timing(np.roll(timing.rounds, i)) for i, (name, timing) in enumerate(timings.items())}
    assert {each.compared: each for each in judge_times({"oil": alone})}["AdaQL < epsilonQL"].undecided


def test_maps_of_q_are_judged_by_distance_and_by_level():
    spread = np.random.default_rng(4).normal(0, 0.01, 20)
    near, far = QMap(0.1 + spread, 3 + spread, 2 - spread), QMap(0.3 - spread, 2 - spread, 2 + 2 * spread)
    found = judge_maps({("p", "AdaMB"): far, ("p", "AdaQL"): near})
    held = {(each.claim, each.compared): each.holds for each in found}
    assert held["closer", "AdaQL : AdaMB"] and held["finer", "AdaQL : AdaMB"]
    assert held["focus", "AdaQL, where Q* is high : elsewhere"]
    assert not held["focus", "AdaMB, where Q* is high : elsewhere"]
    turned = judge_maps({("p", "AdaMB"): near, ("p", "AdaQL"): far})
    assert not any(each.holds for each in turned if each.compared == "AdaQL : AdaMB")


def test_an_exponent_is_judged_by_its_interval_over_seeds():
    episodes, noise = np.array([100, 1000, 3000, 10000]), np.random.default_rng(6).normal(1, 0.01, (20, 1))
    grown = {"AdaMB": 0.7, "AdaQL": 0.9}
    growths = {
        ("p", agent): Growth(episodes, 5 * episodes ** (power * noise), noise * episodes, episodes[None, :])
        for agent, power in grown.items()
    }
    table = measured_table(growths, 2, 1)
    assert [round(row.regret.mean, 1) for row in table] == [0.7, 0.9]
    assert [round(row.space.mean, 6) for row in table] == [1, 1] and table[0].time.ci95 is None
    assert [each.holds for each in judge_growth(table, episodes, 20)] == [True, False]
    assert "K from 1000 to 10000" in judge_growth(table, episodes, 20)[0].note


@pytest.mark.parametrize(("name", "options"), [("adaql", {}), ("adamb", {"core": "double"})])
def test_the_distance_to_q_star_falls_as_a_learner_learns(name, options):
    def distance(episodes):
        problem = make_problem("oil-quadratic", [1, 2, 3], episodes=episodes)
        return q_map(problem, make_agent(name, problem, bonus=0.1, **options), 1).distance

    assert (distance(800) < distance(20)).all()


def test_the_note_beside_a_grid_tells_how_far_its_points_are_from_the_deposit():
    """With cells around .05, .15, … a deposit at .75 would be a gift: the distance is 0."""
    assert nearest_point(np.array([0.75]), 10, 0.0) == 0
    cells = [cell.with_choice(next(cell.choices())) for cell in read_spec(SHIPPED / "paper.toml", quick=True).cells]
    notes = deposit_notes(cells)
    assert {agent for _, agent in notes} == {"epsilonQL", "epsilonMB", "epsilonMB full"}
    assert {problem for problem, _ in notes} == {"oil-laplace, λ=10"}
    assert set(notes.values()) == {"deposit 0.05 from the net, 0.025 for a random place"}


def test_the_tally_counts_problems():
    verdicts = judge(scores({"AdaMB": 3.0}))
    assert ("alike", "AdaMB : AdaQL", 0, 0, 1) in tally(verdicts)
    assert ("alike", "AdaMB γ=3 : AdaQL", 1, 0, 1) in tally(verdicts)


@pytest.mark.parametrize(
    ("name", "options"),
    [("epsql", {"net": "multiples"}), ("epsmb", {}), ("adamb", {}), ("adamb", {"core": "double"}), ("adaql", {})],
)
def test_the_partition_of_every_learner_of_the_paper_can_be_drawn(name, options):
    problem = make_problem("oil-laplace", [3], instance="paper", episodes=100)
    agent = make_agent(name, problem, **options)
    view = play_and_view(problem, lambda: agent)
    drawn = [view(h) for h in range(problem.horizon)]
    for boxes in drawn:
        assert sum(box.side**2 for box in boxes) == pytest.approx(1.0)
        assert all(0 <= box.q <= problem.horizon for box in boxes) and any(box.visited for box in boxes)
    if name == "adaql":
        assert sum(map(len, drawn)) == agent.stats()["leaves"][0] > 50
