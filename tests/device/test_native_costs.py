"""What the controller costs under MicroPython: kept figures, and times of a board that follow from them."""

from __future__ import annotations

import pytest

from adamb.tools.device.micropython import costs

CONTENT = {
    "rows": [
        {
            "processor": processor,
            "core": "bytecode",
            "flash_bytes": 21_000,
            "heap_bytes": 30_000,
            "act": 1_250,
            "observe": 1_250_000,
        }
        for processor in ("Cortex-M3", "Cortex-M0")
    ]
}


def test_a_board_has_one_row_a_form_with_the_times_of_its_own_clock():
    # 125 MHz, 1.33 to 2.15 cycles an instruction: 13.3 to 21.5 us, and a thousand times that.
    lines = costs.board_table(CONTENT, "pico").splitlines()
    assert lines[0].startswith("| Raspberry Pi Pico (RP2040) | flash") and len(lines) == 3
    assert lines[2] == "| Python, bytecode | 21,000 | 30,000 | 13 to 22 µs | 13,000 to 22,000 µs |"


def test_all_forms_that_were_measured_are_shown(capsys):
    assert costs.main(["--board", "pico"]) == 0
    printed = capsys.readouterr().out
    assert [name for name in costs.CORES.values() if f"| {name} |" in printed] == [*costs.CORES.values()]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--board", "esp32"], "board = 'esp32': has Xtensa LX6, measured was ARMv6-M"),
        (["--board", "no-such-board"], "board = 'no-such-board': unknown"),
        (["--board"], "arguments = '--board': none, or --board NAME"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, says, capsys):
    assert costs.main(arguments) == 2
    said = capsys.readouterr().err
    assert says in said and len(said.splitlines()) == 1
