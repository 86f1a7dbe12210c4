"""The guarded loops that `adamb port` writes: they run, save, notice damage and go on from the last save."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import pytest

from adamb.firmware_model import _spec, snapshot
from adamb.tools.cli import main
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import Image, MemoryMap, build_image
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.micropython.interpreter import Run, run_program
from support.building import need, ran
from support.flash import fitting_bytes
from support.on_board import LIFE, MACHINE, copied, without_waiting
from support.stubs import check

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

# ---- C ---------------------------------------------------------------------------------------------------

BOARD = """
#include "adamb_guard.h"
#include "adamb_spec.h"
#include "plants/board.h"
int guarded_start(void);
int guarded_episode(void);
const adamb_guard *guarded_report(void);
static int32_t temperature; /* the emulator loads no initial values */
static int32_t duty_now;
static uint8_t storage[8 * 4096];
static uint32_t feeds;
void board_begin(void) {}
int32_t board_sensor(void) { return temperature; }
void board_actuator(int32_t duty) { duty_now = duty; }
void board_wait(void) { temperature += (250 + duty_now * 22 / 10 - temperature) * 3 / 10; }
void board_feed_watchdog(void) { feeds++; }
int board_flash_read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) data[i] = storage[address + i];
    return 0;
}
int board_flash_program(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) storage[address + i] &= data[i];
    return 0;
}
int board_flash_erase(void *context, uint32_t address)
{
    (void)context;
    for (uint32_t i = 0; i < 4096; i++) storage[address + i] = 0xFF;
    return 0;
}
/* Runs, is damaged twice, and continues; the digits of the result are what the guard counted. */
int run(int episodes);
int run(int episodes)
{
    temperature = 1400;
    int first = guarded_start();
    const adamb_guard *guard = guarded_report();
    for (int i = 0; i < episodes; i++) {
        guarded_episode();
        if (i == episodes / 2) guard->block[ADAMB_H_UNITS] ^= 0x4000;
        if (i == episodes * 3 / 4) guard->block[ADAMB_H_FREE_HEAD] ^= 0x0100;
    }
    int fed = feeds >= (uint32_t)episodes * 4;
    int initialised = first == ADAMB_GUARD_REINITIALISED;
    return guard->damages * 1000 + guard->restored * 100 + fed * 10 + initialised * 2 +
           (guarded_start() == ADAMB_GUARD_RESTORED);
}
"""


def test_the_guarded_example_builds_without_warnings_and_recovers(c_folder: Path) -> None:
    need("make", "cc")
    said = ran("make", "run-guarded", "CFLAGS=-O2 -Werror -Wpedantic", folder=c_folder)
    counted = re.search(r"(\d+) times damaged: (\d+) .* (\d+)", said)
    assert tuple(map(int, counted.groups())) == (10, 10, 0), "damaged, restored, reinitialised"


def test_the_guarded_loop_saves_and_recovers_on_an_emulated_cortex_m(c_folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.c"
    board.write_text(BOARD)
    memory = MemoryMap(ram_bytes=64 * 1024)
    image = build_image(
        [*(c_folder / path.name for path in core.sources()), c_folder / "guarded" / "guarded_main.c", board],
        target="cortex-m0plus", roots=["run"], includes=[c_folder], memory=memory,
    )  # fmt: skip
    call = Machine(Image(image), cpu="cortex-m0plus", memory=memory).call("run", 120)
    # Two damages, both restored, the watchdog fed, initialised at first, restored at last.
    assert call.result == 2 * 1000 + 2 * 100 + 10 + 2 + 1


# ---- MicroPython -----------------------------------------------------------------------------------------

ESP32 = """
class Partition:
    \"\"\"Sixteen sectors in RAM; what is written lasts in a file, as on a board.\"\"\"

    TYPE_DATA = 1
    there = {there}

    @classmethod
    def find(cls, kind, label):
        assert (kind, label) == (cls.TYPE_DATA, "adamb")
        return [cls()] if cls.there else []

    def __init__(self):
        try:
            with open("/flash.bin", "rb") as file:
                self.data = bytearray(file.read())
        except OSError:
            self.data = bytearray(b"\\x5a" * 65536)

    def readblocks(self, block, buffer, offset=0):
        start = block * 4096 + offset
        assert offset + len(buffer) <= 4096 and start + len(buffer) <= len(self.data)
        buffer[:] = self.data[start : start + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        start = block * 4096 + offset
        for i in range(len(buffer)):
            self.data[start + i] &= buffer[i]
        with open("/flash.bin", "wb") as file:
            file.write(self.data)

    def ioctl(self, operation, argument):
        if operation == 4:
            return len(self.data) // 4096
        if operation == 5:
            return 4096
        assert operation == 6
        self.data[argument * 4096 : argument * 4096 + 4096] = b"\\xff" * 4096
        return 0
"""
WORLD = (
    MACHINE
    + """
def hit(word, bit):
    sys.modules["main_guarded"].CONTROLLER.block[word] ^= 1 << bit

def looked():
    if World.reads == 1205:
        hit({units}, 14)  # every call refuses it
    if World.reads == 1505:
        hit({link}, 9)  # a tree loses its root; only the guard's eyes see that
    if World.reads == 2100:
        guard = sys.modules["main_guarded"].CONTROLLER.guard
        counts = guard.damages, guard.restored, guard.reinitialised
        print("counted", *counts, guard.passes > 0, World.feeds > 1000)
        import os
        saves = [name for name in os.listdir() if name.endswith(".sav")]
        print("files", *saves)
        if saves:
            os.rename(saves[0], "/last.sav")
        sys.exit(0)
"""
)


def exported(board: str, folder: Path) -> Path:
    assert main(["port", "--board", board, "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def pico(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("pico", tmp_path_factory.mktemp("port") / "pico")


@pytest.fixture(scope="module")
def esp32(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("esp32", tmp_path_factory.mktemp("port") / "esp32")


def power_on(folder: Path, kind: str, programs: dict[str, str] | None = None, **left: bytes | str) -> Run:
    """Run the guarded loop until the world ends it; `left`: files of earlier runs, modules of the board."""
    files = copied(folder, kind, "adamb_settings.py", "adamb_storage.py", "plant.py", "main_guarded.py")
    finest = 7  # of the default thresholds
    world = WORLD.format(units=_spec.H_UNITS, link=_spec.H_WORDS + 1 + finest + _spec.S_ROOT)
    files |= {"/adamb_board.py": without_waiting(folder), "/machine.py": world}
    files |= {f"/{name.replace('_dot_', '.').replace('_', '-')}": content for name, content in left.items()}
    files |= programs or {}
    return run_program("import main_guarded", files, outputs=("/flash.bin", "/last.sav"), seconds=200)


@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_the_guarded_loop_saves_and_recovers_on_micropython(pico: Path, kind: str) -> None:
    first = power_on(pico, kind)
    assert first.status == 0, first.errors
    assert "last save: 0\n" in first.output and "counted 2 2 0 True True" in first.output, first.output
    assert re.search(r"files adamb-\d+\.sav\n", first.output), "older saves are removed"
    second = power_on(pico, kind, adamb_41_dot_sav=first.files["/last.sav"])
    assert "last save: 41\n" in second.output, second.output
    assert int(re.search(r"files adamb-(\d+)", second.output)[1]) > 41


def test_a_save_that_power_cut_off_costs_no_more_than_itself(pico: Path) -> None:
    whole = power_on(pico, "mpy").files["/last.sav"]
    episodes = counted_at_start(pico, adamb_8_dot_sav=whole, adamb_9_dot_sav=whole[: len(whole) // 2])
    assert episodes == counted_at_start(pico, adamb_8_dot_sav=whole) > 0
    assert counted_at_start(pico, adamb_9_dot_sav=whole[:100]) == 0, "no whole save: initialised"


def counted_at_start(folder: Path, **left: bytes) -> int:
    """Episodes of the controller with which the loop begins."""
    files = copied(folder, "mpy", "adamb_settings.py", "adamb_storage.py")
    files |= {f"/{name.replace('_dot_', '.').replace('_', '-')}": content for name, content in left.items()}
    program = (
        "from adamb import Controller\nfrom adamb_settings import SETTINGS\nfrom adamb_storage import FileSaves\n"
        "controller = Controller(saves=FileSaves(SETTINGS['bytes'] // 2), **SETTINGS)\n"
        "print(controller.stats()['episodes'])\n"
    )
    return int(run_program(program, files).require_success().output)


# `open` of a board whose file system errs: reads fail so many times, and what is written may be spoilt.
FAULTS = """
failing = 0
spoilt = False

def open(name, mode, real=open):
    global failing
    if mode == "rb" and failing:
        failing -= 1
        raise OSError(5)
    return Spoilt(real(name, mode)) if mode == "wb" and spoilt else real(name, mode)

class Spoilt:
    def __init__(self, file):
        self.file = file
    def __enter__(self):
        return self
    def __exit__(self, *ignored):
        self.file.close()
    def write(self, data):
        bad = bytearray(data)
        bad[40] ^= 1
        return self.file.write(bad)
"""
FILES = (
    """
import os
import faults
from adamb_storage import FileSaves
from adamb import core
from array import array

def named():
    return sorted(name for name in os.listdir() if name.endswith(".sav"))
"""
    + LIFE
    + "saves, CONFIG = FileSaves(len(block)), core.Config()\n"
)


def on_files(folder: Path, program: str) -> list[str]:
    """The lines that a program prints whose saves are files of such a board."""
    files = copied(folder, "mpy", "adamb_settings.py")
    files["/adamb_storage.py"] = "from faults import open\n" + (folder / "adamb_storage.py").read_text()
    files["/faults.py"] = FAULTS
    return run_program(FILES + program, files).require_success().output.splitlines()


def test_a_file_that_does_not_hold_its_save_does_not_replace_the_one_before(pico: Path) -> None:
    spoilt = "faults.spoilt = True\nprint(saves.save(block), named())\nfaults.spoilt = False\n"
    program = f"print(saves.save(block), named())\n{spoilt}" + "print(saves.save(block), named())\n"
    # What the RAM spoils between CRC and file is what the file then holds: the CRC alone tells.
    program += (
        "import adamb_storage\nsave = adamb_storage.snapshot.save\n"
        "def flips(block, data):\n    length = save(block, data)\n    data[40] ^= 1\n    return length\n"
        "adamb_storage.snapshot.save = flips\nprint(saves.save(block), named())\n"
    )
    # The C core in the firmware shows no CRC: what the file holds is compared all the same.
    program += "class Core:\n    save = staticmethod(save)\nadamb_storage.snapshot = Core\n" + spoilt
    program += "print(saves.save(block), named())\n"
    device, third = str(_spec.ERR_DEVICE), "['adamb-3.sav']"
    first = "['adamb-1.sav']"
    by_both = [f"0 {first}", f"{device} {first}", f"0 {third}", f"{device} {third}"]
    assert on_files(pico, program) == [*by_both, f"{device} {third}", "0 ['adamb-6.sav']"]


def test_a_file_that_cannot_be_read_is_neither_taken_for_none_nor_removed(pico: Path) -> None:
    program = (
        "saves.save(block)\nlearnt = list(block)\nfaults.failing = 1\n"
        "print(saves.restore(CONFIG, block), list(block) == learnt)\n"
        "print(saves.save(block), saves.save(block), named())\n"
        "print(saves.restore(CONFIG, block), saves.save(block), named())\n"
        "faults.failing = 9\nprint(saves.save(block), named())\n"
    )
    device = _spec.ERR_DEVICE
    assert on_files(pico, program) == [
        f"{device} True",
        "0 0 ['adamb-1.sav', 'adamb-3.sav']",
        "0 0 ['adamb-4.sav']",
        f"{device} ['adamb-4.sav', 'adamb-5.sav']",
    ]


@pytest.mark.parametrize(("failing", "restored"), [(2, True), (3, False)])
def test_the_guarded_loop_asks_three_times_and_then_runs_without_its_save(
    pico: Path, failing: int, restored: bool
) -> None:
    whole = power_on(pico, "mpy").files["/last.sav"]
    storage = "from faults import open\n" + (pico / "adamb_storage.py").read_text()
    faults = FAULTS.replace("failing = 0", f"failing = {failing}")
    loop = (pico / "main_guarded.py").read_text()
    assert loop.count("    CONTROLLER = start()\n    main()") == 1
    loop = loop.replace("    main()", "    print(CONTROLLER.stats()['episodes'])\n    main()")
    left = {"adamb_8_dot_sav": whole, "faults_dot_py": faults}
    run = power_on(pico, "mpy", programs={"/adamb_storage.py": storage, "/main_guarded.py": loop}, **left)
    assert run.status == 0, run.errors
    assert (int(run.output.splitlines()[1]) > 0) == restored, run.output


def test_a_partition_of_its_own_is_used_only_where_the_firmware_has_one(esp32: Path) -> None:
    without = power_on(esp32, "mpy", esp32_dot_py=ESP32.replace("{there}", "False"))
    assert without.status == 0, without.errors
    assert "/last.sav" in without.files and "/flash.bin" not in without.files
    first = power_on(esp32, "mpy", esp32_dot_py=ESP32.replace("{there}", "True"))
    assert "/last.sav" not in first.files and "counted 2 2 0 True True" in first.output, first.output
    again = power_on(
        esp32, "mpy", esp32_dot_py=ESP32.replace("{there}", "True"), flash_dot_bin=first.files["/flash.bin"]
    )
    assert re.search(r"last save: [1-9]", again.output), again.output


def test_an_esp32_reads_the_whole_range_of_its_adc(esp32: Path, pico: Path) -> None:
    """Above about 1 V every reading had been the end of the range."""
    shown = "import machine, adamb_board\nprint(adamb_board.ANALOG_IN.atten == machine.ADC.ATTN_11DB)\n"
    for folder, attenuated in ((esp32, "True"), (pico, "False")):
        files = copied(folder, "mpy", "adamb_board.py", "plant.py")
        files["/machine.py"] = MACHINE
        assert run_program(shown, files).require_success().output == f"{attenuated}\n"


def test_what_the_loop_saved_opens_on_a_host(pico: Path, tmp_path: Path, capsys) -> None:
    saved = tmp_path / "last.sav"
    saved.write_bytes(power_on(pico, "mpy").files["/last.sav"])
    data = saved.read_bytes()
    assert snapshot.restore(data, fitting_bytes(data), array("H", bytes(2048))) == 0
    assert main(["inspect", str(saved)]) == 0


def test_the_recipe_of_the_readme_keeps_a_controller(pico: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (pico / "README.md").read_text(), re.DOTALL)
    learnt, saved, restored = blocks
    program = f"{learnt}{saved}before = list(controller.block)\ncontroller = Controller()\n{restored}"
    program += "print(before == list(controller.block), controller.stats()['episodes'])\n"
    # A file with a wrong bit is refused, and the controller keeps what it has.
    program += "with open('controller.sav', 'rb') as file:\n    whole = bytearray(file.read())\nwhole[-1] ^= 1\n"
    program += "with open('controller.sav', 'wb') as file:\n    file.write(whole)\n"
    program += "try:\n    " + restored.replace("\n", "\n    ") + "\nexcept Error as error:\n    print(error.args)\n"
    program += "print(before == list(controller.block))\n"
    output = run_program(program, copied(pico, "mpy")).require_success().output
    assert output.splitlines() == ["True 1", "(-4, 'not a block of this version, or damaged')", "True"]


def test_the_guarded_loop_of_a_pico_never_touches_raw_flash(pico: Path) -> None:
    """The stock firmware mounts the whole of it as a file system."""
    loop = (pico / "main_guarded.py").read_text()
    assert "rp2" not in loop and "Flash(" not in loop and "FileSaves" in loop
    run = power_on(pico, "mpy", rp2_dot_py="def Flash(*ignored):\n    raise SystemExit('raw flash')\n")
    assert run.status == 0 and "raw flash" not in run.output + run.errors
    assert "/last.sav" in run.files and "/flash.bin" not in run.files


def test_the_guarded_loop_uses_only_what_boards_have(pico: Path) -> None:
    files = {path.relative_to(pico / "py").as_posix(): path for path in (pico / "py").rglob("*.py")}
    names = ("main_guarded.py", "adamb_board.py", "plant.py", "adamb_storage.py", "adamb_settings.py")
    assert check(files | {name: pico / name for name in names}) == []
