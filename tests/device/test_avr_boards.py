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
from adamb.tools.device.emulator.compile import Sizes
from adamb.tools.device.emulator.cortex_m import DeviceFault
from adamb.tools.device.port.job import PLANTS
from adamb.tools.device.settings import DeviceSettings
from support.building import ARDUINO_H, AVR_BOARD
from support.campaigns import few

pytestmark = pytest.mark.usefixtures("avr_installed")


def test_an_uno_holds_a_controller_of_a_kibibyte_at_work() -> None:
    """Block, tables and stack fit into 2 KiB, the core into the flash; with adamb_check it does not. The
    planner offers less, because a program is to fit in, too."""
    board = load_board("uno")
    block = 1024
    assert block > board.available_bytes("c")
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
    assert there.block() == here.block()
    running = avr.sizes("atmega328p", core.RUNNING)
    assert block + running.ram_bytes + stack < board.ram_bytes
    assert running.flash_bytes < board.flash_bytes
    assert avr.sizes("atmega328p", (*core.RUNNING, core.DIAGNOSIS)).flash_bytes > board.flash_bytes


def _on_an_uno(config: bytes, words: int) -> avr.AvrCore:
    return avr.AvrCore(config, words, "atmega328p")


def near(found: float, stated: float) -> bool:
    """Compilers differ by a little from one release to the next."""
    return abs(found - stated) <= 0.1 * stated


@pytest.mark.parametrize("dims", few([(1, 1), (2, 1), (2, 2), (3, 3)]))
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
    assert near(running.ram_bytes, model.code.tables)
    assert near(check.flash_bytes - running.flash_bytes, model.code.check)


