"""`adamb compare` gives every agent the same random draws, says what it measured, and what looking ahead gains."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.host_sim.agents import make_agent
from adamb.host_sim.problems import make_problem
from adamb.host_sim.runner import simulate
from adamb.host_sim.studies.lookahead import value_of_planning
from adamb.tools.cli import main
from adamb.tools.measure.ranking import WINDOW, recovery
from support.command import adamb, refused

QUICK = ["--episodes", "60", "--seeds", "7..9", "--quiet"]


def compared(capsys, *arguments):
    code, out, error = adamb(capsys, "compare", *arguments, *QUICK, "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    return found, {(row["agent"], row["budget_bytes"]): row for row in found["rows"]}


@pytest.fixture(scope="module")
def dram():
    """One comparison that several tests read."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as table:
        assert main(["compare", "dram-lite", *QUICK, "--json", "-"]) == 0
    return json.loads(out.getvalue()), table.getvalue()


def test_every_cap_rule_and_baseline_has_a_row(dram):
    found, _ = dram
    names = {(row["agent"], row["budget_bytes"]) for row in found["rows"]}
    for kib in (1, 2, 4, 8, 24, 32):
        assert ("adamb", kib * 1024) in names
    assert {("zoom", 4096), ("bandit", 4096), ("bandit", 100), ("static", None), ("optimal", None)} <= names
    for rule in make_problem("dram-lite", [0]).rules():
        assert (f"rule:{rule}", None) in names


def test_the_table_says_seeds_intervals_and_that_no_agent_was_tuned(dram):
    _, table = dram
    for promised in ("seeds 7..9", "± 95 %", "default options", "of V*", "bandit 100 B", "t-star"):
        assert promised in " ".join(table.split()), promised


def test_figures_are_those_of_a_run_of_its_own_and_differences_are_paired(dram):
    returns = {}
    for agent, cap in (("adamb", 4096), ("zoom", 4096)):
        problem = make_problem("dram-lite", [7, 8, 9], episodes=60)
        returns[agent] = simulate(problem, make_agent(agent, problem, budget_bytes=cap)).returns
    rows = {(row["agent"], row["budget_bytes"]): row for row in dram[0]["rows"]}
    for agent, played in returns.items():
        assert rows[agent, 4096]["last"]["mean"] == pytest.approx(played.mean(), abs=1e-12)
    by_seed = (returns["zoom"] - returns["adamb"]).mean(axis=1)
    difference = rows["zoom", 4096]["difference"]
    assert difference["mean"] == pytest.approx(by_seed.mean(), abs=1e-12)
    assert difference["ci95"] == pytest.approx(4.302653 * by_seed.std(ddof=1) / np.sqrt(3), rel=1e-5)
    assert rows["adamb", 4096]["difference"] is None


def test_the_last_200_episodes_count(capsys):
    few = ["--agents", "centre", "--budgets", "4KiB", "--episodes", "260", "--seeds", "2", "--quiet"]
    code, out, error = adamb(capsys, "compare", "dram-lite", *few, "--json", "-")
    assert code == 0, error
    problem = make_problem("dram-lite", [0, 1], episodes=260)
    played = simulate(problem, "rule:centre").returns
    level = next(row for row in json.loads(out)["rows"] if row["agent"] == "rule:centre")["last"]["mean"]
    assert level == pytest.approx(played[:, -200:].mean(), abs=1e-12) != pytest.approx(played.mean(), abs=1e-9)


def test_a_cap_too_small_for_the_controller_is_a_row_and_not_the_end(capsys):
    _, rows = compared(capsys, "dram-drain", "--budgets", "100B,4KiB", "--agents", "zoom")
    small = rows["adamb", 100]
    assert small["why_not"].startswith("needs ") and small["last"] is None and small["bytes_peak"] is None
    assert rows["adamb", 4096]["last"]["mean"] > 0


def test_another_choice_for_a_full_pool_reaches_the_controller_and_the_footer(capsys):
    few = ["--agents", "random", "--budgets", "1KiB", "--cap", "1KiB", "--episodes", "300", "--seeds", "2"]
    levels = {}
    for choice in ("reclaim", "freeze"):
        code, out, error = adamb(
            capsys, "compare", "cache-lite", *few, "--agent-set", f"when_full={choice}", "--quiet", "--json", "-"
        )
        assert code == 0 and f"when_full={choice}" in " ".join(error.split()), error
        row = json.loads(out)["rows"][0]
        levels[choice] = row["last"]["mean"]
        assert row["options"] == {"when_full": choice}
    assert levels["reclaim"] != levels["freeze"]


