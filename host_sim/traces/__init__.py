"""Trace files: requests to memory or to a cache from every supported format, recognised by content.

`open_store` gives random access for replay, decoded once; `TraceReader` one pass in bounded memory, `read_series` one
column of a csv. A format is a class in `traces/formats.py`; gzip is transparent everywhere.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import tempfile
import time
import weakref
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

import numpy as np

from adamb.firmware_model.host.errors import InputError, nearest
from adamb.host_sim.files import PART, write_atomic
from adamb.host_sim.solvers import cache_folder, solution_key
from adamb.host_sim.traces.formats import TEXT_FORMATS, Record, TextFormat, recognise

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 1 << 16


def open_bytes(path: Path) -> IO[bytes]:
    """The (decompressed) bytes of a file; gzip is recognised by content."""
    if not path.is_file():
        raise InputError("file", str(path), "is not a file" if path.exists() else "there is no such file")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(IO[bytes], gzip.GzipFile(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise InputError("file", str(path), f"cannot be read: {error.strerror or error}") from None


def open_text(path: Path) -> IO[bytes]:
    """The bytes of a text file behind the mark that spreadsheets and editors of Windows put first."""
    stream = open_bytes(path)
    try:
        if read_block(stream, path, len(BOM_UTF8), "after 0 lines") != BOM_UTF8:
            stream.seek(0)
    except InputError:
        stream.close()
        raise
    return stream


def read_block(stream: IO[bytes], path: Path, size: int, position: str) -> bytes:
    """The next bytes; a broken gzip becomes an error that says how far reading got (`position`)."""
    try:
        return stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(str(path), position, f"the gzip data are truncated or damaged ({error})") from None
    except OSError as error:
        raise InputError("file", str(path), f"cannot be read: {error.strerror or error}") from None


def show(text: bytes) -> str:
    """A piece of a bad line that is safe to print."""
    cut = text[:60].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "?" for c in cut) + ("..." if len(text) > 60 else "")


def counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


def bad_line(path: Path, number: int, text: bytes, expected: str) -> InputError:
    """One line that names file, line, what was expected and how much was read before it."""
    read = f"{counted(number - 1)} {'was' if number == 2 else 'were'} read"
    return InputError(f"{path}:{number}", show(text), f"expected {expected}; {read}")


def line_batches(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """(number of the first line, lines without their ends), a block at a time; numbers start at 1."""
    number, tail = 1, b""
    with open_text(path) as stream:
        while block := read_block(stream, path, BLOCK_BYTES, f"after {counted(number - 1)}"):
            lines = (tail + block).split(b"\n")
            tail = lines.pop()
            too_long = next((i for i, line in enumerate((*lines, tail)) if len(line) > LONGEST_LINE), None)
            if too_long is not None:
                raise bad_line(path, number + too_long, (*lines, tail)[too_long],
                               f"a line of at most {LONGEST_LINE} bytes")  # fmt: skip
            yield number, lines
            number += len(lines)
    if tail:
        yield number, [tail]


#: One request as it is stored.
RECORD = np.dtype([("time", "<i8"), ("address", "<u8"), ("size", "<u4"), ("write", "<u4")])
ORACLE = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
assert ORACLE.itemsize == struct.calcsize("<IQIq") == 24


class TraceReader:
    """Iterate to get arrays of RECORD; `format`, `unit` and `clock` are known from the start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text: TextFormat | None = None
        head = self._head()
        if _looks_binary(head):
            self._check_oracle(head)
            self.format, self.unit, self.clock = "oracleGeneral", "objects", "seconds"
        else:
            self._text = self._recognise()
            self.format, self.unit, self.clock = self._text.name, self._text.unit, self._text.clock

    def __iter__(self) -> Iterator[np.ndarray]:
        found = 0
        for records in self._oracle_batches() if self._text is None else self._text_batches():
            found += len(records)
            yield records
        if not found:
            raise InputError(str(self.path), "no request", "only a header was read")

    def _head(self) -> bytes:
        with open_bytes(self.path) as stream:
            head = read_block(stream, self.path, 24 * 1024, "after 0 lines")
        if not head:
            raise InputError(str(self.path), "empty file", "a trace has requests; 0 lines were read")
        return head

    # ---- text -------------------------------------------------------------------------------------------

    def _recognise(self) -> TextFormat:
        for first, lines in line_batches(self.path):
            for number, line in enumerate(lines, start=first):
                if _has_content(line):
                    reader = recognise(line)
                    if reader is None:
                        known = ", ".join(f"{kind.name} `{kind.example}`" for kind in TEXT_FORMATS)
                        raise bad_line(self.path, number, line, f"one of the formats {known}")
                    return reader
        raise InputError(str(self.path), "no request", "only blank lines and comments were read")

    def _text_batches(self) -> Iterator[np.ndarray]:
        text = self._recognise()
        header_possible = True
        for first, lines in line_batches(self.path):
            records: list[Record] = []
            for number, line in enumerate(lines, start=first):
                if not _has_content(line):
                    continue
                if header_possible:
                    header_possible = False
                    if text.is_header(line):
                        continue
                if not text.read(line, records):
                    usual = f"the {text.name} format of the lines before, `{text.example}`"
                    raise bad_line(self.path, number, line, text.expected or usual)
            yield _as_records(records)

    # ---- oracleGeneral ----------------------------------------------------------------------------------

    def _check_oracle(self, head: bytes) -> None:
        """Junk is refused before a record is believed: times must not run back, next uses not lie behind."""
        whole = len(head) // ORACLE.itemsize
        records = np.frombuffer(head[: whole * ORACLE.itemsize], dtype=ORACLE)
        times, following = records["time"].astype(np.int64), records["next"]
        ahead = (following == -1) | (following > np.arange(1, whole + 1))
        if whole == 0 or not ahead.all() or (np.diff(times) < 0).any():
            expected = "oracleGeneral records of 24 bytes (time, id, size, next access) or text"
            raise InputError(str(self.path), "binary data", f"expected {expected}; 0 lines were read")

    def _oracle_batches(self) -> Iterator[np.ndarray]:
        done, tail = 0, b""
        size = BLOCK_BYTES // ORACLE.itemsize * ORACLE.itemsize
        with open_bytes(self.path) as stream:
            while block := read_block(stream, self.path, size, f"after {done} records"):
                data = tail + block
                cut = len(data) // ORACLE.itemsize * ORACLE.itemsize
                tail = data[cut:]
                raw = np.frombuffer(data[:cut], dtype=ORACLE)
                yield self._checked_oracle(raw, done)
                done += len(raw)
        if tail:
            raise InputError(f"{self.path}: record {done + 1}", f"{len(tail)} bytes",
                             f"truncated, a record has 24 bytes; {done} records were read")  # fmt: skip

    def _checked_oracle(self, raw: np.ndarray, done: int) -> np.ndarray:
        following = raw["next"]
        place = np.arange(done + 1, done + 1 + len(raw))
        never = (following == -1) | (following == np.iinfo(np.int64).max)
        wrong = np.flatnonzero(~never & (following <= place))
        if len(wrong):
            at = done + int(wrong[0])
            raise InputError(f"{self.path}: record {at + 1}", int(following[wrong[0]]),
                             f"the next access must come later or be -1; {at} records were read")  # fmt: skip
        out = np.zeros(len(raw), dtype=RECORD)
        out["time"], out["address"], out["size"] = raw["time"], raw["id"], raw["size"]
        return out


