"""`adamb compare` gives every agent the same random draws and says what it measured, and how."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate
from adamb.tools.cli import main
from adamb.tools.measure.standings import WINDOW, recovery
from support.command import adamb, refused
from support.standin_problem import PROBLEM

QUICK = ["--episodes", "60", "--seeds", "3", "--seed-base", "7", "--quiet"]


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


def test_every_cap_baseline_and_rival_has_a_row(dram):
    found, _ = dram
    names = {(row["agent"], row["budget_bytes"]) for row in found["rows"]}
    for kib in (1, 2, 4, 8, 24, 32):
        assert ("adamb", kib * 1024) in names
    assert {("zoom", 4096), ("bandit", 4096), ("bandit", 100), ("static", None), ("optimal", None)} <= names
    for baseline in make_problem("dram-lite", [0]).baselines():
        assert (f"baseline:{baseline}", None) in names


def test_the_table_says_seeds_intervals_and_that_no_agent_was_tuned(dram):
    _, table = dram
    for promised in ("seeds 7..9", "± 95 %", "default options", "of V*", "bandit 100 B", "t-star"):
        assert promised in " ".join(table.split()), promised


def test_the_footer_explains_only_what_the_table_shows(capsys, dram):
    assert "static: the best fixed action" in " ".join(dram[1].split())
    code, out, _ = adamb(capsys, "compare", "dram-lite", "--only", "open", "--budgets", "4KiB", *QUICK)
    assert code == 0 and "open" in out and "static:" not in out


def test_no_agent_uses_more_than_its_cap(dram):
    capped = [row for row in dram[0]["rows"] if row["budget_bytes"] is not None and row["why_not"] is None]
    assert capped and all(0 < row["bytes_peak"] <= row["budget_bytes"] for row in capped)


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
    few = ["--only", "centre", "--budgets", "4KiB", "--episodes", "260", "--seeds", "2", "--quiet"]
    code, out, error = adamb(capsys, "compare", "dram-lite", *few, "--json", "-")
    assert code == 0, error
    problem = make_problem("dram-lite", [0, 1], episodes=260)
    played = simulate(problem, make_agent("baseline:centre", problem)).returns
    rows = {row["agent"]: row for row in json.loads(out)["rows"]}
    level = rows["baseline:centre"]["last"]["mean"]
    assert level == pytest.approx(played[:, -200:].mean(), abs=1e-12)
    assert level != pytest.approx(played.mean(), abs=1e-9)


def test_a_cap_too_small_for_the_controller_is_a_row_and_not_the_end(capsys):
    _, rows = compared(capsys, "dram-drain", "--budgets", "100B,4KiB", "--only", "zoom")
    small = rows["adamb", 100]
    assert small["why_not"].startswith("needs ") and small["last"] is None and small["bytes_peak"] is None
    assert rows["adamb", 4096]["last"]["mean"] > 0


def test_another_choice_for_a_full_pool_reaches_the_controller_and_the_footer(capsys):
    few = ["--only", "random", "--budgets", "1KiB", "--cap", "1KiB", "--episodes", "300", "--seeds", "2"]
    levels = {}
    for choice in ("reclaim", "freeze"):
        code, out, error = adamb(
            capsys, "compare", "cache-lite", *few, "--when-full", choice, "--quiet", "--json", "-"
        )
        assert code == 0 and f"when_full={choice}" in " ".join(error.split()), error
        row = json.loads(out)["rows"][0]
        levels[choice] = row["last"]["mean"]
        assert row["options"] == {"when_full": choice}
    assert levels["reclaim"] != levels["freeze"]


def test_a_problem_without_a_known_optimum_has_no_share(capsys):
    found, rows = compared(capsys, "dram-1x1", "--only", "adaptive,closed", "--budgets", "2KiB")
    assert all(row["share"] is None for row in found["rows"]) and ("optimal", None) not in rows
    agents = {row["agent"] for row in found["rows"]}
    assert agents == {"adamb", "baseline:random", "baseline:adaptive", "baseline:closed"}


def test_a_gymnasium_environment_is_compared_over_a_chosen_horizon_and_in_its_own_units(capsys):
    bounds = ["--set", "reward_low=-17", "--set", "reward_high=0"]
    line = ["compare", "gym:Pendulum-v1", "--horizon", 4, "--budgets", "4KiB", "--only", "random", *bounds]
    code, out, error = adamb(capsys, *line, "--episodes", 3, "--seeds", 2, "--quiet", "--json", "-")
    assert code == 0, error
    content = json.loads(out)
    assert content["horizon"] == 4 and "own units" in error
    for row in content["rows"]:
        assert row["last_raw"]["mean"] == pytest.approx(17 * (row["last"]["mean"] - 4))


def test_half_way_drift_measures_level_dip_and_recovery(capsys):
    code, out, error = adamb(
        capsys, "compare", "dram-lite", "--drift", "half", "--only", "myopic", "--budgets", "4KiB",
        "--episodes", 400, "--seeds", 4, "--quiet", "--json", "-",
    )  # fmt: skip
    rows = {row["agent"]: row for row in json.loads(out)["rows"]}
    assert code == 0 and "lead back" in error and "…" not in error, "nothing is cut at 80 columns"
    informed, learner = rows["baseline:myopic"], rows["adamb"]
    assert informed["recovery"]["episodes"] == 0, "it is told of the change"
    assert informed["seeds_back"] == 4
    assert learner["after_change"]["mean"] < informed["after_change"]["mean"]
    assert learner["before_change"]["mean"] > 0 and rows["baseline:random"]["recovery_of_lead"] is None


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


def test_recovery_range_covers_seeds_that_differ():
    curves = np.ones((6, 600))
    for i in range(6):
        curves[i, 300 : 330 + 20 * i] = 0.0
    found = recovery(curves, 300)
    assert found is not None and found.low < found.episodes < found.high


def test_json_repeats_and_a_file_is_not_overwritten(capsys, tmp_path):
    target = tmp_path / "found.json"
    command = ["compare", "dram-lite", "--only", "zoom", "--budgets", "1KiB", *QUICK, "--json", target]
    assert adamb(capsys, *command)[0] == 0
    first = target.read_text()
    code, _, error = adamb(capsys, *command)
    assert code == 2 and "--force" in error and target.read_text() == first
    assert adamb(capsys, *command, "--force")[0] == 0 and target.read_text() == first


def test_a_trace_replaces_the_workload(capsys, tmp_path):
    path = tmp_path / "rows.trace"
    places = np.random.default_rng(5).integers(0, 50, 2000)
    path.write_text("".join(f"0x{n * 8192:x} R\n" for n in places))
    few = ["--only", "closed", "--budgets", "1KiB"]
    found, rows = compared(capsys, "dram-1x1", "--trace", path, *few)
    assert found["parameters"] == {"trace": str(path)}
    _, synthetic = compared(capsys, "dram-1x1", *few)
    assert rows["baseline:closed", None]["last"] != synthetic["baseline:closed", None]["last"]


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["dram-lit"], "dram-lite"),
        (["dram-lite", "--budgets", ","], "1KiB,4KiB"),
        (["dram-lite", "--budgets", "4XiB"], "budgets"),
        (["dram-lite", "--only", "zoomm"], "did you mean zoom"),
        (["dram-lite", "--drift", "half", "--episodes", "30"], "recovery"),
        (["dram-lite", "--drift", "often"], "drift"),
        (["dram-lite", "--seeds", "0"], "seeds"),
        (["dram-lite", "--trace", "x"], "replays no trace"),
    ],
)
def test_a_mistake_is_one_line(capsys, arguments, named):
    assert named in refused(capsys, "compare", *arguments)


def test_a_problem_of_ones_own_can_be_compared(capsys):
    _, rows = compared(capsys, PROBLEM, "--budgets", "4KiB", "--only", "zoom")
    assert rows["adamb", 4096]["share"] is not None and rows["zoom", 4096]["difference"] is not None


def test_the_help_shows_an_example(capsys):
    code, out, _ = adamb(capsys, "compare", "--help")
    assert code == 0 and "Example: adamb compare dram-lite" in " ".join(out.split())
