"""MicroPython for Cortex-M in QEMU, from its sources: with the C core in it, as a .mpy file, and in the loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from adamb.tools.device.loop.transports import target_files
from adamb.tools.device.micropython import builds, costs
from adamb.tools.device.micropython.machine import MACHINES, MicroPythonMachine
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.maintain.documents import SLACK
from adamb.tools.measure import micropython_native
from support.command import adamb, refused
from support.native import CALLS, NATIVE, differences, heap_growth, needs_qemu, replayed, selftest
from support.paths import VECTORS
from support.qemu import machine

pytestmark = needs_qemu
#: Machine, and the architecture of the .mpy file; none where the firmware has the module.
BOARDS = {"module": ("mps2-an385", None), "armv7m": ("mps2-an385", "armv7m"), "armv6m": ("microbit", "armv6m")}


@pytest.fixture(scope="module", params=BOARDS)
def board(request) -> Iterator[MicroPythonMachine]:
    machine, arch = BOARDS[request.param]
    with MicroPythonMachine(machine, builds.qemu_firmware(machine, native=arch is None)) as made:
        if arch is not None:
            made.put({"/adamb.mpy": builds.native_mpy(arch)})
        yield made


def test_the_self_test_passes(board: MicroPythonMachine, pico: Path) -> None:
    assert selftest(board, pico) == "PASS\n"
    assert board.run(f"from adamb import core\n{NATIVE}").output == "True\n"


def test_every_call_right_or_wrong_gives_what_the_python_core_gives(board, python_board) -> None:
    """The Python core runs in the unix port, whose integers have 64 bits: results do not depend on that."""
    here, there = (each.run(CALLS).require_success().output for each in (board, python_board))
    assert here.count("\n") > 100 and not differences(here, there)


@pytest.mark.parametrize("machine", ["mps2-an385", "microbit"])
def test_fast_py_compiled_by_the_board_itself_passes_the_self_test(machine: str, pico: Path) -> None:
    with MicroPythonMachine(machine, builds.qemu_firmware(machine, native=False)) as board:
        board.put(dict(board_files("mpy")))
        board.put({"/lib/adamb/fast.py": pico / "fast" / "fast.py"})
        assert board.run("from adamb import fast").errors == ""
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
        assert kept[name] == pytest.approx(getattr(found, name), rel=SLACK, abs=room), f"{name}: make core ONLY=costs"


@pytest.mark.parametrize("name", ["default-1-1-h5", "tracking-2-1-h16-reclaim"])
def test_recorded_streams_hold(board: MicroPythonMachine, name: str) -> None:
    assert replayed(board, VECTORS / f"{name}.jsonl", limit=150) == 150


TASK = ("oil-laplace", "--budget", "1KiB", "--episodes", 4, "--seeds", 1)


def told(capsys, *more: object) -> tuple[dict, str]:
    """What a run says, and what it tells on the way."""
    code, out, error = adamb(capsys, "run", *TASK, *more, "--json", "-")
    assert code == 0, error
    return json.loads(out), error


@pytest.mark.parametrize(("name", "native"), [("mps2-an385", True), ("mps2-an385", False), ("microbit", False)])
def test_the_digest_is_that_of_the_c_core_and_the_board_is_left_as_it_was(capsys, name, native):
    firmware = builds.qemu_firmware(name, native=native)
    here, _ = told(capsys, "--core", "c")
    with machine(*MACHINES[name], "-semihosting", "-kernel", str(firmware)) as place:
        for _ in range(2 if native else 1):
            there, error = told(capsys, "--core", f"board:{place}")
            assert there["digest"] == here["digest"]
            assert there["reward_per_episode"] == here["reward_per_episode"]
            assert there["target"]["software"].endswith("qemu C core" if native else "qemu")
            assert there["target"]["blocks_compared"] == 4 and "act" not in there["target"], "it has no clock"
            assert "there is no file system; files are kept in its heap" in error
            copied = len(target_files("mpy", native=native))
            assert f"copying {copied} files" in error, "the reset has taken what was there"


def test_a_block_that_its_heap_does_not_hold_is_one_line(capsys):
    """200 KiB of heap hold the Python core and its files, but not so large a block beside them."""
    firmware = builds.qemu_firmware("microbit", native=False)
    with machine(*MACHINES["microbit"], "-semihosting", "-kernel", str(firmware)) as place:
        task = ["oil-laplace", "--budget", "124KiB", "--episodes", 2, "--core", f"board:{place}", "--quiet"]
        assert "bytes of heap are free" in refused(capsys, "run", *task)
