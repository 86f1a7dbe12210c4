"""What an Arduino Mega and an Uno hold, counted in simavr, and what the commands say of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("elftools", reason="pip install adamb[device]")

from adamb.budgets.boards import load_board
from adamb.tools.cli import main
from adamb.tools.device.emulator import avr, core
from adamb.tools.device.emulator.cortex_m import DeviceFault
from adamb.tools.device.settings import DeviceSettings
from support.arduino import ARDUINO_H

pytestmark = pytest.mark.usefixtures("avr_installed")


def test_an_uno_holds_a_controller_of_a_kibibyte_at_work() -> None:
    """Block, tables and stack fit into 2 KiB, the core into 32 KiB; with adamb_check it does not."""
    board = load_board("uno")
    block = board.available_bytes("c")
    settings = DeviceSettings(2, 2, 5)
    there, here = (made(settings.config(), block // 2) for made in (_on_an_uno, core.HostCore))
    stack = 0
    for k in range(100):
        for h in range(5):
            state = [(k * 7919 + h * 104729 + i * 31) * 2654435761 >> 8 & 0xFFFF for i in range(2)]
            assert there.act(h, state) == here.act(h, state)
            reward = state[0]
            for one in (there, here):
                one.observe(h, reward, state[::-1])
            stack = max(stack, there.last.stack_bytes)
        for one in (there, here):
            one.end_episode()
    assert there.block() == here.block() and block == 1024
    running = avr.sizes("atmega328p", core.RUNNING)
    assert block + running.ram_bytes + stack < board.ram_bytes
    assert running.flash_bytes < board.flash_bytes
    assert avr.sizes("atmega328p", (*core.RUNNING, core.DIAGNOSIS)).flash_bytes > board.flash_bytes


def _on_an_uno(config: bytes, words: int) -> avr.AvrCore:
    return avr.AvrCore(config, words, "atmega328p")


def near(found: float, stated: float) -> bool:
    """Compilers differ by a little from one release to the next."""
    return abs(found - stated) <= 0.1 * stated


@pytest.mark.parametrize("dims", [(1, 1), (2, 1), (2, 2), (3, 3)])
def test_the_planner_has_the_costs_that_are_counted(dims: tuple[int, int]) -> None:
    pytest.importorskip("unicorn", reason="pip install adamb[device]")
    model, words, stack = load_board("mega2560").core, 1280, 0
    assert model.code is not None
    config = DeviceSettings(*dims, 5).config()
    there, cortex = avr.AvrCore(config, words), core.EmulatedCore(config, words)
    cycles: dict[str, list[float]] = {"act": [], "observe": []}
    state = [30000] * dims[0]
    for step in range(750):
        actions = there.act(step % 5, state), cortex.act(step % 5, state)
        assert actions[0] == actions[1]
        cycles["act"].append(there.last.cycles / cortex.last.instructions)
        state = [(step * 40503 + i * 30011 + 12345 ^ step << 7) & 0xFFFF for i in range(dims[0])]
        reward = 65535 - abs(actions[0][0] - state[0])
        there.observe(step % 5, reward, state)
        cortex.observe(step % 5, reward, state)
        cycles["observe"].append(there.last.cycles / cortex.last.instructions)
        stack = max(stack, there.last.stack_bytes)
        if step % 5 == 4:
            there.end_episode()
            cortex.end_episode()
    low, high = model.instructions
    for counted in cycles.values():
        assert low * 0.9 < min(counted) <= max(counted) < high * 1.1
    assert stack <= 1.1 * model.code.stack
    running, check = (avr.sizes("atmega2560", (*core.RUNNING, *more)) for more in ((), (core.DIAGNOSIS,)))
    assert near(running.flash_bytes, model.code.flash) and running.ram_bytes == model.code.tables
    assert near(check.flash_bytes - running.flash_bytes, model.code.check)


def test_latency_counts_cycles_flash_and_ram(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", "oil-laplace", "--target", "atmega328p", "--budget", "1KiB", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["unit"] == "cycles" and 500 < content["act"]["mean"] < content["act"]["max"] < 3000
    assert content["ram_bytes"] < 2048 and content["flash_bytes"] < 32768


def test_latency_refuses_a_block_beyond_the_ram(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", "oil-laplace", "--target", "atmega328p", "--budget", "2KiB"]) == 2
    assert "bytes of RAM are left" in capsys.readouterr().err


def test_the_sketches_of_the_arduino_library_compile(tmp_path: Path) -> None:
    """library.properties promises every architecture."""
    folder = tmp_path / "AdaMB"
    assert main(["port", "--c", "--package", "--board", "mega2560", "--out", str(folder)]) == 0
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    sketches = sorted(folder.glob("examples/*/*.ino"))
    assert len(sketches) > 3
    for sketch in sketches:
        for simulated in ([], ["-DADAMB_SIMULATE=1"]):
            options = ["-mmcu=atmega2560", "-Os", "-Wall", "-Woverflow", "-Wno-unused-function", "-Werror"]
            paths = [f"-I{path}" for path in (tmp_path, folder / "src", sketch.parent)]
            command = ["avr-g++", "-x", "c++", "-include", "Arduino.h", *options, *paths, *simulated]
            command += ["-c", str(sketch), "-o", str(tmp_path / "sketch.o")]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_plan_and_port_say_what_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    full = "of 32768; 1418 are left: no room for adamb_check, a store or a guard"
    assert main(["plan", "--board", "uno"]) == 0
    assert full in " ".join(capsys.readouterr().out.split())
    assert main(["plan", "--board", "uno", "--dims", "3+3", "--horizon", "31", "--no-costs"]) == 1
    assert main(["port", "--c", "--board", "uno", "--out", str(tmp_path / "uno")]) == 0
    assert full in capsys.readouterr().out
    assert main(["port", "--c", "--board", "uno", "--budget", "2KiB", "--out", str(tmp_path / "no")]) == 2
    assert main(["port", "--board", "uno", "--out", str(tmp_path / "no")]) == 2
    assert "does not run MicroPython" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_a_stack_that_meets_the_block_is_a_fault() -> None:
    with pytest.raises(DeviceFault, match="the stack met the data"):
        made = avr.AvrCore(DeviceSettings(2, 2, 5).config(), 800, "atmega328p")
        for k in range(200):
            made.act(k % 5, [k * 300, k * 200])
            made.observe(k % 5, 1000, [k * 100, k * 300])
