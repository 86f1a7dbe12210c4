"""The text formats of traces: how each line reads, and how a format is recognised.

Every record becomes (time, address, size, write). `unit` says whether `address` is a byte address or the id
of an object; `clock` says what `time` counts, "none" where the format has no times.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from adamb.host_sim._sim import lib

Record = tuple[int, int, int, int]

LARGEST_ADDRESS = 2**64 - 1
LARGEST_TIME = 2**62
LARGEST_SIZE = 2**32 - 1


class TextFormat(ABC):
    """One format; an instance holds what carries over from line to line."""

    name: ClassVar[str]
    example: ClassVar[str]
    unit: ClassVar[str] = "bytes"
    clock: ClassVar[str] = "none"
    #: Number of the format in `trace_text_read`, which reads its plain lines; None where all are read here.
    fast: ClassVar[int | None] = None
    #: Instructions of a CPU trace so far.
    instructions: int = 0

    @abstractmethod
    def read(self, line: bytes, out: list[Record]) -> bool:
        """Append the line's records; False when the line is not of this format."""

    @classmethod
    def start(cls, line: bytes) -> TextFormat | None:
        """A reader if `line`, the first one with content, is of this format; it does not consume the line."""
        return cls() if cls().read(line, []) else None

    def is_header(self, line: bytes) -> bool:
        """Whether the first line with content only names columns."""
        return False


def whole(text: bytes, most: int, base: int = 0) -> int | None:
    """A number from 0 to `most`, hexadecimal after 0x; None for anything else."""
    if not text or len(text) > 24 or not text.isalnum():
        return None
    try:
        value = int(text, base or (16 if text[:2] in (b"0x", b"0X") else 10))
    except ValueError:
        return None
    return value if value <= most else None


_WRITES = {b"R": 0, b"W": 1, b"READ": 0, b"WRITE": 1}


class Ramulator(TextFormat):
    name, example, fast = "ramulator", "0x12345680 R", lib.TRACE_RAMULATOR

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 2 or parts[0][:2] not in (b"0x", b"0X") or parts[1] not in (b"R", b"W"):
            return False
        address = whole(parts[0], LARGEST_ADDRESS)
        if address is None:
            return False
        out.append((0, address, 64, 1 if parts[1] == b"W" else 0))
        return True


class LoadStore(TextFormat):
    name, example, fast = "load-store", "LD 0x12345680", lib.TRACE_LOAD_STORE

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 2 or parts[0] not in (b"LD", b"ST"):
            return False
        address = whole(parts[1], LARGEST_ADDRESS)
        if address is None:
            return False
        out.append((0, address, 64, 1 if parts[0] == b"ST" else 0))
        return True


class CpuTrace(TextFormat):
    """Instructions before the access, its address, and a write-back if one was caused."""

    name, example, clock = "cpu", "3 20734016 [20841280]", "instructions"
    fast = lib.TRACE_CPU

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if not 2 <= len(parts) <= 3:
            return False
        before = whole(parts[0], LARGEST_TIME)
        addresses = [whole(part, LARGEST_ADDRESS) for part in parts[1:]]
        if before is None or None in addresses or self.instructions + before >= LARGEST_TIME:
            return False
        self.instructions += before + 1
        for write, address in enumerate(addresses):
            out.append((self.instructions, address or 0, 64, write))
        return True


class DramSim(TextFormat):
    name, example, clock = "dramsim3", "0x2000D5C0 READ 30", "cycles"
    fast = lib.TRACE_DRAMSIM3

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 3 or parts[0][:2] not in (b"0x", b"0X") or parts[1].upper() not in _WRITES:
            return False
        address, cycle = whole(parts[0], LARGEST_ADDRESS), whole(parts[2], LARGEST_TIME, 10)
        if address is None or cycle is None:
            return False
        out.append((cycle, address, 64, _WRITES[parts[1].upper()]))
        return True


class DramSys(TextFormat):
    name, example, clock = "dramsys", "31: read 0x400140", "cycles"
    fast = lib.TRACE_DRAMSYS
    _LINE = re.compile(
        rb"\s*(\d{1,18}):\s*(?:\((\d{1,9})\)\s*)?(read|write)\s+0[xX]([0-9a-fA-F]{1,16})"
        rb"(?:\s+0[xX][0-9a-fA-F]+)?\s*$"
    )

    def read(self, line: bytes, out: list[Record]) -> bool:
        match = self._LINE.match(line)
        if match is None:
            return False
        cycle, length, kind, address = match.groups()
        out.append((int(cycle), int(address, 16), int(length or 64), int(kind == b"write")))
        return True


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
        offset, size = whole(parts[4], 2**56 - 1, 10), whole(parts[5], LARGEST_SIZE, 10)
        if time is None or disk is None or offset is None or size is None:
            return False
        out.append((time, (disk << 56) | offset, size, int(parts[3].upper() == b"WRITE")))
        return True

    @classmethod
    def start(cls, line: bytes) -> TextFormat | None:
        return cls() if cls().is_header(line) or cls().read(line, []) else None

    def is_header(self, line: bytes) -> bool:
        return line.strip().lower() == self._HEADER


_COLUMNS = {
    "time": ("time", "timestamp", "clock", "real_time"),
    "id": ("id", "obj_id", "object_id", "object", "key", "address", "addr", "lbn", "lba", "offset"),
    "size": ("size", "obj_size", "object_size", "bytes", "length"),
    "op": ("op", "type", "rw", "write", "command", "operation"),
}
_WRITE_WORDS = (b"w", b"write", b"set", b"st", b"store", b"put", b"1", b"true")


class NamedColumns(TextFormat):
    """A csv whose header names its columns; one of them must be the id."""

    name, unit, clock = "csv", "objects", "none"
    example = "time,id,size (a header that names an id column)"

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._width = len(names)
        self._at: dict[str, int] = {}
        for meaning, known in _COLUMNS.items():
            found = [names.index(name) for name in known if name in names]
            if found:
                self._at[meaning] = found[0]

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
        size = self._number(cells, "size", LARGEST_SIZE, 1)
        if time is None or size is None:
            return False
        write = "op" in self._at and cells[self._at["op"]].lower() in _WRITE_WORDS
        out.append((time, _object_id(cells[self._at["id"]]), size, int(write)))
        return True

    def _number(self, cells: list[bytes], meaning: str, most: int, missing: int) -> int | None:
        if meaning not in self._at:
            return missing
        text = cells[self._at[meaning]]
        value = whole(text, most)
        if value is not None:
            return value
        try:
            rounded = int(float(text))
        except (ValueError, OverflowError):
            return None
        return rounded if 0 <= rounded <= most else None


def _object_id(cell: bytes) -> int:
    """Numbers count as they are; any other name gets a number that is the same in every run."""
    value = whole(cell, LARGEST_ADDRESS)
    if value is not None:
        return value
    return int.from_bytes(hashlib.blake2b(cell, digest_size=8).digest(), "little")


#: In the order they are tried: a line that fits two formats belongs to the first.
TEXT_FORMATS: tuple[type[TextFormat], ...] = (
    Ramulator, LoadStore, DramSim, DramSys, Msr, PlainIds, CpuTrace, NamedColumns,
)  # fmt: skip


def recognise(line: bytes) -> TextFormat | None:
    """A reader for the format of `line`, the first line with content."""
    starters: list[Callable[[bytes], TextFormat | None]] = [kind.start for kind in TEXT_FORMATS]
    return next((reader for start in starters if (reader := start(line)) is not None), None)
