"""Server allocation: newsvendor, monotone policies, Erlang C, budgets, demand from a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.allocation import erlang_c

pytestmark = pytest.mark.usefixtures("own_cache")


def test_without_switching_cost_the_newsvendor_quantile_is_optimal():
    for name in ("allocation-1x1", "allocation-2x1"):
        problem = make_problem(name, range(200), params={"beta": 0.0, "start": "random"})
        states = problem.begin_episode()
        for h in range(5):
            best, rule = problem.optimal().policy(h, states), problem.newsvendor(h, states)
            assert np.abs(best - rule).max() < 0.006


def test_the_best_number_of_servers_rises_with_servers_on_and_with_demand():
    line = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    optimum = make_problem("allocation-2x1", range(len(grid))).optimal()
    for h in range(5):
        wanted = optimum.policy(h, grid).reshape(41, 41)
        assert (np.diff(wanted, axis=0) >= -1e-12).all() and (np.diff(wanted, axis=1) >= -1e-12).all()


def textbook_erlang_c(servers, load):
    if load >= servers:
        return 1.0
    top = load**servers / math.factorial(servers) * servers / (servers - load)
    return top / (sum(load**k / math.factorial(k) for k in range(servers)) + top)


@pytest.mark.parametrize("servers, load", [(1, 0.5), (2, 1.0), (10, 8.0), (20, 19.5), (5, 5.0), (7, 9.0)])
def test_erlang_c_is_the_textbook_formula(servers, load):
    assert float(erlang_c(servers, load)) == pytest.approx(textbook_erlang_c(servers, load), rel=1e-12)


def test_a_known_season_splits_the_budget_in_proportion_to_demand():
    problem = make_problem("allocation-2x1", [1], params={"service": "budget", "noise": 0.0})
    state, shares, demand = problem.begin_episode(), [], []
    for h in range(5):
        action = problem.optimal().policy(h, state)
        shares.append(action[0, 0] * state[0, 0])
        _, state = problem.step(h, action)
        demand.append(state[0, 1])
    assert shares == pytest.approx(np.array(demand) / sum(demand), abs=0.012)


# ---- demand from a file --------------------------------------------------------------------------------


def test_demand_from_a_csv_replays_the_file(tmp_path):
    path = tmp_path / "demand.csv"
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    path.write_text("time,load\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    params = {"demand": str(path), "column": "load"}
    problem = make_problem("allocation-2x1", range(20), params=params)
    assert problem.optimal() is None and "myopic" not in problem.rules()
    states = [problem.begin_episode()]
    for h in range(5):
        states.append(problem.step(h, np.full((20, 1), 0.5))[1])
    windows = [np.array(values[k : k + 6]) / 9 for k in range(len(values) - 5)]
    for seen in np.stack(states)[:, :, 1].T:
        assert any(np.allclose(seen, window) for window in windows)
    with pytest.raises(InputError, match="drift"):
        make_problem("allocation-2x1", [1], drift="half", params=params)
    with pytest.raises(InputError, match="did you mean load"):
        make_problem("allocation-2x1", [1], params=params | {"column": "lod"})


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


def test_hidden_servers_need_free_switching():
    with pytest.raises(InputError, match="hides"):
        make_problem("allocation-1x1", [1], params={"beta": 0.1})
