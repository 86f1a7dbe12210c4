"""How far a sweep or a bench has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adamb.tools.terminal.run_view import clock

if TYPE_CHECKING:
    from rich.console import Console

LINE_SECONDS = 10.0


class Reporter:
    """Follows pieces of work: called with how many are done, of how many, and the last; None at the start."""

    def __init__(self, name: str, noun: str, describe: Callable[[Any], str]) -> None:
        self.name, self.noun, self.describe = name, noun, describe
        self.done = self.kept = self.total = 0
        self.began = time.monotonic()
        self.draw: Callable[[Any], None] | None = None

    def __call__(self, done: int, total: int, piece: Any) -> None:
        if piece is None:
            self.kept, self.began = done, time.monotonic()
        self.done, self.total = done, total
        if self.draw is not None:
            self.draw(piece)

    def seconds_left(self) -> float | None:
        fresh = self.done - self.kept
        if fresh == 0:
            return None
        return (time.monotonic() - self.began) / fresh * (self.total - self.done)

    def note(self, piece: Any) -> str:
        if piece is None:
            return f", {self.kept} of them from before" if self.kept else ""
        left = self.seconds_left()
        time_left = "" if left is None else f", {clock(left)} left"
        return f"{time_left}, last {self.describe(piece)}"


@contextmanager
def display(console: Console, reporter: Reporter, *, quiet: bool) -> Iterator[None]:
    """Draw what the reporter is told."""
    if quiet:
        yield
    elif console.is_terminal:
        with _bar(console, reporter):
            yield
    else:
        reporter.draw = _lines(console, reporter)
        yield


def _bar(console: Console, reporter: Reporter) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    progress = Progress(
        TextColumn("[bold cyan]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
    )
    task = progress.add_task(reporter.name, total=None, note="")

    def draw(piece: Any) -> None:
        progress.update(task, completed=reporter.done, total=reporter.total, note=reporter.note(piece))

    reporter.draw = draw
    return progress


def _lines(console: Console, reporter: Reporter) -> Callable[[Any], None]:
    last = [-LINE_SECONDS]

    def draw(piece: Any) -> None:
        now = time.monotonic()
        milestone = reporter.done in (reporter.kept + 1, reporter.total)
        if milestone or now - last[0] >= LINE_SECONDS:
            last[0] = now
            count = f"{reporter.done} of {reporter.total} {reporter.noun}"
            line = f"{reporter.name}: {count}{reporter.note(piece)}"
            console.print(line, highlight=False, soft_wrap=True)

    return draw
