"""The core compiled for other processors, called function by function in Unicorn, QEMU's processors by pip.

Three have 32 bits, the s390x has 64; three have the high byte first, and the MIPS faults on an access that is
not aligned. Nothing but the image, the block, the arguments and a stack is mapped. A function that the core
calls is one of Python's: its address is a stop, where `Processor.call` answers in its place.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import mips_const, ppc_const, riscv_const, s390x_const

from adamb.firmware_model.host import binding
from adamb.tools.device.emulator import core
from adamb.tools.device.extras import build_folder
from support.paths import TESTS

IMAGE, RETURN, STACK, RAM = 0x10000, 0x0800_0000, 0x1000_0000, 0x2000_0000
PAGE, STACK_BYTES, RAM_BYTES = 0x1000, 0x4000, 0x10_0000
STOP = 16
"""Bytes from one stop to the next; the first is where a call returns to."""
FRAME = 256
"""Left above the stack pointer for what a caller's frame holds in these conventions."""
WIDE_ADDRESSES = 0x1_8000_0000
"""Of the program status word of an s390x: addresses of 64 bits."""


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
    pointer: str = "I"
    """How struct packs an address."""
    fifth: int = 0
    """Where from the stack pointer the fifth argument lies, if not in a register."""
    nothing: bytes = bytes(4)
    """An instruction to stop at; it is decoded, never executed."""


def _registers(module: Any, pattern: str, *numbers: int) -> tuple[int, ...]:
    return tuple(getattr(module, pattern.format(number)) for number in numbers)


KINDS = {
    "powerpc": Kind(
        "powerpc-freestanding-eabi", "generic", unicorn.UC_ARCH_PPC,
        unicorn.UC_MODE_PPC32 | unicorn.UC_MODE_BIG_ENDIAN, ">",
        _registers(ppc_const, "UC_PPC_REG_{}", 3, 4, 5, 6, 7), ppc_const.UC_PPC_REG_3,
        ppc_const.UC_PPC_REG_1, ppc_const.UC_PPC_REG_LR, nothing=b"\x60\0\0\0",
    ),
    "mips": Kind(
        "mips-freestanding-eabi", "mips32r2", unicorn.UC_ARCH_MIPS,
        unicorn.UC_MODE_MIPS32 | unicorn.UC_MODE_BIG_ENDIAN, ">",
        _registers(mips_const, "UC_MIPS_REG_{}", 4, 5, 6, 7), mips_const.UC_MIPS_REG_2,
        mips_const.UC_MIPS_REG_29, mips_const.UC_MIPS_REG_31, fifth=16,
    ),
    "riscv32": Kind(
        "riscv32-freestanding-none", "generic_rv32+m", unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32, "<",
        _registers(riscv_const, "UC_RISCV_REG_X{}", 10, 11, 12, 13, 14), riscv_const.UC_RISCV_REG_X10,
        riscv_const.UC_RISCV_REG_X2, riscv_const.UC_RISCV_REG_X1, nothing=b"\x13\0\0\0",
    ),
    "s390x": Kind(
        "s390x-freestanding-none", "z10", unicorn.UC_ARCH_S390X, unicorn.UC_MODE_BIG_ENDIAN, ">",
        _registers(s390x_const, "UC_S390X_REG_R{}", 2, 3, 4, 5, 6), s390x_const.UC_S390X_REG_R2,
        s390x_const.UC_S390X_REG_R15, s390x_const.UC_S390X_REG_R14, "Q", nothing=b"\x07\x07",
    ),
}  # fmt: skip


