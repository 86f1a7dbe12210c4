"""A computer where something goes wrong while a command runs.

The fault comes at the worst moment: when a file is written beside its target and is about to be renamed, or
when the work begins.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adamb.tools.cli import main

DISK_LEFT = 150
"""A full disk takes this many bytes of every file."""

CELL_FOLDERS = ("cells", "entries")
"""Where a sweep and a league keep what is finished, a file each."""


@contextmanager
def on_renaming(act: Callable[[], None], finished: int | None = None, passed: int = 0) -> Iterator[None]:
    """Do this before the first renaming, or before that of a cell when so many cells are finished.

    Or when so many files have got their names before.
    """
    real, cells, files = os.replace, [], []

    def replaced(source, target, **options):
        files.append(target)
        if finished is not None and Path(target).parent.name in CELL_FOLDERS:
            cells.append(target)
        if len(cells) > finished if finished is not None else len(files) > passed:
            os.replace = real
            act()
        return real(source, target, **options)

    os.replace = replaced
    try:
        yield
    finally:
        os.replace = real


def failing(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


@contextmanager
def limited(kind: int, most: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def memory_in_use() -> int:
    """Bytes of addresses, which is what the system limits."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextmanager
def clock_back() -> Iterator[None]:
    """An hour at every look."""
    real, begin, looks = time.time, time.time(), []

    def earlier() -> float:
        looks.append(1)
        return begin - 3600.0 * len(looks)

    time.time = earlier
    try:
        yield
    finally:
        time.time = real


FAULTS = {
    "none": lambda: on_renaming(lambda: None),
    "full disk": lambda: limited(resource.RLIMIT_FSIZE, DISK_LEFT),
    "quota": lambda: on_renaming(failing(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)))),
    "kill -9": lambda: on_renaming(lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "SIGTERM": lambda: on_renaming(lambda: signal.raise_signal(signal.SIGTERM)),
    "out of memory": lambda: on_renaming(failing(MemoryError())),
    "clock back": clock_back,
    "quota at the second cell": lambda: on_renaming(failing(OSError(errno.EDQUOT, "quota")), finished=1),
    "kill -9 at the second cell": lambda: on_renaming(
        lambda: os.kill(os.getpid(), signal.SIGKILL), finished=1
    ),
    "SIGTERM at the second cell": lambda: on_renaming(
        lambda: signal.raise_signal(signal.SIGTERM), finished=1
    ),
}
LATER = {
    "quota at a later file": failing(OSError(errno.EDQUOT, "quota")),
    "kill -9 at a later file": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGTERM at a later file": lambda: signal.raise_signal(signal.SIGTERM),
}
"""Faults that wait until one file has got its name."""


def child(words: list[str], fault: str, said: Path) -> int:
    """A process of its own, without the seconds that imports take; its errors go to a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        process = os.fork()
    if process:
        return process
    code = 99
    try:
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(handle, 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w") for number in (1, 2))  # not pytest's
        with on_renaming(LATER[fault], passed=1) if fault in LATER else FAULTS[fault]():
            code = main(words)
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int) -> int:
    """The exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
