"""The recorded streams hold with the other byte order, 32 and 64 bits, strict alignment, and on RISC-V."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from support import replay
from support.campaigns import few
from support.exact.model import Config
from support.paths import VECTORS

for _package in ("ziglang", "elftools"):
    pytest.importorskip(_package, reason="pip install adamb[device]")
unicorn = pytest.importorskip("unicorn", reason="pip install adamb[device]")
machines = pytest.importorskip("support.machines")

FILES = sorted(path for path in VECTORS.glob("*.jsonl") if not path.name.startswith("long-"))


@pytest.mark.parametrize("name", few(machines.KINDS))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_processor_agrees_with_the_exact_reference(path: Path, name: str, monkeypatch) -> None:
    def start(_: str, config: Any, words: int) -> Any:
        made = machines.Controller(name, config, words)
        return made.code or made

    monkeypatch.setattr(replay, "start", start)
    assert replay.Replay(path, name).play() > 100


def test_a_misaligned_access_faults_on_the_mips() -> None:
    controller = machines.Controller("mips", Config(d_s=1, d_a=1, horizon=5), 512)
    assert controller.code == 0 and controller.act(0, [30000], array("H", [0])) == 0
    machine = controller._machine
    with pytest.raises(unicorn.UcError):
        machine.call("adamb_act", controller._block, 0, controller._point + 1, controller._action)


@pytest.mark.parametrize(
    ("name", "first"), [("powerpc", 0x12), ("mips", 0x12), ("riscv32", 0x34), ("s390x", 0x12)]
)
def test_the_words_lie_in_the_processors_byte_order(name: str, first: int) -> None:
    machine = machines.Processor(name)
    place = machine.reserve(2)
    machine.write_words(place, [0x1234])
    assert machine.emulator.mem_read(place, 1)[0] == first
    assert machine.words(place, 1)[0] == 0x1234
