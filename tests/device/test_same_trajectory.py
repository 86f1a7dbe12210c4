"""The same stream gives the same block, word for word, after every episode on every target."""

from __future__ import annotations

import pytest

from adamb.host_sim.registry import make_problem
from adamb.tools.device.emulator import qemu
from adamb.tools.device.emulator.compile import MICROBIT, MemoryMap
from adamb.tools.device.emulator.core import EmulatedCore, HostCore, replay_in_qemu
from adamb.tools.device.micropython.package import replay_in_micropython
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import record, replay
from support.campaigns import few
from support.python_core import PythonCore
from support.streams import CASES, recording, stream_of

pytest.importorskip("ziglang", reason="pip install adamb[device]")
pytest.importorskip("unicorn", reason="pip install adamb[device]")
NAMES = [case.name for case in CASES]
NO_QEMU = qemu.version() is None


@pytest.mark.parametrize("name", NAMES)
def test_c_on_this_computer_repeats_its_own_recording(name: str) -> None:
    stream = stream_of(name)
    replay(stream, HostCore(stream.config, stream.words))


@pytest.mark.parametrize("target", few(["cortex-m0", "cortex-m3"]))
@pytest.mark.parametrize("name", NAMES)
def test_cortex_m_follows_the_recording(name: str, target: str) -> None:
    stream = stream_of(name)
    replay(stream, EmulatedCore(stream.config, stream.words, target=target))


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["default", "tiny", "paper", "noise-3+3"])
def test_code_compiled_for_speed_follows_the_recording(name: str) -> None:
    stream = stream_of(name)
    replay(stream, EmulatedCore(stream.config, stream.words, target="cortex-m4", optimise="speed"))


@pytest.mark.parametrize("name", NAMES)
def test_python_on_this_computer_follows_the_recording(name: str) -> None:
    settings, stream = recording(name)
    replay(stream, PythonCore(settings.fields(), stream.words))


@pytest.mark.parametrize("kind", few(["mpy", "py"]))
@pytest.mark.parametrize("name", NAMES)
def test_micropython_follows_the_recording(name: str, kind: str) -> None:
    settings, stream = recording(name)
    replay_in_micropython(stream, settings.fields(), kind)


@pytest.mark.skipif(NO_QEMU, reason=f"{qemu.PROGRAM} is not installed: {qemu.REMEDY}")
@pytest.mark.parametrize("board", few(qemu.BOARDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_board_in_qemu_follows_the_recording(name: str, board: str) -> None:
    replay_in_qemu(stream_of(name), board)


def test_a_controller_of_4_kib_works_in_a_ram_with_room_for_its_block_and_stack_only() -> None:
    stream = stream_of("default")
    # Block, worst stack, and the words in which the caller keeps configuration, state and action.
    memory = MemoryMap(ram_bytes=4096 + 1024 + 64)
    replay(stream, EmulatedCore(stream.config, stream.words, memory=memory), episodes=30)


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
