"""Lines of a text file, plain or gzip, in bounded memory and with errors that say where."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from adamb.budgets.errors import InputError

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
