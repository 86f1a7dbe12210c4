"""Tasks in other processes while they run: a bar each on a terminal, a few plain lines elsewhere.

The processes tell how far they are through a small file that is mapped into memory: one number per task,
written often and at no cost, read a few times a second. One more number tells them to stop.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from adamb.tools.stopping import StopRequest, stop_on_interrupt
from adamb.tools.terminal.run_view import clock

FRAME_SECONDS = 0.2
LINE_SECONDS = 10.0


class Meter:
    """Where one task writes how many episodes are done, and reads whether to stop; for any process."""

    def __init__(self, path: str, index: int) -> None:
        self.path, self.index = path, index
        self._shared: np.ndarray | None = None

    def __call__(self, done: int) -> bool:
        if self._shared is None:
            self._shared = np.memmap(self.path, dtype=np.int64, mode="r+")
        self._shared[self.index] = done
        return bool(self._shared[-1])

    def __getstate__(self) -> dict[str, object]:
        return {"path": self.path, "index": self.index, "_shared": None}


@contextmanager
def watch(
    console: Console, names: Sequence[str], episodes: int, *, quiet: bool = False
) -> Iterator[list[Meter]]:
    """One meter for each task; what they show is drawn until the block ends. Ctrl-C asks all to stop."""
    with tempfile.TemporaryDirectory(prefix="adamb-") as folder:
        path = Path(folder) / "progress"
        shared = np.memmap(path, dtype=np.int64, mode="w+", shape=(len(names) + 1,))
        over = threading.Event()
        draw = _bars if console.is_terminal else _lines
        arguments = (console, list(names), episodes, shared[:-1], over)
        thread = threading.Thread(target=draw, args=arguments, daemon=True)
        if not quiet:
            thread.start()
        try:
            with stop_on_interrupt(StopRequest(lambda: shared[-1:].fill(1))):
                yield [Meter(str(path), index) for index in range(len(names))]
        finally:
            over.set()
            if not quiet:
                thread.join()


def _bars(
    console: Console, names: list[str], episodes: int, shared: np.ndarray, over: threading.Event
) -> None:
    columns = (
        TextColumn("[bold cyan]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks = [progress.add_task(name, total=episodes) for name in names]
        while not over.wait(FRAME_SECONDS):
            for task, done in zip(tasks, shared.tolist(), strict=True):
                progress.update(task, completed=done)


def _lines(
    console: Console, names: list[str], episodes: int, shared: np.ndarray, over: threading.Event
) -> None:
    began = time.monotonic()
    while not over.wait(LINE_SECONDS):
        console.print(line(names, episodes, shared.tolist(), time.monotonic() - began), highlight=False)


def line(names: Sequence[str], episodes: int, done: Sequence[int], elapsed: float) -> str:
    """`tracking: episode 500 of 2000, 0:30 left; …`"""
    parts = []
    for name, now in zip(names, done, strict=True):
        left = f", {clock(elapsed / now * (episodes - now))} left" if 0 < now < episodes else ""
        parts.append(f"{name}: episode {now} of {episodes}{left}")
    return "; ".join(parts)
