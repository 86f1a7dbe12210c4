"""A copy to a board that breaks half way leaves nothing that stands in the way of the next run."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from adamb.tools.device.loop import board
from adamb.tools.device.loop.files import target_files
from adamb.tools.device.loop.link import Patience
from adamb.tools.device.micropython.interpreter import interpreter_module, node_program
from support.command import adamb, refused
from support.paths import TESTS
from support.serial_line import SerialLine

BOARD = TESTS / "support" / "repl_board.mjs"
TASK = ("oil-laplace", "--budget", "1KiB", "--episodes", 2, "--seeds", 1)


class Flips:
    """A line to the board that flips a bit of one byte, so many bytes after the first file was opened."""

    def __init__(self, offset: int, bit: int) -> None:
        self.at, self.bit, self.passed, self.tail, self.done = offset, bit, -1, b"", 0

    def pass_on(self, data: bytes) -> bytes:
        if self.passed < 0:
            self.tail = self.tail[-40:] + data
            self.passed = 0 if b"/adamb_loop/adamb" in self.tail else -1
            return data
        at, self.passed = self.at - self.passed, self.passed + len(data)
        if not 0 <= at < len(data):
            return data
        self.done += 1
        return data[:at] + bytes([data[at] ^ 1 << self.bit]) + data[at + 1 :]


class FirstBytes:
    """A line that damages the first byte of a file so often: at the first try, and at the second."""

    def __init__(self, times: int) -> None:
        self.left = times

    def pass_on(self, data: bytes) -> bytes:
        if self.left and data.startswith(b"w(b'M"):
            self.left -= 1
            return data.replace(b"w(b'M", b"w(b'L", 1)
        return data


class Clean:
    def pass_on(self, data: bytes) -> bytes:
        return data


@pytest.fixture
def line(tmp_path, monkeypatch):
    monkeypatch.setattr(board, "PATIENCE", Patience(reply_seconds=3.0, tries=4, return_seconds=60.0))
    found = SerialLine([str(node_program()), str(BOARD), str(interpreter_module())], tmp_path / "ttyBOARD")
    yield found
    found.close()


def names(line: SerialLine) -> str:
    command = [sys.executable, "-m", "mpremote", "connect", str(line.port), "fs", "ls", ":/"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.parametrize(("offset", "bit"), [(900, 0), (1777, 6), (5000, 2)])
def test_one_flipped_byte_during_the_copy_is_repaired_by_a_second_try(capsys, line, offset, bit):
    flips = Flips(offset, bit)
    line.faults = (flips, Clean())
    code, _, error = adamb(capsys, "run", *TASK, "--core", f"board:{line.port}")
    assert code == 0 and flips.done == 1, error
    assert "adamb_loop" not in names(line)


def test_a_byte_flipped_twice_during_the_copy_is_one_line_and_leaves_no_folder(capsys, line):
    flips = FirstBytes(2)
    line.faults = (flips, Clean())
    says = refused(capsys, "run", *TASK, "--core", f"board:{line.port}", "--quiet")
    assert "cannot be written, twice" in says and "run again" in says and flips.left == 0
    line.faults = None
    assert "adamb_loop" not in names(line)
    assert adamb(capsys, "run", *TASK, "--core", f"board:{line.port}", "--quiet")[0] == 0


def test_a_cable_pulled_during_the_copy_is_one_line_and_the_next_run_repairs_it(capsys, line):
    def pull(line: SerialLine) -> None:
        if line.passed > 12_000 and not pulled:
            pulled.append(line.passed)
            line.unplug()

    pulled: list[int] = []
    line.on_bytes = pull
    says = refused(capsys, "run", *TASK, "--core", f"board:{line.port}", "--quiet")
    assert pulled and "board:" in says and "Traceback" not in says
    line.plug()
    time.sleep(0.1)
    assert "adamb_loop" in names(line), "the pulled cable left half a copy"
    code, _, error = adamb(capsys, "run", *TASK, "--core", f"board:{line.port}")
    assert code == 0 and f"copying {len(target_files('mpy'))} files" in error
    assert "adamb_loop" not in names(line)


def test_a_file_is_read_back_before_the_mark_is_written(line, monkeypatch):
    transport = board.PortTransport(str(line.port))
    try:
        with board.Prompt(transport) as prompt:
            sent = []
            write = prompt.remote.fs_writefile

            def damaged(place: str, content: bytes) -> None:
                sent.append(place)
                write(place, bytes([content[0] ^ 1]) + content[1:] if len(sent) == 1 else content)

            monkeypatch.setattr(prompt.remote, "fs_writefile", damaged)
            prompt.write("/adamb_loop/one", b"some bytes")
            assert sent == ["/adamb_loop/one"] * 2 and prompt.text_of("/adamb_loop/one") == "some bytes"
            prompt.remove("/adamb_loop")
    finally:
        transport.close()
