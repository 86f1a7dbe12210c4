"""Files a command leaves behind: whole or not at all, never over another's without being told to."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError


def write_atomic(path: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename: a reader sees the old file or the new one.

    A device such as /dev/null is written to directly; renaming over it would replace it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        path.write_bytes(content)
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def refuse_to_overwrite(paths: Iterable[Path], *, force: bool) -> None:
    """An InputError when one of the files is there already.

    A path that cannot even be looked at counts as free: writing it will say why, after the results are out.
    """
    for path in paths:
        if os.path.isfile(path) and not force:
            raise InputError("out", str(path), "exists already; choose another place or add --force")


def json_bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def save(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of one run into a folder, in the order given."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomic(folder / name, content)
