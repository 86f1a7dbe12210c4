"""MicroPython on a machine of QEMU, spoken to over its serial line: programs run, files are there.

Time is counted in instructions: QEMU advances its clock by a fixed amount for each, and programs read the
processor's own timer.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing
from adamb.tools.device.micropython.interpreter import Run

QEMU = "qemu-system-arm"
QEMU_REMEDY = "install your system's QEMU for ARM (Debian: apt-get install qemu-system-arm); it is optional"
NO_DEVICE = 19
"""The error of a path on a board without a file system (ENODEV)."""
MOUNT = """
import io, vfs
F, D = {}, set()
class Files:
    def mount(self, readonly, mkfs): pass
    def umount(self): pass
    def chdir(self, path): pass
    def getcwd(self): return "/"
    def stat(self, path):
        path = path.strip("/")
        if path in F: return (0x8000, 0, 0, 0, 0, 0, len(F[path]), 0, 0, 0)
        if path in D: return (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        for name in F:
            if name.startswith(path + "/"): return (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        raise OSError(2)
    def ilistdir(self, path):
        path = path.strip("/")
        first = path + "/" if path else ""
        for kind, names in ((0x8000, F), (0x4000, D)):
            for name in list(names):
                if name.startswith(first) and "/" not in name[len(first):]: yield (name[len(first):], kind, 0)
    def mkdir(self, path): D.add(path.strip("/"))
    def rmdir(self, path):
        if path.strip("/") not in D: raise OSError(2)
        D.remove(path.strip("/"))
    def remove(self, path):
        if path.strip("/") not in F: raise OSError(2)
        del F[path.strip("/")]
    def open(self, path, mode):
        path = path.strip("/")
        if "w" in mode: return Writer(path)
        if path not in F: raise OSError(2)
        return io.BytesIO(F[path]) if "b" in mode else io.StringIO(str(F[path], "utf8"))
class Writer(io.IOBase):
    def __init__(self, path):
        F[path] = bytearray()
        self.path = path
    def write(self, data):
        F[self.path].extend(data)
        return len(data)
    def ioctl(self, request, value): return 0
    def close(self): pass
    def __enter__(self): return self
    def __exit__(self, *why): pass
vfs.mount(Files(), "/")
"""


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
"""Of the processor's timer, per second."""


def instructions(ticks: float, machine: str) -> float:
    """Ticks of the processor's timer as instructions."""
    return ticks / TICKS[machine] * 1e9 / 2**SHIFT


def qemu_missing() -> DeviceToolMissing | None:
    """The error that names what to install where QEMU is missing."""
    return DeviceToolMissing(QEMU, QEMU_REMEDY) if shutil.which(QEMU) is None else None


class MicroPythonMachine:
    """A board that was just switched on; use it in a `with` statement."""

    def __init__(self, machine: str, firmware: Path, *, seconds: float = 300.0) -> None:
        if error := qemu_missing():
            raise error
        command = [QEMU, *MACHINES[machine], "-display", "none", "-monitor", "none"]
        command += ["-semihosting", "-icount", f"shift={SHIFT}", "-serial", "stdio", "-kernel", str(firmware)]
        pipe = subprocess.PIPE
        self.machine, self._seconds = machine, seconds
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)
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
        """Read up to a mark; the bytes before it."""
        assert self._process.stdout is not None
        handle, deadline = self._process.stdout.fileno(), time.monotonic() + self._seconds
        while mark not in self._seen:
            if not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise DeviceToolFailed(f"MicroPython on {self.machine}", f"silent; last: {self._seen[-200:]!r}")
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