@cache
def image(name: str) -> Path:
    """The core for that processor, linked; division is an instruction on all of them."""
    kind, path = KINDS[name], build_folder("machines") / f"{name}.elf"
    options = ["-target", kind.triple, "-mcpu", kind.cpu, "-O", "ReleaseSmall", "-fno-strip"]
    options += ["-fno-unwind-tables", "-fno-compiler-rt", "--no-gc-sections"]
    options += ["-fentry=adamb_init", "--image-base", hex(IMAGE)]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-DADAMB_HAS_DIVIDE=1", f"-I{core.c_folder()}"]
    command = [sys.executable, "-m", "ziglang", "build-exe", *options, "-cflags", *flags, "--"]
    command += [*map(str, core.sources()), str(TESTS / "support" / "machines.c"), f"-femit-bin={path}"]
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
        self.emulator.mem_write(RETURN, self.kind.nothing * (PAGE // len(self.kind.nothing)))
        self.emulator.hook_add(unicorn.UC_HOOK_CODE, self._stop, begin=RETURN, end=RETURN + PAGE - 1)
        if self.kind.arch == unicorn.UC_ARCH_S390X:
            self.emulator.reg_write(s390x_const.UC_S390X_REG_PSWM, WIDE_ADDRESSES)
        self._next, self._stopped = RAM, 0
        self._answers: dict[int, Callable[..., int]] = {}

    def _stop(self, emulator: Any, address: int, size: int, data: Any) -> None:
        self._stopped = address
        emulator.emu_stop()

    def reserve(self, size: int) -> int:
        place, self._next = self._next, self._next + (size + 15 & ~15)
        return place

    def function(self, answer: Callable[..., int]) -> int:
        """An address at which the core can call a function of Python, with up to four arguments."""
        address = RETURN + STOP * (1 + len(self._answers))
        self._answers[address] = answer
        return address

    def write(self, place: int, data: bytes) -> None:
        self.emulator.mem_write(place, data)

    def read(self, place: int, count: int) -> bytes:
        return bytes(self.emulator.mem_read(place, count))

    def keep(self, data: bytes) -> int:
        """The place of these bytes in RAM that is reserved for them."""
        place = self.reserve(len(data))
        self.write(place, data)
        return place

    def pack(self, form: str, *values: int) -> bytes:
        """In this processor's byte order; P is an address."""
        return struct.pack(self.kind.order + form.replace("P", self.kind.pointer), *values)

    def unpack(self, form: str, place: int) -> tuple[int, ...]:
        form = self.kind.order + form.replace("P", self.kind.pointer)
        return struct.unpack(form, self.read(place, struct.calcsize(form)))

    def words(self, place: int, count: int) -> array:
        """16-bit words as numbers of this computer."""
        data = self.emulator.mem_read(place, 2 * count)
        return array("H", struct.unpack(f"{self.kind.order}{count}H", data))

    def write_words(self, place: int, words: Any) -> None:
        self.write(place, struct.pack(f"{self.kind.order}{len(words)}H", *words))

    def call(self, function: str, *arguments: int) -> int:
        kind, emulator = self.kind, self.emulator
        mask, stack = (1 << 8 * len(self.pack("P", 0))) - 1, STACK + STACK_BYTES - FRAME
        for register, value in zip(kind.arguments, arguments, strict=False):
            emulator.reg_write(register, value & mask)
        if kind.fifth and len(arguments) == 5:
            self.write(stack + kind.fifth, self.pack("P", arguments[4]))
        emulator.reg_write(kind.stack, stack)
        emulator.reg_write(kind.link, RETURN)
        start = self.functions[function]
        while True:
            self._stopped = 0
            emulator.emu_start(start, 0, count=100_000_000)
            assert self._stopped, f"{function} does not come back"
            if self._stopped == RETURN:
                break
            given = [emulator.reg_read(register) & mask for register in kind.arguments[:4]]
            emulator.reg_write(kind.result, self._answers[self._stopped](*given) & mask)
            start = emulator.reg_read(kind.link)
        result = emulator.reg_read(kind.result) & 0xFFFF_FFFF
        return result - (1 << 32) if result >> 31 else result


def structure(config: Any, order: str) -> bytes:
    """The configuration as that processor keeps it: members of one or two bytes, at the same offsets."""
    made = binding.c_config(config)
    data = bytearray(bytes(binding.ffi.buffer(made)))
    for name, field in binding.ffi.typeof("adamb_config").fields:
        item = field.type.item if field.type.kind == "array" else field.type
        size, total = binding.ffi.sizeof(item), binding.ffi.sizeof(field.type)
        assert size in (1, 2), name
        if size == 2:
            values = struct.unpack_from(f"={total // 2}H", data, field.offset)
            struct.pack_into(f"{order}{total // 2}H", data, field.offset, *values)
    return bytes(data)


class Calls:
    """The calls on a block of that processor behind the interface that a replay drives, codes and all."""

    def __init__(self, machine: Processor, words: int, d_a: int) -> None:
        self._machine, self._words, self._d_a = machine, words, d_a
        self._block = machine.reserve(2 * words)
        machine.write_words(self._block, [0xA5A5] * words)
        self._point, self._action = machine.reserve(8), machine.reserve(8)

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


class Controller(Calls):
    """A new one on a processor of its own."""

    def __init__(self, name: str, config: Any, words: int) -> None:
        super().__init__(Processor(name), words, config.d_a)
        place = self._machine.keep(structure(config, self._machine.kind.order))
        self.code = self._machine.call("adamb_init", place, self._block, words)
