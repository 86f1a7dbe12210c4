"""What a command does while there is nothing to show: a moving line on a terminal, elsewhere some lines.

Without it a log, a pipe or a batch job looks the same whether the command works or hangs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

FIRST_SECONDS = 5.0
LINE_SECONDS = 10.0


@contextmanager
def waiting(text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Say `text` on standard error until the block ends; call what is given with what is done next."""
    console = Console(stderr=True)
    if quiet:
        yield _nothing
    elif console.is_terminal:
        with console.status(text) as status:
            yield status.update
    else:
        with _lines(console, text) as say:
            yield say


def _nothing(text: str) -> None:
    return None


@contextmanager
def _lines(console: Console, text: str) -> Iterator[Callable[[str], None]]:
    """Short work says nothing."""
    from adamb.tools.terminal.run_view import clock  # which loads numpy

    now, over = [text], threading.Event()

    def draw() -> None:
        began, pause = time.monotonic(), FIRST_SECONDS
        while not over.wait(pause):
            passed = clock(time.monotonic() - began)
            line = f"adamb: {now[0]}, {passed} so far"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
            pause = LINE_SECONDS

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield lambda text: now.__setitem__(0, text)
    finally:
        over.set()
        thread.join()
