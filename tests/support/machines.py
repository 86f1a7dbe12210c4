"""The core compiled for other processors, called function by function in Unicorn, QEMU's processors by pip.

All have 32 bits; two have the high byte first, and the MIPS faults on an access that is not aligned. Nothing
but the image, the block, the arguments and a stack is mapped.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from array import array
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import mips_const, ppc_const, riscv_const

from adamb.firmware_model.host import binding
from adamb.tools.device.emulator import core
from adamb.tools.device.extras import build_folder

CALLS = ("adamb_init", "adamb_act", "adamb_observe", "adamb_end_episode", "adamb_check")
IMAGE, RETURN, STACK, RAM = 0x10000, 0x0800_0000, 0x1000_0000, 0x2000_0000
PAGE, STACK_BYTES, RAM_BYTES = 0x1000, 0x4000, 0x10_0000
FRAME = 256
"""Left above the stack pointer for what a caller's frame holds in these conventions."""


@dataclass(frozen=True)
class Kind:
    """How to compile for a processor, and which registers a call uses."""

    triple: str
    cpu: str
    arch: int
    mode: int
    order: str
    arguments: tuple[int, ...]
    result: int
    stack: int
    link: int


def _registers(module: Any, pattern: str, *numbers: int) -> tuple[int, ...]:
    return tuple(getattr(module, pattern.format(number)) for number in numbers)


KINDS = {
    "powerpc": Kind(
        "powerpc-freestanding-eabi", "generic", unicorn.UC_ARCH_PPC,
        unicorn.UC_MODE_PPC32 | unicorn.UC_MODE_BIG_ENDIAN, ">",
        _registers(ppc_const, "UC_PPC_REG_{}", 3, 4, 5, 6), ppc_const.UC_PPC_REG_3,
        ppc_const.UC_PPC_REG_1, ppc_const.UC_PPC_REG_LR,
    ),
    "mips": Kind(
        "mips-freestanding-eabi", "mips32r2", unicorn.UC_ARCH_MIPS,
        unicorn.UC_MODE_MIPS32 | unicorn.UC_MODE_BIG_ENDIAN, ">",
        _registers(mips_const, "UC_MIPS_REG_{}", 4, 5, 6, 7), mips_const.UC_MIPS_REG_2,
        mips_const.UC_MIPS_REG_29, mips_const.UC_MIPS_REG_31,
    ),
    "riscv32": Kind(
        "riscv32-freestanding-none", "generic_rv32+m", unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32, "<",
        _registers(riscv_const, "UC_RISCV_REG_X{}", 10, 11, 12, 13), riscv_const.UC_RISCV_REG_X10,
        riscv_const.UC_RISCV_REG_X2, riscv_const.UC_RISCV_REG_X1,
    ),
}  # fmt: skip


@cache
def image(name: str) -> Path:
    """The core for that processor, linked; division is an instruction on all of them."""
    kind, path = KINDS[name], build_folder("machines") / f"{name}.elf"
    options = ["-target", kind.triple, "-mcpu", kind.cpu, "-O", "ReleaseSmall", "-fno-strip"]
    options += ["-fno-unwind-tables", "-fno-compiler-rt", f"-fentry={CALLS[0]}", "--image-base", hex(IMAGE)]
    options += [f"--export={call}" for call in CALLS]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-DADAMB_HAS_DIVIDE=1", f"-I{core.c_folder()}"]
    command = [sys.executable, "-m", "ziglang", "build-exe", *options, "-cflags", *flags, "--"]
    command += [*map(str, core.sources()), f"-femit-bin={path}"]
    cache_folder = ["--cache-dir", str(build_folder("zig")), "--global-cache-dir", str(build_folder("zig"))]
    done = subprocess.run([*command, *cache_folder], capture_output=True, text=True, cwd=path.parent)
    assert done.returncode == 0, f"{name}:\n{done.stderr}"
    return path


