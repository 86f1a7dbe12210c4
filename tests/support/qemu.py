"""Boards in QEMU, a second emulator with the board's own reset and memory decoding, behind a serial line."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adamb.tools.device.micropython.machine import QEMU, qemu_missing

needs_qemu = pytest.mark.skipif(qemu_missing() is not None, reason=str(qemu_missing()))


@contextmanager
def machine(*arguments: str) -> Iterator[str]:
    """A machine that was just switched on; the address of its serial line."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    command = [QEMU, "-display", "none", "-monitor", "none", *arguments]
    command += ["-serial", f"tcp:127.0.0.1:{number},server=on,wait=off"]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", number), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        time.sleep(0.2)
        yield f"socket://127.0.0.1:{number}"
    finally:
        process.terminate()
        process.wait()
