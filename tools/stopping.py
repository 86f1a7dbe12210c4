"""How a command ends: exit codes; Ctrl-C and SIGTERM ask it to stop, and what it has measured is kept."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

OK = 0
VIOLATED = 1
"""A budget or a bound was broken, a block is damaged, a job does not fit, a required part is missing."""
USAGE = 2
"""The command line or a file is not what the command takes."""
INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Set by the first signal; the work then ends at its next whole piece. A second one ends it at once."""

    def __init__(self) -> None:
        self.asked = False

    def _handle(self, signum: int, frame: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Turn the signals into a request while work is in progress."""
    request = StopRequest()
    with _handled(request._handle, SIGNALS):
        yield request


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """What a batch system or `kill` sends ends a command as Ctrl-C does, with the same care for results."""
    with _handled(signal.default_int_handler, (signal.SIGTERM,)):
        yield


@contextmanager
def _handled(handler: Any, signals: tuple[signal.Signals, ...]) -> Iterator[None]:
    """Only the main thread may choose handlers; elsewhere they stay as they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [signal.signal(each, handler) for each in signals]
    try:
        yield
    finally:
        for each, previous in zip(signals, before, strict=True):
            signal.signal(each, previous)


def stopped(done: int, of: int, what: str) -> typer.Exit:
    """To raise after a command has shown and saved the part that was done."""
    print(f"adamb: stopped after {done} of {of} {what}; what was measured is kept", file=sys.stderr)
    return typer.Exit(INTERRUPTED)
