"""A chip run in `adamb report`: its figures are shown, its verdict counts, a broken file is one line."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from adamb.host_sim.results import read_record
from adamb.host_sim.results.measurements import CHIP, CallCost, ChipSummary, EngineSize
from adamb.tools.cli import main
from adamb.tools.commands.chip import sizes_table, times_table


def cost(who: str, cycles: int) -> CallCost:
    return CallCost(who, 100, float(cycles), cycles + 1, cycles + 2, 5.0, 2.0)


def summary(**changes: Any) -> ChipSummary:
    fields: dict[str, Any] = {
        "problem": "oil-laplace", "cpu": "serv", "optimise": "size", "mode": "tracking", "share": "auto",
        "budget_bytes": 4096, "sram_bytes": 4096, "program_bytes": 16000, "episodes": 20, "horizon": 5,
        "d_s": 1, "d_a": 1, "seed": 3, "finest": 7, "reward_mean": 1.5, "act_engine": cost("engine", 8),
        "act_processor": cost("serv", 9000), "observe": cost("serv", 250_000),
        "end_episode": cost("serv", 30_000), "bound_act_cycles": 13,
        "engines": [EngineSize("iCE40 <HX8K>", "1+1", 376, 146, 8, 75.0, 0)],
        "chips": [EngineSize("ECP5 <25k>", "any", 3171, 1023, 20, 50.0, 4)],
        "left_out": ["no chip: iCE40 <HX8K> has 16 KiB"], "tools": "yosys 1",
        "digest": "0123456789abcdef", "digest_host": "0123456789abcdef",
    }  # fmt: skip
    return ChipSummary(**fields | changes)


def folder(path: Path, **changes: Any) -> Path:
    path.mkdir()
    (path / "chip.json").write_text(json.dumps(summary().to_json() | changes))
    return path


def test_a_chip_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    found = read_record(ChipSummary, folder(tmp_path / "chip") / CHIP)
    assert found == summary()
    assert found.decision_ns(found.engines[0]) == pytest.approx(1000 * 10 / 75)


def shown(table: Any) -> str:
    console = Console(width=100, file=StringIO())
    console.print(table)
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


def test_decisions_within_a_time_are_worked_out_by_the_clock_of_each() -> None:
    engine, chip = EngineSize("A", "any", 1, 1, 1, 100.0, 0), EngineSize("B", "1+1", 1, 1, 1, 62.5, 0)
    found = summary(engines=[engine], chips=[chip])
    fast, slow = found.engines[0], found.chips[0]
    # Ten cycles, the longest: 100 ns at 100 MHz, 160 ns at 62.5 MHz.
    assert [found.decisions_within(fast, ns * 1e-9) for ns in (99, 100, 999, 7800)] == [0, 1, 9, 78]
    assert [found.decisions_within(slow, ns * 1e-9) for ns in (159, 160, 7800)] == [0, 1, 48]
    assert found.observe_us(slow) == 4000
    table = shown(times_table(found, {"99ns": 99e-9, "7.8us": 7.8e-6}))
    assert "A engine any 0 78 B chip 0 48 4,000" in table, "an engine alone learns nothing"
    assert "within 99ns one needs 101.0 MHz, one of the bound's 13 cycles 131.3 MHz" in table


def test_the_table_of_sizes_says_what_a_chip_is_and_what_does_not_fit() -> None:
    table = shown(sizes_table(summary()))
    assert "ECP5 <25k> chip 3,171 1,023 20 50 200" in table
    assert "chip: serv, the engine any, SRAM and program memory, 4 multipliers, one placement" in table
    assert "no chip: iCE40 <HX8K> has 16 KiB" in table
    alone = shown(sizes_table(summary(chips=[], left_out=[])))
    assert "chip" not in alone


def test_the_report_shows_cycles_gates_and_the_digest(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(folder(tmp_path / "chip")), "--out", str(page)]) == 0
    text = page.read_text()
    for shown in (
        "On a chip",
        "250,000",
        "376",
        "0123456789abcdef",
        "iCE40 &lt;HX8K&gt;",
        "ECP5 &lt;25k&gt;",
        "no chip: iCE40 &lt;HX8K&gt; has 16 KiB",
        "10 cycles at most",
    ):
        assert shown in text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"digest_host": "f" * 16}, "block of the chip is not that of this computer"),
        ({"bound_act_cycles": 9}, "decision took 10 cycles, the bound is 9"),
    ],
)
def test_a_broken_promise_is_exit_code_1(
    changes: dict[str, Any], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder(tmp_path / "chip", **changes)
    assert main(["report", str(made), "--out", str(tmp_path / "page.html")]) == 1
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cpu": 5}, "cpu is 5, not text"),
        ({"act_engine": None}, "act_engine is None, not an object"),
        ({"engines": [{"family": "x"}]}, "has no 'engines[0].built_for'"),
        ({"engines": [vars(EngineSize("x", "any", 1, 1, 1, 0.0, 0))]}, "holds values that no command writes"),
        ({"chips": [vars(EngineSize("x", "any", 1, 1, 1, 0.0, 0))]}, "holds values that no command writes"),
    ],
)
def test_a_file_that_no_command_wrote_is_one_line(
    changes: dict[str, Any], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder(tmp_path / "chip", **changes)
    assert main(["report", str(made), "--out", str(tmp_path / "page.html")]) == 2
    err = capsys.readouterr().err
    assert says in err and len(err.splitlines()) == 1
