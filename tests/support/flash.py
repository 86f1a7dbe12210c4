"""A simulated flash: tears what is being written, loses power at any operation, flips bits, wears out.

Its C twin is sim_flash.h.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model import _spec

BEHIND = 8  # bytes behind a buffer, to see that nobody writes there
TEARS = ("nothing", "a part", "some bits", "everything", "garbage")


class Misuse(AssertionError):
    """The store did what no flash allows."""


class Flash:
    """Storage as `store.open` wants it. Old garbage is on it at first, as on a board that was used before."""

    def __init__(self, page_bytes: int, sector_bytes: int, sectors: int, *, seed: int = 0, worn: int = 0):
        self.page_bytes, self.sector_bytes, self.sectors = page_bytes, sector_bytes, sectors
        self.random = random.Random(seed)
        self.data = bytearray(self.random.randbytes(sector_bytes * sectors))
        self.written = [True] * (len(self.data) // page_bytes)
        self.erases = [0] * sectors
        self.worn = worn
        self.operations = 0
        self.cut_at = 0
        self.tear = "nothing"
        self.dead = False

    def lose_power(self, operation: int, tear: str) -> None:
        """Power will be lost in the operation-th prog or erase from now, which is left torn in this way."""
        self.operations, self.cut_at, self.tear = 0, operation, tear

    def power_on(self) -> None:
        self.dead, self.cut_at = False, 0

    def flip(self, bit: int) -> None:
        self.data[bit // 8] ^= 1 << bit % 8

    def read(self, address: int, buffer: Any) -> int:
        if address + len(buffer) > len(self.data):
            raise Misuse(f"read at {address} is outside the storage")
        if self.dead:
            return -1
        buffer[:] = self.data[address : address + len(buffer)]
        return 0

    def prog(self, address: int, buffer: Any) -> int:
        page = address // self.page_bytes
        if address % self.page_bytes or len(buffer) != self.page_bytes or page >= len(self.written):
            raise Misuse(f"prog at {address} is not a page")
        if self._unpowered():
            return -1
        if self.written[page]:
            raise Misuse(f"page {page} is written twice without an erase")
        old = self.data[address : address + len(buffer)]
        new = bytearray(a & b for a, b in zip(old, buffer, strict=True))
        if self.worn and self.erases[address // self.sector_bytes] > self.worn:
            new[0] &= 0xFE
            new[-1] |= 0x10
        self.data[address : address + len(new)] = self._torn(old, new) if self.dead else new
        self.written[page] = not self.dead or any(x != 0xFF for x in self.data[address : address + len(new)])
        return -1 if self.dead else 0

    def erase(self, address: int) -> int:
        sector, size = address // self.sector_bytes, self.sector_bytes
        if address % size or sector >= self.sectors:
            raise Misuse(f"erase at {address} is not a sector")
        if self._unpowered():
            return -1
        self.erases[sector] += 1
        blank = bytearray(b"\xff" * size)
        old = self.data[address : address + size]
        self.data[address : address + size] = self._torn(old, blank) if self.dead else blank
        pages = size // self.page_bytes
        self.written[sector * pages : (sector + 1) * pages] = [self.dead] * pages
        return -1 if self.dead else 0

    def _unpowered(self) -> bool:
        """True without power; counts the operation, and this may be the one that power is lost in."""
        if self.dead:
            return True
        self.operations += 1
        self.dead = self.operations == self.cut_at
        return False

    def _torn(self, old: bytearray, new: bytearray) -> bytearray:
        masks = self.random.randbytes(len(new))
        part = self.random.randrange(len(new) + 1)
        if self.tear == "a part":
            return new[:part] + old[part:]
        if self.tear == "some bits":
            return bytearray(a & ~m | b & m for a, b, m in zip(old, new, masks, strict=True))
        return {"nothing": old, "everything": new, "garbage": bytearray(masks)}[self.tear]


def sizes_of(config: Any) -> dict[str, int]:
    """What a restore compares of a configuration."""
    return {name: getattr(config, name) for name in ("d_s", "d_a", "horizon")}


def fitting(words: Any) -> SimpleNamespace:
    """A configuration of the dimensions and the horizon of a block."""
    dims = words[_spec.H_DIMS]
    return SimpleNamespace(d_s=dims & 15, d_a=dims >> 4 & 15, horizon=dims >> 8)


def fitting_bytes(data: bytes) -> SimpleNamespace:
    """The same of a snapshot, however short."""
    head = _spec.SNAPSHOT_HEAD_BYTES + 2 * _spec.H_DIMS
    return fitting({_spec.H_DIMS: int.from_bytes(data[head : head + 2], "little")})


class CStore:
    """The C store on the same kind of storage, with the calls of the Python twin's."""

    def __init__(self, flash: Flash, words: int) -> None:
        from adamb.firmware_model.host.binding import ffi, lib

        def read(_: Any, address: int, data: Any, count: int) -> int:
            return flash.read(address, ffi.buffer(data, count))

        def prog(_: Any, address: int, data: Any, count: int) -> int:
            return flash.prog(address, bytes(ffi.buffer(data, count)))

        def erase(_: Any, address: int) -> int:
            return flash.erase(address)

        self._ffi, self._lib = ffi, lib
        self._functions = {  # cffi frees a callback without a reference
            "read": ffi.callback("int(void *, uint32_t, uint8_t *, uint32_t)", read, error=-99),
            "prog": ffi.callback("int(void *, uint32_t, const uint8_t *, uint32_t)", prog, error=-99),
            "erase": ffi.callback("int(void *, uint32_t)", erase, error=-99),
        }
        sizes = {name: getattr(flash, name) for name in ("page_bytes", "sector_bytes", "sectors")}
        self._flash = ffi.new("adamb_flash *", sizes | self._functions)
        self._page = ffi.new("uint8_t[]", max(1, flash.page_bytes) + BEHIND)
        self._behind = ffi.buffer(self._page)[-BEHIND:]
        self._store = ffi.new("adamb_store *")
        self.code = int(lib.adamb_store_open(self._store, self._flash, self._page, words))

    def _pointer(self, block: Any) -> Any:
        return self._ffi.from_buffer("uint16_t[]", block)

    def save(self, block: Any) -> int:
        return int(self._lib.adamb_store_save(self._store, self._pointer(block)))

    def restore(self, config: Any, block: Any) -> int:
        given = self._ffi.new("adamb_config *", sizes_of(config))
        return int(self._lib.adamb_store_restore(self._store, given, self._pointer(block), len(block)))

    @property
    def intact(self) -> bool:
        """Nothing was written behind the buffer of a page."""
        return bool(self._ffi.buffer(self._page)[-BEHIND:] == self._behind)

    @property
    def newest(self) -> int:
        return int(self._store.newest)

    @property
    def slots(self) -> int:
        return int(self._store.slots)

    @property
    def sequence(self) -> int:
        return int(self._store.sequence)

    @sequence.setter
    def sequence(self, number: int) -> None:
        self._store.sequence = number
