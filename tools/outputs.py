"""Files a command leaves behind: whole or not at all, never over another's without being told to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from adamb.budgets.errors import InputError
from adamb.host_sim.files import csv_bytes, json_bytes, write_atomic

__all__ = ["csv_bytes", "json_bytes", "refuse_to_overwrite", "save", "write_atomic"]


def refuse_to_overwrite(paths: Iterable[Path], *, force: bool) -> None:
    """An InputError when one of the files is there already.

    A path that cannot even be looked at counts as free: writing it will say why, after the results are out.
    """
    for path in paths:
        if os.path.isfile(path) and not force:
            raise InputError("out", str(path), "exists already; choose another place or add --force")


def save(folder: Path, files: dict[str, bytes], *, replace: bool = True) -> None:
    """Write the files of one run into a folder, in the order given, and those of no other run between them.

    Without `replace` a file that another run has written since this one began is left alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        for name in files:
            if not replace and os.path.isfile(folder / name):
                reason = "another run has written here meanwhile; choose another place or add --force"
                raise FileExistsError(errno.EEXIST, reason, str(folder / name))
        for name, content in files.items():
            write_atomic(folder / name, content)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else saves into the folder; where the system has no such locks, as before."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a network folder may know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
