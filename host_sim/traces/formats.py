"""The text formats of traces, and how a format is recognised.

Every record becomes (time, address, size, write). `unit` says whether `address` is a byte address, the place
of an extent on a disk or the id of an object; `clock` says what `time` counts, "none" where there are none.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

Record = tuple[int, int, int, int]

LARGEST_ADDRESS = 2**64 - 1
LARGEST_TIME = 2**62
LARGEST_SIZE = 2**32 - 1
LINE, SECTOR = 64, 512


class TextFormat(ABC):
    """One format; an instance holds what carries over from line to line."""

    name: ClassVar[str]
    example: ClassVar[str]
    unit: str = "bytes"
    clock: ClassVar[str] = "none"
    #: Instructions of a CPU trace so far.
    instructions: int = 0
    #: Last time of a format whose times are those of the memory, so that they must not go back.
    time: int = 0
    #: What was expected where the last line was refused; empty: a line of this format.
    expected: str = ""

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

    def refuse(self, expected: str) -> bool:
        """False, with what was expected in place of this line."""
        self.expected = expected
        return False

    def at(self, time: int) -> bool:
        """Move on to a time; refused where it is before that of the last line."""
        if time < self.time:
            return self.refuse(f"a time from {self.time} on, for times must not go back")
        self.time = time
        return True


def whole(text: bytes, most: int, base: int = 0) -> int | None:
    """A number from 0 to `most`, hexadecimal after 0x; None for anything else."""
    if not text or len(text) > 24 or not text.isalnum():
        return None
    try:
        value = int(text, base or (16 if text[:2] in (b"0x", b"0X") else 10))
    except ValueError:
        return None
    return value if value <= most else None


class _TwoWords(TextFormat):
    """An address and a word for reading or writing, in either order."""

    #: Words by what they mean: 0 reads, 1 writes.
    kinds: ClassVar[tuple[bytes, bytes]]
    address_at: ClassVar[int]
    hexadecimal: ClassVar[bool] = False

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 2 or parts[1 - self.address_at] not in self.kinds:
            return False
        text = parts[self.address_at]
        address = whole(text, LARGEST_ADDRESS)
        if address is None or (self.hexadecimal and text[:2] not in (b"0x", b"0X")):
            return False
        out.append((0, address, LINE, self.kinds.index(parts[1 - self.address_at])))
        return True


class Ramulator(_TwoWords):
    name, example = "ramulator", "0x12345680 R"
    kinds, address_at, hexadecimal = (b"R", b"W"), 0, True


class LoadStore(_TwoWords):
    name, example = "load-store", "LD 0x12345680"
    kinds, address_at = (b"LD", b"ST"), 1


class CpuTrace(TextFormat):
    """Instructions before the access, its address, and a write-back if one was caused."""

    name, example, clock = "cpu", "3 20734016 [20841280]", "instructions"

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
            out.append((self.instructions, address or 0, LINE, write))
        return True


_DRAMSIM_WORDS = {
    b"R": 0, b"W": 1, b"READ": 0, b"WRITE": 1, b"IFETCH": 0, b"P_FETCH": 0, b"P_MEM_RD": 0, b"P_MEM_WR": 1,
    b"P_LOCK_RD": 0, b"P_LOCK_WR": 1,
}  # fmt: skip


class DramSim(TextFormat):
    """Of DRAMsim3, and the words of DRAMSim2 for the same."""

    name, example, clock = "dramsim3", "0x2000D5C0 READ 30", "cycles"

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 3 or parts[0][:2] not in (b"0x", b"0X"):
            return False
        write = _DRAMSIM_WORDS.get(parts[1].upper())
        address, cycle = whole(parts[0], LARGEST_ADDRESS), whole(parts[2], LARGEST_TIME, 10)
        if write is None or address is None or cycle is None or not self.at(cycle):
            return False
        out.append((cycle, address, LINE, write))
        return True


class DramSys(TextFormat):
    name, example, clock = "dramsys", "31: read 0x400140", "cycles"
    _LINE = re.compile(
        rb"\s*(\d{1,18}):\s*(?:\((\d{1,9})\)\s*)?(read|write)\s+0[xX]([0-9a-fA-F]{1,16})"
        rb"(?:\s+0[xX][0-9a-fA-F]+)?\s*$"
    )

    def read(self, line: bytes, out: list[Record]) -> bool:
        match = self._LINE.match(line)
        if match is None or not self.at(int(match[1])):
            return False
        cycle, length, kind, address = match.groups()
        out.append((int(cycle), int(address, 16), int(length or LINE), int(kind == b"write")))
        return True


class Lackey(TextFormat):
    """`valgrind --tool=lackey --trace-mem=yes`: loads, stores, and M, which is one of each.

    Fetches of instructions are no requests; they are the clock. Where they have been filtered out, every
    access counts as an instruction. What Valgrind says about itself begins with ==PID== and is left out.
    """

    name, example, clock = "lackey", " L 1ffeffe7e0,8", "instructions"
    _LINE = re.compile(rb"\s*([ILSM])\s+([0-9a-fA-F]{1,16}),\s?(\d{1,9})\s*$")
    _SAID = re.compile(rb"==\d+==")
    _fetches = False

    def read(self, line: bytes, out: list[Record]) -> bool:
        if self._SAID.match(line):
            return True
        match = self._LINE.match(line)
        if match is None:
            return False
        kind, address, size = match[1], int(match[2], 16), int(match[3])
        self._fetches = self._fetches or kind == b"I"
        if kind == b"I" or not self._fetches:
            self.instructions += 1
        if kind in b"LM":
            out.append((self.instructions, address, size, 0))
        if kind in b"SM":
            out.append((self.instructions, address, size, 1))
        return True


LARGEST_OFFSET = 2**56 - 1


class PlainIds(TextFormat):
    name, example, unit = "ids", "17", "objects"

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


__all__ = ["TEXT_FORMATS", "Record", "TextFormat", "recognise"]

#: In the order they are tried: a line that fits two formats belongs to the first.
TEXT_FORMATS: tuple[type[TextFormat], ...] = (
    Ramulator, LoadStore, DramSim, DramSys, Lackey, Msr, Spc, PlainIds, CpuTrace, NamedColumns,
)  # fmt: skip


def recognise(line: bytes) -> TextFormat | None:
    """A reader for the format of `line`, the first line with content."""
    starters: list[Callable[[bytes], TextFormat | None]] = [kind.start for kind in TEXT_FORMATS]
    return next((reader for start in starters if (reader := start(line)) is not None), None)
