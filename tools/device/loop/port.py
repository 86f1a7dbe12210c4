"""The link over a serial port, a pseudo-terminal or `socket://host:port`: anything that pyserial opens."""

from __future__ import annotations

import hashlib
import io
import os
import re
import select
import tempfile
import time
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

from adamb.budgets.errors import AdambError
from adamb.tools.device.extras import need
from adamb.tools.device.loop.link import LinkLost

BAUD = 115200
REPL_SECONDS = 2.0
"""How long mpremote may wait for one answer of a board."""
WAIT, WAIT_SECONDS = "ADAMB_WAIT_FOR_PORT", 0.2
"""Set where several processes of one sweep share a board: each waits for its turn."""


WINDOWS_PORT = re.compile(r"(?:\\\\\.\\)?(COM\d+)", re.IGNORECASE)
POLL_SECONDS = 0.001
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
    """Whether something arrives in time; a port of Windows has no handle to wait for, and is asked again."""
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
    """Why a port does not open, and what to do."""
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


def drained(transport: PortTransport, seconds: float = 0.05) -> bytes:
    """What is on the line until it is silent for so long, at most a second of it."""
    data, end = b"", time.monotonic() + 1.0
    while (part := transport.read(seconds)) and time.monotonic() < end:
        data += part
    return data
