"""What a long run has measured so far, saved beside its results: all that a killed process leaves.

It has a folder of its own, so that nobody takes it for the results, and two places in it that take turns, so
that one of them is whole whenever the process ends. The folder goes when the results are saved.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.host_sim.files import PART, UNFINISHED
from adamb.tools import outputs

if TYPE_CHECKING:
    from adamb.host_sim.agent import Progress

FOLDER = "so-far"
SECONDS = 60.0
"""Between two saves."""


class Keeper:
    """Saves at most once in SECONDS; `name` is that of one of several parts of a measurement."""

    def __init__(self, out: Path, name: str = "") -> None:
        self.folder, self.name, self.saves = out / FOLDER, name, 0
        self.last: float | None = time.monotonic()

    def due(self) -> bool:
        return self.last is not None and time.monotonic() - self.last >= SECONDS

    def save(self, files: dict[str, bytes]) -> None:
        """A run does not end because what it has so far cannot be saved; that is said once."""
        self.saves += 1
        try:
            outputs.save(self.folder / f"{self.name}{self.saves % 2 + 1}", files)
            self.last = time.monotonic()
        except OSError as error:
            print(
                f"adamb: note: results so far are not kept: {outputs.describe_os_error(error)}",
                file=sys.stderr,
            )
            self.last = None


def keep(
    inner: Callable[[Progress], object], out: Path, files: Callable[[Any], dict[str, bytes]]
) -> Callable[[Progress], object]:
    """A progress function that saves when it is time to, and asks `inner`."""
    keeper = Keeper(out)

    def progress(state: Progress) -> object:
        if keeper.due() and (result := state.so_far()) is not None:
            keeper.save(files(result))
        return inner(state)

    return progress


def tell(out: Path) -> None:
    """That an earlier run was killed, and where its results so far are."""
    if (out / FOLDER).is_dir():
        text = f"{out / FOLDER} is of an earlier run that did not end; it goes when this one is saved"
        print(f"adamb: note: {text}", file=sys.stderr)


def forget(out: Path) -> None:
    """The results are saved: files of ours in the folder go, and the folder if nothing else is in it."""
    with suppress(OSError):
        for path in sorted((out / FOLDER).rglob("*"), reverse=True):
            if path.suffix in (".json", ".csv", PART) or path.name == UNFINISHED:
                path.unlink()
            elif path.is_dir():
                path.rmdir()
        (out / FOLDER).rmdir()
