"""What a long run has so far, saved beside its results: all that a killed process leaves.

It has a folder of its own, so that nobody takes it for the results, and two places in it that take turns, so
that one of them is whole whenever the process ends. A place has the files of the results, for a reader, and
one from which the same command goes on. The folder goes when the results are saved.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from adamb.host_sim.files import PART, UNFINISHED
from adamb.host_sim.going_on import Arrays
from adamb.host_sim.state_file import NO_USE, PAUSE, SECONDS, read_state, write_state
from adamb.tools import outputs

FOLDER, STATE = "so-far", "state.npz"
PLACES = (1, 2)


class Keeper:
    """The two places of a measurement, or of one of its parts; `key` is a hash of all that decides it."""

    def __init__(self, out: Path, key: str, part: str = "") -> None:
        self.folder, self.key, self.part = out / FOLDER, key, part
        self.next, self.further_than, self.pause = PLACES[0], 0, SECONDS
        self.last: float | None = time.monotonic()

    def place(self, number: int) -> Path:
        return self.folder / f"{self.part}{number}"

    def take(self, hindrance: str | None, accept: Callable[[Arrays], object]) -> Arrays | None:
        """What an earlier process has kept, where the run can go on from it; one line says what becomes.

        `accept` raises one of NO_USE for what is not of this run. Where nothing is of use, what is there
        stays until this run is further.
        """
        done = {number: _episodes(self.place(number)) for number in PLACES}
        there = [number for number in PLACES if self.place(number).is_dir()]
        if not there:
            return None
        reason = hindrance or "what it has kept cannot be read"
        for number in sorted(there, key=lambda number: -done[number]) if hindrance is None else []:
            try:
                kept, key = read_state(self.place(number) / STATE)
                if key == self.key:
                    accept(kept)
                    self.next = 3 - number  # this one stays until the other is whole
                    _note(f"goes on after {kept['done']} episodes of {self._earlier(number)}")
                    return kept
                reason = "it had other options, or another build of adamb"
            except NO_USE:
                continue
        best = max(there, key=lambda number: done[number])
        self.next, self.further_than = 3 - best, done[best]
        _note(f"{self._earlier(best)} stays until this run is further, which starts again: {reason}")
        return None

    def _earlier(self, number: int) -> str:
        return f"an earlier run that did not end ({self.place(number)})"

    def due(self, done: int) -> bool:
        """Whether it is time for a save, after so many episodes."""
        waited = self.last is not None and time.monotonic() - self.last >= max(SECONDS, self.pause)
        return waited and done > self.further_than

    def save(self, files: Mapping[str, bytes], kept: Arrays | None) -> None:
        """A run does not end because what it has so far cannot be saved; that is said once."""
        began = time.monotonic()
        state = {} if kept is None else {STATE: partial(write_state, kept, self.key)}
        try:
            place = self.place(self.next)
            if kept is None:
                (place / STATE).unlink(missing_ok=True)
            outputs.save(place, {**state, **files})
            self.next = 3 - self.next
            self.last = time.monotonic()
            self.pause = PAUSE * (self.last - began)
        except (OSError, MemoryError) as error:
            reason = outputs.describe_os_error(error) if isinstance(error, OSError) else "no memory is left"
            _note(f"results so far are not kept: {reason}")
            self.last = None


def _note(text: str) -> None:
    print(f"adamb: note: {text}", file=sys.stderr, flush=True)


def _episodes(place: Path) -> int:
    """How far the results in a place are; 0 where there are none to read."""
    for path in sorted(place.glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(json.loads(path.read_bytes())["episodes"])
    return 0


def forget(out: Path, *, interrupted: bool) -> None:
    """The results are saved: files of ours in the folder go, and the folder if nothing else is in it.

    After an interruption those stay from which the same command goes on.
    """
    if interrupted and any((out / FOLDER).glob(f"*/{STATE}")):
        return
    with suppress(OSError):
        for path in sorted((out / FOLDER).rglob("*"), reverse=True):
            if path.suffix in (".json", ".csv", PART) or path.name in (UNFINISHED, STATE):
                path.unlink()
            elif path.is_dir():
                path.rmdir()
        (out / FOLDER).rmdir()
