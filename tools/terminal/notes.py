"""Sentences beside a result, and what long preparations such as copying to a board say: on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

NAME = "adamb"


class _Lines(logging.Handler):
    """To standard error as it is at that moment: a live display may have put itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"adamb: {self.format(record)}", file=sys.stderr)


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Show what is noted meanwhile; in quiet mode warnings only."""
    logger, handler = logging.getLogger(NAME), _Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def tell(notes: Iterable[str]) -> None:
    """Print every note once, in the order in which they came."""
    for note in dict.fromkeys(notes):
        print(f"adamb: note: {note}", file=sys.stderr)
