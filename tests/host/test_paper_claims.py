"""A claim of the paper is decided by the numbers: turn the numbers round and the verdict turns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adamb.host_sim import make_agent
from adamb.host_sim.blocks.partition import play_and_view
from adamb.host_sim.problem import make_problem
from adamb.host_sim.studies.claims import CLAIMS, SAME_RUN, Scores, judge, tally
from adamb.host_sim.studies.growth import Growth, judge_growth, measured_table
from adamb.host_sim.studies.nets import deposit_notes, nearest_point
from adamb.host_sim.studies.q_star import QMap, judge_maps, q_map
from adamb.host_sim.studies.times import PAPER_SECONDS, Timing, judge_times
from adamb.host_sim.sweep.reader import read_spec
from adamb.tools.commands.sweep import SHIPPED
from adamb.tools.sweeps.paper.analysis import paced

AGENTS = (
    "AdaMB", "AdaMB γ=3", "AdaMB full", "AdaMB fresh", "AdaMB tracking", "AdaQL", "epsilonQL", "epsilonMB",
    "epsilonMB full",
)  # fmt: skip
OF_RUNS = set(CLAIMS) - {"times", "regret", "closer", "focus", "finer"}
"""Decided by rewards and leaves alone."""


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
                "leaves": (leaves or {}).get(agent, 500 if agent.startswith("eps") else 100),
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

    assert first(scores(spread=1.0)).verdict == "undecided"
    refuted = first(scores({"AdaMB": 3.0}))
    assert refuted.verdict == "does not hold" and not refuted.undecided
    assert not first(scores()).undecided


def test_faster_needs_more_reward_early():
    pair = ("faster", "epsilonMB : epsilonQL")
    assert verdict(scores(early={"epsilonMB": 3.1}), *pair)
    assert not verdict(scores(early={"epsilonMB": 2.9}), *pair)
    assert not verdict(scores(spread=0), *pair), "equal is not faster"


def test_alike_fails_on_either_side():
    for claim, changed in (("alike", "rewards"), ("pace", "early")):
        pair = (claim, "AdaMB : AdaQL")
        usual = {"rewards": 4.0, "early": 3.0}[changed]
        assert verdict(scores(), *pair)
        assert not verdict(scores(**{changed: {"AdaMB": usual + 0.2}}), *pair)
        assert not verdict(scores(**{changed: {"AdaMB": usual - 0.2}}), *pair)


@pytest.mark.parametrize(
    ("claim", "first", "second"),
    [
        ("gamma", "AdaMB", "AdaMB γ=3"),
        ("planning", "AdaMB full", "AdaMB"),
        ("planning", "epsilonMB full", "epsilonMB"),
        ("inherited", "AdaMB", "AdaMB fresh"),
    ],
)
def test_no_less_means_within_two_percent_or_above(claim, first, second):
    pair = (claim, f"{first} : {second}")
    assert verdict(scores(), *pair) and verdict(scores({first: 4.5}), *pair)
    assert verdict(scores({second: 4.05}), *pair)
    assert not verdict(scores({second: 4.2}), *pair)


def test_adaptive_beats_uniform_only_by_more_reward():
    pair = ("better", "AdaQL : epsilonQL")
    assert verdict(scores({"AdaQL": 4.1}), *pair)
    assert not verdict(scores(), *pair) and not verdict(scores({"AdaQL": 3.9}), *pair)
    assert verdict(scores(early={"AdaQL": 3.1}), "sooner", pair[1])
    assert not verdict(scores({"AdaQL": 4.1}), "sooner", pair[1])


def test_leaner_needs_fewer_leaves():
    pair = ("leaner", "AdaQL : AdaMB")
    found = scores()
    for i, row in enumerate(found.rows["p", "AdaQL"]):
        row["leaves"] = 90 + i % 3
    assert verdict(found, *pair)
    for row in found.rows["p", "AdaQL"]:
        row["leaves"] += 20
    assert not verdict(found, *pair)


def test_seeds_that_all_play_the_same_run_decide_nothing():
    """A problem without random draws and a learner without: 20 seeds are one sample."""
    (found,) = (
        each for each in judge(scores({"AdaMB": 4.5}, spread=0)) if each.compared == "AdaMB : AdaMB fresh"
    )
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
    for paper in PAPER_SECONDS.values():
        assert sorted(paper, key=lambda name: paper[name]) == ["AdaQL", "epsilonQL", "AdaMB", "epsilonMB"]
    row = {"AdaQL": 1.0, "epsilonQL": 2.0, "AdaMB": 3.0, "epsilonMB": 4.0, "epsilonMB full": 2.5}
    busy = np.array([5.0, 0.0, 0.0, 1.0, 0.0])
    jitter = np.random.default_rng(3).normal(0, 0.01, (len(row), 5))
    timings = {
        name: Timing(value + busy + each) for (name, value), each in zip(row.items(), jitter, strict=True)
    }
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
    cells = [
        cell.with_choice(next(cell.choices())) for cell in read_spec(SHIPPED / "paper.toml", quick=True).cells
    ]
    notes = deposit_notes(cells)
    assert {agent for _, agent in notes} == {"epsilonQL", "epsilonMB", "epsilonMB full"}
    assert {problem for problem, _ in notes} == {"oil-laplace, λ=10"}
    assert set(notes.values()) == {"deposit 0.05 from the net, 0.025 for a random place"}


def test_the_tally_counts_problems():
    verdicts = judge(scores({"AdaMB": 3.0}))
    assert ("alike", "AdaMB : AdaQL", 0, 0, 1) in tally(verdicts)
    assert ("alike", "AdaMB γ=3 : AdaQL", 1, 0, 1) in tally(verdicts)
    assert {each.claim for each in verdicts} == OF_RUNS


def played(name, agent, episodes=300, **options):
    problem = make_problem(name, [3], instance="paper", episodes=episodes)
    made = make_agent(agent, problem, **options)
    return problem, made


@pytest.mark.parametrize("bonus", [0.1, 1.0])
def test_the_partition_that_is_drawn_has_as_many_leaves_as_the_learner_counts(bonus):
    problem, agent = played("ambulance-1", "adaql", bonus=bonus)
    view = play_and_view(problem, lambda: agent)
    boxes = [view(h) for h in range(problem.horizon)]
    assert sum(map(len, boxes)) == agent.stats()["leaves"][0] > 50
    for found in boxes:
        assert sum(box.side**2 for box in found) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("epsql", {"net": "multiples"}),
        ("epsmb", {}),
        ("adamb", {}),
        ("adamb", {"core": "double"}),
        ("adaql", {}),
    ],
)
def test_every_learner_of_the_paper_can_be_drawn(name, options):
    problem, agent = played("oil-laplace", name, episodes=100, **options)
    boxes = play_and_view(problem, lambda: agent)(1)
    assert sum(box.side**2 for box in boxes) == pytest.approx(1.0)
    assert all(0 <= box.q <= problem.horizon for box in boxes) and any(box.visited for box in boxes)
    assert len({box.q for box in boxes}) > 3


def test_long_work_gives_a_sign_of_life_but_not_too_often():
    said = []
    often, seldom = paced(said.append, seconds=0), paced(said.append, seconds=60)
    for turn in range(3):
        often(f"turn {turn}")
        seldom("never")
    assert said == ["turn 0", "turn 1", "turn 2"]
