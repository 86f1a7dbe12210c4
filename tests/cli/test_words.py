"""Every word that a run prints is explained, from one table, where it is printed and in the report."""

from __future__ import annotations

import pytest

from adamb.host_sim import make_problem, simulate
from adamb.tools.report.page import build_from
from adamb.tools.terminal.run_view import WORDS, lines, meaning
from support.command import adamb

RUN = ["run", "oil-laplace", "--episodes", 150, "--seeds", 2, "--budget", "1KiB", "--quiet"]


@pytest.mark.parametrize(("problem", "agent"), [("oil-laplace", "adamb"), ("plant-heater", "adaql")])
def test_each_line_of_a_run_has_its_meaning(problem, agent):
    result = simulate(make_problem(problem, [1, 2], episodes=150), agent, budget_bytes="2KiB")
    labels = [label for label, _ in lines(result)]
    assert "regret" in labels or problem != "oil-laplace"
    assert [label for label in labels if meaning(label) is None] == []


def test_a_word_is_explained_one_key_away(capsys):
    plain, told = (" ".join(adamb(capsys, *RUN, *more)[1].split()) for more in ([], ["--explain"]))
    assert "--explain says what each line means" in plain and "--explain" not in told
    assert "the price of learning" in told and "the price of learning" not in plain
    assert "clipped actions" not in told, "only of the lines that are there"


def test_the_report_has_the_same_words(tmp_path, capsys):
    assert adamb(capsys, *RUN, "--out", tmp_path / "run")[0] == 0
    page = build_from([tmp_path / "run"]).html
    assert 'id="words"' in page and all(f"<dt>{word}</dt>" in page for word in WORDS)


def test_a_meaning_is_short():
    assert max(map(len, WORDS.values())) <= 240
