"""A trace decoded once into fixed-size records on disk, so that an epoch is read without loading the rest."""

from __future__ import annotations

import os
import tempfile
import time
import weakref
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from adamb.host_sim.files import PART, write_atomic
from adamb.host_sim.solvers.grid import cache_folder, solution_key
from adamb.host_sim.traces.reader import RECORD, TraceReader

#: Decoded traces beyond this are dropped, oldest first; they can be made again.
STORE_LIMIT_BYTES = 4 * 2**30
ABANDONED_SECONDS = 24 * 3600.0
#: Raised when a file is decoded to other records than before.
DECODING = 2


class TraceStore:
    """Records of a trace by slice; each slice is one read of the decoded file."""

    def __init__(self, path: Path) -> None:
        reader = TraceReader(path)
        self.path, self.format, self.unit, self.clock = path, reader.format, reader.unit, reader.clock
        self._file = _decoded(path, reader)
        self._file.seek(0, os.SEEK_END)
        self._length = self._file.tell() // RECORD.itemsize
        # Not __del__: in a circle the collector may finalize the file first, which warns.
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, step = part.indices(self._length)
        self._file.seek(start * RECORD.itemsize)
        data = self._file.read(max(0, stop - start) * RECORD.itemsize)
        return np.frombuffer(data, dtype=RECORD)[::step]

    def close(self) -> None:
        """Give the file back; the store cannot be read afterwards."""
        self._file.close()


def open_store(path: Path) -> TraceStore:
    """The decoded form of a trace; reads the whole file once when it is new or has changed."""
    return TraceStore(path)


def _decoded(path: Path, reader: TraceReader) -> IO[bytes]:
    status = path.stat()
    identity = (str(path.resolve()), status.st_size, status.st_mtime_ns, RECORD.descr, DECODING)
    key = solution_key("trace", *identity)
    target = cache_folder() / f"trace-{key}.bin"
    try:
        return target.open("rb")
    except OSError:
        pass
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, partial(_write, reader))
        _prune(target)
        return target.open("rb")
    except OSError:
        # The cache folder is read-only or full: an anonymous temporary file serves this run.
        anonymous = tempfile.TemporaryFile()  # noqa: SIM115
        _write(reader, anonymous)
        return anonymous


def _write(reader: TraceReader, file: IO[bytes]) -> None:
    for records in reader:
        file.write(records.tobytes())


def _prune(keep: Path) -> None:
    for left in keep.parent.glob(f".trace-*{PART}"):  # by a process that was killed while it decoded
        if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
            left.unlink(missing_ok=True)
    files = sorted(keep.parent.glob("trace-*.bin"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > STORE_LIMIT_BYTES and file != keep:
            file.unlink(missing_ok=True)
