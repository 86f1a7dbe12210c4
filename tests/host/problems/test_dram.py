"""The DRAM problems have the values they claim, and their statistics are what the epochs add up to."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.dram.channel import lib
from adamb.host_sim.problems.dram.lite import action_of, timeout_of
from adamb.host_sim.studies.lookahead import play, value_of_planning

SEED = 20240
pytestmark = pytest.mark.usefixtures("own_cache")


# ---- devices -------------------------------------------------------------------------------------------


def test_actions_mean_the_knobs_of_the_specification():
    assert timeout_of([0.0, 7 / 16, 7 / 8, 1.0]).tolist() == [0, 31, np.inf, np.inf]
    assert action_of([0, 31, 1023, np.inf]).tolist() == [0, 7 / 16, 15 / 16, 15 / 16]
    assert timeout_of(action_of([5, 100, 1000])) == pytest.approx([5, 100, 1000])
    assert [lib.dram_drain_start(action) for action in (0.0, 15 / 31, 1.0)] == [1, 16, 32]


# ---- the simulated problems ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy, known", [("closed", 2.03), ("open", 1.79), ("timeout-100", 2.20), ("adaptive", 2.30), ("t-star", 2.53)]
)
def test_dram_1x1_returns_of_known_controllers(policy, known):
    problem = make_problem("dram-1x1", range(SEED, SEED + 40))
    played = play(problem, problem.rules()[policy], 60)
    half_width = 1.96 * played.std() / np.sqrt(played.size)
    print(f"{policy}: {played.mean():.3f} +- {half_width:.3f} (seeds from {SEED})")
    assert abs(played.mean() - known) < 0.03 + half_width


def test_what_the_controller_sees_does_not_depend_on_what_it_does():
    for name in ("dram-1x1", "dram-2x1", "dram-3x2"):
        seen = []
        for action in (0.0, 1.0):
            problem = make_problem(name, [SEED])
            states = [problem.begin_episode()]
            states += [problem.step(h, np.full((1, problem.d_a), action))[1] for h in range(problem.horizon)]
            seen.append(np.concatenate(states))
        assert (seen[0] == seen[1]).all()


def test_locality_load_and_write_share_reach_the_state():
    problem = make_problem("dram-3x2", range(30))
    states = problem.begin_episode()
    latent = np.array([list(traffic.latent) for traffic in problem.channels.traffic])
    assert np.abs(states[:, 0] - latent[:, 0]).max() < 0.15
    assert np.abs(states[:, 2] - 0.6 * latent[:, 2]).max() < 0.12
    assert np.corrcoef(states[:, 1], latent[:, 1])[0, 1] > 0.97


@pytest.mark.parametrize("name", ["dram-1x1", "dram-lite"])
def test_a_phase_change_makes_a_stale_rule_lose(name):
    seeds = range(SEED, SEED + 40)
    turned = make_problem(name, seeds, params={"c": 0.0})
    stale, aware = (problem.rules()["t-star"] for problem in (make_problem(name, seeds), turned))
    assert play(turned, aware, 10).mean() - play(turned, stale, 10).mean() > 0.3


# ---- exact problems ------------------------------------------------------------------------------------


def test_dram_lite_optimum_is_t_star():
    problem = make_problem("dram-lite", range(300))
    states = problem.begin_episode()
    best, rule = problem.optimal().policy(0, states), problem.rules()["t-star"](0, states)
    assert np.abs(best - rule)[(rule > 0.3) & (rule < 7 / 8)].max() < 0.02


@pytest.mark.parametrize(
    "name, best", [("dram-drain", "optimal"), ("dram-refresh", "optimal"), ("cache-slow", "planned")]
)
def test_planning_wins_at_least_8_percent_of_what_can_be_won(name, best):
    value = value_of_planning(name, seeds=range(SEED, SEED + 30), episodes=20)
    print(f"{name}: {value.share:.3f} +- {value.share_half_width:.3f} (seeds from {SEED})")
    assert value.share - value.share_half_width >= 0.08 and value.best.name == best
    row = value.as_dict()
    assert row["random"]["mean"] < row["static"]["mean"] < row["best"]["mean"] > row["myopic"]["mean"]


def test_counts_and_latencies_of_a_channel_are_those_of_its_epochs():
    problem = make_problem("dram-3x2", [SEED, SEED + 1])
    rng, seen = np.random.default_rng(SEED), []
    for _ in range(3):
        problem.begin_episode()
        for h in range(problem.horizon):
            problem.step(h, rng.random((2, 2)))
            seen.append(problem.info())
    found = problem.report().statistics
    for name in ("reads", "writes", "hits", "closed", "conflicts", "reopened", "refreshes"):
        assert found[name] == sum(epoch[f"epoch_{name}"].sum() for epoch in seen), name
    assert found["hits"] + found["closed"] + found["conflicts"] == found["reads"] + found["writes"]
    assert found["worst_read"] == max(epoch["epoch_worst_read"].max() for epoch in seen)
    total = sum((epoch["epoch_latency"] * epoch["epoch_reads"]).sum() for epoch in seen)
    assert found["mean_read"] == pytest.approx(total / found["reads"])
    assert sum(row[2] for row in found["latency"]) == found["reads"]
    assert found["latency"][-1][0] <= found["worst_read"] < found["latency"][-1][1]
