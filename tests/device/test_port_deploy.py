"""`adamb port --deploy` looks at the firmware before it copies anything: MicroPython behind a serial line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mpremote", reason="pip install adamb[device]")
pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.budgets.boards import CORE_IMPORT_BYTES, MICROPYTHON_RESERVE_BYTES
from adamb.firmware_model.host.errors import InputError
from adamb.tools.device.loop import board as loop_board
from adamb.tools.device.loop.board import BoardInfo
from adamb.tools.device.micropython.interpreter import interpreter_module, node_program
from adamb.tools.device.port import micropython as deploy
from support.command import adamb, one_line, refused
from support.paths import TESTS
from support.serial_line import SerialLine

BOARD = TESTS / "support" / "repl_board.mjs"
NATIVE = BoardInfo((1, 26, 1), 6, 30_000, True, "rp2")
PLAIN = BoardInfo((1, 26, 1), 6, 47_004, False, "rp2")


@pytest.fixture
def line(tmp_path):
    found = SerialLine([str(node_program()), str(BOARD), str(interpreter_module())], tmp_path / "ttyBOARD")
    yield found
    found.close()


def says(capsys, folder: Path, line: SerialLine, *more: object) -> str:
    arguments = ["--board", "pico", "--budget", "2KiB", "--out", folder, "--deploy", line.port, *more]
    code, out, error = adamb(capsys, "port", *arguments)
    assert code == 2 and (folder / "main.py").is_file() and "PASS" not in out, "the folder is not lost"
    return one_line(error)


def test_a_firmware_without_the_module_is_one_line_that_says_what_to_do(capsys, tmp_path, line):
    found = says(capsys, tmp_path / "port", line, "--runtime", "usermod")
    assert "the C core is not on the board; build it as README.md says under Native speed" in found
    assert "leave --runtime out" in found
    assert "## Native speed" in (tmp_path / "port" / "README.md").read_text()
    assert "adamb" not in deploy.mpremote(str(line.port), "fs", "ls", ":/"), "nothing was copied"


def test_a_firmware_with_the_module_is_recognised(line):
    assert not deploy.look(str(line.port)).native
    written = "with open('/adamb.py', 'w') as f: f.write('class core: SPEC_HASH = 1')"
    deploy.mpremote(str(line.port), "exec", written)
    assert deploy.look(str(line.port)).native


def test_a_heap_too_small_for_the_python_core_names_usermod_as_the_remedy(capsys, tmp_path, line, monkeypatch):
    """The heap of this board grows as it must, so the core is said to need more than any board has."""
    for each in (deploy, loop_board):
        monkeypatch.setattr(each, "CORE_IMPORT_BYTES", 1 << 31)
    found = says(capsys, tmp_path / "port", line)
    assert "bytes of heap are free" in found and "are needed; add --runtime usermod" in found
    run = ["oil-laplace", "--budget", "1KiB", "--episodes", 2, "--seeds", 1, "--quiet"]
    assert "adamb port --runtime usermod" in refused(capsys, "run", *run, "--core", f"board:{line.port}")


@pytest.mark.parametrize(
    ("found", "block", "usermod", "says"),
    [
        (NATIVE, 4096, True, None),
        (NATIVE, 4096, False, None),
        (NATIVE, 30_000, True, f"{MICROPYTHON_RESERVE_BYTES + 30_000} are needed; take a smaller --budget"),
        (PLAIN, 846, False, None),
        (
            PLAIN,
            2048,
            False,
            f"{MICROPYTHON_RESERVE_BYTES + CORE_IMPORT_BYTES + 2048} are needed; add --runtime usermod",
        ),
        (PLAIN, 846, True, "the C core is not on the board"),
        (replace(NATIVE, has_files=False), 846, True, "the board has no file system"),
    ],
)
def test_what_a_firmware_must_have(found, block, usermod, says):
    if says is None:
        deploy.check_firmware(found, "COM3", block, usermod=usermod)
        return
    with pytest.raises(InputError, match=says):
        deploy.check_firmware(found, "COM3", block, usermod=usermod)
