"""The page tells what the fresher Q of the integer core is worth, as its command measures it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adamb.tools.maintain.documents import regions
from adamb.tools.measure import fresher_q

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"
EFFECT = r"[+-][\d.]+ ± [\d.]+ %"


def test_the_command_shows_both_places_and_both_rules(capsys):
    assert fresher_q.main(["--seeds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "2 paired seeds" in printed and "| place | `q_rule=decreasing` | `q_rule=free` |" in printed
    for place in fresher_q.PLACES.values():
        assert re.search(rf"^\| {re.escape(place)} \| {EFFECT} \| {EFFECT} \|$", printed, re.MULTILINE)


def test_the_effect_of_the_fresher_q_follows_the_table_of_departures():
    section = PAGE.read_text().partition("## How the integer paper mode departs")[2].partition("\n## ")[0]
    (region,) = regions(section)
    assert region.command == "python -m adamb.tools.measure.fresher_q"
    assert f"{fresher_q.SEEDS} paired seeds" in region.body and fresher_q.SEEDS >= 20
    assert len(re.findall(EFFECT, region.body)) == 4


def test_an_effect_is_of_the_texts_reward_and_paired_by_seed(monkeypatch):
    """Seeds that all differ, of which the core earns a tenth more than the text with the rule of the core."""

    def earned(instance, seeds, *, core, q_rule=None):
        each = fresher_q.np.linspace(1, 3, seeds)
        return each + {None: 0.2, "decreasing": 0.0, "free": 0.4}[q_rule]

    monkeypatch.setattr(fresher_q, "earned", earned)
    found = fresher_q.effects("paper", 5)
    assert fresher_q.written(found["decreasing"]) == "+10.0 ± 0.0 %"
    assert found["free"].mean == pytest.approx(-100 * 0.2 / 2.4)
