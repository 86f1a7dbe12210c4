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
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from adamb.tools.cli import main

DISK_LEFT = 150
"""A full disk takes this many bytes of every file."""

CELL_FOLDERS = ("cells", "entries")
"""Where a sweep and a benchmark keep what is finished, a file each."""


@contextmanager
def on_renaming(act: Callable[[], None], *, cells: int = 0, files: int = 0) -> Iterator[None]:
    """Do this before a renaming, when so many cells are finished and so many files have got their names."""
    real, named = os.replace, []

    def replaced(source, target, **options):
        if len(named) >= files and sum(path.parent.name in CELL_FOLDERS for path in named) >= cells:
            os.replace = real
            act()
        named.append(Path(target))
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


ACTS = {
    "none": lambda: None,
    "quota": failing(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))),
    "kill -9": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGTERM": lambda: signal.raise_signal(signal.SIGTERM),
    "out of memory": failing(MemoryError()),
}


def faulty(fault: str) -> AbstractContextManager[None]:
    """By its name: "kill -9", "kill -9 at the second cell", "kill -9 at a later file"."""
    if fault == "full disk":
        return limited(resource.RLIMIT_FSIZE, DISK_LEFT)
    if fault == "clock back":
        return clock_back()
    what, _, when = fault.partition(" at ")
    return on_renaming(ACTS[what], cells=when == "the second cell", files=when == "a later file")


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
        with faulty(fault):
            code = main(words)
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int) -> int:
    """The exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
