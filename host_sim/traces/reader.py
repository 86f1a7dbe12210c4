"""Records of a trace file, a batch at a time: the format is recognised, memory stays bounded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.traces.formats import TEXT_FORMATS, Record, TextFormat, recognise
from adamb.host_sim.traces.lines import (
    BLOCK_BYTES,
    LONGEST_LINE,
    bad_line,
    counted,
    line_batches,
    open_bytes,
    open_text,
    read_block,
)

#: One request as it is stored; `next` is the 1-based index of the next request for the same id, -1 never, 0
#: unknown.
RECORD = np.dtype([("time", "<i8"), ("address", "<u8"), ("size", "<u4"), ("write", "<u4"), ("next", "<i8")])
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
        if text.fast is not None:
            yield from self._fast_batches(text)
            return
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
                self._read_line(text, number, line, records)
            yield _as_records(records)

    def _read_line(self, text: TextFormat, number: int, line: bytes, records: list[Record]) -> None:
        if len(line) > LONGEST_LINE:
            raise bad_line(self.path, number, line, f"a line of at most {LONGEST_LINE} bytes")
        if _has_content(line) and not text.read(line, records):
            usual = f"the {text.name} format of the lines before, `{text.example}`"
            raise bad_line(self.path, number, line, text.expected or usual)

    def _fast_batches(self, text: TextFormat) -> Iterator[np.ndarray]:
        """Plain lines in C, every other one (comments, odd spacing, mistakes) through the format's reader."""
        number, tail = 1, b""
        progress = ffi.new("trace_progress *")
        with open_text(self.path) as stream:
            while block := read_block(stream, self.path, BLOCK_BYTES, f"after {counted(number - 1)}"):
                data = tail + block
                at = 0
                while True:
                    yield self._fast_lines(text, data, at, progress)
                    at += progress.bytes
                    number += progress.lines
                    end = data.find(b"\n", at)
                    if end < 0:
                        break
                    odd: list[Record] = []
                    self._read_line(text, number, data[at:end], odd)
                    yield _as_records(odd)
                    at, number = end + 1, number + 1
                tail = data[at:]
                if len(tail) > LONGEST_LINE:
                    self._read_line(text, number, tail, [])
        last: list[Record] = []
        self._read_line(text, number, tail, last)
        yield _as_records(last)

    def _fast_lines(self, text: TextFormat, data: bytes, at: int, progress: Any) -> np.ndarray:
        """Records of the plain lines from `at` on; `progress` says how far they went."""
        records = np.empty((len(data) - at) // 2 + 2, dtype=RECORD)
        progress.instructions, progress.time = text.instructions, text.time
        lib.trace_text_read(
            text.fast, ffi.from_buffer(data) + at, len(data) - at,
            ffi.cast("trace_record *", ffi.from_buffer(records)), len(records), progress,
        )  # fmt: skip
        text.instructions, text.time = progress.instructions, progress.time
        return records[: progress.records].copy()

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
        out["next"] = np.where(never, -1, following)
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
