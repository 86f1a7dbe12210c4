"""The Python core as it lies on a board: few files, as source or bytecode, and a replay in MicroPython.

The package there is `adamb`: the class for programs, the core in one file, and what a program may ask for. The
copies that a board loads have the numbers of the specification in place of their names: MicroPython folds
`const` within a module only, so a name imported from `_spec` or `_scratch` would cost two words of RAM in every
module that uses it, and a look-up every time.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adamb.tools.device.emulator.core import c_folder
from adamb.tools.device.extras import build_folder, key, made_once
from adamb.tools.device.micropython.interpreter import Run, compile_file, run_program
from adamb.tools.device.micropython.merge import Names, merge, merged_names, redirected
from adamb.tools.device.port.job import TEMPLATES
from adamb.tools.device.stream import Diverged, Stream, digest

#: Modules that hold nothing but numbers (and, in _spec, tables that cannot be inlined).
SOURCES = ("_spec", "_scratch")
_CONSTANT = re.compile(r"^([A-Z][A-Z0-9_]*) = const\((-?\d+)\)", re.MULTILINE)


def constants(folder: Path) -> dict[str, int]:
    """Every named number of the specification and of the scratch array."""
    texts = [(folder / f"{stem}.py").read_text(encoding="utf-8") for stem in SOURCES]
    return {name: int(value) for text in texts for name, value in _CONSTANT.findall(text)}


def _shorter_imports(tree: ast.Module, numbers: dict[str, int]) -> dict[int, tuple[int, str]]:
    """First line -> last line and new text of the imports that become shorter."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module in SOURCES:
            kept = [alias.name for alias in node.names if alias.name not in numbers]
            text = f"from .{node.module} import {', '.join(kept)}" if kept else ""
            found[node.lineno] = (node.end_lineno or node.lineno, text)
    return found


def _docstrings(tree: ast.Module) -> list[ast.stmt]:
    """Docstrings, which a board reads into its heap only to drop them again; a body of nothing else keeps its own."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [node.body[0] for node in owners if ast.get_docstring(node) is not None and len(node.body) > 1]


def inlined(text: str, numbers: dict[str, int]) -> str:
    """The module with numbers for names; the lines keep their places, so tracebacks still fit the source."""
    lines = text.splitlines()
    tree = ast.parse(text)
    imports = _shorter_imports(tree, numbers)
    skipped = {line for first, (last, _) in imports.items() for line in range(first, last + 1)}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string]
    for token in reversed(tokens):
        (row, start), (_, end) = token.start, token.end
        if token.type == tokenize.NAME and token.string in numbers and row not in skipped:
            value = numbers[token.string]
            shown = str(value) if value >= 0 else f"({value})"
            lines[row - 1] = lines[row - 1][:start] + shown + lines[row - 1][end:]
    for first, (last, new) in imports.items():
        lines[first - 1 : last] = [new] + [""] * (last - first)
    for node in _docstrings(tree):
        last = node.end_lineno or node.lineno
        lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    return "\n".join(lines) + "\n"


def board_texts(sources: tuple[Path, ...]) -> dict[str, str]:
    """Stem -> text of what a board loads; a module of numbers only is left out."""
    numbers = constants(sources[0].parent)
    texts = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        if source.stem not in SOURCES:
            texts[source.stem] = inlined(text, numbers)
            continue
        tables = [
            ast.unparse(node)
            for node in ast.parse(text).body
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call)
        ]
        if tables:
            texts[source.stem] = "\n".join(tables) + "\n"
    return texts


PACKAGE = "adamb.firmware_model"
BOARD_FOLDER = "lib/adamb"
CLASS = "controller"
"""On a board the package itself."""
ENTRY = "core"
BESIDE = ("unit",)
"""Small modules that the class imports."""
OPTIONAL = ("check", "snapshot", "store", "guard")
#: Function of the core on a board that fast.py can replace -> the name it has there.
HOOKS = {"value_find": "find", "_expect_four": "expect_four"}
_HOOK = """
try:
    from .fast import {fast} as {name}  # type: ignore
except (ImportError, SyntaxError):
    pass
"""
_PUBLIC = re.compile(r'^    "([A-Z_]+)",$', re.MULTILINE)


def _imports(path: Path) -> set[str]:
    """Modules of our own package that a device module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == PACKAGE or (node.level == 1 and not module):
                found |= {alias.name for alias in node.names}
            elif module.startswith(PACKAGE + "."):
                found.add(module.removeprefix(PACKAGE + "."))
            elif node.level == 1:
                found.add(module)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found |= {name.removeprefix(PACKAGE + ".") for name in names if name.startswith(PACKAGE + ".")}
    return found


