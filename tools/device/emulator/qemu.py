"""Run an image in QEMU: a second emulator, with the board's own reset and memory decoding.

QEMU is optional (a system package). It reads and writes host files through semihosting, so one program
serves every stream: it opens `in.bin`, works, and writes `out.bin`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adamb.budgets.errors import InputError
from adamb.tools.device.emulator.compile import MICROBIT, MemoryMap, build_image
from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing

PROGRAM = "qemu-system-arm"
REMEDY = "install your system's QEMU for ARM (Debian: apt-get install qemu-system-arm); it is optional"
C_FOLDER = Path(__file__).resolve().parent / "c"
FAULT_STATUS = 97


@dataclass(frozen=True)
class QemuBoard:
    """A machine QEMU knows, with the processor to compile for."""

    machine: str
    target: str
    memory: MemoryMap


BOARDS = {
    "microbit": QemuBoard("microbit", "cortex-m0", MICROBIT),
    "mps2-an385": QemuBoard("mps2-an385", "cortex-m3", MemoryMap(flash_bytes=4 << 20, ram_bytes=64 << 10)),
}


@dataclass(frozen=True)
class QemuRun:
    """How a run ended and what it wrote."""

    status: int
    output: bytes
    messages: str


def version() -> str | None:
    """QEMU's version, or None where it is not installed."""
    if shutil.which(PROGRAM) is None:
        return None
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
    found = re.search(r"version (\S+)", done.stdout)
    return found.group(1) if found else None


def build_program(
    sources: Sequence[Path | str],
    board: str,
    *,
    includes: Sequence[Path | str] = (),
    defines: Mapping[str, int | str] | None = None,
) -> Path:
    """An image with reset code around a program that defines device_main."""
    chosen = _board(board)
    return build_image(
        [C_FOLDER / "startup.c", *sources],
        target=chosen.target,
        roots=["adamb_reset"],
        includes=[C_FOLDER, *includes],
        memory=chosen.memory,
        defines=defines,
    )


def _board(name: str) -> QemuBoard:
    if name not in BOARDS:
        raise InputError("board", name, "one of " + ", ".join(BOARDS))
    return BOARDS[name]


def run(image: Path, board: str, data: bytes = b"", *, seconds: float = 60.0) -> QemuRun:
    """Run `image` with `data` as in.bin; a program that does not end within `seconds` is an error."""
    if version() is None:
        raise DeviceToolMissing(PROGRAM, REMEDY)
    command = [PROGRAM, "-M", _board(board).machine, "-display", "none", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native,arg=adamb"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.bin").write_bytes(data)
        try:
            done = subprocess.run(
                [*command, "-kernel", str(image)], cwd=folder, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired as error:
            raise DeviceToolFailed(PROGRAM, f"no end after {seconds} s") from error
        written = Path(folder) / "out.bin"
        output = written.read_bytes() if written.exists() else b""
    return QemuRun(done.returncode, output, done.stderr)
