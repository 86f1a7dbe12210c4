"""The Python core as it lies on a board: its modules as source or bytecode, and a replay in MicroPython."""

from __future__ import annotations

import ast
import hashlib
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adamb.tools.device.emulator.core import c_folder
from adamb.tools.device.extras import build_folder
from adamb.tools.device.micropython.bytecode import compile_file
from adamb.tools.device.micropython.inline import board_texts, constants, inlined
from adamb.tools.device.micropython.interpreter import Run, run_program
from adamb.tools.device.port.common import TEMPLATES
from adamb.tools.device.stream import Diverged, Stream, digest

PACKAGE = "adamb.firmware_model"
BOARD_FOLDER = "lib/adamb/firmware_model"
ENTRY = "core"
OPTIONAL = ("check", "snapshot", "store", "guard", "unit")
#: Module -> its function that fast.py can replace, and the name it has there.
HOOKS = {"value": ("find", "find"), "counts": ("_expect_four", "expect_four")}
_HOOK = """
try:
    from .fast import {fast} as {name}  # type: ignore
except (ImportError, SyntaxError):
    pass
"""


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
def board_sources(*, optional: bool = False) -> dict[str, Path]:
    """Stem -> file of every module as a board loads it, with numbers in place of the specification's names.

    The optional modules watch over the block and save it: nothing imports them unless the program does.
    """
    wanted = {path for entry in (ENTRY, *(OPTIONAL if optional else ())) for path in modules(entry)}
    # A board imports modules; what the package offers beyond them is for hosts.
    texts = {"__init__": "", **board_texts(tuple(sorted(wanted)))}
    for stem, (name, fast) in HOOKS.items():
        texts[stem] += _HOOK.format(name=name, fast=fast)
    return {stem: kept(f"{stem}.py", text.encode()) for stem, text in texts.items()}


def fast_path() -> bytes:
    """fast.py, which a board that can compile machine code may load beside the other modules."""
    text = (TEMPLATES / "fast.py.in").read_text(encoding="utf-8")
    return inlined(text, constants(c_folder().parent)).encode()


def board_files(kind: str, *, optional: bool = False) -> dict[str, Path]:
    """Place on the board -> host file, for `kind` py or mpy."""
    return {
        f"/{BOARD_FOLDER}/{stem}.{kind}": path if kind == "py" else compiled(stem, path)
        for stem, path in board_sources(optional=optional).items()
    }


def _folder_for(content: bytes) -> Path:
    return build_folder("board", hashlib.sha256(content).hexdigest()[:16])


def kept(name: str, content: bytes) -> Path:
    """The content as a file in the build folder, under its hash."""
    target = _folder_for(content) / name
    if not target.exists():
        # Two processes may write at once; each moves a finished file into place.
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            (Path(scratch) / name).write_bytes(content)
            (Path(scratch) / name).replace(target)
    return target


def compiled(stem: str, source: Path) -> Path:
    """The bytecode of one module as a board loads it, kept beside its source."""
    target = source.with_suffix(".mpy")
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            name = f"{BOARD_FOLDER}/{stem}.py".removeprefix("lib/")
            compile_file(source, Path(scratch) / "made.mpy", name=name).replace(target)
    return target


def replay_in_micropython(
    stream: Stream, fields: dict[str, Any], kind: str, *, clock: bool = False, episodes: int | None = None
) -> Run:
    """Replay the stream in MicroPython; the first difference is an exception."""
    count = stream.episodes if episodes is None else episodes
    job = {"config": fields, "words": stream.words, "episodes": count, "clock": clock}
    files: dict[str, Path | bytes | str] = {
        **board_files(kind), "/job.json": json.dumps(job), "/steps.bin": stream.inputs(),
        "/replay.py": TEMPLATES / "replay.py.in",
    }  # fmt: skip
    outputs = ("/digests.bin", "/times.bin")
    run = run_program("import replay", files, outputs=outputs, seconds=600).require_success()
    found = np.frombuffer(run.files["/digests.bin"], "<u4").reshape(-1, 2)
    for k in range(count):
        actions = digest(stream.actions[k].astype("<u2").tobytes())
        if found[k, 0] != actions:
            raise Diverged(f"{stream.title}: MicroPython .{kind}: episode {k}: other actions")
        if found[k, 1] != stream.digests[k]:
            text = f"block {found[k, 1]:#010x}, recorded {stream.digests[k]:#010x}"
            raise Diverged(f"{stream.title}: MicroPython .{kind}: episode {k}: {text}")
    return run
