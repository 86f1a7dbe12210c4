"""Files a command leaves behind: whole or not at all, never over another's without being told to."""

from __future__ import annotations

import os
from collections.abc import Iterable
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


def save(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of one run into a folder, in the order given."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomic(folder / name, content)
