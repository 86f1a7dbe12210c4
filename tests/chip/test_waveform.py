"""The timing diagram of docs/chip.md is drawn from the simulated gates."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT

pytest.importorskip("amaranth", reason="pip install adamb[chip]")

from adamb.tools.chip.wave import example
from adamb.tools.figures.waveform import draw

PICTURE = ROOT / "docs" / "decision.svg"
STATES = ("idle", "root", "walk", "choose", "play")


def texts(svg: str) -> list[str]:
    """What is written in a picture; addresses, which follow from the layout of the header, left out."""
    return [
        text for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg) if not re.fullmatch(r"\d\d+", text)
    ]


def states(svg: str) -> list[str]:
    return [text for text in texts(svg) if text in STATES]


def test_the_picture_in_the_document_is_what_the_gates_do() -> None:
    renew = "python -m adamb.tools.maintain.waveform docs/decision.svg"
    shown, drawn = PICTURE.read_text(encoding="utf-8"), example()
    assert states(shown) == states(drawn) == list(STATES), renew
    assert re.findall(r"<title>.*</title>|<svg [^>]*>", shown) == re.findall(
        r"<title>.*</title>|<svg [^>]*>", drawn
    ), renew


def test_a_deeper_tree_takes_a_cycle_more_for_each_level() -> None:
    for depth in (1, 6):
        assert f"in {depth + 5} cycles" in example(depth)


def test_equal_neighbours_share_a_box_and_levels_change_between_cycles() -> None:
    cycles = [{"a": 0, "b": "x"}, {"a": 1, "b": "x"}, {"a": 1, "b": ""}]
    svg = draw(cycles, bits=["a"], buses=["b"], title="<t>")
    assert "&lt;t&gt;" in svg and svg.count(">x</text>") == 1
    low, high = 72, 54
    assert f"M76 {low}H138L138 {high}H200H262" in svg
