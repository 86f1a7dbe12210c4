"""Rules for the whole tree: sizes, who may import whom, names. Every finder is tried on a planted offence."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support.tree import FOLDERS, ROOT, python_files

MODULE_LINES, DEVICE_LINES, C_LINES, HEADER_LINES, FUNCTION_LINES = 300, 250, 400, 300, 50
C_COLUMNS = 128
"""ruff counts those of Python, tests/docs those of documents."""
REASON = re.compile(r"(#|/\*) long because: \w+")
TOP = 12
"""A reason for a long file stands in its first lines, before the code."""

PYTHON = list(python_files(*FOLDERS, "tests"))
C_FILES = sorted(path for folder in (*FOLDERS, "tests") for path in (ROOT / folder).rglob("*.[ch]"))
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
GENERATED = ("_spec.py", "adamb_spec.h", "_core.c", "_sim.c")
CODE = {".py", ".c", ".h", ".hpp", ".cpp", ".js", ".mjs", ".html", ".in"}
REPEATED_LINES = 6
THIN = re.compile(r"#|//|/?\*|import |from |\W*$")
"""Lines that may be equal anywhere: comments, imports of one line, brackets."""


def most_lines(path: Path) -> int:
    if path.suffix == ".c":
        return C_LINES
    if path.suffix == ".h":
        return HEADER_LINES
    return DEVICE_LINES if path.parent == ROOT / "firmware_model" else MODULE_LINES


def long_files(paths: Iterable[Path]) -> list[str]:
    found = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > most_lines(path) and not any(REASON.search(line) for line in lines[:TOP]):
            found.append(f"{shown(path)}: {len(lines)} lines, at most {most_lines(path)}")
    return found


def long_functions(path: Path) -> list[str]:
    """Functions of a Python file from `def` to the last line; those of a C file between outermost braces."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    spans = python_spans(text) if path.suffix == ".py" else c_spans(lines)
    found = []
    for name, first, last in spans:
        if last - first + 1 > FUNCTION_LINES and not REASON.search(lines[first - 1]):
            found.append(
                f"{shown(path)}:{first}: {name} has {last - first + 1} lines, at most {FUNCTION_LINES}"
            )
    return found


def python_spans(text: str) -> list[tuple[str, int, int]]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, functions)]
    return [(node.name, node.lineno, node.end_lineno or node.lineno) for node in nodes]


def c_spans(lines: list[str]) -> list[tuple[str, int, int]]:
    spans, first = [], 0
    for number, line in enumerate(lines, 1):
        if re.match(r"\w.*\(", line):
            first = number
        elif line == "}" and first:
            spans.append((lines[first - 1].split("(")[0].split()[-1].lstrip("*"), first, number))
            first = 0
    return spans


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def imported(text: str, package: tuple[str, ...] = ()) -> set[str]:
    """Every module that is imported, at the top or inside a function, by its full name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return names


def imported_by(path: Path) -> set[str]:
    package = ("adamb", *path.relative_to(ROOT).parent.parts)
    return imported(path.read_text(encoding="utf-8"), package)


def wrong_way(folder: str, names: Iterable[str]) -> set[str]:
    """Imports of a folder that depends on `folder`."""
    later = FOLDERS[FOLDERS.index(folder) + 1 :]
    return {name for name in names if name.startswith("adamb.") and name.split(".")[1] in later}


def strange_names(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME and not token.string.isascii()}


def c_code(text: str) -> str:
    """C without comments and texts."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\])*"', " ", text, flags=re.DOTALL)


def test_no_file_is_too_long_without_a_reason():
    files = [*(path for path in PYTHON if not path.is_relative_to(ROOT / "tests")), *C_FILES]
    found = long_files(path for path in files if path.name not in GENERATED)
    assert not found, "\n".join(found)


def test_no_test_module_is_too_long_without_a_reason():
    found = long_files(path for path in PYTHON if path.is_relative_to(ROOT / "tests"))
    assert not found, "\n".join(found)


