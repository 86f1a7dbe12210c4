"""The link over pipes: MicroPython as a process of this computer, in node or as a program of its own."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from adamb.budgets.errors import InputError
from adamb.tools.device.loop.files import MAIN, copy_to, lib_files
from adamb.tools.device.loop.link import LinkLost

PIECE = 65536
END_SECONDS = 5.0


def micropython_in_node(kind: str = "mpy") -> ProcessTransport:
    """MicroPython's WebAssembly build."""
    from adamb.tools.device.micropython.interpreter import program_command

    script = f"import sys; sys.path.append('/lib'); {MAIN}"
    return ProcessTransport(lambda folder: program_command(script, lib_files(kind), folder))


def micropython_program(program: str, kind: str = "mpy") -> ProcessTransport:
    """MicroPython's unix build."""

    def command(folder: Path) -> list[str]:
        copy_to(folder, kind)
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
