"""Energy of a run on a target: the figures of a board applied to what was measured, worked out by hand."""

from __future__ import annotations

import json

import pytest

from adamb.budgets.battery import Battery
from adamb.budgets.boards import load_board
from adamb.tools.device.loop.energy import energy, why_no_energy
from support.command import adamb, one_line


def measured(name: str, unit: str, act: float, observe: float) -> dict:
    return {"names": [name], "unit": unit, "act": {"mean": act}, "observe": {"mean": observe}}


def test_times_that_a_board_has_measured_are_taken_as_they_are():
    board = load_board("microbit")  # 4.1 to 4.4 mA at 3 V, 16 MHz
    by_time = energy(measured("board:/dev/x", "µs", 100, 1000), board, None)
    by_cycles = energy(measured("board:/dev/x", "cycles", 1600, 16_000), board, None)
    assert by_time is not None and by_cycles is not None
    assert by_time["act_uj"] == pytest.approx([1.23, 1.32])
    assert by_cycles["observe_uj"] == pytest.approx([12.3, 13.2])


def test_a_board_without_a_clock_is_told_so():
    found = {"names": ["board:socket://h:1"], "unit": ""}
    assert energy(found, load_board("pico"), None) is None
    assert "board:socket://h:1 has no clock; take --core cortex-m0" in why_no_energy(found, load_board("pico"))


def test_instructions_of_a_cortex_m3_become_energy_on_a_board_that_executes_them():
    """168 MHz, 40 to 87 mA at 3.3 V; no factor for another instruction set."""
    board = load_board("stm32f405")
    made = energy(measured("cortex-m3", "instructions", 100, 4000), board, None)
    assert made is not None
    (low, high), stall = board.core.cpi, board.figures["stall_cycles"]
    seconds = [100 * (low + stall.low) / 168e6, 100 * (high + stall.high) / 168e6]
    assert made["act_uj"] == pytest.approx([seconds[0] * 40_000 * 3.3, seconds[1] * 87_000 * 3.3])


@pytest.mark.parametrize(
    ("board", "says"),
    [("stm32f405", "µJ a learning step on stm32f405"), ("microbit", "none: what cortex-m3 counts is not")],
)
def test_a_run_on_a_cortex_m3_shows_energy_or_says_why_not(capsys, board, says):
    arguments = ["--core", "cortex-m3", "--board", board, "--episodes", 2, "--seeds", 1]
    code, out, err = adamb(capsys, "run", "oil-laplace", *arguments, "--quiet")
    assert code == 0 and says in " ".join(out.replace("│", " ").split()), out + err


@pytest.mark.parametrize(("core", "there"), [("micropython:unix", True), ("cortex-m3", False)])
def test_a_run_in_micropython_is_told_who_knows_the_boards_times(core, there):
    said = why_no_energy(measured(core, "µs", 10, 100), load_board("pico"))
    assert said.startswith(f"none: what {core} counts is not what rp2040 executes")
    assert ("or ask adamb plan --board rp2040" in said) is there


def test_a_period_that_is_too_short_costs_the_sentence_and_not_the_run():
    made = energy(measured("board:/dev/x", "µs", 10, 2e6), load_board("microbit"), Battery(1000, 1))
    assert made is not None
    said = made["battery"]["sentence"]
    assert said.startswith("does not last: period = '1 s': act and observe take up to 2")


def test_the_run_shows_energy_and_battery_of_the_board(capsys, tmp_path):
    arguments = ["--episodes", 4, "--seeds", 1, "--quiet", "--json", tmp_path / "r.json"]
    battery = ["--board", "microbit", "--battery", "1000mAh@1s"]
    code, out, _ = adamb(capsys, "run", "oil-laplace", "--core", "cortex-m0", *arguments, *battery)
    shown = " ".join(out.replace("│", " ").split())
    assert code == 0 and "µJ a decision on nrf51" in shown and "1000 mAh last" in shown
    found = json.loads((tmp_path / "r.json").read_text())["target"]
    low, high = load_board("microbit").energy_uj(found["act"]["mean"])
    assert found["energy"]["act_uj"] == pytest.approx([low, high])
    assert found["energy"]["battery"]["hours"][0] > 24


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--battery", "1Ah"], "1000mAh@1s"),
        (["--battery", "1Ah@1s"], "needs the currents of a --board, and --core cortex-m0"),
        (["--battery", "1Ah@1s", "--board", "pico"], "needs the currents of a --board"),
        (["--battery", "1Ah@1s", "--board", "pico", "--core", "cortex-m3"], "and --core cortex-m0 or board:PORT"),
    ],
)
def test_a_battery_without_what_it_needs_is_one_line(options, says, capsys):
    code, _, err = adamb(capsys, "run", "oil-laplace", *options, "--episodes", 2)
    assert code == 2 and says in one_line(err)
