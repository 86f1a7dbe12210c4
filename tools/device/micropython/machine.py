"""MicroPython on a machine of QEMU, spoken to over its serial line: programs run, files are there.

Time is counted in instructions: QEMU advances its clock by a fixed amount for each, and programs read the
processor's own timer.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from adamb.tools.device.emulator import qemu
from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing
from adamb.tools.device.micropython.heap_files import MOUNT
from adamb.tools.device.micropython.interpreter import Run

PIECE = 512
#: Arguments of QEMU by machine; the micro:bit of MicroPython's qemu port has more memory than a real one.
MACHINES = {
    "mps2-an385": ("-M", "mps2-an385"),
    "microbit": (
        "-M", "microbit", "-global", "nrf51-soc.flash-size=1048576",
        "-global", "nrf51-soc.sram-size=262144",
    ),
}  # fmt: skip
SHIFT = 3
"""An instruction takes 2^3 ns of the machine's time."""
TICKS = {"mps2-an385": 25.0e6, "microbit": 16.0e6}
"""Of the processor's timer, a second."""


def instructions(ticks: float, machine: str) -> float:
    """Ticks of the processor's timer as instructions."""
    return ticks / TICKS[machine] * 1e9 / 2**SHIFT


class MicroPythonMachine:
    """A board that was just switched on; use it in a `with` statement."""

    def __init__(self, machine: str, firmware: Path, *, seconds: float = 300.0) -> None:
        if qemu.version() is None:
            raise DeviceToolMissing(qemu.PROGRAM, qemu.REMEDY)
        command = [qemu.PROGRAM, *MACHINES[machine], "-display", "none", "-monitor", "none"]
        command += ["-semihosting", "-icount", f"shift={SHIFT}", "-serial", "stdio", "-kernel", str(firmware)]
        pipe = subprocess.PIPE
        self.machine, self._seconds = machine, seconds
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._seen = b""

    def __enter__(self) -> MicroPythonMachine:
        self._write(b"\r\x03\x01")
        self._until(b"CTRL-B to exit\r\n>")
        self.run(f"{MOUNT}\nimport os, sys\nsys.path.append('/lib')").require_success()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        for at in range(0, len(data), PIECE):
            self._process.stdin.write(data[at : at + PIECE])

    def _until(self, mark: bytes) -> bytes:
        """What comes before a mark."""
        assert self._process.stdout is not None
        handle, deadline = self._process.stdout.fileno(), time.monotonic() + self._seconds
        while mark not in self._seen:
            if not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise DeviceToolFailed(
                    f"MicroPython on {self.machine}", f"silent; last: {self._seen[-200:]!r}"
                )
            data = os.read(handle, 65536)
            if not data:
                raise DeviceToolFailed(f"MicroPython on {self.machine}", "QEMU has ended")
            self._seen += data
        found, _, self._seen = self._seen.partition(mark)
        return found

    def run(self, script: str) -> Run:
        """Run a program; what earlier ones have defined is still there."""
        self._write(script.encode() + b"\x04")
        self._until(b"OK")
        output = self._until(b"\x04").decode().replace("\r\n", "\n")
        errors = self._until(b"\x04>").decode().replace("\r\n", "\n")
        return Run(1 if errors else 0, output, errors)

    def put(self, files: Mapping[str, Path | bytes | str]) -> None:
        """Files into the board's file system, by their place."""
        for place, content in files.items():
            data = content.read_bytes() if isinstance(content, Path) else content
            data = data.encode() if isinstance(data, str) else data
            name = repr(place.strip("/"))
            self.run(f"F[{name}] = bytearray({len(data)})").require_success()
            for at in range(0, len(data), PIECE):
                piece = data[at : at + PIECE]
                self.run(f"F[{name}][{at}:{at + len(piece)}] = {piece!r}").require_success()
