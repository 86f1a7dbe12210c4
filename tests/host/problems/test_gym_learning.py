"""With the settings of docs/your-problem.md the controller clearly beats random play of the same actions."""

import re
import shlex

import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.runner import estimate, simulate
from support.campaigns import few
from support.paths import ROOT

LAST = 100
TEXT = (ROOT / "docs/your-problem.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^adamb run (gym:\S+) (.*--continuing.*)$", TEXT.replace("\\\n", " "), re.MULTILINE)
WRAPPER = re.search(r"```python test file=angle.py\n(.*?)```", TEXT, re.DOTALL)[1]


def as_documented(name, text, seeds, episodes=None):
    """The problem of a command of the document, and its cap."""
    words = shlex.split(text)
    given = {word: words[i + 1] for i, word in enumerate(words[:-1]) if word != "--set"}
    params = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--set")
    problem = make_problem(
        name, seeds, continuing=True, params=params, horizon=int(given["--horizon"]),
        episodes=episodes or int(given["--episodes"]),
    )  # fmt: skip
    return problem, given["--budget"]


def test_the_document_has_a_command_for_each_of_the_three():
    names = [name for name, _ in COMMANDS]
    assert names == ["gym:Pendulum-v1", "gym:MountainCarContinuous-v0", "gym:CartPole-v1"]


@pytest.mark.parametrize("name, text", few(COMMANDS, rows=True), ids=[name for name, _ in COMMANDS])
def test_the_documented_settings_clearly_beat_random_play(tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "angle.py").write_text(WRAPPER)
    seeds = range(40, 46)
    problem, cap = as_documented(name, text, seeds)
    learnt = simulate(problem, "adamb", budget_bytes=cap)
    chance = simulate(as_documented(name, text, seeds, episodes=LAST)[0], "random")
    assert learnt.within_budget()
    lead = estimate(learnt.raw_returns[:, -LAST:].mean(axis=1) - chance.raw_returns.mean(axis=1))
    print(f"{name}, seeds {seeds}: {learnt.raw_reward(LAST)} against {chance.raw_reward()}, lead {lead}")
    assert lead.mean - lead.ci95 > 0


AGENTS = ("adamb", "random")


def documented(name):
    """What the table says of an environment, as means with their intervals, in the order of its columns."""
    row = re.search(rf"^\| {name.split(':')[1].split('-v')[0]}[^|]*\|(.*)\|$", TEXT, re.MULTILINE)
    return [tuple(map(float, cell.split("±"))) for cell in row[1].split("|")]


@pytest.mark.parametrize("name, text", few(COMMANDS, rows=True), ids=[name for name, _ in COMMANDS])
def test_the_table_of_the_document_is_what_its_commands_print(tmp_path, monkeypatch, name, text):
    """Every number within the smaller interval, so that a table of an older learner is found."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "angle.py").write_text(WRAPPER)
    runs = []
    for agent in AGENTS:
        problem, cap = as_documented(name, text, range(6))
        runs.append(simulate(problem, agent, budget_bytes=cap))
    printed = [run.raw_reward(LAST) for run in runs] + [estimate(run.figures["ended_return"]) for run in runs]
    for found, (mean, interval) in zip(printed, documented(name), strict=True):
        assert abs(found.mean - mean) <= min(found.ci95, interval), f"{name}: {found} is printed now"
