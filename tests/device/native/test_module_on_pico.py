"""MicroPython for the Raspberry Pi Pico, built by CMake with the C core in it.

No emulator here runs a whole RP2040; what is linked into the firmware as the core is run on its processor.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from adamb.tools.device.emulator.compile import Image, MemoryMap
from adamb.tools.device.emulator.core import HOT_PATH
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.extras import DeviceToolMissing
from support import micropython_sources as sources
from support.board_controller import BoardController
from support.paths import VECTORS
from support.replay import Replay

_WHY = sources.pico_missing()
needs_pico = pytest.mark.skipif(_WHY is not None, reason=str(_WHY))
FLASH, RAM = 0x1000_0000, 0x2000_0000
MEMORY = MemoryMap(flash_origin=FLASH, flash_bytes=2 << 20, ram_origin=RAM, ram_bytes=264 * 1024)
#: memset of the boot ROM, which firmware for an RP2040 calls through a table: store r2 bytes, return.
MEMSET = struct.pack("<8H", 0x1C03, 0x2A00, 0xD003, 0x7019, 0x3301, 0x3A01, 0xE7F9, 0x4770)
ROM_TABLE, ROM_PLACE = "aeabi_mem_funcs", FLASH + (1 << 20)


@pytest.fixture(scope="module")
def image() -> Image:
    return Image(sources.pico_firmware())


@needs_pico
def test_cmake_links_module_and_core_into_flash_and_nothing_into_ram(image: Image) -> None:
    own = [each for each in image.symbols if each.name.startswith("adamb_") and each.size_bytes]
    names = {each.name for each in own}
    assert names >= {"adamb_user_cmodule", "adamb_check", "adamb_snapshot_save", *HOT_PATH}
    assert all(FLASH <= each.address < FLASH + MEMORY.flash_bytes for each in own)
    modules = (image.path.parent / "genhdr" / "moduledefs.h").read_text()
    assert "MP_QSTR_adamb" in modules and "adamb_user_cmodule" in modules


@needs_pico
@pytest.mark.parametrize("name", ["default-1-1-h5", "tracking-2-1-h16-reclaim"])
def test_the_core_of_the_firmware_replays_recorded_streams(image: Image, name: str) -> None:
    (table,) = [each.address for each in image.symbols if each.name == ROM_TABLE]

    def start(config: Any, words: int) -> BoardController:
        machine = Machine(image, memory=MEMORY)
        machine.write(ROM_PLACE, MEMSET)
        machine.write(table, struct.pack("<I", ROM_PLACE | 1))
        return BoardController(config, words, machine)

    assert Replay(VECTORS / f"{name}.jsonl", "pico", start=start).play() > 100


def test_libraries_that_are_not_there_are_named_with_the_way_to_get_them(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "py").mkdir()
    (tmp_path / "py" / "dynruntime.mk").touch()
    monkeypatch.setenv("MPY_DIR", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda program: program)
    assert str(sources.pico_missing()).startswith("pico-sdk, tinyusb, mbedtls in MicroPython's lib: ")
    with pytest.raises(DeviceToolMissing, match="submodules"):
        sources.pico_firmware()
    with pytest.raises(DeviceToolMissing, match="Debian's sources"):
        sources.fetch_pico()
