"""What a long cell has so far: a process that is killed leaves it in a file, and the next goes on."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from adamb.host_sim import going_on, state_file
from adamb.host_sim.agent import Agent, Progress
from adamb.host_sim.files import write_atomic
from adamb.host_sim.runner import record_points

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

LOOK = 1.0
"""Seconds, about, between two looks at the clock."""


class Curves(Protocol):
    """What a cell measures on its way, an array at most."""

    def __call__(self, progress: Progress) -> None: ...
    def next_call(self, done: int) -> int: ...
    def keep(self) -> going_on.Arrays: ...
    def go_on(self, kept: going_on.Arrays, done: int) -> None: ...


class UnderWay:
    """The progress of one cell, for `simulate`; where it cannot go on, nothing is kept."""

    def __init__(
        self, path: Path, problem: Problem, agent: Agent, episodes: int, curves: Curves | None
    ) -> None:
        self.path, self.curves = path, curves
        self.problem, self.agent, self.episodes = problem, agent, episodes
        self.can = going_on.hindrance(problem, agent) is None
        decisive = {"episodes": episodes, "curves": curves is not None}
        self.key = going_on.run_key(problem, agent, **decisive) if self.can else ""
        self.step, self.wait = 1, state_file.SECONDS
        self.looked = self.saved = time.monotonic()

    def begin(self, *, optimum: bool) -> going_on.Arrays | None:
        """What an earlier process has kept of this cell; None to start at its first episode."""
        try:
            kept, key = state_file.read_state(self.path)
            if key != self.key:
                return None
            known = optimum and self.problem.optimal() is not None
            points = record_points(self.episodes, None)
            done = going_on.check(self.problem, self.agent, points, kept, optimum=known)
            if self.curves is not None:
                self.curves.go_on(kept, done)
        except state_file.NO_USE:
            return None
        return kept

    def next_call(self, done: int) -> int:
        """The next point of the curves, and often enough to look at the clock."""
        asked = self.episodes if self.curves is None else self.curves.next_call(done)
        return min(asked, done + self.step) if self.can else asked

    def __call__(self, progress: Progress) -> None:
        if self.curves is not None:
            self.curves(progress)
        now = time.monotonic()
        self.step = 2 * self.step if now - self.looked < LOOK else max(1, self.step // 2)
        self.looked = now
        if now - self.saved >= self.wait and (kept := progress.keep()) is not None:
            with suppress(OSError, MemoryError):  # the cell itself is saved later, or that fails with a word
                self.path.parent.mkdir(exist_ok=True)
                kept |= {} if self.curves is None else self.curves.keep()
                write_atomic(self.path, partial(state_file.write_state, kept, self.key))
            self.saved = time.monotonic()
            self.wait = max(state_file.SECONDS, state_file.PAUSE * (self.saved - now))


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.npz"


def forget(folder: Path, name: str) -> None:
    """The cell is finished; the folder goes with its last file."""
    with suppress(OSError):
        for path in (file_of(folder, name), *folder.glob(f".{name}.*")):
            path.unlink(missing_ok=True)
        folder.rmdir()
