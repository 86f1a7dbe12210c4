"""One search finds both twins: the same file stems, the same function names behind them, in the same order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FIRMWARE = Path(__file__).parents[2] / "firmware_model"
#: Python only: generated numbers, the words that C keeps on its stack, the package itself, the class for programs.
NOT_CODE = {"__init__", "_scratch", "_spec", "controller"}
STEMS = sorted(path.stem for path in FIRMWARE.glob("*.py") if path.stem not in NOT_CODE)
#: C only: Python has `//`, defaults where its Config is defined, and too few bits for a path.
ONLY_C = {"divide", "default", "code_path"}
#: A class of Python stands in one piece, behind the function that makes its object.
NOT_IN_ORDER = {"open"}
#: On a board it is loaded only by a program that asks for it; in C a linker leaves out what nobody calls.
APART = {"unit": "number"}
C_FUNCTION = re.compile(r"^(ADAMB_NOINLINE )?(static )?[a-z][\w *]*?\b(\w+)\([^;{]*\)\n\{", re.MULTILINE)


def c_functions(stem: str) -> dict[str, bool]:
    """Function without its prefixes -> whether other files may call it, in the order of the file."""
    found = C_FUNCTION.findall((FIRMWARE / "c" / f"adamb_{stem}.c").read_text())
    return {name.removeprefix("adamb_").removeprefix(f"{stem}_"): not static for _, static, name in found}


def python_functions(stem: str) -> list[str]:
    """Functions and methods without the underscore of private ones, in the order of the file."""
    tree = ast.parse((FIRMWARE / f"{stem}.py").read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node.name.lstrip("_") for node in sorted(found, key=lambda node: node.lineno)]


def test_every_c_file_has_a_python_file_of_its_name_and_the_reverse():
    stems = sorted(path.stem.removeprefix("adamb_") for path in (FIRMWARE / "c").glob("*.c"))
    assert sorted([*stems, *APART]) == STEMS


@pytest.mark.parametrize("stem", sorted({*STEMS} - {*APART}))
def test_twins_stand_in_the_file_of_the_same_stem_in_the_same_order(stem):
    c, python = c_functions(stem), python_functions(stem)
    for unit in (name for name, file in APART.items() if file == stem):
        python += [f"{unit}_{name}" for name in python_functions(unit)]
    public = {name for name, callable_elsewhere in c.items() if callable_elsewhere}
    assert public - ONLY_C <= {*python}, "what C calls adamb_x_y Python calls x.y"
    both = [name for name in python if name in c and name not in NOT_IN_ORDER and not name.startswith("unit_")]
    assert both == [name for name in c if name in both]
    assert len(both) >= 4, "a file without twins tells nothing"


def test_no_twin_stands_in_another_file():
    """Of names that only one file of either language has."""
    c = [(name, stem) for stem in STEMS if stem not in APART for name in c_functions(stem)]
    python = [(name, stem) for stem in STEMS if stem not in APART for name in python_functions(stem)]
    once = [{name: stem for name, stem in each if [n for n, _ in each].count(name) == 1} for each in (c, python)]
    places = {name: (once[0][name], once[1][name]) for name in once[0].keys() & once[1].keys()}
    assert len(places) > 100
    assert {name: place for name, place in places.items() if place[0] != place[1]} == {}
