"""MicroPython built from its sources, for tests: why not, where that is so, and ports run in it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.micropython import builds
from adamb.tools.device.micropython.interpreter import Run
from adamb.tools.device.micropython.machine import MicroPythonMachine, qemu_missing
from support.on_board import HEAP_ON_BOARD, VECTORS_ON_BOARD

CALLS = Path(__file__).with_name("calls_on_board.py").read_text(encoding="utf-8")
NATIVE = "print(hasattr(core, 'SPEC_HASH'))"
_UNIX, _QEMU = builds.missing(), builds.missing(builds.CROSS) or qemu_missing()
needs_unix = pytest.mark.skipif(_UNIX is not None, reason=str(_UNIX))
needs_qemu = pytest.mark.skipif(_QEMU is not None, reason=str(_QEMU))


@dataclass(frozen=True)
class UnixBoard:
    """A folder that is the file system of a MicroPython program."""

    program: Path
    folder: Path

    def put(self, files: dict[str, Path | bytes | str]) -> None:
        for place, content in files.items():
            path = self.folder / place.strip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.read_bytes() if isinstance(content, Path) else content
            path.write_bytes(data.encode() if isinstance(data, str) else data)

    def run(self, script: str) -> Run:
        # What our programs open in the root of a board is in the folder here.
        script = script.replace('open("/', f'open("{self.folder}/')
        (self.folder / "script.py").write_text(f"import sys\nsys.path.append({str(self.folder / 'lib')!r})\n{script}")
        command = [str(self.program), "script.py"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300)
        return Run(done.returncode, done.stdout, done.stderr)


Board = UnixBoard | MicroPythonMachine


def selftest(board: Board, port: Path) -> str:
    board.put({"/vectors.bin": port / "vectors.bin"})
    return board.run((port / "selftest.py").read_text()).require_success().output


def replayed(board: Board, stream: Path, limit: int | None = None) -> int:
    """Lines of a recorded stream that were played without a difference."""
    lines = stream.read_bytes().splitlines(keepends=True)
    board.put({"/stream.jsonl": b"".join(lines[:limit])})
    return int(board.run(VECTORS_ON_BOARD.read_text()).require_success().output)


def heap_growth(board: Board, fields: dict[str, Any], words: int, steps: int) -> int:
    """Bytes of heap that many steps take with the heap locked."""
    board.put({"/job.json": json.dumps({"config": fields, "words": words, "steps": steps, "seed": 11})})
    return int(board.run(HEAP_ON_BOARD.read_text()).require_success().output)


def differences(first: str, second: str) -> str:
    """The first line that two outputs do not share."""
    pairs = zip(first.splitlines(), second.splitlines(), strict=False)
    return next((f"{a}\n{b}" for a, b in pairs if a != b), "" if first == second else "one is shorter")
