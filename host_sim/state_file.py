"""A file of arrays from which a run goes on: whole and of the same measurement, or of no use."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.blocks.recording import UNREADABLE
from adamb.host_sim.going_on import Arrays

SECONDS = 60.0
"""Between two saves."""
PAUSE = 20.0
"""Times what a save took: a run with millions of numbers saves less often."""
NO_USE = (*UNREADABLE, OSError, MemoryError, InputError)
"""What comes of reading a file that is damaged, or not of this measurement."""


def write_state(kept: Arrays, key: str, file: BinaryIO) -> None:
    """Every array of the archive has a CRC-32, and the head says which there are."""
    head = json.dumps([key, sorted(kept)]).encode()
    arrays: Any = {"head": np.frombuffer(head, dtype=np.uint8), **kept}
    np.savez(file, **arrays)


def read_state(path: Path) -> tuple[Arrays, str]:
    """The arrays and the key; one of NO_USE where the file is not whole, bit for bit."""
    with zipfile.ZipFile(path) as archive:
        if (damaged := archive.testzip()) is not None:  # numpy reads no more than a header asks for
            raise zipfile.BadZipFile(damaged)
    with np.load(path, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    key, names = json.loads(arrays.pop("head").tobytes())
    if sorted(arrays) != names:
        raise zipfile.BadZipFile("an array is missing")
    return arrays, key
