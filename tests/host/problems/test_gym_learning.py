"""What docs/your-problem.md says of three environments is so, and there the controller clearly beats random play."""

import re
import shlex

import pytest

from adamb.host_sim.runner import estimate, simulate
from adamb.tools.options import PlayedProblem
from support.paths import ROOT

LAST = 100
TEXT = (ROOT / "docs/your-problem.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^adamb run (gym:\S+) (.*continuing=yes.*)$", TEXT.replace("\\\n", " "), re.MULTILINE)
WRAPPER = re.search(r"```python test file=angle.py\n(.*?)```", TEXT, re.DOTALL)[1]


def played(name, text, agent, seeds):
    """A run by a command of the document."""
    words = shlex.split(text)
    given = {word: words[i + 1] for i, word in enumerate(words[:-1]) if word != "--set"}
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    problem = PlayedProblem.of(name, seeds, int(given["--episodes"]), settings).make()
    return simulate(problem, agent, budget_bytes=given["--budget"])


@pytest.mark.campaign
@pytest.mark.parametrize("name, text", COMMANDS, ids=[name for name, _ in COMMANDS])
def test_documented_settings_give_the_documented_table_and_beat_random_play(tmp_path, monkeypatch, name, text):
    """Every number within the interval of what is printed now; the lead on other seeds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "angle.py").write_text(WRAPPER)
    runs = [played(name, text, agent, tuple(range(6))) for agent in ("adamb", "random")]
    printed = [run.raw_reward(LAST) for run in runs] + [estimate(run.figures["ended_return"]) for run in runs]
    row = re.search(rf"^\| {name.split(':')[1].split('-v')[0]}[^|]*\|(.*)\|$", TEXT, re.MULTILINE)
    for found, cell in zip(printed, row[1].split("|"), strict=True):
        assert abs(found.mean - float(cell.split("±")[0])) <= found.ci95, f"{name}: {found} is printed now"
    learnt, chance = (played(name, text, agent, tuple(range(40, 46))) for agent in ("adamb", "random"))
    lead = estimate((learnt.raw_returns - chance.raw_returns)[:, -LAST:].mean(axis=1))
    assert learnt.within_budget() and lead.mean - lead.ci95 > 0, f"{name}: lead {lead}"
