"""An agent from a user's file plays wherever an agent is named, at equal bytes."""

from __future__ import annotations

import csv
import json

import pytest

from adamb.host_sim import benchmark as protocol
from adamb.host_sim.benchmark import play as bench
from support.command import adamb, refused
from support.standin_problem import PROBLEM

MINE = '''
"""Own agents."""
import numpy as np
from adamb.firmware_model.host.errors import BudgetExceeded
from adamb.host_sim import Agent, Parameter


class Mine(Agent):
    """Plays one level and keeps a table it never reads."""

    options_known = {"level": Parameter(0.5, "float", "what is played", low=0, high=1)}

    def __init__(self, shape, **options):
        super().__init__(shape, **options)
        if self.budget_bytes is not None and self.budget_bytes < 200:
            raise BudgetExceeded(200, self.budget_bytes, "the table")

    def act(self, h, states):
        return np.full((self.n, self.d_a), self.options["level"])

    def bytes_used(self):
        return np.full(self.n, 200)
'''


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return f"{tmp_path / 'mine.py'}:Mine"


def test_a_run_takes_an_own_agent_its_options_and_its_cap(capsys, mine):
    command = ["run", PROBLEM, "--agent", mine, "--episodes", 20, "--seeds", 2, "--quiet"]
    code, out, error = adamb(capsys, *command, "--budget", "1KiB", "--agent-set", "level=0.2", "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert found["agent"] == mine and found["bytes_peak"] == 200
    assert "level = 3: must be a number from 0 to 1" in refused(capsys, *command, "--agent-set", "level=3")
    assert "200 bytes required, 100 available" in refused(capsys, *command, "--budget", "100")
    shown = adamb(capsys, "list", "agents", mine)[1]
    assert "Plays one level" in shown and "a number from 0 to 1" in shown


def test_a_comparison_has_it_beside_the_controller_at_equal_bytes(capsys, mine):
    short = ["--budgets", "1KiB", "--cap", "1KiB", "--episodes", 20, "--seeds", 2, "--quiet", "--json", "-"]
    code, out, error = adamb(capsys, "compare", PROBLEM, "--agents", f"zoom,{mine}", *short)
    assert code == 0, error
    rows = {row["agent"]: row for row in json.loads(out)["rows"]}
    assert rows[mine]["budget_bytes"] == rows["adamb"]["budget_bytes"] == 1024
    assert rows[mine]["bytes_peak"] == 200 and rows[mine]["difference"] is not None


def test_a_sweep_has_it_and_plays_it_again_after_an_edit(capsys, mine, tmp_path):
    spec, out = tmp_path / "own.toml", tmp_path / "out"
    tuned = f"{{ name = '{mine}', label = 'mine', tune = {{ level = [0.1, 0.4] }} }}"
    spec.write_text(f"problems = ['{PROBLEM}']\nagents = ['random', {tuned}]\nepisodes = 20\nseeds = 2\n"
                    "budgets = ['1KiB']\ntune_seeds = 2\n")  # fmt: skip

    def reward():
        assert adamb(capsys, "sweep", spec, "--out", out, "--jobs", 1, "--quiet")[0] == 0
        with open(out / "summary.csv", newline="") as table:
            rows = {row["agent"]: row for row in csv.DictReader(table)}
        return rows["random"]["reward_per_episode_mean"], rows["mine"]["reward_per_episode_mean"]

    before = reward()
    (tmp_path / "mine.py").write_text(MINE.replace('self.options["level"])', '1 - self.options["level"])'))
    after = reward()
    assert before[0] == after[0] and before[1] != after[1]


def test_the_benchmark_shows_it_and_judges_no_target_by_it(capsys, mine, tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "QUICK_EPISODES", 60)
    monkeypatch.setattr(bench, "QUICK_SEEDS", protocol.Seeds((1, 2, 3), (11, 12)))
    command = ["sweep", "benchmark", "--quick", "--out", tmp_path]
    code, out, error = adamb(
        capsys, *command, "--jobs", 1, "--only", f"dram-lite,2KiB,adamb,bandit,{mine}", "--quiet", "--json", "-"
    )
    assert code == 0, error
    found = json.loads(out)
    assert {row["agent"]: row["class"] for row in found["scores"]}[mine] == "your own"
    assert {row["baseline"] for row in found["cells"] if row["against"] == "your own"} == {mine}
    assert {row["baseline"] for row in found["cells"] if row["against"] == "all"} == {"bandit"}
    assert "your own" not in {each["against"] for each in found["verdicts"]}
    code, out, _ = adamb(capsys, *command, "--quiet", "--jobs", 0, "--only", "dram-lite,2KiB", "--json", "-")
    assert mine not in {row["agent"] for row in json.loads(out)["scores"]}
