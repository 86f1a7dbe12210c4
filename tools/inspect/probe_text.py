"""What probes and their tools print of a memory, as bytes: Intel HEX, S-records, xxd and gdb's x command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from adamb.firmware_model.host.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
ERASED = b"\xff"
Piece = tuple[int, int, bytes]
"""Line, address, bytes."""
_HEX = re.compile(r":([0-9A-Fa-f]*)")
_RECORD = re.compile(r"S([0-9])([0-9A-Fa-f]*)")
_XXD = re.compile(r"([0-9A-Fa-f]{6,16}): ((?:[0-9A-Fa-f]{2,}[ ]?)+)(?: .*)?")
_GDB = re.compile(r"0x([0-9A-Fa-f]+)(?: <[^>]*>)?:((?:\s+0x(?:[0-9A-Fa-f]{2}){1,8})+)\s*")
_PLAIN = re.compile(r"(?:[0-9A-Fa-f]{2})+")


class _Torn(Exception):
    """Number of a line, and what is wrong with it."""


def read_probe(path: Path, content: bytes) -> tuple[bytes, str] | None:
    """The memory from its lowest address on and the name of the form; None for anything else."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        return None
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1)]
    lines = [(i, line) for i, line in lines if line and not line.startswith("(gdb)")]
    for form, shape, read in FORMS:
        if lines and shape.fullmatch(lines[0][1]):
            try:
                return _memory(list(read(lines))), form
            except _Torn as torn:
                line, what = torn.args
                raise InputError("file", f"{path}, line {line}", f"{what}: {form} that is torn") from None
    return None


def _memory(pieces: list[Piece]) -> bytes:
    """Pieces in the place of their addresses; what none of them says is erased flash."""
    if not pieces:
        raise _Torn(1, "and the others hold no data")
    first = min(address for _, address, _ in pieces)
    last = max(address + len(data) for _, address, data in pieces)
    if last - first > MAX_BYTES:
        line = next(line for line, address, data in pieces if address + len(data) == last)
        raise _Torn(line, f"is {last - first} bytes behind the lowest address, at most {MAX_BYTES}")
    memory = bytearray(ERASED) * (last - first)
    for _, address, data in pieces:
        memory[address - first : address - first + len(data)] = data
    return bytes(memory)


def _bytes(digits: str, line: int, least: int) -> bytes:
    if len(digits) % 2 or len(digits) < 2 * least:
        raise _Torn(line, f"has {len(digits)} digits, too few")
    return bytes.fromhex(digits)


def _intel_hex(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    base = 0
    for line, text in lines:
        record = _bytes(_digits(_HEX, line, text)[-1], line, 5)
        if record[0] != len(record) - 5:
            raise _Torn(line, f"says {record[0]} bytes of data and has {len(record) - 5}")
        if sum(record) & 0xFF:
            raise _Torn(line, f"checksum {record[-1]:02X}, should be {-sum(record[:-1]) & 0xFF:02X}")
        kind, data = record[3], record[4:-1]
        if kind == 1:
            return
        if kind == 0:
            yield line, base + int.from_bytes(record[1:3], "big"), data
        elif kind in (2, 4):
            base = int.from_bytes(data, "big") << (4 if kind == 2 else 16)
    raise _Torn(lines[-1][0], "is the last, and no end record (:00000001FF)")


def _s_records(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    for line, text in lines:
        kind, digits = _digits(_RECORD, line, text)
        record = _bytes(digits, line, 3)
        if record[0] != len(record) - 1:
            raise _Torn(line, f"says {record[0]} bytes and has {len(record) - 1}")
        if sum(record) & 0xFF != 0xFF:
            raise _Torn(line, f"checksum {record[-1]:02X}, should be {~sum(record[:-1]) & 0xFF:02X}")
        if kind in "789":
            return
        if kind in "123":
            width = int(kind) + 1
            yield line, int.from_bytes(record[1 : 1 + width], "big"), record[1 + width : -1]
    raise _Torn(lines[-1][0], "is the last, and no end record (S7, S8 or S9)")


def _digits(shape: re.Pattern[str], line: int, text: str) -> tuple[str, ...]:
    match = shape.fullmatch(text)
    if match is None:
        raise _Torn(line, f"is no record: {text[:20]!r}")
    return tuple(match.groups())


def _in_a_row(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Lines of a dump follow one another; one that is missing would move what comes after it."""
    expected = None
    for line, address, data in pieces:
        if expected is not None and address != expected:
            raise _Torn(line, f"is at {address:#x}, the line before ends at {expected:#x}")
        expected = address + len(data)
        yield line, address, data


def _xxd(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    def pieces() -> Iterator[Piece]:
        for line, text in lines:
            address, digits = _digits(_XXD, line, text)
            yield line, int(address, 16), _bytes(digits.replace(" ", ""), line, 1)

    return _in_a_row(pieces())


def _gdb(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    def pieces() -> Iterator[Piece]:
        for line, text in lines:
            address, numbers = _digits(_GDB, line, text)
            words = [number[2:] for number in numbers.split()]
            yield line, int(address, 16), b"".join(bytes.fromhex(word)[::-1] for word in words)

    return _in_a_row(pieces())


def _plain(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    address = 0
    for line, text in lines:
        if _PLAIN.fullmatch(text) is None:
            raise _Torn(line, f"is no row of bytes: {text[:20]!r}")
        yield line, address, bytes.fromhex(text)
        address += len(text) // 2


FORMS: tuple[tuple[str, re.Pattern[str], Callable[[list[tuple[int, str]]], Iterator[Piece]]], ...] = (
    ("Intel HEX", _HEX, _intel_hex),
    ("S-records", _RECORD, _s_records),
    ("a print of gdb", _GDB, _gdb),
    ("a print of xxd", _XXD, _xxd),
    ("a print of xxd -p", _PLAIN, _plain),
)
"""Name, how the first line looks, and the reader. Little-endian, as every processor of the boards is."""