@cache
def modules(entry: str = ENTRY) -> tuple[Path, ...]:
    """Everything a board needs: the entry module and what it imports, found by reading the imports."""
    folder = c_folder().parent
    waiting, found = [entry], {}
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.py"
        if name not in found and path.is_file():
            found[name] = path
            waiting += sorted(_imports(path))
    return tuple(found[name] for name in sorted(found))


@cache
def _core() -> tuple[dict[str, str], Names]:
    """The modules that become one, and the names that they have there."""
    texts = {stem: text for stem, text in board_texts(modules()).items() if stem != "__init__"}
    return texts, merged_names(texts, ENTRY)


def _with_hooks(text: str) -> str:
    """fast.py takes the place of functions as soon as both are there."""
    for name, fast in HOOKS.items():
        head, start, rest = text.partition(f"\ndef {name}(")
        body, end, rest = rest.partition("\ndef ")
        assert start and end, name
        text = f"{head}{start}{body}{_HOOK.format(name=name, fast=fast)}{end[1:]}{rest}"
    return text


def _outside(text: str) -> str:
    """A module beside the merged ones: what it imports from them."""
    texts, names = _core()
    return redirected(text, [*texts], ENTRY, names)


def _class() -> str:
    """The package itself: the class, and the numbers of the specification that a program may name."""
    folder = c_folder().parent
    source = folder / f"{CLASS}.py"
    numbers = constants(folder)
    public = [name for name in _PUBLIC.findall(source.read_text(encoding="utf-8")) if name in numbers]
    shown = [ast.unparse(node) for node in ast.parse(board_texts((source,))[CLASS]).body]
    text = "\n".join(part for part in shown if not part.startswith("__all__ ="))
    return _outside(text) + "".join(f"{name} = {numbers[name]}\n" for name in public)


@cache
def board_sources(*, optional: bool = False) -> dict[str, Path]:
    """Stem -> file of every module as a board loads it, with numbers in place of the specification's names.

    The optional modules watch over the block and save it: nothing imports them unless the program does.
    """
    texts, names = _core()
    made = {"__init__": _class(), ENTRY: _with_hooks(merge(texts, ENTRY, names))}
    sources = tuple(c_folder().parent / f"{stem}.py" for stem in (*BESIDE, *(OPTIONAL if optional else ())))
    made |= {stem: _outside(text) for stem, text in board_texts(sources).items()}
    return {stem: as_file(f"{stem}.py", text.encode()) for stem, text in made.items()}


def fast_path() -> bytes:
    """fast.py, which a board that can compile machine code may load beside the other modules."""
    text = (TEMPLATES / "fast.py.in").read_text(encoding="utf-8")
    return _outside(inlined(text, constants(c_folder().parent))).encode()


def board_files(kind: str, *, optional: bool = False) -> dict[str, Path]:
    """Place on the board -> host file, for `kind` py or mpy."""
    shown = BOARD_FOLDER.removeprefix("lib/")
    return {
        f"/{BOARD_FOLDER}/{stem}.{kind}": path if kind == "py" else compiled(path, f"{shown}/{stem}.py")
        for stem, path in board_sources(optional=optional).items()
    }


def as_file(name: str, content: bytes) -> Path:
    """The content as a file in the build folder, under its hash."""
    return made_once(build_folder("board", key(content)) / name, lambda made: made.write_bytes(content))


def compiled(source: Path, name: str) -> Path:
    """The bytecode of a module beside its source; `name` is what tracebacks show."""
    return made_once(source.with_suffix(".mpy"), lambda made: compile_file(source, made, name=name))


def replay_in_micropython(stream: Stream, fields: dict[str, Any]) -> Run:
    """Replay the stream from bytecode, with the time of each call; the first difference is an exception."""
    job = {"config": fields, "words": stream.words, "episodes": stream.episodes}
    files: dict[str, Path | bytes | str] = {
        **board_files("mpy"), "/job.json": json.dumps(job), "/steps.bin": stream.inputs(),
        "/replay.py": TEMPLATES / "replay.py.in",
    }  # fmt: skip
    outputs = ("/digests.bin", "/times.bin")
    run = run_program("import replay", files, outputs=outputs, seconds=600).require_success()
    found = np.frombuffer(run.files["/digests.bin"], "<u4").reshape(-1, 2)
    for k in range(stream.episodes):
        actions = digest(stream.actions[k].astype("<u2").tobytes())
        if found[k, 0] != actions:
            raise Diverged(f"{stream.title}: MicroPython .mpy: episode {k}: other actions")
        if found[k, 1] != stream.digests[k]:
            text = f"block {found[k, 1]:#010x}, recorded {stream.digests[k]:#010x}"
            raise Diverged(f"{stream.title}: MicroPython .mpy: episode {k}: {text}")
    return run
