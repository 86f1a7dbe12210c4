"""Who may import whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.paths import FOLDERS, ROOT, python_files


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


def wrong_way(folder: str, names: set[str]) -> set[str]:
    """Imports of a folder that depends on `folder`."""
    later = FOLDERS[FOLDERS.index(folder) + 1 :]
    return {name for name in names if name.startswith("adamb.") and name.split(".")[1] in later}


def offenders(folder: str, offence: Callable[[set[str]], set[str]]) -> dict[str, set[str]]:
    return {
        path.relative_to(ROOT).as_posix(): found
        for path in python_files(folder)
        if (found := offence(imported_by(path)))
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_go_one_way(folder):
    assert offenders(folder, lambda names: wrong_way(folder, names)) == {}


@pytest.mark.parametrize(
    ("folder", "others"), [("tools/commands", r"adamb\.tools\.commands\."), ("tests", r"(\w+\.)*(test_\w+|conftest)$")]
)
def test_commands_and_tests_import_nothing_from_each_other(folder, others):
    assert offenders(folder, lambda names: {name for name in names if re.match(others, name)}) == {}
