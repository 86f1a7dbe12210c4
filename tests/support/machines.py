"""The core compiled for other processors, called function by function in Unicorn, QEMU's processors by pip.

Three have 32 bits, the s390x has 64; three have the high byte first, and the MIPS faults on an access that is
not aligned. Nothing but the image, the block, the arguments and a stack is mapped. A function that the core
calls is one of Python's: its address is a stop, where `Processor.call` answers in its place.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import unicorn
from unicorn import mips_const, ppc_const, riscv_const, s390x_const

from adamb.firmware_model.host import binding
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import CompileTarget, Image, MemoryMap, build_image
from support.board_controller import Calls
from support.flash import Flash, fitting_bytes, sizes_of

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


ROOTS = (
    "scrub", "snapshot_bytes", "snapshot_save", "snapshot_restore", "store_open", "store_save", "store_restore",
    "guard_open", "guard_handle", "guard_tick", "guard_save",
)  # fmt: skip


@cache
def image(name: str) -> Image:
    """The core for that processor, linked; division is an instruction on all of them."""
    kind = KINDS[name]
    path = build_image(
        core.sources(),
        target=CompileTarget(name, kind.triple, kind.cpu, name),
        roots=[*core.public_functions(), *(f"adamb_{root}" for root in ROOTS)],
        includes=[core.c_folder()],
        defines={"ADAMB_HAS_DIVIDE": 1},
        memory=MemoryMap(flash_origin=IMAGE, flash_bytes=RETURN - IMAGE, ram_origin=RAM),
    )
    return Image(path)


class Processor:
    """One core loaded, with RAM that `reserve` hands out."""

    def __init__(self, name: str) -> None:
        self.kind = KINDS[name]
        self.emulator = unicorn.Uc(self.kind.arch, self.kind.mode)
        program = image(name)
        self.functions = {symbol.name: symbol.address for symbol in program.symbols}
        end = max(part.address + len(part.data) for part in program.segments)
        self.emulator.mem_map(IMAGE, -(-(end - IMAGE) // PAGE) * PAGE)
        for start, size in ((RETURN, PAGE), (STACK, STACK_BYTES), (RAM, RAM_BYTES)):
            self.emulator.mem_map(start, size)
        for part in program.segments:
            self.emulator.mem_write(part.address, part.data)
        if program.sizes.data_bytes:  # tables of addresses, which a reset would copy to the start of RAM
            self.emulator.mem_write(RAM, program.segments[-1].data)
        self.emulator.mem_write(RETURN, self.kind.nothing * (PAGE // len(self.kind.nothing)))
        self.emulator.hook_add(unicorn.UC_HOOK_CODE, self._stop, begin=RETURN, end=RETURN + PAGE - 1)
        if self.kind.arch == unicorn.UC_ARCH_S390X:
            self.emulator.reg_write(s390x_const.UC_S390X_REG_PSWM, WIDE_ADDRESSES)
        self._next, self._stopped = RAM + PAGE, 0
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


class Controller(Calls):
    """A new one on a processor of its own."""

    def __init__(self, name: str, config: Any, words: int) -> None:
        machine = Processor(name)
        super().__init__(machine, words, config.d_a, machine.kind.order)
        place = self._machine.keep(structure(config, self._machine.kind.order))
        self.code = self._machine.call("adamb_init", place, self._block, words)


STATISTICS = [name for name, _ in binding.ffi.typeof("adamb_statistics").fields]


def expected(config: Any) -> bytes:
    """The members of a configuration that a restore compares: its first three bytes."""
    return bytes(sizes_of(config).values())


class Saved:
    """A block of that processor, with the calls that read, save and restore it."""

    def __init__(self, machine: Processor, words: int) -> None:
        self.machine, self.words = machine, words
        self.block = machine.reserve(2 * words)
        self._bytes = machine.reserve(2 * words + 16)
        self._place = machine.keep(bytes(8))
        self._given = machine.reserve(binding.ffi.sizeof("adamb_config"))
        self._stats = machine.reserve(binding.ffi.sizeof("adamb_statistics"))

    def put(self, words: array) -> None:
        self.machine.write_words(self.block, words)

    def get(self) -> array:
        return self.machine.words(self.block, self.words)

    def snapshot(self) -> bytes | int:
        """What adamb_snapshot_save wrote, or its code."""
        length = self.machine.call("adamb_snapshot_save", self.block, self._bytes, 2 * self.words + 16)
        assert length == self.machine.call("adamb_snapshot_bytes", self.block) or length < 0
        return length if length < 0 else self.machine.read(self._bytes, length)

    def restore(self, data: bytes) -> int:
        self.machine.write(self._bytes, data)
        self.machine.write(self._given, expected(fitting_bytes(data)))
        here = (self._bytes, len(data), self._given, self.block, self.words)
        return self.machine.call("adamb_snapshot_restore", *here)

    def check(self) -> int:
        return self.machine.call("adamb_check", self.block, self.words)

    def stats(self) -> dict[str, int]:
        """The counters by name; empty if it is no block."""
        if self.machine.call("adamb_stats", self.block, self._stats):
            return {}
        form = f"I{len(STATISTICS) - 1}H"
        return dict(zip(STATISTICS, self.machine.unpack(form, self._stats), strict=True))

    def begin_pass(self) -> None:
        self.machine.write(self._place, bytes(8))

    def scrub(self) -> tuple[int, tuple[int, ...]]:
        """One slice: its code, and the place of the next."""
        code = self.machine.call("adamb_scrub", self.block, self.words, self._place)
        return code, self.machine.unpack("IBB", self._place)


class MachineStore:
    """The store on that processor, with the calls of flash.CStore; every block is copied there and back."""

    def __init__(self, machine: Processor, flash: Flash, words: int) -> None:
        self.machine = machine
        self._block, self._words = machine.reserve(2 * words), words
        self._given = machine.reserve(binding.ffi.sizeof("adamb_config"))

        def read(_: int, address: int, data: int, count: int) -> int:
            buffer = bytearray(count)
            code = flash.read(address, buffer)
            if code == 0:
                machine.write(data, bytes(buffer))
            return code

        def prog(_: int, address: int, data: int, count: int) -> int:
            return flash.prog(address, machine.read(data, count))

        def erase(_: int, address: int, *rest: int) -> int:
            return flash.erase(address)

        functions = [machine.function(one) for one in (read, prog, erase)]
        sizes = (flash.page_bytes, flash.sector_bytes, flash.sectors)
        gap = "4x" if machine.kind.pointer == "Q" else ""
        face = machine.keep(machine.pack(f"P3I{gap}3P", 0, *sizes, *functions))
        self.place = machine.reserve(64)
        page = machine.reserve(flash.page_bytes)
        self.code = machine.call("adamb_store_open", self.place, face, page, words)

    def save(self, block: array) -> int:
        self.machine.write_words(self._block, block)
        return self.machine.call("adamb_store_save", self.place, self._block)

    def restore(self, config: Any, block: array) -> int:
        self.machine.write_words(self._block, block)
        self.machine.write(self._given, expected(config))
        code = self.machine.call("adamb_store_restore", self.place, self._given, self._block, len(block))
        block[:] = self.machine.words(self._block, len(block))
        return code

    @property
    def newest(self) -> int:
        return self.machine.unpack("2P7I", self.place)[6]

    @property
    def sequence(self) -> int:
        return self.machine.unpack("2P7I", self.place)[8]


class MachineGuard:
    """The guard on that processor, with the calls and counters of twins.CGuard."""

    def __init__(self, machine: Processor, config: Any, words: int, flash: Flash) -> None:
        self.machine, self.config, self.words = machine, config, words
        self.controller = Calls(machine, words, config.d_a, machine.kind.order)
        self._block, self._guard = self.controller._block, machine.reserve(64)
        given = machine.keep(structure(config, machine.kind.order))
        store = MachineStore(machine, flash, words)
        assert store.code == 0
        self.code = machine.call("adamb_guard_open", self._guard, given, self._block, words, store.place)

    @property
    def block(self) -> array:
        return self.controller.w

    def flip(self, word: int, bit: int) -> None:
        words = self.block
        words[word] ^= 1 << bit
        self.machine.write_words(self._block, words)

    def handle(self, code: int) -> int:
        return self.machine.call("adamb_guard_handle", self._guard, code)

    def tick(self) -> int:
        return self.machine.call("adamb_guard_tick", self._guard)

    def save(self) -> int:
        return self.machine.call("adamb_guard_save", self._guard)

    @property
    def counters(self) -> SimpleNamespace:
        """Its place and counters by name."""
        gap = "4x" if self.machine.kind.pointer == "Q" else ""
        path, h, part, *counts = self.machine.unpack(f"PI{gap}PPIBB2x4H", self._guard)[4:]
        names = ("damages", "restored", "reinitialised", "passes")
        return SimpleNamespace(place=(path, h, part), **dict(zip(names, counts, strict=True)))
