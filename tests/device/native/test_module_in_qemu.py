"""MicroPython for Cortex-M in QEMU, from its sources: with the C core in it, or loading it as a .mpy file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adamb.tools.device.micropython import costs, sources
from adamb.tools.device.micropython.machine import MicroPythonMachine
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.measure import micropython_native
from support.native import CALLS, NATIVE, differences, heap_growth, needs_qemu, replayed, selftest
from support.paths import VECTORS

pytestmark = needs_qemu
#: Machine, and the architecture of the .mpy file; none where the firmware has the module.
BOARDS = {
    "module": ("mps2-an385", None),
    "armv7m": ("mps2-an385", "armv7m"),
    "armv6m": ("microbit", "armv6m"),
}


@pytest.fixture(scope="module", params=BOARDS)
def board(request) -> Iterator[MicroPythonMachine]:
    machine, arch = BOARDS[request.param]
    with MicroPythonMachine(machine, sources.qemu_firmware(machine, native=arch is None)) as made:
        if arch is not None:
            made.put({"/adamb.mpy": sources.native_mpy(arch)})
        yield made


def test_the_self_test_passes(board: MicroPythonMachine, pico: Path) -> None:
    assert selftest(board, pico) == "PASS\n"
    assert board.run(f"from adamb.firmware_model import core\n{NATIVE}").output == "True\n"


def test_every_call_right_or_wrong_gives_what_the_python_core_gives(board, python_board) -> None:
    """The Python core runs in the unix port, whose integers have 64 bits: results do not depend on that."""
    here, there = (each.run(CALLS).require_success().output for each in (board, python_board))
    assert here.count("\n") > 100 and not differences(here, there)


@pytest.mark.parametrize("machine", ["mps2-an385", "microbit"])
def test_fast_py_compiled_by_the_board_itself_passes_the_self_test(machine: str, pico: Path) -> None:
    with MicroPythonMachine(machine, sources.qemu_firmware(machine, native=False)) as board:
        board.put(dict(board_files("mpy")))
        board.put({"/lib/adamb/firmware_model/fast.py": pico / "fast" / "fast.py"})
        assert board.run("from adamb.firmware_model import fast").errors == ""
        assert selftest(board, pico) == "PASS\n"


def test_many_steps_with_the_heap_locked_take_not_one_byte(board: MicroPythonMachine) -> None:
    assert heap_growth(board, DeviceSettings(1, 1, 5).fields(), 512, 5_000) == 0


def test_the_costs_that_documents_show_are_those_of_this_module() -> None:
    content = costs.kept()
    if {name: content[name] for name in micropython_native.versions()} != micropython_native.versions():
        pytest.skip("they were measured with another MicroPython or compiler")
    kept = next(row for row in content["rows"] if (row["processor"], row["core"]) == ("Cortex-M3", "module"))
    found, _ = micropython_native.measured("mps2-an385", "module")
    for name in ("flash_bytes", "heap_bytes", "act", "observe"):
        room = 64 if name == "heap_bytes" else 0  # whether a table of names grows just then is chance
        assert kept[name] == pytest.approx(getattr(found, name), rel=0.05, abs=room), (
            f"{name}: measure it again, --write"
        )


@pytest.mark.parametrize("name", ["default-1-1-h5", "tracking-2-1-h16-reclaim"])
def test_recorded_streams_hold(board: MicroPythonMachine, name: str) -> None:
    assert replayed(board, VECTORS / f"{name}.jsonl", limit=150) == 150
