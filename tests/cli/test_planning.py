"""`adamb planning` tells the problems where looking ahead pays from those where it cannot."""

from __future__ import annotations

import json

import pytest

from adamb.host_sim.planning_value import value_of_planning
from adamb.tools.cli import main

QUICK = ["--seeds", "10", "--episodes", "10", "--seed-base", "50", "--quiet"]


def adamb(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_table_has_v_star_myopic_static_random_and_the_share(capsys):
    code, out, error = adamb(capsys, "planning", "dram-lite", "dram-drain", *QUICK)
    assert code == 0, error
    for promised in ("V*", "myopic", "static", "random", "planning", "dram-lite", "4.593", "seeds 50..59"):
        assert promised in out, promised
    assert out.index("dram-drain") < out.index("dram-lite"), "where planning pays most comes first"


def test_json_has_the_figures_of_the_library(capsys):
    code, out, _ = adamb(capsys, "planning", "dram-drain", *QUICK, "--json", "-")
    found = json.loads(out)
    wanted = value_of_planning("dram-drain", seeds=tuple(range(50, 60)), episodes=10).as_dict()
    assert code == 0 and found["seeds"] == list(range(50, 60))
    assert found["rows"] == [json.loads(json.dumps(wanted))]
    row = found["rows"][0]
    assert row["random"]["mean"] < row["static"]["mean"] < row["myopic"]["mean"] < row["best"]["mean"]


def test_planning_is_worth_nothing_where_actions_do_not_move_the_state(capsys):
    code, out, _ = adamb(capsys, "planning", "dram-1x1", *QUICK, "--json", "-")
    row = json.loads(out)["rows"][0]
    assert code == 0 and row["share"] == 0 and row["exact"] is None and row["myopic"] is not None


def test_parameters_reach_the_problem(capsys):
    _, plain, _ = adamb(capsys, "planning", "allocation-2x1", *QUICK, "--json", "-")
    _, free, _ = adamb(capsys, "planning", "allocation-2x1", "--set", "beta=0", *QUICK, "--json", "-")
    rows = [json.loads(text)["rows"][0] for text in (plain, free)]
    assert rows[1]["exact"] > rows[0]["exact"] and abs(rows[1]["share"]) < 1e-3 < rows[0]["share"]


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["dram-lit"], "dram-lite"),
        (["dram-lite", "--seeds", "0"], "seeds"),
        (["dram-lite", "--episodes", "0"], "episodes"),
        (["dram-lite", "--set", "walkk=1"], "walk"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, named):
    code, _, error = adamb(capsys, "planning", *arguments)
    assert code == 2 and error.count("\n") == 1 and named in error, error


@pytest.mark.slow
def test_every_problem_has_a_row(capsys):
    from adamb.host_sim.registry import problem_names

    code, out, error = adamb(capsys, "planning", "--seeds", 2, "--episodes", 2, "--quiet", "--json", "-")
    assert code == 0, error
    assert [row["problem"] for row in json.loads(out)["rows"]] == problem_names()
