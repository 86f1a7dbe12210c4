"""Snapshots, the store and the guard on the processors of machines.py; the storage is one of flash.py."""

from __future__ import annotations

from array import array
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model.host.binding import ffi
from support.flash import Flash, fitting_bytes, sizes_of
from support.machines import Calls, Processor, structure

STATISTICS = [name for name, _ in ffi.typeof("adamb_statistics").fields]


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
        self._given = machine.reserve(ffi.sizeof("adamb_config"))
        self._stats = machine.reserve(ffi.sizeof("adamb_statistics"))

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
        self._given = machine.reserve(ffi.sizeof("adamb_config"))

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
        self.controller = Calls(machine, words, config.d_a)
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
