"""An agent from a user's file plays wherever an agent is named, at equal bytes; lists show what there is."""

from __future__ import annotations

import csv
import json

import pytest

from adamb.budgets.controller import OPTIONS
from adamb.host_sim import agent_names, make_problem, problem_names
from adamb.host_sim.league import play as bench
from adamb.host_sim.league import protocol
from support.command import adamb, refused
from support.standin_problem import PROBLEM

MINE = '''
"""Own agents."""
import numpy as np
from adamb.budgets.errors import BudgetExceeded
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


def test_a_run_takes_an_own_agent_its_options_and_its_cap(capsys, mine, tmp_path):
    command = ["run", PROBLEM, "--agent", mine, "--episodes", 20, "--seeds", 2, "--quiet"]
    code, out, error = adamb(capsys, *command, "--budget", "1KiB", "--agent-set", "level=0.2", "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert found["agent"] == mine and found["bytes_peak"] == 200
    assert "level = 3: must be a number from 0 to 1" in refused(capsys, *command, "--agent-set", "level=3")
    assert "did you mean level" in refused(capsys, *command, "--agent-set", "levle=0.3")
    assert "200 bytes required, 100 available" in refused(capsys, *command, "--budget", "100")


def test_a_comparison_has_it_beside_the_controller_at_equal_bytes(capsys, mine):
    short = ["--budgets", "1KiB", "--cap", "1KiB", "--episodes", 20, "--seeds", 2, "--quiet", "--json", "-"]
    code, out, error = adamb(capsys, "compare", PROBLEM, "--agent", mine, "--only", "zoom", *short)
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


def test_the_league_shows_it_and_judges_no_target_by_it(capsys, mine, tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "QUICK_EPISODES", 60)
    monkeypatch.setattr(bench, "QUICK_SEEDS", protocol.Seeds((1, 2, 3), (11, 12)))
    command = ["bench", "--quick", "--only", "dram-lite", "--budgets", "2KiB", "--jobs", 1, "--out", tmp_path]
    code, out, error = adamb(capsys, *command, "--agents", f"adamb,bandit,{mine}", "--quiet", "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert {row["agent"]: row["class"] for row in found["scores"]}[mine] == "your own"
    assert {row["rival"] for row in found["cells"] if row["against"] == "your own"} == {mine}
    assert {row["rival"] for row in found["cells"] if row["against"] == "all"} == {"bandit"}
    assert "your own" not in {each["against"] for each in found["verdicts"]}
    code, out, _ = adamb(capsys, *command, "--quiet", "--report", "--json", "-")
    assert mine not in {row["agent"] for row in json.loads(out)["scores"]}


def test_problems_lists_every_problem_with_dimensions_parameters_and_limits(capsys):
    code, out, _ = adamb(capsys, "problems", "--json", "-")
    found = {each["name"]: each for each in json.loads(out)["problems"]}
    assert code == 0 and sorted(found) == problem_names()
    for name, each in found.items():
        shape = make_problem(name, [0]).shape
        assert (each["d_s"], each["d_a"], each["horizon"]) == (shape.d_s, shape.d_a, shape.horizon)
        assert each["about"] and each["source"].startswith("host_sim/problems/")
        assert all(setting["limits"] and setting["doc"] for setting in each["settings"])
    code, shown, _ = adamb(capsys, "problems")
    assert code == 0 and all(name in shown for name in found)


@pytest.mark.parametrize("name", ["oil-noisy", "gym:Pendulum-v1", PROBLEM])
def test_a_problem_is_shown_with_what_can_be_set(capsys, name):
    code, shown, error = adamb(capsys, "problems", name)
    assert code == 0 and "setting" in shown and "horizon" in shown, error


def test_agents_lists_every_agent_with_options_and_limits(capsys):
    code, out, _ = adamb(capsys, "agents", "--json", "-")
    found = {each["name"]: each for each in json.loads(out)["agents"]}
    assert code == 0 and sorted(found) == agent_names()
    assert {each["name"] for each in found["adamb"]["settings"]} == {*OPTIONS, "core"}
    assert all(each["about"] and each["source"] for each in found.values())
    assert found["adaql"]["dimensions"] == 3 and found["static"]["settings"][0]["name"] == "trials"


def test_an_own_agent_is_shown_with_its_options(capsys, mine):
    code, shown, _ = adamb(capsys, "agents", mine)
    assert code == 0 and "Plays one level" in shown and "a number from 0 to 1" in shown
    assert "did you mean adaql" in refused(capsys, "agents", "adaqll")


def test_a_class_without_options_is_said_to_have_nothing_to_set(capsys, tmp_path):
    file = tmp_path / "bare.py"
    file.write_text(
        "from adamb.host_sim import Agent\n\n\nclass Bare(Agent):\n"
        "    def act(self, h, states):\n        return states.copy()\n"
    )
    code, shown, _ = adamb(capsys, "agents", f"{file}:Bare")
    assert code == 0 and "nothing to set" in shown and "limits" not in shown