def _as_records(rows: list[Record]) -> np.ndarray:
    out = np.zeros(len(rows), dtype=RECORD)
    if rows:
        time, address, size, write = zip(*rows, strict=True)
        out["time"], out["size"], out["write"] = time, size, write
        out["address"] = np.fromiter(address, dtype=np.uint64, count=len(rows))
    return out


def _has_content(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(b"#")


def _looks_binary(head: bytes) -> bool:
    """Text has no control characters besides white space."""
    return any(byte < 9 or 13 < byte < 32 for byte in head[:4096])


#: Decoded traces beyond this are dropped, oldest first; they can be made again.
STORE_LIMIT_BYTES = 4 * 2**30
ABANDONED_SECONDS = 24 * 3600.0
#: Raised when a file is decoded to other records than before.
DECODING = 2


class TraceStore:
    """Records of a trace by slice; each slice is one read of the decoded file."""

    def __init__(self, path: Path) -> None:
        reader = TraceReader(path)
        self.path, self.format, self.unit, self.clock = path, reader.format, reader.unit, reader.clock
        self._file = _decoded(path, reader)
        self._file.seek(0, os.SEEK_END)
        self._length = self._file.tell() // RECORD.itemsize
        # Not __del__: in a circle the collector may finalize the file first, which warns.
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, step = part.indices(self._length)
        self._file.seek(start * RECORD.itemsize)
        data = self._file.read(max(0, stop - start) * RECORD.itemsize)
        return np.frombuffer(data, dtype=RECORD)[::step]

    def close(self) -> None:
        """Give the file back; the store cannot be read afterwards."""
        self._file.close()


def open_store(path: Path) -> TraceStore:
    """The decoded form of a trace; reads the whole file once when it is new or has changed."""
    return TraceStore(path)


def _decoded(path: Path, reader: TraceReader) -> IO[bytes]:
    status = path.stat()
    identity = (str(path.resolve()), status.st_size, status.st_mtime_ns, RECORD.descr, DECODING)
    key = solution_key("trace", *identity)
    target = cache_folder() / f"trace-{key}.bin"
    try:
        return target.open("rb")
    except OSError:
        pass
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, partial(_write, reader))
        _prune(target)
        return target.open("rb")
    except OSError:
        # The cache folder is read-only or full: an anonymous temporary file serves this run.
        anonymous = tempfile.TemporaryFile()  # noqa: SIM115
        _write(reader, anonymous)
        return anonymous


