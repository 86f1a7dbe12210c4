"""Files that a command writes: whole or not at all, and never over another's."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.files import UNFINISHED, json_bytes, write_atomic

PAGE_MARK = '<meta name="generator" content="adamb report">'
"""In the head of every page we write, so that a later one may replace it."""


def check_outputs(
    json: str | None = None,
    folder: Path | None = None,
    names: Iterable[str] = (),
    *,
    files: Iterable[Path] = (),
    replace: bool = False,
) -> list[Path]:
    """What a command is going to write: its JSON, unless that is standard output, files, names in a folder.

    Called before the work, so that no hour of it is lost to a place that cannot be written: an InputError
    where a file is there already, an OSError that names the path where none can be made. The folder itself is
    made later; of the other files the folder must exist. Files of a save that did not end may be replaced.
    """
    alone = [*([] if json in (None, "-") else [Path(str(json))]), *files]
    inside = [] if folder is None else [folder / name for name in names]
    cut = folder is not None and os.path.isfile(folder / UNFINISHED)
    for path in [*alone, *([] if cut else inside)]:
        if os.path.isfile(path) and not replace:
            raise InputError("out", str(path), "exists already; choose another place or remove it")
    for path in alone:
        _try_to_write(path, path.parent)
    if folder is not None:
        there = (each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
        _try_to_write(folder, next(there))
    return [*alone, *inside]


def _try_to_write(path: Path, parent: Path) -> None:
    """A nameless file in the folder tells more than permission bits do: a disk may be mounted read-only.

    A device such as /dev/full is left alone, because writing to it has effects.
    """
    try:
        if path != parent and os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path == parent or os.path.isfile(path) or not os.path.exists(path):
            with tempfile.TemporaryFile(dir=parent):
                pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_json(where: str | None, content: Mapping[str, Any]) -> None:
    """To the file that --json names; `-` is standard output, None is nowhere."""
    if where == "-":
        sys.stdout.write(json_bytes(content).decode())
    elif where is not None:
        write_atomic(Path(where), json_bytes(content))


def describe_os_error(error: OSError) -> str:
    """What went wrong with which file, in one line."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def refuse_to_replace(page: Path) -> None:
    """A report may replace a report, and nothing else."""
    if page.is_dir():
        raise InputError("out", str(page), "is a folder; name the file, such as report.html")
    if not page.is_file():
        return
    with page.open("rb") as file:
        ours = PAGE_MARK.encode() in file.read(4096)
    if not ours:
        raise InputError("out", str(page), "exists and is not a report; choose another place or remove it")


def save(folder: Path, files: Mapping[str, bytes], *, replace: bool = True) -> None:
    """Write the files of one run into a folder, in the order given, and those of no other run between them.

    Without `replace` a file that another run has written since this one began is left alone. A reader takes a
    folder with the last of the files for complete, so this one is removed first and written last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        mark = folder / UNFINISHED
        begun = mark.is_file()  # by a save that was cut
        replace = replace or begun
        for name in files:
            if not replace and os.path.isfile(folder / name):
                reason = "another run has written here meanwhile; choose another place or remove it"
                raise FileExistsError(errno.EEXIST, reason, str(folder / name))
        mark.write_text("a save of this folder has begun; the same command writes it again\n")
        try:
            for last in [*files][-1:]:  # none where there is nothing to save
                if os.path.isfile(folder / last):
                    (folder / last).unlink()
                    begun = True
            for name, content in files.items():
                write_atomic(folder / name, content)
                begun = True
        finally:
            if not begun:
                mark.unlink()
        mark.unlink(missing_ok=True)


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