def test_a_gymnasium_environment_is_compared_over_a_chosen_horizon_and_in_its_own_units(capsys):
    bounds = ["--set", "reward_low=-17", "--set", "reward_high=0"]
    line = ["compare", "gym:Pendulum-v1", "--set", "horizon=4", "--budgets", "4KiB", "--agents", "random", *bounds]
    code, out, error = adamb(capsys, *line, "--episodes", 3, "--seeds", 2, "--quiet", "--json", "-")
    assert code == 0, error
    content = json.loads(out)
    assert content["horizon"] == 4 and "own units" in error
    for row in content["rows"]:
        assert row["last_raw"]["mean"] == pytest.approx(17 * (row["last"]["mean"] - 4))


def test_half_way_drift_measures_level_dip_and_recovery(capsys):
    code, out, error = adamb(
        capsys, "compare", "dram-lite", "--set", "drift=half", "--agents", "myopic", "--budgets", "4KiB",
        "--episodes", 400, "--seeds", 4, "--quiet", "--json", "-",
    )  # fmt: skip
    rows = {row["agent"]: row for row in json.loads(out)["rows"]}
    assert code == 0 and "lead back" in error and "…" not in error, "nothing is cut at 80 columns"
    informed, learner = rows["rule:myopic"], rows["adamb"]
    assert informed["recovery"]["episodes"] == 0, "it is told of the change"
    assert informed["seeds_back"] == 4
    assert learner["after_change"]["mean"] < informed["after_change"]["mean"]
    assert learner["before_change"]["mean"] > 0 and rows["rule:random"]["recovery_of_lead"] is None


def test_recovery_counts_episodes_until_nine_tenths_of_the_level_before():
    curves = np.ones((5, 600))
    curves[:, 300:] = 0.0
    curves[:, 400:] = 1.0
    found = recovery(curves, 300)
    wanted = 100 - WINDOW + round(0.9 * WINDOW)
    assert found is not None and (found.episodes, found.low, found.high) == (wanted, wanted, wanted)
    curves[:, 400:] = 0.89
    never = recovery(curves, 300)
    assert never is not None and never.episodes is None and str(never) == "∞"
    assert recovery(-curves, 300) is None, "there is no level to come back to"


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["dram-lit"], "dram-lite"),
        (["dram-lite", "--budgets", ","], "1KiB,4KiB"),
        (["dram-lite", "--budgets", "4XiB"], "budgets"),
        (["dram-lite", "--agents", "zoomm"], "did you mean zoom"),
        (["dram-lite", "--set", "drift=half", "--episodes", "30"], "recovery"),
        (["dram-lite", "--set", "drift=often"], "drift"),
        (["dram-lite", "--seeds", "0"], "seeds"),
        (["dram-lite", "--set", "trace=x"], "trace"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, named):
    assert named in refused(capsys, "compare", *arguments)


# ---- what planning gains ------------------------------------------------------------------------------


PLANNED = ["--seeds", "50..59", "--episodes", "10", "--quiet"]


def test_the_table_has_v_star_myopic_static_random_and_the_share(capsys):
    code, out, error = adamb(capsys, "compare", "--lookahead", "dram-lite", "dram-drain", *PLANNED)
    assert code == 0, error
    for promised in ("V*", "myopic", "static", "random", "planning", "dram-lite", "4.593", "seeds 50..59"):
        assert promised in out, promised
    assert out.index("dram-drain") < out.index("dram-lite"), "where planning pays most comes first"


def test_json_has_the_figures_of_the_library(capsys):
    code, out, _ = adamb(capsys, "compare", "--lookahead", "dram-drain", *PLANNED, "--json", "-")
    found = json.loads(out)
    wanted = value_of_planning("dram-drain", seeds=tuple(range(50, 60)), episodes=10).as_dict()
    assert code == 0 and found["seeds"] == list(range(50, 60))
    assert found["rows"] == [json.loads(json.dumps(wanted))]
    row = found["rows"][0]
    assert row["random"]["mean"] < row["static"]["mean"] < row["myopic"]["mean"] < row["best"]["mean"]


def test_planning_is_worth_nothing_where_actions_do_not_move_the_state(capsys):
    code, out, _ = adamb(capsys, "compare", "--lookahead", "dram-1x1", *PLANNED, "--json", "-")
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
    code, out, error = adamb(
        capsys, "compare", "--lookahead", f"{tmp_path / 'still.py'}:Still", *PLANNED, "--json", "-"
    )
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["best"] == row["static"] and row["best"]["policy"] == "static", error
    assert row["best"]["mean"] > row["random"]["mean"] and row["static_action"] == pytest.approx([0.8])
