"""Server allocation: known values, newsvendor, monotone policies, Erlang C, budgets, demand from a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.allocation import erlang_c, utility
from adamb.host_sim.solvers.exogenous import static_play
from adamb.host_sim.studies.lookahead import play

SEED = 4711
pytestmark = pytest.mark.usefixtures("own_cache")


def test_allocation_has_the_known_optimum():
    assert make_problem("allocation-2x1", [1]).optimal().mean[0] == pytest.approx(4.2800, abs=1e-3)


@pytest.mark.parametrize(
    "policy, known",
    [("newsvendor", 4.272), ("keep", 4.101), ("follow", 3.952), ("random", 3.803), ("best-static", 4.142)],
)
def test_allocation_rules_have_the_known_values(policy, known):
    problem = make_problem("allocation-2x1", range(SEED, SEED + 400))
    played = play(problem, problem.baselines()[policy], 25)
    half_width = 3 * played.std() / np.sqrt(played.size)
    assert abs(played.mean() - known) < half_width + 1e-3, f"{played.mean():.4f} seeds from {SEED}"


def test_without_switching_cost_the_newsvendor_quantile_is_optimal():
    for name in ("allocation-1x1", "allocation-2x1"):
        problem = make_problem(name, range(200), params={"beta": 0.0, "start": "random"})
        states = problem.begin_episode()
        for h in range(5):
            best, rule = problem.optimal().policy(h, states), problem.newsvendor(h, states)
            assert np.abs(best - rule).max() < 0.006


def test_the_best_number_of_servers_rises_with_servers_on_and_with_demand():
    problem = make_problem("allocation-2x1", [1])
    line = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    many = make_problem("allocation-2x1", range(len(grid)))
    for h in range(5):
        wanted = many.optimal().policy(h, grid).reshape(41, 41)
        assert (np.diff(wanted, axis=0) >= -1e-12).all() and (np.diff(wanted, axis=1) >= -1e-12).all()
    assert problem.optimal().q(0, 0).shape == (101, 101, 201)


def test_the_optimum_beats_every_rule_and_a_perturbed_self():
    problem = make_problem("allocation-2x1", range(SEED, SEED + 200))
    best = problem.optimal()
    played = play(problem, best.policy, 20).mean()
    for shift in (-0.05, 0.05):
        other = make_problem("allocation-2x1", range(SEED, SEED + 200))
        assert play(other, lambda h, s, shift=shift: best.policy(h, s) + shift, 20).mean() < played
    assert static_play(problem.model(0.2), 0.65).value(0, np.array([[0.5, 0.2]]))[0] < best.mean[0]


def textbook_erlang_c(servers, load):
    if load >= servers:
        return 1.0
    top = load**servers / math.factorial(servers) * servers / (servers - load)
    return top / (sum(load**k / math.factorial(k) for k in range(servers)) + top)


@pytest.mark.parametrize("servers, load", [(1, 0.5), (2, 1.0), (10, 8.0), (20, 19.5), (5, 5.0), (7, 9.0)])
def test_erlang_c_is_the_textbook_formula(servers, load):
    assert float(erlang_c(servers, load)) == pytest.approx(textbook_erlang_c(servers, load), rel=1e-12)


def test_erlang_c_at_its_borders():
    assert float(erlang_c(0, 0.0)) == 0.0 and float(erlang_c(0, 0.1)) == 1.0
    assert float(erlang_c(1000, 900.0)) < 0.01
    waits = erlang_c(np.full(50, 20), np.linspace(0.0, 20.0, 50))
    assert (np.diff(waits) >= 0).all() and waits[-1] == 1.0


@pytest.mark.parametrize(
    ("service", "slack", "rule", "behind"),
    [("erlang", 4e-3, "follow", 1.0), ("budget", 3e-3, "equal-split", 0)],
)
def test_the_optimum_is_what_its_play_earns_and_a_rule_earns_less(service, slack, rule, behind):
    problem, other = (
        make_problem("allocation-2x1", range(SEED, SEED + 300), params={"service": service}) for _ in range(2)
    )
    optimum = problem.optimal()
    played = play(problem, optimum.policy, 10)
    assert abs(played.mean() - optimum.mean[0]) < 3 * played.std() / np.sqrt(played.size) + slack
    assert play(other, other.baselines()[rule], 10).mean() < played.mean() - behind


def spent(problem):
    """What optimal play takes from the budget in each step, and the demand that followed."""
    state = problem.begin_episode()
    shares, demand = [], []
    for h in range(5):
        action = problem.optimal().policy(h, state)
        shares.append(float(action[0, 0] * state[0, 0]))
        _, state = problem.step(h, action)
        demand.append(float(state[0, 1]))
    return np.array(shares), np.array(demand)


def test_an_equal_split_of_the_budget_is_optimal_for_steady_demand():
    steady = {"service": "budget", "noise": 0.0, "c": 0.5, "start": "1,0.5"}
    problem = make_problem("allocation-2x1", [1], params=steady)
    assert spent(problem)[0] == pytest.approx([0.2] * 5, abs=0.006)
    equal = 5 * float(utility(np.array(0.5), np.array(0.2)))
    assert problem.optimal().mean[0] == pytest.approx(equal, abs=2e-3)


def test_a_known_season_splits_the_budget_in_proportion_to_demand():
    problem = make_problem("allocation-2x1", [1], params={"service": "budget", "noise": 0.0})
    shares, demand = spent(problem)
    assert shares == pytest.approx(demand / demand.sum(), abs=0.012)


# ---- demand from a file --------------------------------------------------------------------------------


def test_demand_from_a_csv_replays_the_file(tmp_path):
    path = tmp_path / "demand.csv"
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    path.write_text("time,load\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    problem = make_problem("allocation-2x1", range(20), params={"demand": str(path), "column": "load"})
    assert problem.optimal() is None
    scaled = np.array(values) / 9
    states = [problem.begin_episode()]
    for h in range(5):
        states.append(problem.step(h, np.full((20, 1), 0.5))[1])
    seen = np.stack(states)[:, :, 1]
    for i in range(20):
        windows = [scaled[k : k + 6] for k in range(len(values) - 5)]
        assert any(np.allclose(seen[:, i], window) for window in windows)
    played = play(problem, problem.baselines()["best-static"], 3)
    assert np.isfinite(played).all() and "myopic" not in problem.baselines()
    with pytest.raises(InputError, match="drift"):
        make_problem("allocation-2x1", [1], drift="half", params={"demand": str(path), "column": "load"})


@pytest.mark.parametrize(
    "text, named",
    [
        ("", "at least 6"),
        ("1\n2\n3\n", "at least 6"),
        ("1\n2\nthree\n", ":3"),
        ("1\n-2\n3\n4\n5\n6\n", ":2"),
        ("0\n0\n0\n0\n0\n0\n", "no demand"),
        ("a,b\n1,2\n", "name the column"),
    ],
)
def test_bad_demand_files_are_named_with_their_line(tmp_path, text, named):
    path = tmp_path / "demand.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=named):
        make_problem("allocation-2x1", [1], params={"demand": str(path)})


def test_a_wrong_column_suggests_the_nearest(tmp_path):
    path = tmp_path / "demand.csv"
    path.write_text("time,load\n1,2\n")
    with pytest.raises(InputError, match="did you mean load"):
        make_problem("allocation-2x1", [1], params={"demand": str(path), "column": "lod"})


def test_hidden_servers_need_free_switching():
    with pytest.raises(InputError, match="hides"):
        make_problem("allocation-1x1", [1], params={"beta": 0.1})
