"""The guarded loops that `adamb port` writes: they run, save, notice damage and go on from the last save."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from array import array
from pathlib import Path

import pytest
from on_board import MACHINE, copied

from adamb.firmware_model import _spec, snapshot
from adamb.tools.cli import main
from adamb.tools.device import core
from adamb.tools.device.compile import MemoryMap, build_image
from adamb.tools.device.cortex_m import Machine
from adamb.tools.device.elf import Image
from adamb.tools.device.micropython import Run, run_program
from adamb.tools.device.stubs import check

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

# ---- C ---------------------------------------------------------------------------------------------------

BOARD = """
#include "adamb_guard.h"
#include "adamb_spec.h"
int guarded_start(void);
void guarded_episode(void);
const adamb_guard *guarded_report(void);
static int32_t temperature; /* the emulator loads no initial values */
static uint16_t duty_now;
static uint8_t storage[8 * 4096];
static uint32_t feeds;
int32_t board_sensor(void) { return temperature; }
void board_actuator(uint16_t duty) { duty_now = duty; }
void board_wait(void)
{
    temperature += (2000 + (int32_t)(((uint32_t)duty_now * 7500u) >> 16) - temperature) / 10;
}
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
/* Lives, is hit twice, and lives on; the digits of the result tell what the guard counted. */
int run(int episodes);
int run(int episodes)
{
    temperature = 2000;
    int first = guarded_start();
    const adamb_guard *guard = guarded_report();
    for (int i = 0; i < episodes; i++) {
        guarded_episode();
        if (i == episodes / 2) guard->block[ADAMB_H_UNITS] ^= 0x4000;
        if (i == episodes * 3 / 4) guard->block[ADAMB_H_FREE_HEAD] ^= 0x0100;
    }
    int fed = feeds >= (uint32_t)episodes * 4;
    return guard->damages * 1000 + guard->restored * 100 + fed * 10 + (first == ADAMB_GUARD_ANEW) * 2 +
           (guarded_start() == ADAMB_GUARD_RESTORED);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None or shutil.which("cc") is None, reason="needs make and cc")
def test_the_guarded_example_builds_without_warnings_and_recovers(c_folder: Path) -> None:
    command = ["make", "run-guarded", "CFLAGS=-O2 -Werror -Wpedantic"]
    done = subprocess.run(command, cwd=c_folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    counted = re.search(r"(\d+) times damaged: (\d+) .* (\d+)", done.stdout)
    damaged, restored, anew = map(int, counted.groups())
    assert (damaged, restored, anew) == (10, 10, 0)


@pytest.mark.slow
def test_the_guarded_loop_saves_and_recovers_on_an_emulated_cortex_m(c_folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.c"
    board.write_text(BOARD)
    memory = MemoryMap(ram_bytes=64 * 1024)
    image = build_image(
        [*(c_folder / path.name for path in core.sources()), c_folder / "guarded" / "guarded_main.c", board],
        target="cortex-m0plus", roots=["run"], includes=[c_folder], memory=memory,
    )  # fmt: skip
    call = Machine(Image(image), cpu="cortex-m0plus", memory=memory).call("run", 120)
    # Two damages, both restored, the watchdog fed, begun anew at first, restored at last.
    assert call.result == 2 * 1000 + 2 * 100 + 10 + 2 + 1


# ---- MicroPython -----------------------------------------------------------------------------------------

RP2 = """
class Flash:
    \"\"\"Sixteen sectors in RAM; what is written lasts in a file, as on a board.\"\"\"

    data = None

    def __init__(self):
        if Flash.data is None:
            try:
                with open("/flash.bin", "rb") as file:
                    Flash.data = bytearray(file.read())
            except OSError:
                Flash.data = bytearray(b"\\x5a" * 65536 + b"\\x5a" * 65536)

    def readblocks(self, block, buffer, offset=0):
        start = block * 4096 + offset
        assert offset + len(buffer) <= 4096 and start + len(buffer) <= len(self.data)
        buffer[:] = self.data[start : start + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        start = block * 4096 + offset
        for i in range(len(buffer)):
            self.data[start + i] &= buffer[i]

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
World.feeds = 0

def hit(word, bit):
    sys.modules["main_guarded"].GUARD.block[word] ^= 1 << bit

class WDT:
    def __init__(self, timeout):
        assert timeout > 500
    def feed(self):
        World.feeds += 1

def looked():
    if World.reads == 1205:
        hit({units}, 14)  # every call refuses it
    if World.reads == 1505:
        hit({link}, 9)  # a tree loses its root; only the guard's eyes see that
    if World.reads == 2100:
        guard = sys.modules["main_guarded"].GUARD
        print("counted", guard.damages, guard.restored, guard.anew, guard.passes > 0, World.feeds > 1000)
        import rp2
        with open("/flash.bin", "wb") as file:
            file.write(rp2.Flash.data)
        sys.exit(0)
"""
)


@pytest.fixture(scope="module")
def pico(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "pico"
    assert main(["port", "--board", "pico", "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder


def power_on(folder: Path, kind: str, flash: bytes | None) -> Run:
    """Run the guarded loop until the world ends it; `flash` is what earlier lives left on the storage."""
    files = copied(folder, kind, "adamb_settings.py", "adamb_storage.py")
    loop = (folder / "main_guarded.py").read_text().replace("PERIOD_MS = 500", "PERIOD_MS = 0")
    finest = 7  # of the default thresholds
    world = WORLD.format(units=_spec.H_UNITS, link=_spec.H_WORDS + 1 + finest + _spec.S_ROOT)
    files |= {"/main_guarded.py": loop, "/rp2.py": RP2, "/machine.py": world}
    if flash is not None:
        files["/flash.bin"] = flash
    return run_program("import main_guarded", files, outputs=("/flash.bin",), seconds=200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_the_guarded_loop_saves_and_recovers_on_micropython(pico: Path, kind: str) -> None:
    first = power_on(pico, kind, None)
    assert first.status == 0, first.errors
    assert "clean start" in first.output and "counted 2 2 0 True True" in first.output, first.output
    second = power_on(pico, kind, first.files["/flash.bin"])
    assert re.search(r"save \d+ restored", second.output), second.output


@pytest.mark.slow
def test_what_the_loop_saved_opens_on_a_host(pico: Path) -> None:
    flash = power_on(pico, "mpy", None).files["/flash.bin"]
    at = flash.rfind(struct.pack("<HH", _spec.STORE_MAGIC, _spec.STORE_VERSION))
    length = int.from_bytes(flash[at + 8 : at + 12], "little")
    block = array("H", bytes(2048))
    assert snapshot.restore(flash[at + 16 : at + 16 + length], block) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("board", "port"), [("pico", "rp2"), ("esp32", "esp32")])
def test_the_guarded_loop_uses_only_what_boards_have(board: str, port: str, tmp_path: Path) -> None:
    folder = tmp_path / board
    assert main(["port", "--board", board, "--out", str(folder)]) == 0
    assert f"import {port}\n" in (folder / "main_guarded.py").read_text()
    if port == "rp2":
        files = {path.relative_to(folder / "py").as_posix(): path for path in (folder / "py").rglob("*.py")}
        names = ("main_guarded.py", "adamb_storage.py", "adamb_settings.py")
        files |= {name: folder / name for name in names}
        assert check(files) == []
