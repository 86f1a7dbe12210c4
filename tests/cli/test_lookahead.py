"""`adamb lookahead` distinguishes the problems where looking ahead helps from those where it cannot."""

from __future__ import annotations

import json

import pytest

from adamb.host_sim.studies.lookahead import value_of_planning
from support.command import adamb, refused

QUICK = ["--seeds", "10", "--episodes", "10", "--seed-base", "50", "--quiet"]


def test_the_table_has_v_star_myopic_static_random_and_the_share(capsys):
    code, out, error = adamb(capsys, "lookahead", "dram-lite", "dram-drain", *QUICK)
    assert code == 0, error
    for promised in ("V*", "myopic", "static", "random", "planning", "dram-lite", "4.593", "seeds 50..59"):
        assert promised in out, promised
    assert out.index("dram-drain") < out.index("dram-lite"), "where planning pays most comes first"


def test_json_has_the_figures_of_the_library(capsys):
    code, out, _ = adamb(capsys, "lookahead", "dram-drain", *QUICK, "--json", "-")
    found = json.loads(out)
    wanted = value_of_planning("dram-drain", seeds=tuple(range(50, 60)), episodes=10).as_dict()
    assert code == 0 and found["seeds"] == list(range(50, 60))
    assert found["rows"] == [json.loads(json.dumps(wanted))]
    row = found["rows"][0]
    assert row["random"]["mean"] < row["static"]["mean"] < row["myopic"]["mean"] < row["best"]["mean"]


def test_planning_is_worth_nothing_where_actions_do_not_move_the_state(capsys):
    code, out, _ = adamb(capsys, "lookahead", "dram-1x1", *QUICK, "--json", "-")
    row = json.loads(out)["rows"][0]
    assert code == 0 and row["share"] == 0 and row["exact"] is None and row["myopic"] is not None


STILL = """
from adamb.host_sim import Problem

class Still(Problem):
    horizon = 2

    def dynamics(self, h, states, actions, noise):
        return 1 - abs(actions[:, 0] - 0.8), states.copy()
"""


def test_the_best_is_never_below_the_static_one(capsys, tmp_path):
    """Without a model only rules are known; here a constant action beats them all."""
    (tmp_path / "still.py").write_text(STILL)
    code, out, error = adamb(capsys, "lookahead", f"{tmp_path / 'still.py'}:Still", *QUICK, "--json", "-")
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["best"] == row["static"] and row["best"]["policy"] == "static", error
    assert row["best"]["mean"] > row["random"]["mean"] and row["static_action"] == pytest.approx([0.8])


def test_parameters_reach_the_problem(capsys):
    _, plain, _ = adamb(capsys, "lookahead", "allocation-2x1", *QUICK, "--json", "-")
    _, free, _ = adamb(capsys, "lookahead", "allocation-2x1", "--set", "beta=0", *QUICK, "--json", "-")
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
    assert named in refused(capsys, "lookahead", *arguments)


@pytest.mark.campaign
def test_every_problem_has_a_row(capsys):
    from adamb.host_sim.registry import problem_names

    code, out, error = adamb(capsys, "lookahead", "--seeds", 2, "--episodes", 2, "--quiet", "--json", "-")
    assert code == 0, error
    assert [row["problem"] for row in json.loads(out)["rows"]] == problem_names()
