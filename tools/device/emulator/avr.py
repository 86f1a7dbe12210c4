"""The C core on an AVR, the processor of small Arduinos with an int of 16 bits: avr-gcc, run by simavr.

simavr counts cycles as the data sheets state them; an AVR has no cache and no wait states, so they are those
of the chip. Constant tables lie in RAM there, as avr-gcc places them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.cortex_m import DeviceFault
from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing, build_folder, need

PROCESSORS = ("atmega2560", "atmega328p")
"""Of an Arduino Mega 2560 and of an Uno."""
REMEDY = "apt-get install gcc-avr avr-libc libsimavr-dev libelf-dev"
FLAGS = ("-std=c99", "-Os", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SECTIONS = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
SHIM = Path(__file__).resolve().parent / "c" / "avr.c"
MAIN = "int main(void)\n{\n    for (;;) {\n    }\n}\n"
FIRST_REGISTER, LAST_REGISTER = 8, 25
DATA = 0x800000
"""Where ELF files of an AVR have its RAM."""
ENDS = {1: "the processor crashed", 2: "does not come back", 3: "the stack met the data below it"}


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise DeviceToolMissing(name, REMEDY)
    return found


def _made(target: Path, command: list[str]) -> Path:
    """What a command writes, made once."""
    if not target.is_file():
        written = target.with_name(f"{os.getpid()}-{target.name}")
        done = subprocess.run([*command, "-o", str(written)], capture_output=True, text=True)
        if done.returncode != 0:
            raise DeviceToolFailed(Path(command[0]).name, done.stderr)
        written.replace(target)
    return target


@cache
def simulator() -> ctypes.CDLL:
    """simavr with the calls of c/avr.c."""
    compiler = _program("cc")
    name = hashlib.sha256(SHIM.read_bytes()).hexdigest()[:16]
    command = [compiler, "-std=gnu99", "-O2", "-shared", "-fPIC", str(SHIM), "-lsimavr", "-lelf"]
    try:
        made = ctypes.CDLL(str(_made(build_folder("avr") / f"simavr-{name}.so", command)))
    except DeviceToolFailed as error:
        raise DeviceToolMissing(f"simavr as a library ({error.output.splitlines()[0]})", REMEDY) from error
    made.adamb_avr_open.restype = ctypes.c_void_p
    made.adamb_avr_memory.restype = ctypes.POINTER(ctypes.c_uint8)
    return made


@cache
def image(
    processor: str,
    roots: tuple[str, ...] | None = None,
    *,
    folder: Path | None = None,
    more: tuple[Path, ...] = (),
    any_size: bool = False,
) -> Path:
    """The core linked with a main that does nothing; with `roots`, only what these functions reach."""
    if processor not in PROCESSORS:
        raise InputError("processor", processor, "one of " + ", ".join(PROCESSORS))
    folder, compiler = folder or core.c_folder(), _program("avr-gcc")
    main = build_folder("avr") / "main.c"
    main.write_text(MAIN)
    kept = ["-Wl,--no-gc-sections"] if roots is None else [f"-Wl,-u,{root}" for root in roots]
    kept += ["-Wl,--defsym=__TEXT_REGION_LENGTH__=256K"] if any_size else []
    options = [f"-mmcu={processor}", *FLAGS, *SECTIONS, *kept, f"-I{folder}"]
    text = repr([options, Path(compiler).stat().st_mtime_ns]).encode()
    for path in [*sorted(folder.glob("*.[ch]")), main, *more]:
        text += path.read_bytes()
    target = build_folder("avr") / f"{processor}-{hashlib.sha256(text).hexdigest()[:16]}.elf"
    return _made(target, [compiler, *options, *map(str, [main, *more, *sorted(folder.glob("*.c"))])])


@dataclass(frozen=True)
class AvrSizes:
    """What a program takes: flash, and RAM that is not on the stack."""

    flash_bytes: int
    ram_bytes: int


@cache
def sizes(processor: str, roots: tuple[str, ...]) -> AvrSizes:
    """Of what these functions reach, without the start of every C program."""
    found = [_sections(image(processor, chosen, any_size=True)) for chosen in (roots, ())]
    (text, data), (text_start, data_start) = found
    return AvrSizes(text - text_start, data - data_start)


def _sections(path: Path) -> tuple[int, int]:
    elffile = need("elftools.elf.elffile", "the ELF reader")
    with path.open("rb") as stream:
        elf = elffile.ELFFile(stream)
        size = {section.name: section["sh_size"] for section in elf.iter_sections()}
    data = size.get(".data", 0)
    return size[".text"] + data, data + size.get(".bss", 0)


@cache
def symbols(path: Path) -> dict[str, int]:
    elffile = need("elftools.elf.elffile", "the ELF reader")
    with path.open("rb") as stream:
        table = elffile.ELFFile(stream).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}


@dataclass(frozen=True)
class AvrCall:
    """One finished call."""

    result: int
    cycles: int
    stack_bytes: int


class AvrMachine:
    """A processor after the start of a C program: tables in place, ready for calls."""

    def __init__(self, processor: str = "atmega2560", path: Path | None = None) -> None:
        self._simulator, path = simulator(), path or image(processor)
        self.symbols = symbols(path)
        opened = self._simulator.adamb_avr_open(str(path).encode(), processor.encode())
        if not opened:
            raise DeviceToolFailed("simavr", f"does not load {path.name} for {processor}")
        self._avr = ctypes.c_void_p(opened)
        self._memory = self._simulator.adamb_avr_memory(self._avr)
        self._top = int(self._simulator.adamb_avr_ram_end(self._avr))
        self._next = self.symbols["_end"] - DATA
        self.cycles_most = 10**8
        self._finish("main", self._simulator.adamb_avr_run, self.symbols["main"])

    def __del__(self) -> None:
        if hasattr(self, "_avr"):
            self._simulator.adamb_avr_close(self._avr)

    def _finish(self, name: str, run: Any, *arguments: object) -> tuple[int, int]:
        cycles, lowest = ctypes.c_uint64(), ctypes.c_uint32()
        floor = 0 if name == "main" else self._next  # before main there is no stack yet
        limit = ctypes.c_uint64(self.cycles_most)
        end = run(self._avr, *arguments, floor, limit, ctypes.byref(cycles), ctypes.byref(lowest))
        if end != 0:
            raise DeviceFault(f"{name}: {ENDS[end]}")
        return cycles.value, lowest.value

    def reserve(self, count_bytes: int) -> int:
        """Bytes behind the program's data; the stack comes down from the end of RAM."""
        place = self._next + (self._next & 1)
        if count_bytes < 0 or place + count_bytes > self._top:
            raise InputError("budget", count_bytes, f"{self._top - place} bytes of RAM are left")
        self._next = place + count_bytes
        return place

    def write(self, place: int, data: bytes) -> None:
        ctypes.memmove(ctypes.addressof(self._memory.contents) + place, data, len(data))

    def read(self, place: int, count: int) -> bytes:
        return ctypes.string_at(ctypes.addressof(self._memory.contents) + place, count)

    def call(self, function: str, *arguments: tuple[int, int], result_bytes: int = 2) -> AvrCall:
        """Arguments are (value, bytes); avr-gcc wants them from register 25 down."""
        registers, at = bytearray(LAST_REGISTER + 1), LAST_REGISTER + 1
        for value, size in arguments:
            at -= size + (size & 1)
            if at < FIRST_REGISTER:
                raise InputError("arguments", len(arguments), "more than the registers hold")
            registers[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        given = bytes(registers[FIRST_REGISTER:])
        cycles, lowest = self._finish(
            function, self._simulator.adamb_avr_call, self.symbols[function], self.symbols["main"], given
        )
        data = self.read(LAST_REGISTER + 1 - result_bytes, result_bytes)
        return AvrCall(int.from_bytes(data, "little", signed=True), cycles, self._top - lowest)


def pointer(value: int) -> tuple[int, int]:
    """An argument of 16 bits: a pointer, an int, a word."""
    return value, 2


def long(value: int) -> tuple[int, int]:
    """An argument of 32 bits."""
    return value, 4


class AvrCore:
    """The core on an AVR, as EmulatedCore is on a Cortex-M."""

    def __init__(self, config: bytes, words: int, processor: str = "atmega2560") -> None:
        self.machine = AvrMachine(processor, image(processor, core.RUNNING))
        self._d_a, self._words = config[1], words
        self.block_address = self.machine.reserve(2 * words)
        place = self.machine.reserve(len(config))
        self.machine.write(place, config)
        self._state, self._action = self.machine.reserve(8), self.machine.reserve(8)
        self._call("adamb_init", pointer(place), pointer(self.block_address), long(words))

    def _call(self, name: str, *arguments: tuple[int, int]) -> None:
        self.last = self.machine.call(name, *arguments)
        if self.last.result < 0:
            raise core.CoreError(f"{name} returned {self.last.result}")

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        self.machine.write(self._state, struct.pack(f"<{len(state)}H", *state))
        places = (self.block_address, h, self._state, self._action)
        self._call("adamb_act", *map(pointer, places))
        return struct.unpack(f"<{self._d_a}H", self.machine.read(self._action, 2 * self._d_a))

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        self.machine.write(self._state, struct.pack(f"<{len(next_state)}H", *next_state))
        self._call("adamb_observe", *map(pointer, (self.block_address, h, reward, self._state)))

    def end_episode(self) -> None:
        self._call("adamb_end_episode", pointer(self.block_address))

    def block(self) -> bytes:
        return self.machine.read(self.block_address, 2 * self._words)
