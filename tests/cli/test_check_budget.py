"""`adamb check-budget`: exit 0 when every limit holds, 1 when one is broken, 2 when the file is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import adamb, refused

FILE = """
problem = "oil-laplace"
agent = "adaql"
episodes = 60
seeds = 3
[limits]
bytes = "{size}"
min_reward = {reward}
"""


@pytest.fixture
def check(tmp_path: Path, capsys):
    def run(text: str, *options: str, call=adamb):
        path = tmp_path / "budget.toml"
        path.write_text(text, encoding="utf-8")
        return call(capsys, "check-budget", path, *options)

    return run


def test_limits_that_hold_give_exit_code_0_and_their_margins(check):
    code, out, _ = check(FILE.format(size="4KiB", reward=0.5), "--json", "-")
    content = json.loads(out)
    assert code == 0 and content["ok"]
    rows = {row["name"]: row for row in content["rows"]}
    assert rows["bytes"]["margin"] == 4096 - rows["bytes"]["measured"] > 0
    assert rows["min_reward"]["margin"] == pytest.approx(rows["min_reward"]["measured"] - 0.5)
    assert "seeds 0 to 2" in rows["min_reward"]["note"]


def test_a_reward_below_its_limit_gives_exit_code_1_and_says_broken(check):
    code, out, _ = check(FILE.format(size="4KiB", reward=4.99))
    assert code == 1
    assert "broken" in out


def test_a_planted_violation_of_bytes_is_caught(check):
    """Run with a larger cap than the limit allows: the peak must be reported above the limit."""
    text = FILE.format(size="64B", reward=0).replace("seeds = 3", 'seeds = 3\nbudget = "4KiB"')
    code, out, _ = check(text, "--json", "-")
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert code == 1
    assert rows["bytes"]["measured"] > 64 and not rows["bytes"]["ok"]
    assert rows["min_reward"]["ok"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oil-laplace"', '"oil-laplac"', "did you mean oil-laplace"),
        ('agent = "adaql"', 'agent = "adaq"', "did you mean adaql"),
        ("min_reward", "max_reward", "limits.max_reward"),
        ("episodes = 60", "episodes = -1", "whole number from 1"),
    ],
)
def test_a_wrong_file_is_one_line_and_exit_code_2(check, old, new, message):
    assert message in check(FILE.format(size="4KiB", reward=1).replace(old, new), call=refused)


def test_a_limit_on_instructions_is_refused_for_an_agent_that_has_no_target(check):
    code, _, err = check(FILE.format(size="4KiB", reward=1) + "stack_bytes = 100\n")
    assert code == 2
    assert "only adamb runs on a target" in err


def test_json_goes_to_a_file_too(check, tmp_path):
    target = tmp_path / "out.json"
    code, out, _ = check(FILE.format(size="4KiB", reward=0.5), "--json", str(target))
    assert code == 0
    assert json.loads(target.read_text())["ok"]
    assert "bytes" in out
