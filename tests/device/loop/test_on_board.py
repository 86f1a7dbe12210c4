"""`--core board:PORT` on a serial line: MicroPython at its prompt is given what it needs, and left as it was.

The board is MicroPython's WebAssembly build behind a pseudo-terminal: interpreter, prompt and file system are
the real ones, and mpremote talks to them as to any board.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import make_problem, simulate
from adamb.tools.device.loop import board, transports
from adamb.tools.device.loop.agent import find_targets
from adamb.tools.device.loop.link import Link, Timeouts
from adamb.tools.device.loop.transports import WAIT, copy_to, lib_files, target_files
from adamb.tools.device.micropython.interpreter import interpreter_module, node_program, program_command
from support.campaigns import few
from support.command import adamb, refused
from support.looped import UNIX, Faults
from support.paths import TESTS
from support.serial_line import SerialLine

BOARD = TESTS / "support" / "repl_board.mjs"
TASK = ("oil-laplace", "--budget", "1KiB", "--episodes", 6, "--seeds", 1)


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(board, "TIMEOUTS", Timeouts(reply_seconds=3.0, tries=4, return_seconds=60.0))


@pytest.fixture
def line(tmp_path, patient):
    found = SerialLine([str(node_program()), str(BOARD), str(interpreter_module())], tmp_path / "ttyBOARD")
    yield found
    found.close()


def run(core: str, seeds=(0,), episodes=6, **options):
    problem = make_problem("oil-laplace", seeds, episodes=episodes)
    return simulate(problem, "adamb", budget_bytes="1KiB", core=core, **options)


def files(line: SerialLine) -> str:
    command = [sys.executable, "-m", "mpremote", "connect", str(line.port), "fs", "ls", ":/"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_board_is_given_what_it_needs_and_left_as_it_was(capsys, tmp_path, line):
    core = f"board:{line.port}"
    code, out, error = adamb(capsys, "run", *TASK, "--core", core, "--out", tmp_path / "run")
    assert code == 0 and "micropython 1." in out, error
    copied = len(lib_files("mpy"))
    assert f"copying {copied} files" in error and f"{copied} of {copied} files" in error
    assert "removed /adamb_loop again" in error
    assert json.loads((tmp_path / "run" / "run.json").read_text())["digest"] == run("c").digest
    assert "main.txt" in files(line) and "adamb" not in files(line)


def test_what_is_kept_is_used_again_and_another_version_is_not_replaced_unasked(capsys, line, monkeypatch):
    core = f"board:{line.port}"
    assert adamb(capsys, "run", *TASK, "--core", core, "--agent-set", "keep=1")[0] == 0
    assert "adamb_loop" in files(line)
    code, _, error = adamb(capsys, "run", *TASK, "--core", core)
    assert code == 0 and "copying" not in error, "it was there already"
    assert "adamb_loop" in files(line), "only what a run has copied is removed by it"
    kept = board.target_files
    monkeypatch.setattr(board, "target_files", lambda kind, **more: {**kept(kind, **more), "more.py": BOARD})
    says = refused(capsys, "run", *TASK, "--core", core, "--quiet")
    assert "another version is in /adamb_loop on the board; add --agent-set keep=1 to replace it" in says
    assert adamb(capsys, "run", *TASK, "--core", core, "--agent-set", "keep=1", "--quiet")[0] == 0


@pytest.mark.parametrize("power", ["on", "lost"])
def test_a_cable_that_is_pulled_and_plugged_in_again_costs_no_step(line, power):
    """Also where the board has lost its power meanwhile, and all that it had learnt."""

    def pull(line: SerialLine) -> None:
        if line.requests > 40 and not pulled:
            pulled.append(line.requests)
            line.unplug()
            if power == "lost":
                line.power_off()
                line.power_on()
            time.sleep(1)
            line.plug()

    pulled: list[int] = []
    line.on_bytes = pull
    there = run(f"board:{line.port}")
    assert pulled and there.target["link"]["returns"] == 1
    assert there.digest == run("c").digest and np.array_equal(there.returns, run("c").returns)


def test_a_board_that_stays_away_is_one_line_and_what_was_done_is_saved(capsys, tmp_path, line, monkeypatch):
    monkeypatch.setattr(board, "TIMEOUTS", Timeouts(reply_seconds=2.0, tries=2, return_seconds=1.0))
    line.on_bytes = lambda line: line.requests > 100 and line.unplug()
    more = ["--episodes", 40, "--core", f"board:{line.port}", "--out", tmp_path / "run", "--quiet"]
    code, _, error = adamb(capsys, "run", *TASK, *more)
    last = error.strip().splitlines()[-1]
    assert code == 2 and last.startswith("adamb: error: board:")
    assert last.endswith("what was done before is saved")
    assert "has not come back" in last and "no such port" in last
    done = json.loads((tmp_path / "run" / "run.json").read_text())["episodes"]
    rewards = json.loads((tmp_path / "run" / "details.json").read_text())["seed_rewards"]
    assert 0 < done < 40 and rewards == [run("c", episodes=40).returns[0, :done].mean()]


def served(tmp_path, faults=None, port="ttyUNIX") -> SerialLine:
    """MicroPython that serves the link behind a serial line: the unix build where there is one."""
    folder = tmp_path / port.replace("tty", "files")
    copy_to(folder, "mpy")
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); {transports.MAIN}"
    command = [UNIX.program, "-c", code]
    if UNIX.program is None:
        command = program_command(code.replace(str(folder), "/lib"), lib_files("mpy"), folder)
    line = SerialLine(command, tmp_path / port)
    transport = transports.PortTransport(str(line.port))
    Link(transport, Timeouts(reply_seconds=60.0, tries=1)).hello()  # it has started
    transport.close()
    line.faults = faults
    return line


def test_a_board_that_serves_the_link_is_used_as_it_is(tmp_path, patient):
    line = served(tmp_path)
    try:
        for seeds in ((0,), (1, 2)):
            assert run(f"board:{line.port}", seeds).digest == run("c", seeds).digest
        assert line.process.poll() is None, "what was running before runs on"
    finally:
        line.close()


def test_another_version_on_the_board_is_one_line(capsys, tmp_path, monkeypatch, patient):
    line = served(tmp_path)
    monkeypatch.setattr("adamb.tools.device.loop.link.EXPECTED", (1, 1, 1))
    try:
        says = refused(capsys, "run", *TASK, "--core", f"board:{line.port}", "--quiet")
    finally:
        line.close()
    assert "another version runs on the target: link 1, specification" in says and "reset the board" in says


def test_two_boards_share_the_seeds(tmp_path, patient):
    lines = [served(tmp_path, port=f"tty{i}") for i in range(2)]
    try:
        there, here = run(",".join(f"board:{each.port}" for each in lines), range(4)), run("c", range(4))
        assert np.array_equal(there.returns, here.returns) and there.digest == here.digest
        assert all(each.passed > 1000 for each in lines), "a free board takes the next seed: at least one"
        assert len(there.target["names"]) == 2
    finally:
        for each in lines:
            each.close()


@pytest.mark.parametrize("seed", few([1, 2]))
def test_a_serial_line_that_damages_what_passes_never_changes_a_result(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(board, "TIMEOUTS", Timeouts(reply_seconds=0.25, tries=40, return_seconds=30.0))
    faults = (Faults(seed, 0.04), Faults(seed + 100, 0.04))
    line = served(tmp_path, faults)
    try:
        there = run(f"board:{line.port}", episodes=20)
    finally:
        line.close()
    assert there.digest == run("c", episodes=20).digest, f"seed {seed}"
    assert there.target["link"]["repeats"] > 0 and sum(faults[0].done.values()) > 3


def test_cells_of_a_sweep_on_one_board_take_turns(capsys, tmp_path, patient):
    line = served(tmp_path)
    (tmp_path / "s.toml").write_text(
        'problems = ["oil-laplace"]\nepisodes = 4\nseeds = 2\nseeds_per_cell = 1\nbudgets = ["1KiB"]\n'
        f'agents = [{{ name = "adamb", core = "board:{line.port}", label = "there" }}, "adamb"]\n'
    )
    arguments = [tmp_path / "s.toml", "--out", tmp_path / "s", "--jobs", 2, "--quiet", "--json", "-"]
    try:
        code, out, error = adamb(capsys, "sweep", *arguments)
    finally:
        line.close()
    assert code == 0, error
    rewards = [each["reward_per_episode"] for each in json.loads(out)["combinations"]]
    assert rewards[0] == rewards[1]
    assert WAIT not in os.environ, "a run after the sweep must not wait"


def test_a_port_that_there_is_not_is_one_line(capsys, tmp_path):
    says = refused(capsys, "run", *TASK, "--core", f"board:{tmp_path}/tty", "--quiet")
    assert "no such port" in says
    says = refused(capsys, "run", *TASK, "--core", "board:socket://127.0.0.1:9", "--quiet")
    assert "nothing listens there" in says


def test_a_port_that_another_run_uses_is_one_line(capsys, tmp_path):
    near, far = os.openpty()
    port = os.ttyname(far)
    held = transports.PortTransport(port)
    says = refused(capsys, "run", *TASK, "--core", f"board:{port}", "--quiet")
    assert "is in use by another adamb" in says
    held.close()
    with open(port, "rb+", buffering=0) as other:
        import fcntl

        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        says = refused(capsys, "run", *TASK, "--core", f"board:{port}", "--quiet")
        assert "is in use by another program" in says
    os.close(near)
    os.close(far)


def test_a_silent_port_is_one_line(capsys, monkeypatch):
    near, far = os.openpty()
    monkeypatch.setattr(board, "GREETING", Timeouts(reply_seconds=0.05, tries=1))
    says = refused(capsys, "run", *TASK, "--core", f"board:{os.ttyname(far)}", "--quiet")
    assert "answers neither the link nor at MicroPython's prompt" in says
    os.close(near)
    os.close(far)


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
        if self.left and data.startswith((b"w(b'M\\x06", b'w(b"M\\x06')):
            self.left -= 1
            return data.replace(b"M", b"L", 1)
        return data


class Clean:
    def pass_on(self, data: bytes) -> bytes:
        return data


@pytest.mark.parametrize(("offset", "bit"), few([(1777, 6), (900, 0), (5000, 2)], rows=True))
def test_one_flipped_byte_during_the_copy_is_repaired_by_a_second_try(capsys, line, offset, bit):
    flips = Flips(offset, bit)
    line.faults = (flips, Clean())
    code, _, error = adamb(capsys, "run", *TASK, "--core", f"board:{line.port}")
    assert code == 0 and flips.done == 1, error
    assert "adamb_loop" not in files(line)


def test_a_byte_flipped_twice_during_the_copy_is_one_line_and_leaves_no_folder(capsys, line):
    flips = FirstBytes(2)
    line.faults = (flips, Clean())
    says = refused(capsys, "run", *TASK, "--core", f"board:{line.port}", "--quiet")
    assert "cannot be written, twice" in says and "run again" in says and flips.left == 0
    line.faults = None
    assert "adamb_loop" not in files(line)
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
    assert "adamb_loop" in files(line), "the pulled cable left half a copy"
    code, _, error = adamb(capsys, "run", *TASK, "--core", f"board:{line.port}")
    assert code == 0 and f"copying {len(target_files('mpy'))} files" in error
    assert "adamb_loop" not in files(line)


@pytest.mark.parametrize("text", ["COM3", "com3", r"\\.\COM3"])
def test_a_port_of_windows_is_one_port_however_it_is_written(text):
    assert transports.one_name(text) == "COM3"
    (target,) = find_targets(f"board:{text}")
    assert target.port == text, "what is opened is what the user wrote"


def test_one_board_named_twice_is_refused(tmp_path):
    (tmp_path / "device").touch()
    (tmp_path / "link").symlink_to("device")
    for names in ("board:COM3,board:com3", f"board:{tmp_path}/device,board:{tmp_path}/link"):
        with pytest.raises(InputError, match="is there twice"):
            find_targets(names)


@pytest.mark.parametrize(("there", "says"), [(["COM3"], "in use by another program"), (["COM4"], "there are COM4")])
def test_a_port_of_windows_that_does_not_open_is_taken_or_not_there(monkeypatch, there, says):
    monkeypatch.setattr(transports, "port_names", lambda: there)
    assert says in transports._reason("com3", PermissionError(13, "Access is denied."))


class LineOfWindows:
    """A line as on Windows: no handle."""

    timeout = None

    def __init__(self, data: bytes, after: int) -> None:
        self.data, self.after = data, after

    @property
    def in_waiting(self) -> int:
        self.after -= 1
        return len(self.data) if self.after < 0 else 0

    def read(self, count: int) -> bytes:
        found, self.data = self.data[:count], self.data[count:]
        return found


def test_a_line_without_a_handle_is_read_when_something_arrives():
    transport = transports.PortTransport.__new__(transports.PortTransport)
    transport.port, transport.remote = "COM3", SimpleNamespace(serial=LineOfWindows(b"~abc\n", after=5))
    assert transport.read(5.0) == b"~abc\n"
    assert transport.read(0.0) == b"", "nothing more, and no error"
