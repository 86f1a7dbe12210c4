"""Ways to a target: the memory of an emulated Cortex-M, the pipes of a process, a serial port."""

from __future__ import annotations

import hashlib
import io
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import Image, build_image, memory_holding
from adamb.tools.device.emulator.core import HOT_PATH, c_folder, defines, sources
from adamb.tools.device.emulator.cortex_m import DeviceFault, Machine
from adamb.tools.device.extras import need
from adamb.tools.device.loop.link import LinkLost
from adamb.tools.device.micropython.package import PACKAGE, as_file, board_files, compiled

FOLDER = Path(__file__).resolve().parent
LINK = "adamb_link"
MAIN = f"import {LINK}; {LINK}.main()"
_NUMBERS = re.compile(r"^from adamb\.firmware_model\._spec import .*$", re.MULTILINE)


@cache
def link_source() -> Path:
    """The link as a file that needs no module of numbers."""
    text = (FOLDER / f"{LINK}.py").read_text(encoding="utf-8")
    numbers = f"LEARNER_HASH, SPEC_HASH = {_spec.LEARNER_HASH}, {_spec.SPEC_HASH}"
    changed, count = _NUMBERS.subn(numbers, text)
    assert count == 1, "it has the line that is replaced"
    changed = changed.replace(f"from {PACKAGE} import", "from adamb import")
    return as_file(f"{LINK}.py", changed.encode())


@cache
def target_files(kind: str, *, native: bool = False) -> dict[str, Path]:
    """Place below the folder of the loop -> host file, for `kind` py or mpy; the link alone to a C core."""
    core = {} if native else board_files(kind)
    found = {place.removeprefix("/lib/"): path for place, path in core.items()}
    link = link_source()
    return {**found, f"{LINK}.{kind}": compiled(link, link.name) if kind == "mpy" else link}


def lib_files(kind: str) -> dict[str, Path | bytes | str]:
    """The same below /lib, as the interpreter in node takes them."""
    return {f"/lib/{place}": path for place, path in target_files(kind).items()}


def copy_to(folder: Path, kind: str) -> None:
    """All files below a folder of this computer."""
    for place, path in target_files(kind).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / place)


START, TAKE = "adamb_link_start", "adamb_link_take_all"
LINK_BYTES = 512
"""Room for an adamb_link, which begins with its answer."""
INPUT_BYTES = 256
SPARE_BYTES = 1024


@cache
def link_image(target: str) -> Image:
    return Image(
        build_image(
            [FOLDER / "adamb_link.c", *sources()],
            target=target,
            roots=[START, TAKE],
            includes=[c_folder(), FOLDER],
            defines=defines(target),
        )
    )


@cache
def _stack_bytes(target: str) -> int:
    return int(stack_report(link_image(target), (TAKE,)).bytes)


class CountingMachine(Machine):
    """A machine that notes the instructions of every act, observe and end_episode inside a call."""

    def __init__(self, image: Image, **arguments: Any) -> None:
        self._watched = {image.functions[name].address & ~1: name for name in HOT_PATH}
        self._entered: tuple[int, int] | None = None
        self.spent = 0
        super().__init__(image, **arguments)

    def _on_block(self, uc: Any, address: int, size: int, data: object) -> None:
        if self._entered is not None and address == self._entered[0]:
            self.spent = self._instructions - self._entered[1]
            self._entered = None
        elif self._entered is None and address in self._watched:
            back = uc.reg_read(self._arm.UC_ARM_REG_LR) & ~1
            self._entered = (back, self._instructions)
        super()._on_block(uc, address, size, data)


class MemoryTransport:
    """Writes go to the machine at once and leave an answer or none; there is nothing to wait for."""

    immediate = True

    def __init__(self, target: str, words: int) -> None:
        image = link_image(target)
        needed = 2 * words + LINK_BYTES + INPUT_BYTES + SPARE_BYTES + _stack_bytes(target)
        self.machine = CountingMachine(image, cpu=target, memory=memory_holding(needed))
        self._block = self.machine.reserve(2 * words)
        self._link = self.machine.reserve(LINK_BYTES)
        self._input = self.machine.reserve(INPUT_BYTES)
        self._answer = b""
        self.machine.call(START, self._link, self._block, words, 0, 0)

    def write(self, data: bytes) -> None:
        for at in range(0, len(data), INPUT_BYTES):
            part = data[at : at + INPUT_BYTES]
            self.machine.write(self._input, part)
            try:
                count = self.machine.call(TAKE, self._link, self._input, len(part)).result
            except DeviceFault as error:
                raise LinkLost(f"the emulated program failed: {error}") from error
            if count:
                self._answer += self.machine.read(self._link, count)

    def read(self, seconds: float) -> bytes:
        found, self._answer = self._answer, b""
        return found

    @property
    def spent(self) -> int:
        """Instructions of the last act, observe or end_episode."""
        return self.machine.spent

    def close(self) -> None:
        pass


PIECE = 65536
END_SECONDS = 5.0


def micropython_in_node() -> ProcessTransport:
    """MicroPython's WebAssembly build."""
    from adamb.tools.device.micropython.interpreter import program_command

    script = f"import sys; sys.path.append('/lib'); {MAIN}"
    return ProcessTransport(lambda folder: program_command(script, lib_files("mpy"), folder))


