"""Whoever wires the engine finds every port of the Verilog in docs/hardware.md, with its width."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT

pytest.importorskip("amaranth", reason="pip install adamb[chip]")

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl import EngineShape
from adamb.firmware_model.rtl.engine import DecisionEngine
from adamb.tools.chip import rtlil

DOCUMENT = (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8")
WORDS = 2048


def documented() -> dict[str, tuple[str, str]]:
    """Bits and meaning of each port, as the table has them."""
    table = DOCUMENT.partition("| port | bits | meaning |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    return {name: (bits, meaning) for names, bits, meaning in rows for name in re.findall(r"`(\w+)`", names)}


def ports(shape: EngineShape) -> dict[str, int]:
    """Widths, from the text that becomes the Verilog."""
    text = rtlil(DecisionEngine(shape), "adamb_engine")
    wires = re.findall(r"wire width (\d+) (?:in|out)put \d+ +(?:signed )?\\(\w+)", text)
    return {name: int(width) for width, name in wires}


def test_every_port_of_the_verilog_is_in_the_document_with_its_width() -> None:
    told, small, large = documented(), ports(EngineShape(WORDS, 1, 1)), ports(EngineShape(WORDS))
    assert told.keys() == small.keys() == large.keys()
    for name, (bits, meaning) in told.items():
        if bits == "by the size":
            assert f"{small[name]} bits for 4 KiB" in meaning
        else:
            assert small[name] == int(bits.removesuffix(" each")), name
    assert large["state"] == large["action"] == 16 * spec.DIM_MAX


def test_the_document_names_the_codes_of_the_core() -> None:
    meaning = documented()["error"][1]
    assert f"{spec.ERR_ARGUMENT} (BAD_ARGUMENT)" in meaning and f"{spec.ERR_BLOCK} (BAD_BLOCK)" in meaning
