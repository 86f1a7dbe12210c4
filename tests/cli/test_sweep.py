"""`adamb sweep` prints and writes its means, and explains its mistakes in one line."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.host_sim import agents
from support.command import adamb, refused
from support.standin_problem import PROBLEM

SWEEP = f"""
name = "small"
problems = [{{ name = "{PROBLEM}", label = "standin" }}]
agents = ["random", "centre"]
budgets = ["2KiB"]
episodes = 10
seeds = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


def test_a_sweep_prints_one_line_per_combination_and_names_its_seeds(capsys, file, tmp_path):
    code, out, error = adamb(capsys, "sweep", file, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 0, error
    for agent in ("random", "centre"):
        assert re.search(rf"standin +{agent} +2 KiB +\d\.\d+ ± \d\.\d+ +\d+\.\d % +0 B", out), agent
    assert "seeds 0..2" in out and error == ""
    assert json.loads((tmp_path / "out" / "meta.json").read_text())["name"] == "small"
    again = adamb(capsys, "sweep", file, "--out", tmp_path / "out")
    assert again[:2] == (code, out) and "2 of them from before" in again[2]


def test_a_mean_share_of_the_optimum_has_its_interval(capsys, file, tmp_path):
    code, out, _ = adamb(capsys, "sweep", file, "--out", tmp_path / "out", "--jobs", 1, "--markdown", "--quiet")
    assert code == 0 and "| mean share of V* |" in out
    share, half = map(float, re.search(r"\| random \|.*\| (\S+) ± (\S+) % \|", out).groups())
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    rows = [row for row in rows if row["agent"] == "random"]
    reward, best = (np.array([float(row[name]) for row in rows]) for name in ("reward_per_episode", "optimal"))
    off = (reward - best * reward.mean() / best.mean()) / best.mean()
    assert share == pytest.approx(100 * reward.mean() / best.mean(), abs=0.06)
    assert half == pytest.approx(100 * 4.303 * off.std(ddof=1) / 3**0.5, abs=0.06)


@pytest.mark.parametrize(
    ("change", "arguments", "explanation"),
    [
        (("episodes = 10", "episodes = "), [], "not TOML: Invalid value (at line 6"),
        (("agents", "agnets"), [], "line 4, agnets = ['random', 'centre']: unknown key, did you mean agents"),
        (('"2KiB"', '"two"'), [], "line 5, budgets[0] = 'two': not a size"),
        (("", ""), ["--only", "adaql"], "is for adamb sweep benchmark"),
        (("", ""), ["--jobs", "0"], "jobs = 0"),
        (("", ""), ["--jobs", "two"], "jobs = 'two': must be a whole number"),
        (("", ""), ["--quick"], "has no table named quick"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, file, tmp_path, change, arguments, explanation):
    file.write_text(SWEEP.replace(*change))
    assert explanation in refused(capsys, "sweep", file, "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_or_not_text_is_named(capsys, tmp_path):
    assert "No such file" in refused(capsys, "sweep", tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"name = '\xff'")
    error = refused(capsys, "sweep", tmp_path / "binary.toml")
    assert "binary.toml" in error and "byte 8 is not UTF-8" in error


def test_a_controller_that_does_not_fit_is_exit_code_1(capsys, file, tmp_path, monkeypatch):
    def picky(problem, *, budget_bytes, **options):
        raise BudgetExceeded(3000, budget_bytes, "the tree")

    monkeypatch.setitem(agents._factories, "picky", picky)
    file.write_text(SWEEP.replace('"centre"', '"picky"'))
    code, out, error = adamb(capsys, "sweep", file, "--out", tmp_path / "out", "--jobs", 1, "--quiet")
    assert code == 1 and "does not fit" in out
    assert "standin, picky, 2 KiB: budget: 3000 bytes required" in error