def test_no_function_is_too_long_without_a_reason():
    files = [path for path in [*PYTHON, *C_FILES] if path.name not in GENERATED]
    found = [line for path in files for line in long_functions(path)]
    assert not found, "\n".join(found)


def wide_lines(path: Path) -> set[str]:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return {f"line {number}" for number, line in lines if len(line) > C_COLUMNS}


def test_no_line_of_c_is_too_wide():
    assert offenders((path for path in C_FILES if path.name not in GENERATED), wide_lines) == {}


def offenders(paths: Iterable[Path], offence: Callable[[Path], set[str]]) -> dict[str, set[str]]:
    return {shown(path): found for path in paths if (found := offence(path))}


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_go_one_way(folder):
    assert offenders(python_files(folder), lambda path: wrong_way(folder, imported_by(path))) == {}


def from_commands(path: Path) -> set[str]:
    return {name for name in imported_by(path) if name.startswith("adamb.tools.commands.")}


def test_commands_import_nothing_from_each_other():
    assert offenders(python_files("tools/commands"), from_commands) == {}


def from_tests(path: Path) -> set[str]:
    return {name for name in imported_by(path) if re.match(r"(\w+\.)*(test_\w+|conftest)$", name)}


def test_no_test_imports_from_another_test():
    assert offenders(python_files("tests"), from_tests) == {}


def test_what_is_no_test_is_in_support():
    """A folder of tests holds tests and their fixtures; test modules have no packages, so names differ."""
    outside = [path for path in python_files("tests") if not path.is_relative_to(ROOT / "tests" / "support")]
    tests = [path.name for path in outside if path.name.startswith("test_")]
    assert {path.name for path in outside} - set(tests) == {"__main__.py", "conftest.py"}
    assert sorted(set(tests)) == sorted(tests)


#: Classes that are meant to be exchanged for each other: the twins, and the two ends of a link.
COUNTERPARTS = {"Controller", "Link"}


def repeated_classes(files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Classes of one name in several modules; a private one is nobody else's."""
    where: dict[str, list[str]] = {}
    for name, text in files:
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(name)
    return {name: places for name, places in where.items() if len(places) > 1}


def test_a_class_has_a_name_of_its_own():
    ours = [(shown(path), path.read_text(encoding="utf-8")) for path in python_files(*FOLDERS)]
    assert repeated_classes(ours).keys() == COUNTERPARTS


def repeated_lines(files: Iterable[tuple[str, str]]) -> list[str]:
    """Pairs of places that say the same in six or more lines, white space aside."""
    seen: dict[tuple[str, ...], tuple[str, int, int]] = {}
    found = []
    for name, text in files:
        folded = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1)]
        lines = [(number, line) for number, line in folded if not THIN.match(line)]
        for at in range(len(lines) - REPEATED_LINES + 1):
            run = tuple(line for _, line in lines[at : at + REPEATED_LINES])
            other, first, place = seen.setdefault(run, (name, lines[at][0], at))
            if other != name or at - place >= REPEATED_LINES:
                found.append(f"{name}:{lines[at][0]} and {other}:{first}")
    return found


def test_no_two_places_of_six_lines_say_the_same():
    paths = sorted(path for folder in (*FOLDERS, "tests") for path in (ROOT / folder).rglob("*"))
    ours = [path for path in paths if path.suffix in CODE and path.name not in GENERATED]
    found = repeated_lines((shown(path), path.read_text(encoding="utf-8")) for path in ours)
    assert not found, "\n".join(found)


def test_names_are_plain_letters():
    assert offenders(PYTHON, lambda path: strange_names(path.read_text(encoding="utf-8"))) == {}
    assert (
        offenders(C_FILES, lambda path: set(NOT_ASCII.findall(c_code(path.read_text(encoding="utf-8")))))
        == {}
    )


