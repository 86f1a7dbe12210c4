"""A file as the storage of a store: what a board keeps in its flash, a host keeps in a file.

    flash = FileFlash(Path("controller.flash"))
    store = adamb.firmware_model.store.open(flash, len(block))

Every operation is on the disk before it returns, so the store's promise holds for the file too: after a kill
or a power cut the last completed save is restored. The content is that of a board's flash, byte for byte, and
`adamb inspect` reads it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import InputError


class FileFlash:
    """Storage as `store.open` wants it; made blank when there is no such file."""

    def __init__(self, path: Path, *, page_bytes: int = 256, sector_bytes: int = 4096, sectors: int = 16) -> None:
        self.page_bytes, self.sector_bytes, self.sectors = page_bytes, sector_bytes, sectors
        size = sector_bytes * sectors
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            found = os.fstat(self._file).st_size
            if found == 0:
                self._write(0, b"\xff" * size)
        except OSError as error:
            raise InputError("path", str(path), f"cannot hold a store: {error.strerror}") from None
        if found not in (0, size):
            os.close(self._file)
            raise InputError("path", str(path), f"has {found} bytes; a storage of this geometry has {size}")

    def read(self, address: int, buffer: Any) -> int:
        try:
            found = os.pread(self._file, len(buffer), address)
        except OSError:
            return -1
        if len(found) < len(buffer):
            return -1
        buffer[:] = found
        return 0

    def prog(self, address: int, buffer: Any) -> int:
        return self._attempt(address, bytes(buffer))

    def erase(self, address: int) -> int:
        return self._attempt(address, b"\xff" * self.sector_bytes)

    def close(self) -> None:
        os.close(self._file)

    def _attempt(self, address: int, content: bytes) -> int:
        try:
            self._write(address, content)
        except OSError:
            return -1
        return 0

    def _write(self, address: int, content: bytes) -> None:
        while content:
            done = os.pwrite(self._file, content, address)
            address, content = address + done, content[done:]
        os.fsync(self._file)