def test_latency_counts_cycles_flash_and_ram(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", "oil-laplace", "--target", "atmega328p", "--budget", "1KiB", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["unit"] == "cycles" and 500 < content["act"]["mean"] < content["act"]["max"] < 3000
    assert content["ram_bytes"] < 2048 and content["flash_bytes"] < 32768


def test_latency_refuses_a_block_beyond_the_ram(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", "oil-laplace", "--target", "atmega328p", "--budget", "2KiB"]) == 2
    assert "bytes of RAM are left" in capsys.readouterr().err


#: As the README of an export says for an AVR; the linker takes any size, and the test says which it is.
LINKED = ("-Os", "-flto", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
LINKED += ("-Wl,--defsym=__TEXT_REGION_LENGTH__=256K",)
UNO_FLASH = 32_768 - 512


def linked(processor: str, target: Path, *more: object) -> Sizes:
    """Flash and RAM without the stack of a whole program."""
    command = ["avr-gcc", f"-mmcu={processor}", *LINKED, *map(str, more), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sizes = subprocess.run(["avr-size", str(target)], capture_output=True, text=True, check=True).stdout
    text, data, bss = map(int, sizes.splitlines()[1].split()[:3])
    return Sizes(text, 0, data, bss)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "uno"
    assert main(["port", "--runtime", "c", "--board", "uno", "--out", str(folder)]) == 0
    (folder / "board.c").write_text(AVR_BOARD)
    return folder


@pytest.mark.parametrize("plant", few(PLANTS))
def test_the_plain_loop_of_an_export_fits_into_an_uno(plain: Path, tmp_path: Path, plant: str) -> None:
    """The flash beside its bootloader, and its RAM with the deepest stack."""
    (tmp_path / "plant.h").write_text((plain / "plants" / f"{plant}.h").read_text())
    code = load_board("uno").core.code
    assert code is not None and load_board("uno").flash_bytes == UNO_FLASH
    for name in ("example_main.c", "board.c"):  # each includes the plant.h beside it
        (tmp_path / name).write_text((plain / name).read_text())
    for processor in avr.PROCESSORS:
        given = [f"-I{plain}", *tmp_path.glob("*.c"), *plain.glob("adamb_*.c")]
        found = linked(processor, tmp_path / "loop.elf", *given)
        assert found.flash_bytes <= UNO_FLASH and near(found.flash_bytes, code.flash)
        assert found.ram_bytes + code.stack <= 2048


def test_the_deepest_stack_of_that_loop_is_what_the_planner_says(plain: Path, tmp_path: Path) -> None:
    """-flto puts functions into each other, and their stacks. A thousand episodes in simavr."""
    code = load_board("uno").core.code
    assert code is not None
    for processor in avr.PROCESSORS:
        played, loop = tmp_path / f"{processor}.elf", tmp_path / "loop.o"
        linked_loop = ["-c", "-Dmain=played_main", f"-I{plain}", str(plain / "example_main.c")]
        options = [f"-mmcu={processor}", *LINKED[:-2]]
        subprocess.run(["avr-gcc", *options, *linked_loop, "-o", str(loop)], check=True)
        given = [f"-I{plain}", "-DPLAYED=5000", "-Wl,-u,played_main", plain / "board.c", loop]
        linked(processor, played, *given, *plain.glob("adamb_*.c"))
        machine = avr.AvrMachine(processor, played)
        machine.cycles_most = 10**9
        stack = machine.call("played_main").stack_bytes
        assert 0.75 * code.stack < stack <= 1.05 * code.stack


@pytest.fixture(scope="module")
def sketches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library") / "AdaMB"
    assert main(["port", "--runtime", "library", "--board", "mega2560", "--out", str(folder)]) == 0
    return folder


def test_a_sketch_fits_into_a_mega_and_not_into_an_uno(sketches: Path, tmp_path: Path) -> None:
    """Beside printf, which stands in for Serial, the functions of an Arduino core are not even in it."""
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    code = load_board("mega2560").core.code
    assert code is not None
    for plant in PLANTS:
        sketch = sketches / "examples" / plant / f"{plant}.ino"
        calls = "int main() { setup(); for (;;) loop(); }\n"
        (tmp_path / "sketch.cpp").write_text(f'#include <Arduino.h>\n#include "{sketch}"\n{calls}')
        given = [f"-I{tmp_path}", f"-I{sketches / 'src'}", "-DARDUINO_ARCH_AVR", tmp_path / "sketch.cpp"]
        found = linked("atmega2560", tmp_path / "sketch.elf", *given, *(sketches / "src").glob("*.c"))
        assert near(found.flash_bytes, code.sketch)
        assert near(found.ram_bytes, code.sketch_ram)
        assert 2048 < found.ram_bytes + code.stack < 8192


def test_the_sketches_of_the_arduino_library_compile(sketches: Path, tmp_path: Path) -> None:
    """library.properties promises every architecture."""
    folder = sketches
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    found = sorted(folder.glob("examples/*/*.ino"))
    assert len(found) > 3
    for sketch in found:
        for simulated in ([], ["-DADAMB_SIMULATE=1"]):
            options = ["-mmcu=atmega2560", "-Os", "-Wall", "-Woverflow", "-Wno-unused-function", "-Werror"]
            paths = [f"-I{path}" for path in (tmp_path, folder / "src", sketch.parent)]
            command = ["avr-g++", "-x", "c++", "-include", "Arduino.h", *options, *paths, *simulated]
            command += ["-c", str(sketch), "-o", str(tmp_path / "sketch.o")]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_plan_and_port_say_what_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = load_board("uno").core.code
    assert code is not None
    left = f"{UNO_FLASH}; {UNO_FLASH - code.flash} are left"
    full = f"-Os -flto, of {left}: no room for adamb_check, a store, a guard or an Arduino sketch"
    assert main(["plan", "--board", "uno"]) == 0
    assert full in " ".join(capsys.readouterr().out.split())
    assert main(["plan", "--board", "uno", "--dims", "3+3", "--horizon", "31", "--no-costs"]) == 1
    assert main(["port", "--runtime", "c", "--board", "uno", "--out", str(tmp_path / "uno")]) == 0
    assert full in capsys.readouterr().out
    readme = " ".join((tmp_path / "uno" / "README.md").read_text().split())
    assert f"the tables of the core take {code.tables} bytes, and the deepest stack" in readme
    assert "Not so on an 8-bit processor" in readme and "may otherwise meet half a word" in readme
    assert main(["port", "--runtime", "c", "--board", "uno", "--budget", "2KiB", "--out", str(tmp_path / "no")]) == 2
    assert main(["port", "--board", "uno", "--out", str(tmp_path / "no")]) == 2
    assert "does not run MicroPython" in capsys.readouterr().err
    assert main(["port", "--runtime", "library", "--board", "uno", "--out", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    ram = code.sketch_ram + code.stack
    assert f"board = 'uno': an Arduino sketch takes about {ram} bytes of RAM, 2048 are there" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "no").exists()


def test_a_stack_that_meets_the_block_is_a_fault() -> None:
    with pytest.raises(DeviceFault, match="the stack met the data"):
        made = avr.AvrCore(DeviceSettings(2, 2, 5).config(), 800, "atmega328p")
        for k in range(200):
            made.act(k % 5, [k * 300, k * 200])
            made.observe(k % 5, 1000, [k * 100, k * 300])


def test_a_trained_controller_counts_in_the_ram_of_a_mega_and_has_no_room_in_an_uno(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """adamb_check, which restoring needs, does not fit beside the loop; constants lie in RAM."""
    run = ["run", "plant-heater", "--seeds", "1", "--episodes", "50", "--budget", "3KiB", "--record"]
    assert main([*run, "--out", str(tmp_path / "run")]) == 0
    port = ["port", str(tmp_path / "run"), "--trained", "--runtime", "c", "--out", str(tmp_path / "made"), "--board"]
    assert main([*port, "uno"]) == 2
    assert "a trained controller takes about" in capsys.readouterr().err
    assert main([*port, "mega2560"]) == 0
    header = (tmp_path / "made" / "adamb_trained.h").read_text()
    size = int(header.split("adamb_trained[")[1].split("]")[0])
    readme = " ".join((tmp_path / "made" / "README.md").read_text().split())
    tables = load_board("mega2560").core.code.tables
    assert f"take {tables} bytes and `adamb_trained.h` {size}, and the deepest stack" in readme
    assert main([*port, "mega2560", "--out", str(tmp_path / "no"), "--budget", str(6144 - size + 2)]) == 2
    assert "bytes" in capsys.readouterr().err
