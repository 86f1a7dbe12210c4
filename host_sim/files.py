"""Writing files so that a reader, or a run after a crash, meets a whole file or none."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

PART = ".part"
"""Ending of a file that is not whole yet; a process that was killed leaves it behind."""

UNFINISHED = ".unfinished"
"""In a folder whose files are being saved; a process that was killed leaves it behind."""


Content = bytes | Callable[[BinaryIO], object]
"""Of a file: all of it, or a function that writes it, for what is too large to be held twice."""


def write_atomic(path: Path, content: Content) -> None:
    """Write beside the target, flush to the disk, rename: a reader sees the old file or the new one.

    A device such as /dev/null is written to directly; renaming over it would replace it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with path.open("wb") as file:
            _write(file, content)
        return
    try:
        _write_beside(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write(file: BinaryIO, content: Content) -> None:
    if isinstance(content, bytes):
        file.write(content)
    else:
        content(file)


def _write_beside(path: Path, content: Content) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        _flush_folder(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _flush_folder(folder: Path) -> None:
    """The new name must survive a power cut too, not only the content."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def json_bytes(value: Any, indent: int | None = 2) -> bytes:
    return (json.dumps(value, indent=indent, allow_nan=False) + "\n").encode()


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