def _write(reader: TraceReader, file: IO[bytes]) -> None:
    for records in reader:
        file.write(records.tobytes())


def _prune(keep: Path) -> None:
    for left in keep.parent.glob(f".trace-*{PART}"):  # by a process that was killed while it decoded
        if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
            left.unlink(missing_ok=True)
    files = sorted(keep.parent.glob("trace-*.bin"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > STORE_LIMIT_BYTES and file != keep:
            file.unlink(missing_ok=True)


#: A series is held in memory: 8 bytes a value.
MOST_VALUES = 10_000_000


def read_series(path: Path, column: str = "", least: int = 1) -> np.ndarray:
    """The column scaled to a maximum of 1, at least `least` values; negative or missing ones are refused."""
    values: list[float] = []
    index: int | None = None
    for first, lines in line_batches(path):
        for number, raw in enumerate(lines, start=first):
            cells = [cell.strip().strip(b'"') for cell in raw.split(b",")]
            if not raw.strip() or raw.lstrip().startswith(b"#"):
                continue
            if index is None:
                index, is_header = _column_index(path, number, raw, cells, column)
                if is_header:
                    continue
            value = _number(cells[index]) if index < len(cells) else None
            if value is None or value < 0:
                raise bad_line(path, number, raw, f"a number from 0 in column {index + 1}")
            values.append(value)
            if len(values) > MOST_VALUES:
                raise InputError(str(path), len(values), f"a series has at most {MOST_VALUES:,} values")
    if len(values) < least:
        raise InputError(str(path), len(values), f"at least {least} values are needed")
    series = np.asarray(values)
    if series.max() <= 0.0:
        raise InputError(str(path), 0.0, "every value is 0, there is no demand to serve")
    return series / series.max()


def _number(cell: bytes) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _column_index(path: Path, number: int, raw: bytes, cells: list[bytes], column: str) -> tuple[int, bool]:
    """Which column to read, and whether this line is the header that said so."""
    names = [cell.decode("utf-8", "replace") for cell in cells]
    if column:
        if column in names:
            return names.index(column), True
        raise InputError("column", column, f"not in the header of {path}, {nearest(column, names)}")
    numeric = [i for i, cell in enumerate(cells) if _number(cell) is not None]
    if numeric:
        return numeric[0], False
    if len(cells) == 1:
        return 0, True
    raise bad_line(path, number, raw, "numbers, or name the column: this looks like a header")


__all__ = [
    "LINE_BYTES",
    "RECORD",
    "TraceReader",
    "TraceStore",
    "byte_addresses",
    "object_ids",
    "open_store",
    "read_series",
]

#: A cache line; byte addresses of one line are one object to a cache.
LINE_BYTES = 64


def object_ids(records: np.ndarray, unit: str) -> np.ndarray:
    """Key of a cache: the id (or the start of an extent) itself, or the line of a byte address."""
    return records["address"] // np.uint64(LINE_BYTES) if unit == "bytes" else records["address"]


def byte_addresses(records: np.ndarray, unit: str) -> np.ndarray:
    """Address that a memory decodes: the address itself, or one line per object (ids wrap at 58 bits)."""
    return records["address"] * np.uint64(LINE_BYTES) if unit == "objects" else records["address"]
