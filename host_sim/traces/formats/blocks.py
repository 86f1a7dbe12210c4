"""Traces of disks and caches: ids, MSR Cambridge, SPC, and a csv whose header names its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from adamb.host_sim._sim import lib
from adamb.host_sim.traces.formats.base import (
    LARGEST_ADDRESS,
    LARGEST_SIZE,
    LARGEST_TIME,
    LINE,
    SECTOR,
    Record,
    TextFormat,
    whole,
)

LARGEST_OFFSET = 2**56 - 1


class PlainIds(TextFormat):
    name, example, unit, fast = "ids", "17", "objects", lib.TRACE_IDS

    def read(self, line: bytes, out: list[Record]) -> bool:
        value = whole(line.strip(), LARGEST_ADDRESS)
        if value is None:
            return False
        out.append((0, value, 1, 0))
        return True


class Msr(TextFormat):
    """MSR Cambridge block traces; Windows ticks of 100 ns, an object is a disk offset."""

    name, unit, clock = "msr", "extents", "ticks"
    example = "128166372003061629,hm,1,Read,383496192,32768,58000"
    _HEADER = b"timestamp,hostname,disknumber,type,offset,size,responsetime"

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.strip().split(b",")
        if len(parts) != 7 or parts[3].upper() not in (b"READ", b"WRITE"):
            return False
        time, disk = whole(parts[0], LARGEST_TIME, 10), whole(parts[2], 255, 10)
        offset, size = whole(parts[4], LARGEST_OFFSET, 10), whole(parts[5], LARGEST_SIZE, 10)
        if time is None or disk is None or offset is None or size is None:
            return False
        out.append((time, (disk << 56) | offset, size, int(parts[3].upper() == b"WRITE")))
        return True

    @classmethod
    def start(cls, line: bytes) -> TextFormat | None:
        return cls() if cls().is_header(line) or cls().read(line, []) else None

    def is_header(self, line: bytes) -> bool:
        return line.strip().lower() == self._HEADER


class Spc(TextFormat):
    """Storage Performance Council: unit, block of 512 bytes, bytes, R or W, seconds; more is ignored."""

    name, unit, clock = "spc", "extents", "microseconds"
    example = "0,20941264,8192,W,0.551706"

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = [part.strip() for part in line.split(b",")]
        if len(parts) < 5 or parts[3].upper() not in (b"R", b"W"):
            return False
        disk, block = whole(parts[0], 255, 10), whole(parts[1], LARGEST_OFFSET // SECTOR, 10)
        size, time = whole(parts[2], LARGEST_SIZE, 10), _rounded(parts[4], 1e6)
        if disk is None or block is None or size is None or time is None:
            return False
        out.append((time, (disk << 56) | block * SECTOR, size, int(parts[3].upper() == b"W")))
        return True


_COLUMNS = {
    "time": ("time", "timestamp", "clock", "real_time"),
    "id": ("id", "obj_id", "object_id", "object", "key", "address", "addr", "offset", "lbn", "lba", "sector"),
    "size": ("size", "obj_size", "object_size", "bytes", "length"),
    "op": ("op", "opcode", "type", "rw", "write", "command", "cmd", "operation"),
}
#: What the id column counts by its name, and the bytes of a request without a size; others are object ids.
_UNITS = {"address": ("bytes", LINE), "addr": ("bytes", LINE), "offset": ("extents", SECTOR),
          "lbn": ("extents", SECTOR), "lba": ("extents", SECTOR), "sector": ("extents", SECTOR)}  # fmt: skip
_BLOCK_NUMBERS = ("lbn", "lba", "sector")
_READ_WORDS = "r read rd get gets ld load fetch 0 false"
_WRITE_WORDS = "w write wr set st store put add replace cas append prepend incr decr delete 1 true"
#: READ and WRITE of SCSI with 6, 10, 16 and 12 byte commands.
_SCSI_READS, _SCSI_WRITES = "08 28 88 a8", "0a 2a 8a aa"
_OPS = {
    spelt.encode(): write
    for write, words, codes in ((0, _READ_WORDS, _SCSI_READS), (1, _WRITE_WORDS, _SCSI_WRITES))
    for spelt in [*words.split(), *codes.split(), *(f"0x{code}" for code in codes.split())]
}


class NamedColumns(TextFormat):
    """A csv whose header names its columns; one of them must be the id, an address or a block."""

    name, unit, clock = "csv", "objects", "none"
    example = "time,id,size (a header that names an id column)"

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._width = len(names)
        self._at: dict[str, int] = {}
        for meaning, known in _COLUMNS.items():
            found = [names.index(name) for name in known if name in names]
            if found:
                self._at[meaning] = found[0]
        key = names[self._at["id"]] if "id" in self._at else ""
        self.unit, self._size = _UNITS.get(key, ("objects", 1))
        self._scale = SECTOR if key in _BLOCK_NUMBERS else 1

    @classmethod
    def start(cls, line: bytes) -> TextFormat | None:
        names = [cell.strip().strip(b'"').lower().decode("utf-8", "replace") for cell in line.split(b",")]
        reader = cls(names)
        return reader if "id" in reader._at and len(set(names)) == len(names) else None

    def is_header(self, line: bytes) -> bool:
        return True

    def read(self, line: bytes, out: list[Record]) -> bool:
        cells = [cell.strip().strip(b'"') for cell in line.split(b",")]
        if len(cells) != self._width or not cells[self._at["id"]]:
            return False
        time = self._number(cells, "time", LARGEST_TIME, 0)
        size = self._number(cells, "size", LARGEST_SIZE, self._size)
        if time is None or size is None:
            return False
        key = self._key(cells[self._at["id"]])
        if key is None:
            return self.refuse(f"a whole number (hexadecimal after 0x) in column {self._at['id'] + 1}")
        write = _OPS.get(cells[self._at["op"]].lower()) if "op" in self._at else 0
        if write is None:
            words = "read or write (r, w, get, set, 0, 1, …) or a SCSI code such as 28 or 2a"
            return self.refuse(f"{words} in column {self._at['op'] + 1}")
        out.append((time, key, size, write))
        return True

    def _key(self, cell: bytes) -> int | None:
        """Object ids may be any name; it gets a number that is the same in every run."""
        value = whole(cell, LARGEST_ADDRESS)
        if self.unit != "objects":
            return None if value is None or value > LARGEST_ADDRESS // self._scale else value * self._scale
        if value is not None:
            return value
        return int.from_bytes(hashlib.blake2b(cell, digest_size=8).digest(), "little")

    def _number(self, cells: list[bytes], meaning: str, most: int, missing: int) -> int | None:
        if meaning not in self._at:
            return missing
        text = cells[self._at[meaning]]
        value = whole(text, most)
        return _rounded(text, 1.0, most) if value is None else value


def _rounded(text: bytes, scale: float, most: int = LARGEST_TIME) -> int | None:
    """A decimal fraction, times `scale`, cut to a whole number."""
    try:
        value = int(float(text) * scale)
    except (ValueError, OverflowError):
        return None
    return value if 0 <= value <= most else None
