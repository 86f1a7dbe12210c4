"""How far a bench has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from adamb.host_sim.bench import Progress

LINE_SECONDS = 10.0


@contextmanager
def follow(console: Console, *, quiet: bool) -> Iterator[Progress | None]:
    """A callback for `run_bench` that draws."""
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(console) as update:
            yield update
    else:
        yield _lines(console)


def _note(piece: Any) -> str:
    from adamb.host_sim.bench import describe

    return "" if piece is None else describe(piece)


@contextmanager
def _bar(console: Console) -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Progress(TextColumn("[bold cyan]bench"), *columns, console=console, transient=True) as bar:
        task = bar.add_task("bench", total=None, note="")
        yield lambda done, total, piece: bar.update(task, completed=done, total=total, note=_note(piece))


def _lines(console: Console) -> Progress:
    last = [-LINE_SECONDS]

    def draw(done: int, total: int, piece: Any) -> None:
        now = time.monotonic()
        if done == total or now - last[0] >= LINE_SECONDS:
            last[0] = now
            last_one = f", last {_note(piece)}" if piece is not None else ""
            console.print(f"bench: {done} of {total} entries{last_one}", highlight=False, soft_wrap=True)

    return draw
