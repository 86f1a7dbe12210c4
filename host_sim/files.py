"""Writing files so that a reader, or a run after a crash, meets a whole file or none."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

PART = ".part"
"""How a file ends that is not whole yet; a process that was killed leaves it behind."""

UNFINISHED = ".unfinished"
"""In a folder whose files are being saved; a process that was killed leaves it behind."""


def write_atomic(path: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename: a reader sees the old file or the new one.

    A device such as /dev/null is written to directly; renaming over it would replace it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        path.write_bytes(content)
        return
    try:
        _write_beside(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write_beside(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
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
