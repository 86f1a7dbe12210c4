"""What people see in a terminal: tables, a run while it runs; and here what a command is doing, on standard error: a
bar on a terminal, elsewhere a line now and then; and notes.

Without it a log, a pipe or a batch job looks the same whether the command works or hangs. `adamb --quiet` shows
nothing; the tables are not concerned.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


QUIET = ContextVar("quiet", default=False)
"""Whether the command line says --quiet: no progress is shown."""
FIRST_SECONDS = 5.0
"""Shorter work says nothing in a log."""
LINE_SECONDS = 10.0
LOOK_SECONDS = 0.1


class Display:
    """Called with what is done now, and perhaps how many pieces of how many are finished.

    A text that costs something to make is given as a function, which is called a few times a second, by the
    thread that works: what it looks at may change meanwhile.
    """

    def __init__(self, text: str, *, shown: bool = True) -> None:
        self.text, self.shown = text, shown
        self.done = self.first = self.total = 0
        self.began = time.monotonic()
        self.looked = -LOOK_SECONDS

    def __call__(self, text: str | Callable[[], str], done: int = 0, total: int = 0) -> None:
        now = time.monotonic()
        if total and not self.total:  # what was finished before tells nothing about the time that is left
            self.first, self.began = done, now
        self.done, self.total = done, total
        if not self.shown or (callable(text) and now - self.looked < LOOK_SECONDS):
            return
        self.text, self.looked = (text() if callable(text) else text), now
        self.draw()

    def draw(self) -> None:
        """Nothing here: a log gets its lines from a thread."""

    def line(self) -> str:
        """The text with the time that is left, or that has passed."""
        passed, fresh = time.monotonic() - self.began, self.done - self.first
        left = self.total - self.done
        ending = f"{clock(passed / fresh * left)} left" if fresh > 0 and left > 0 else f"{clock(passed)} so far"
        return f"{self.text}, {ending}"


class Bar(Display):
    """Redrawn in place by a thread of rich, ten times a second."""

    def __init__(self, text: str, progress: Any) -> None:
        super().__init__(text)
        self.progress, self.task = progress, progress.add_task(text, total=None)

    def draw(self) -> None:
        self.progress.update(self.task, description=self.line(), completed=self.done, total=self.total or None)


@contextmanager
def progress(text: str) -> Iterator[Display]:
    """Show `text` on standard error until the block ends; call what is given with what is done next."""
    if QUIET.get():
        yield Display(text, shown=False)
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=console, transient=True) as bars:
            yield Bar(text, bars)
    else:
        with _lines(console, Display(text)) as display:
            yield display


@contextmanager
def _lines(console: Console, display: Display) -> Iterator[Display]:
    """The first after five seconds, then one every ten."""
    over = threading.Event()

    def print_lines() -> None:
        pause = FIRST_SECONDS
        while not over.wait(pause):
            console.print(f"adamb: {display.line()}", highlight=False, markup=False, soft_wrap=True)
            pause = LINE_SECONDS

    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield display
    finally:
        over.set()
        thread.join()


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(display: Display, name: str, noun: str, describe: Callable[[Any], str]) -> Callable[[int, int, Any], None]:
    """What an experiment calls with how many pieces are done, of how many, and the last; None at the start."""

    def follow(done: int, total: int, piece: Any) -> None:
        text = f"{name}: {done} of {total} {noun}"
        if piece is None:
            display.total = 0  # of another experiment
            if done:
                say(f"{text}, {done} of them from before")
        display(text if piece is None else f"{text}, last {describe(piece)}", done, total)

    return follow


@contextmanager
def notes() -> Iterator[None]:
    """Show what long preparations such as copying to a board note meanwhile; after --quiet warnings only."""
    import logging

    class Lines(logging.Handler):
        """To standard error as it is at that moment: a live display may have put itself in its place."""

        def emit(self, record: logging.LogRecord) -> None:
            print(f"adamb: {self.format(record)}", file=sys.stderr)

    logger, handler = logging.getLogger("adamb"), Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if QUIET.get() else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def tell(notes: Iterable[str]) -> None:
    """Print every note once, in the order in which they came."""
    for note in dict.fromkeys(notes):
        print(f"adamb: note: {note}", file=sys.stderr)


def say(text: str) -> None:
    """A line about the work that begins, unless it shall be quiet."""
    if not QUIET.get():
        print(f"adamb: {text}", file=sys.stderr)
