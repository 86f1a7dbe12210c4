"""The C core on an AVR, the processor of small Arduinos with an int of 16 bits: avr-gcc, run by simavr.

simavr counts cycles as the data sheets state them; an AVR has no cache and no wait states, so they are those
of the chip. Constant tables lie in RAM there, as avr-gcc places them.
"""

from __future__ import annotations

import ctypes
import shutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import InputError
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import Image, Sizes
from adamb.tools.device.emulator.cortex_m import DeviceFault
from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing, build_folder, key, made_once, run_tool

PROCESSORS = ("atmega2560", "atmega328p")
"""Of an Arduino Mega 2560 and of an Uno."""
REMEDY = "apt-get install gcc-avr avr-libc libsimavr-dev libelf-dev"
FLAGS = ("-std=c99", "-Os", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SECTIONS = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
SHIM = Path(__file__).resolve().parent / "c" / "avr.c"
MAIN = "int main(void)\n{\n    for (;;) {\n    }\n}\n"
FIRST_REGISTER, LAST_REGISTER = 8, 25
DATA = 0x800000
"""The address of RAM in ELF files of an AVR."""
ENDS = {1: "the processor crashed", 2: "does not come back", 3: "the stack met the data below it"}


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise DeviceToolMissing(name, REMEDY)
    return found


def _made(name: str, command: list[str]) -> Path:
    """The output of a compiler, made once."""
    compiler = Path(command[0]).name
    return made_once(build_folder("avr") / name, lambda made: run_tool(compiler, [*command, "-o", made]))


@cache
def simulator() -> ctypes.CDLL:
    """simavr with the calls of c/avr.c."""
    compiler = _program("cc")
    command = [compiler, "-std=gnu99", "-O2", "-shared", "-fPIC", str(SHIM), "-lsimavr", "-lelf"]
    try:
        made = ctypes.CDLL(str(_made(f"simavr-{key(SHIM.read_bytes())}.so", command)))
    except DeviceToolFailed as error:
        raise DeviceToolMissing(f"simavr as a library ({error.output.splitlines()[0]})", REMEDY) from error
    made.adamb_avr_open.restype = ctypes.c_void_p
    made.adamb_avr_memory.restype = ctypes.POINTER(ctypes.c_uint8)
    return made


@cache
def image(
    processor: str, roots: tuple[str, ...] | None = None, *, more: tuple[Path, ...] = (), any_size: bool = False
) -> Path:
    """The core linked with a main that does nothing; with `roots`, only what these functions reach."""
    if processor not in PROCESSORS:
        raise InputError("processor", processor, "one of " + ", ".join(PROCESSORS))
    folder, compiler = core.c_folder(), _program("avr-gcc")
    main = build_folder("avr") / "main.c"
    main.write_text(MAIN)
    kept = ["-Wl,--no-gc-sections"] if roots is None else [f"-Wl,-u,{root}" for root in roots]
    kept += ["-Wl,--defsym=__TEXT_REGION_LENGTH__=256K"] if any_size else []
    options = [f"-mmcu={processor}", *FLAGS, *SECTIONS, *kept, f"-I{folder}"]
    read = [*sorted(folder.glob("*.[ch]")), main, *more]
    digest = key(repr([options, Path(compiler).stat().st_mtime_ns]), *(path.read_bytes() for path in read))
    sources = map(str, [main, *more, *sorted(folder.glob("*.c"))])
    return _made(f"{processor}-{digest}.elf", [compiler, *options, *sources])


@cache
def sizes(processor: str, roots: tuple[str, ...]) -> Sizes:
    """Bytes of what these functions reach, without the start of every C program."""
    found, start = (vars(Image(image(processor, chosen, any_size=True)).sizes) for chosen in (roots, ()))
    return Sizes(**{name: size - start[name] for name, size in found.items()})


@cache
def symbols(path: Path) -> dict[str, int]:
    return {symbol.name: symbol.address for symbol in Image(path).symbols}


def widths(function: str) -> list[int] | None:
    """Bytes of the result and of the arguments of a function of the core; None for another, where all have two."""
    binding: Any = import_module("adamb.firmware_model.host.binding")
    if not hasattr(binding.lib, function):
        return None
    kind = binding.ffi.typeof(getattr(binding.lib, function))
    return [4 if each.cname in ("uint32_t", "int32_t") else 2 for each in (kind.result, *kind.args)]


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
        """Bytes after the program's data; the stack comes down from the end of RAM."""
        place = self._next + (self._next & 1)
        if count_bytes < 0 or place + count_bytes > self._top:
            raise InputError("budget", count_bytes, f"{self._top - place} bytes of RAM are left")
        self._next = place + count_bytes
        return place

    def write(self, place: int, data: bytes) -> None:
        ctypes.memmove(ctypes.addressof(self._memory.contents) + place, data, len(data))

    def read(self, place: int, count: int) -> bytes:
        return ctypes.string_at(ctypes.addressof(self._memory.contents) + place, count)

    def call(self, function: str, *arguments: int) -> AvrCall:
        """Call a function as C would: arguments lie from register 25 down."""
        registers, at = bytearray(LAST_REGISTER + 1), LAST_REGISTER + 1
        result_bytes, *sizes = widths(function) or [2] * (1 + len(arguments))
        for value, size in zip(arguments, sizes, strict=True):
            at -= size
            if at < FIRST_REGISTER:
                raise InputError("arguments", len(arguments), "more than the registers hold")
            registers[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        given = bytes(registers[FIRST_REGISTER:])
        cycles, lowest = self._finish(
            function, self._simulator.adamb_avr_call, self.symbols[function], self.symbols["main"], given
        )
        data = self.read(LAST_REGISTER + 1 - result_bytes, result_bytes)
        return AvrCall(int.from_bytes(data, "little", signed=True), cycles, self._top - lowest)


class AvrCore(core.MachineCore):
    """The core on an AVR, as EmulatedCore is on a Cortex-M."""

    last: AvrCall

    def __init__(self, config: bytes, words: int, processor: str = "atmega2560") -> None:
        super().__init__(AvrMachine(processor, image(processor, core.RUNNING)), config, words)
