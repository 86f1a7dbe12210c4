"""The DRAM problems have the values they claim."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.dram.channel import lib
from adamb.host_sim.problems.dram.simulated import timeout_cycles
from adamb.host_sim.solvers.exogenous import static_play
from adamb.host_sim.studies.lookahead import play, value_of_planning
from support.simple_plays import myopic_play, random_play

SEED = 20240
pytestmark = pytest.mark.usefixtures("own_cache")


def returns(name, policy, seeds, episodes, **params):
    problem = make_problem(name, range(SEED, SEED + seeds), params=params)
    chosen = problem.baselines()[policy] if isinstance(policy, str) else policy(problem)
    return play(problem, chosen, episodes)


# ---- devices -------------------------------------------------------------------------------------------


def test_actions_mean_the_knobs_of_the_specification():
    assert timeout_cycles(0.0) == 0 and timeout_cycles(0.5) == 31 and timeout_cycles(1.0) is None
    assert [lib.dram_drain_start(action) for action in (0.0, 15 / 31, 1.0)] == [1, 16, 32]


# ---- the simulated problems ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy, known",
    [("closed", 2.03), ("open", 1.79), ("timeout-100", 2.20), ("adaptive", 2.30), ("t-star", 2.53)],
)
def test_dram_1x1_returns_of_known_controllers(policy, known):
    played = returns("dram-1x1", policy, seeds=40, episodes=60)
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
    stale = make_problem(name, seeds).baselines()["t-star"]
    aware = play(turned, turned.baselines()["t-star"], 10).mean()
    lost = aware - play(make_problem(name, seeds, params={"c": 0.0}), stale, 10).mean()
    assert lost > 0.3
    drifting = make_problem(name, [1], episodes=4, drift="half")
    for episode in range(3):
        drifting.begin_episode()
        assert drifting.c[0] == (0.0 if episode >= 2 else 1.0)
        for h in range(drifting.horizon):
            drifting.step(h, np.full((1, 1), 0.5))


def test_a_continuing_channel_is_not_reset():
    problem = make_problem("dram-2x1", [SEED], continuing=True)
    state = problem.begin_episode()
    for h in range(problem.horizon):
        _, state = problem.step(h, np.full((1, 1), 0.5))
    assert (problem.begin_episode() == state).all()


def test_all_named_controllers_play_every_size():
    for name in ("dram-1x1", "dram-2x1", "dram-3x2"):
        known = make_problem(name, [1]).baselines()
        named = {"fcfs", "open", "closed", "timeout-100", "adaptive", "t-star", "best-static", "random"}
        assert named <= set(known)
        means = {policy: returns(name, policy, 10, 10).mean() for policy in known}
        assert max(means, key=means.__getitem__) in ("t-star", "best-static", "adaptive"), means
        assert means["fcfs"] <= means["open"]


# ---- exact problems ------------------------------------------------------------------------------------


def test_dram_lite_has_the_known_values():
    problem = make_problem("dram-lite", range(500))
    assert problem.optimal().mean[0] == pytest.approx(3.2567, abs=1e-3)
    assert play(problem, problem.baselines()["closed"], 1) == pytest.approx(2.5)
    static = static_play(problem.model(1.0), problem.best_static())
    assert static.mean() == pytest.approx(2.9811, abs=1e-3)


def test_dram_lite_optimum_is_t_star():
    problem = make_problem("dram-lite", range(300))
    states = problem.begin_episode()
    best, rule = problem.optimal().policy(0, states), problem.baselines()["t-star"](0, states)
    assert np.abs(best - rule)[(rule > 0.3) & (rule < 1.0)].max() < 0.02


@pytest.mark.parametrize(
    "name, optimal, myopic, static, random",
    [("dram-drain", 4.593, 4.443, 4.176, 4.093), ("dram-refresh", 4.894, 4.844, 4.791, 4.657)],
)
def test_planning_problems_have_the_known_values(name, optimal, myopic, static, random):
    problem = make_problem(name, [1])
    model = problem.model(0.2)
    assert problem.optimal().mean[0] == pytest.approx(optimal, abs=2e-3)
    assert myopic_play(model).mean() == pytest.approx(myopic, abs=5e-3)
    assert static_play(model, problem.best_static()).mean() == pytest.approx(static, abs=5e-3)
    assert random_play(model).mean() == pytest.approx(random, abs=5e-3)


@pytest.mark.parametrize("name", ["dram-drain", "dram-refresh"])
def test_planning_wins_at_least_8_percent_of_what_can_be_won(name):
    value = value_of_planning(name, seeds=range(SEED, SEED + 30), episodes=40)
    print(f"{name}: {value.share:.3f} +- {value.share_half_width:.3f} (seeds from {SEED})")
    assert value.share - value.share_half_width >= 0.08
    row = value.as_dict()
    assert row["random"]["mean"] < row["static"]["mean"] < row["myopic"]["mean"] < row["best"]["mean"]
    assert value.exact == pytest.approx(value.best.mean, abs=3 * value.best.half_width + 2e-3)


@pytest.mark.parametrize("name", ["dram-lite", "dram-drain", "dram-refresh"])
def test_simulation_agrees_with_dynamic_programming(name):
    problem = make_problem(name, range(SEED, SEED + 400))
    optimum = problem.optimal()
    played = play(problem, optimum.policy, 10)
    half_width = 3 * played.std() / np.sqrt(played.size)
    assert abs(played.mean() - optimum.mean[0]) < half_width + 2e-3


@pytest.mark.parametrize("name", ["dram-drain", "dram-lite", "dram-refresh"])
def test_the_optimum_follows_the_drift(name):
    problem = make_problem(name, range(50), episodes=4, drift="half")
    seen = np.full((50, problem.d_s), 0.3)
    before = problem.optimal().policy(0, seen)
    for _ in range(3):
        problem.begin_episode()
        for h in range(problem.horizon):
            problem.step(h, np.full((problem.n, 1), 0.5))
    mirrored = make_problem(name, [1], params={"c": 1.0 - make_problem(name, [1]).c[0]})
    assert problem.optimal().mean[0] == pytest.approx(mirrored.optimal().mean[0], abs=1e-9)
    assert np.abs(problem.optimal().policy(0, seen) - before).max() > 0.01
    walking = make_problem(name, [3], episodes=50, drift="walk")
    for _ in range(50):
        walking.begin_episode()
        for h in range(walking.horizon):
            walking.step(h, np.full((1, 1), 0.5))
    exact = make_problem(name, [1], params={"c": float(walking.c[0])}).optimal()
    assert walking.optimal().mean[0] == pytest.approx(exact.mean[0], abs=2e-3)
