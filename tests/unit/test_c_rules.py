"""What the C core may not contain, and the compilers and warnings it must pass."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import CORE

SOURCES = sorted(CORE.glob("*.c"))
FILES = [*SOURCES, *sorted(CORE.glob("*.h"))]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wvla", "-pedantic", "-Werror"]
COMPILERS = {"gcc": ["gcc"], "clang": [sys.executable, "-m", "ziglang", "cc"]}
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def compiler(name: str) -> list[str]:
    command = COMPILERS[name]
    if name == "gcc" and shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    if name == "clang":
        pytest.importorskip("ziglang", reason="pip install adamb[device]")
    return command


def compile_all(command: list[str], folder: Path, *flags: str) -> list[Path]:
    objects = []
    for source in SOURCES:
        target = folder / f"{source.stem}.o"
        arguments = [*command, "-std=c99", *flags, f"-I{CORE}", "-c", str(source), "-o", str(target)]
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        objects.append(target)
    return objects


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> list[Path]:
    """Unoptimised: every call that the source makes is still there."""
    return compile_all(compiler("gcc"), tmp_path_factory.mktemp("objects"), "-O0", "-fno-builtin")


@pytest.mark.parametrize("flags", [("-O2",), ("-Os", "-DADAMB_HAS_DIVIDE")], ids=" ".join)
@pytest.mark.parametrize("name", COMPILERS)
def test_the_core_compiles_without_a_warning(name, flags, tmp_path):
    compile_all(compiler(name), tmp_path, *WARNINGS, *flags)


def symbols(objects: list[Path]) -> dict[str, set[str]]:
    """Names by the letter that nm gives their kind."""
    found: dict[str, set[str]] = {}
    for path in objects:
        done = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            kind, name = line.split()[-2:]
            found.setdefault(kind, set()).add(name)
    return found


def test_the_core_calls_nothing_but_itself(objects):
    """No allocation, no library, no floating-point helper: what one file calls another one defines."""
    found = symbols(objects)
    assert found["U"] - found["T"] == set()


def test_the_core_has_no_variables(objects):
    """Only code (T, t) and constants (r); b, d, B, D, C would be static RAM."""
    assert set(symbols(objects)) <= {"T", "t", "U", "r"}


def test_every_name_that_a_user_could_clash_with_has_the_prefix(objects):
    assert all(name.startswith("adamb_") for name in symbols(objects)["T"])


CALL = re.compile(r"(?:call|jmp|bl)\S*\s+[0-9a-f]+ <(\w+)>$|R_\S+\s+([a-z]\w+)")


def calls(objects: list[Path]) -> dict[str, set[str]]:
    """Who calls whom, from the disassembly."""
    graph: dict[str, set[str]] = {}
    for path in objects:
        command = ["objdump", "-dr", "--no-show-raw-insn", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        current = ""
        for line in done.stdout.splitlines():
            if header := re.match(r"[0-9a-f]+ <(\w+)>:", line):
                current = header[1]
                graph.setdefault(current, set())
            elif called := CALL.search(line):
                graph[current].add(called[1] or called[2])
    return graph


def test_nothing_recurses(objects):
    graph = calls(objects)
    assert "adamb_tree_scan" in graph["adamb_learn_jobs"], "the graph must have edges to mean something"

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        pending = list(graph.get(start, ()))
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(graph.get(name, ()))
        return seen

    assert [name for name in graph if name in reachable(name)] == []


def code(path: Path) -> str:
    """The file without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"[^"]*"', " ", path.read_text(), flags=re.DOTALL)


@files
def test_no_floating_point_no_allocation_no_wide_integers(path):
    words = set(re.findall(r"[A-Za-z_]\w*", code(path)))
    assert words & {"float", "double", "malloc", "calloc", "realloc", "free", "alloca", "printf"} == set()
    assert words & {"int64_t", "uint64_t", "long", "goto", "setjmp", "static_assert"} == set()
    assert re.findall(r"\d\.\d|\d\.[fF]\b", code(path)) == []