def test_file_names_are_plain_letters():
    paths = (path for folder in (*FOLDERS, "tests", "docs") for path in (ROOT / folder).rglob("*"))
    assert [shown(path) for path in paths if not re.fullmatch(r"[\w./+-]+", shown(path), re.ASCII)] == []


# ---- the finders find ------------------------------------------------------------------------------------


def body(lines: int, indent: str = "    ") -> str:
    return "".join(f"{indent}x = {i}\n" for i in range(lines))


def test_a_long_module_is_found_unless_it_says_why(tmp_path):
    path = tmp_path / "long.py"
    path.write_text('"""Doc."""\n' + body(MODULE_LINES, ""))
    assert len(long_files([path])) == 1
    path.write_text('"""Doc."""\n# long because: one table\n' + body(MODULE_LINES, ""))
    assert long_files([path]) == []
    path.write_text('"""Doc."""\n' + body(MODULE_LINES - 1, ""))
    assert long_files([path]) == []


def test_a_long_function_is_found_unless_it_says_why(tmp_path):
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + body(FUNCTION_LINES))
    assert long_functions(path) == [f"long.py:1: f has {FUNCTION_LINES + 1} lines, at most {FUNCTION_LINES}"]
    path.write_text("def f():  # long because: one line an option\n" + body(FUNCTION_LINES))
    assert long_functions(path) == []
    path = tmp_path / "long.c"
    path.write_text("static int\nbefore;\n\nint f(int x)\n{\n" + body(FUNCTION_LINES) + "}\n")
    assert long_functions(path) == [f"long.c:4: f has {FUNCTION_LINES + 3} lines, at most {FUNCTION_LINES}"]
    path.write_text(
        "int f(int x)\n{\n" + body(FUNCTION_LINES - 3) + "}\n\nint g(void)\n{\n" + body(9) + "}\n"
    )
    assert long_functions(path) == []


def test_a_wide_line_is_found(tmp_path):
    path = tmp_path / "wide.c"
    path.write_text(f"/*{'x' * (C_COLUMNS - 4)}*/\n/*{'x' * (C_COLUMNS - 3)}*/\n")
    assert wide_lines(path) == {"line 2"}


def test_an_import_of_the_wrong_way_is_found():
    names = imported("def f():\n    from adamb.tools import cli\nimport adamb.budgets.sizes\n")
    assert wrong_way("host_sim", names) == {"adamb.tools", "adamb.tools.cli"}
    assert wrong_way("firmware_model", names) == {"adamb.tools", "adamb.tools.cli", "adamb.budgets.sizes"}
    assert wrong_way("tools", names) == set()
    climbing = imported("from ...tools import cli\n", ("adamb", "host_sim", "rivals"))
    assert wrong_way("host_sim", climbing) == {"adamb.tools", "adamb.tools.cli"}


def test_a_class_name_that_is_taken_is_found():
    first, second = ("a.py", "class Job:\n    pass\n"), ("b.py", "class Job(int):\n    pass\n")
    assert repeated_classes([first, second]) == {"Job": ["a.py", "b.py"]}
    assert repeated_classes([first, ("b.py", "class _Job:\n    class Job:\n        pass\n")]) == {}


def test_six_lines_that_stand_twice_are_found():
    six, seven = body(6), body(7, "\n\t# a comment\n\t")
    assert repeated_lines([("a.py", six), ("b.py", seven)]) == ["b.py:3 and a.py:1"]
    assert repeated_lines([("a.py", "y = 0\n" + six + six)]) == ["a.py:8 and a.py:2"]
    assert repeated_lines([("a.py", body(5)), ("b.py", seven)]) == []
    assert repeated_lines([("a.py", "again()\n" * 11)]) == []


def test_a_strange_name_is_found_and_a_strange_text_is_not():
    assert strange_names("γ = 'φ'  # λ\n") == {"γ"}
    assert "é" not in c_code('/* é */ int x = f("é"); // é\n')
    assert "é" in c_code("int é;\n")