class Processor:
    """One core loaded, with RAM that `reserve` hands out."""

    def __init__(self, name: str) -> None:
        self.kind = KINDS[name]
        self.emulator = unicorn.Uc(self.kind.arch, self.kind.mode)
        with image(name).open("rb") as stream:
            elf = ELFFile(stream)
            parts = [part for part in elf.iter_segments() if part["p_type"] == "PT_LOAD"]
            end = max(part["p_vaddr"] + part["p_memsz"] for part in parts)
            self.emulator.mem_map(IMAGE, -(-(end - IMAGE) // PAGE) * PAGE)
            for part in parts:
                self.emulator.mem_write(part["p_vaddr"], part.data())
            table = elf.get_section_by_name(".symtab")
            self.functions = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
        for start, size in ((RETURN, PAGE), (STACK, STACK_BYTES), (RAM, RAM_BYTES)):
            self.emulator.mem_map(start, size)
        self._next = RAM

    def reserve(self, size: int) -> int:
        place, self._next = self._next, self._next + (size + 15 & ~15)
        return place

    def write(self, place: int, data: bytes) -> None:
        self.emulator.mem_write(place, data)

    def words(self, place: int, count: int) -> array:
        """16-bit words as numbers of this computer."""
        data = self.emulator.mem_read(place, 2 * count)
        return array("H", struct.unpack(f"{self.kind.order}{count}H", data))

    def write_words(self, place: int, words: Any) -> None:
        self.write(place, struct.pack(f"{self.kind.order}{len(words)}H", *words))

    def call(self, function: str, *arguments: int) -> int:
        kind, emulator = self.kind, self.emulator
        mask = 0xFFFF_FFFF
        for register, value in zip(kind.arguments, arguments, strict=False):
            emulator.reg_write(register, value & mask)
        emulator.reg_write(kind.stack, STACK + STACK_BYTES - FRAME)
        emulator.reg_write(kind.link, RETURN)
        emulator.emu_start(self.functions[function], RETURN, count=100_000_000)
        result = emulator.reg_read(kind.result) & 0xFFFF_FFFF
        return result - (1 << 32) if result >> 31 else result


def structure(config: Any, order: str) -> bytes:
    """The configuration as that processor keeps it: members of one or two bytes, at the same offsets."""
    made = binding.c_config(SimpleNamespace(**config.as_dict()))
    data = bytearray(bytes(binding.ffi.buffer(made)))
    for name, field in binding.ffi.typeof("adamb_config").fields:
        item = field.type.item if field.type.kind == "array" else field.type
        size, total = binding.ffi.sizeof(item), binding.ffi.sizeof(field.type)
        assert size in (1, 2), name
        if size == 2:
            values = struct.unpack_from(f"={total // 2}H", data, field.offset)
            struct.pack_into(f"{order}{total // 2}H", data, field.offset, *values)
    return bytes(data)


class Controller:
    """The core on that processor behind the interface that a replay drives, codes and all."""

    def __init__(self, name: str, config: Any, words: int) -> None:
        self._machine = Processor(name)
        self._words, self._d_a = words, config.d_a
        self._block = self._machine.reserve(2 * words)
        self._machine.write_words(self._block, [0xA5A5] * words)
        content = structure(config, self._machine.kind.order)
        place = self._machine.reserve(len(content))
        self._machine.write(place, content)
        self._point, self._action = self._machine.reserve(8), self._machine.reserve(8)
        self.code = self._machine.call("adamb_init", place, self._block, words)

    @property
    def w(self) -> array:
        return self._machine.words(self._block, self._words)

    def act(self, h: int, point: Any, action: array) -> int:
        self._machine.write_words(self._point, point)
        code = self._machine.call("adamb_act", self._block, h, self._point, self._action)
        if code == 0:
            action[:] = self._machine.words(self._action, self._d_a)
        return code

    def observe(self, h: int, reward: int, point: Any) -> int:
        self._machine.write_words(self._point, point)
        return self._machine.call("adamb_observe", self._block, h, reward, self._point)

    def end_episode(self) -> int:
        return self._machine.call("adamb_end_episode", self._block)
