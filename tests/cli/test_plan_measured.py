"""`adamb plan --measure`: the smallest budget that is level with the best, on the same random draws."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.host_sim import make_problem, simulate
from adamb.tools.measure import sizing
from support.command import adamb, refused

TANK = """
import numpy as np
from adamb.host_sim import Problem

class Tank(Problem):
    horizon = 3
    def dynamics(self, h, states, actions, noise):
        return 1 - np.abs(states - actions)[:, 0], actions.copy()
"""


@pytest.fixture(scope="module")
def rows():
    return sizing.measure(lambda: make_problem("plant-heater", sizing.SEEDS, episodes=500), sizing.BUDGETS, {})


def test_every_budget_plays_what_a_run_plays(rows):
    for row in rows:
        problem = make_problem("plant-heater", sizing.SEEDS, episodes=500)
        result = simulate(problem, "adamb", budget_bytes=row.budget_bytes)
        assert np.array_equal(row.returns, result.returns[:, -sizing.LAST :].mean(axis=1))
        assert row.bytes_peak == result.bytes_peak.max() <= row.budget_bytes


def test_where_nothing_is_discarded_a_larger_budget_plays_the_same(rows):
    """So the search ends there: the budgets above are level by what they are, not by an interval."""
    assert [row.discarded == 0 for row in rows] == [False] * (len(rows) - 1) + [True]
    larger = simulate(make_problem("plant-heater", sizing.SEEDS, episodes=500), "adamb", budget_bytes="64KiB")
    assert np.array_equal(rows[-1].returns, larger.returns[:, -sizing.LAST :].mean(axis=1))


def test_level_is_an_interval_that_loses_little_and_not_a_mean(rows, monkeypatch):
    for row in rows:
        best = max(rows, key=lambda each: each.returns.mean()).returns
        assert row.loss.mean == pytest.approx((best - row.returns).mean() / best.mean())
        assert row.level == (row.loss.mean + row.loss.ci95 <= sizing.MAY_LOSE)
    assert any(row.level for row in rows), "the best is level with itself"
    monkeypatch.setattr(sizing, "MAY_LOSE", rows[0].loss.mean + rows[0].loss.ci95 / 2)
    again = sizing.measure(lambda: make_problem("plant-heater", sizing.SEEDS, episodes=500), sizing.BUDGETS, {})
    assert not again[0].level, "its mean is below the limit, its interval is not"


def test_the_command_recommends_the_smallest_that_is_level(tmp_path, capsys):
    (tmp_path / "tank.py").write_text(TANK)
    command = ["plan", f"{tmp_path}/tank.py:Tank", "--measure", "--episodes", 300, "--no-costs"]
    code, shown, _ = adamb(capsys, *command)
    content = json.loads(adamb(capsys, *command, "--json", "-")[1])
    found = content["measured"]
    level = [row["budget_bytes"] for row in found["rows"] if row["level"]]
    assert code == 0 and found["seeds"] == list(range(10)) and content["start_bytes"] == min(level)
    start = f"{min(level)} B" if min(level) < 1024 else f"{min(level) // 1024} KiB"
    first, *others = shown.splitlines()
    assert first == f"start with {start}: the smallest that loses less than 2 % of the best, measured"
    assert "seeds 0..9" in " ".join(others) and content["bytes"] > min(level), "the certificate is there, too"
    assert max(map(len, shown.splitlines())) <= 80


def test_no_budget_is_tried_that_the_board_or_the_budget_has_no_room_for(capsys):
    for given, most in ((["--budget", "2KiB"], 2048), (["--board", "uno"], 2048), (["--budget", "600B"], 600)):
        content = json.loads(
            adamb(capsys, "plan", "oil-laplace", "--measure", "--episodes", 200, "--no-costs", *given, "--json", "-")[1]
        )
        tried = [row["budget_bytes"] for row in content["measured"]["rows"]]
        assert tried and max(tried) <= most and content["start_bytes"] in tried


def test_parameters_change_what_is_played(capsys):
    def rewards(*given):
        command = ["plan", "oil-laplace", "--measure", "--episodes", 100, "--no-costs", *given, "--json", "-"]
        return [row["reward"]["mean"] for row in json.loads(adamb(capsys, *command)[1])["measured"]["rows"]]

    assert rewards() != rewards("--set", "lam=20")


def test_without_a_problem_there_is_nothing_to_measure(capsys):
    assert "measure = 'on': name the problem to play" in refused(capsys, "plan", "--dims", "2+1", "--measure")
    assert "set = 'lam=2': changes a problem; name it" in refused(capsys, "plan", "--set", "lam=2")
