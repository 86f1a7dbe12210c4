"""The timing diagram of docs/hardware.md is drawn from the simulated gates."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT

pytest.importorskip("amaranth", reason="pip install adamb[chip]")

from adamb.tools.chip.bench import example

PICTURE = ROOT / "docs" / "decision.svg"
STATES = ("idle", "root", "walk", "choose", "play")


def texts(svg: str) -> list[str]:
    """What is written in a picture; addresses, which follow from the layout of the header, left out."""
    return [text for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg) if not re.fullmatch(r"\d\d+", text)]


def states(svg: str) -> list[str]:
    return [text for text in texts(svg) if text in STATES]


def test_the_picture_in_the_document_is_what_the_gates_do() -> None:
    renew = "make core ONLY=chip"
    shown, drawn = PICTURE.read_text(encoding="utf-8"), example()
    assert states(shown) == states(drawn) == list(STATES), renew
    assert re.findall(r"<title>.*</title>|<svg [^>]*>", shown) == re.findall(r"<title>.*</title>|<svg [^>]*>", drawn), (
        renew
    )


def test_a_deeper_tree_takes_a_cycle_more_for_each_level() -> None:
    for depth in (1, 6):
        assert f"in {depth + 5} cycles" in example(depth)