def micropython_program(program: str) -> ProcessTransport:
    """MicroPython's unix build."""

    def command(folder: Path) -> list[str]:
        copy_to(folder, "mpy")
        return [program, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {MAIN}"]

    return ProcessTransport(command)


def find_program(core: str, name: str) -> str:
    """The MicroPython of `micropython:unix` or `micropython:PATH`."""
    found = shutil.which("micropython" if name == "unix" else name)
    if found is None and name == "unix":
        raise InputError("core", core, "no micropython on the path; Debian: apt-get install micropython")
    if found is None:
        raise InputError("core", core, f"{name} is not a program; give the path of a micropython, or unix")
    return found


class ProcessTransport:
    """The standard streams of a process, which ends with the transport."""

    def __init__(self, command: Callable[[Path], list[str]]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (open while the process runs)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command(Path(self._folder.name)), stdin=pipe, stdout=pipe, stderr=self._errors, bufsize=0
        )

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
        except OSError as error:
            raise self._ended() from error

    def read(self, seconds: float) -> bytes:
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        if not select.select([handle], [], [], seconds)[0]:
            return b""
        data = os.read(handle, PIECE)
        if not data:
            raise self._ended()
        return data

    def _ended(self) -> LinkLost:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"status {self._process.returncode}"
        return LinkLost(f"MicroPython has ended ({why})")

    def close(self) -> None:
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()
        self._folder.cleanup()


BAUD = 115200
REPL_SECONDS = 2.0
"""Timeout of mpremote for one answer of a board."""
WAIT, WAIT_SECONDS = "ADAMB_WAIT_FOR_PORT", 0.2
"""Set where several processes of one sweep share a board: each waits for its turn."""


WINDOWS_PORT = re.compile(r"(?:\\\\\.\\)?(COM\d+)", re.IGNORECASE)
POLL_SECONDS, SILENT_SECONDS = 0.001, 0.05
IN_USE = "is in use by another program; end it, or name another port"


class PortError(AdambError):
    """A port that cannot be used, and what to do about it."""


class PortTransport:
    """An open port, locked against other programs; mpremote works on the same line."""

    def __init__(self, port: str) -> None:
        self.port = port
        self._lock = lock_port(port)
        try:
            self.remote = _open(port)
        except AdambError:
            self._lock.close()
            raise
        self.remote.serial.timeout = REPL_SECONDS

    def write(self, data: bytes) -> None:
        try:
            self.remote.serial.write(data)
        except OSError as error:
            raise self._gone(error) from error

    def read(self, seconds: float) -> bytes:
        line = self.remote.serial
        try:
            if not _has_data(line, seconds):
                return b""
            return bytes(line.read(max(1, line.in_waiting)))
        except (OSError, TypeError, ValueError) as error:
            raise self._gone(error) from error

    def _gone(self, error: Exception) -> LinkLost:
        return LinkLost(f"the port {self.port} is gone ({error})")

    def close(self) -> None:
        with suppress(OSError, TypeError, AttributeError):
            self.remote.close()
        self._lock.close()


def _has_data(line: Any, seconds: float) -> bool:
    """True if something arrives in time; a port of Windows has no handle to wait for, and is polled."""
    try:
        handle = line.fileno()
    except (AttributeError, io.UnsupportedOperation):
        end = time.monotonic() + seconds
        while not line.in_waiting and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return bool(line.in_waiting)
    return bool(select.select([handle], [], [], seconds)[0])


def one_name(port: str) -> str:
    r"""The same text for every way to write a port: its device for /dev/serial/by-id/X, COM3 for \\.\com3."""
    on_windows = WINDOWS_PORT.fullmatch(port)
    if on_windows:
        return on_windows.group(1).upper()
    return os.path.realpath(port) if port.startswith("/") else port


def lock_port(port: str) -> Any:
    """A file that is locked while the port is in use; programs that lock the port itself are seen, too."""
    name = hashlib.sha256(one_name(port).encode())
    path = Path(tempfile.gettempdir()) / f"adamb-port-{name.hexdigest()[:16]}.lock"
    file = open(path, "a")  # noqa: SIM115  (open while the port is)
    try:
        import fcntl
    except ImportError:
        return file
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if not os.environ.get(WAIT):
                file.close()
                raise PortError("is in use by another adamb; wait for it, or name another port") from None
            time.sleep(WAIT_SECONDS)


def _open(port: str) -> Any:
    """mpremote's transport on the port."""
    serial_module = need("mpremote.transport_serial", "mpremote")
    transport_module = need("mpremote.transport", "mpremote")
    try:
        with redirect_stdout(io.StringIO()):
            return serial_module.SerialTransport(port, baudrate=BAUD)
    except (transport_module.TransportError, OSError, ValueError) as error:
        raise PortError(_reason(port, error)) from error


def _reason(port: str, error: Exception) -> str:
    """The reason why a port does not open, and the remedy."""
    if port.startswith("socket://"):
        return "nothing listens there; start QEMU or the bridge first"
    if WINDOWS_PORT.fullmatch(port):
        there = one_name(port) in {one_name(each) for each in port_names()}
        return f"{IN_USE} ({error})" if there else f"no such port; {known_ports()}"
    if not Path(port).exists():
        return f"no such port; {known_ports()}"
    if not os.access(port, os.R_OK | os.W_OK):
        return "no permission; add yourself to the group of the port (often dialout) and log in again"
    import serial

    try:
        serial.serial_for_url(port, exclusive=True).close()
    except (OSError, ValueError) as found:
        if "lock" in str(found):
            return IN_USE
        return str(found)
    return str(error)


def port_names() -> list[str]:
    """The serial ports of this computer."""
    from serial.tools import list_ports

    return sorted(each.device for each in list_ports.comports())


def known_ports() -> str:
    """The serial ports of this computer, for messages."""
    found = port_names()
    return f"there are {', '.join(found)}" if found else "this computer has none; is the board plugged in?"


def drained(transport: PortTransport) -> bytes:
    """Read the line until it is silent for a moment, for a second at most."""
    data, end = b"", time.monotonic() + 1.0
    while (part := transport.read(SILENT_SECONDS)) and time.monotonic() < end:
        data += part
    return data
