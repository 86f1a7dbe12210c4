"""What a text format is: how a line reads, and what carries over from line to line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

Record = tuple[int, int, int, int]

LARGEST_ADDRESS = 2**64 - 1
LARGEST_TIME = 2**62
LARGEST_SIZE = 2**32 - 1
LINE, SECTOR = 64, 512


class TextFormat(ABC):
    """One format; an instance holds what carries over from line to line."""

    name: ClassVar[str]
    example: ClassVar[str]
    unit: str = "bytes"
    clock: ClassVar[str] = "none"
    #: Number of the format in `trace_text_read`, which reads its plain lines; None where all are read here.
    fast: ClassVar[int | None] = None
    #: Instructions of a CPU trace so far.
    instructions: int = 0
    #: Last time of a format whose times are those of the memory, so that they must not go back.
    time: int = 0
    #: What was expected where the last line was refused; empty: a line of this format.
    expected: str = ""

    @abstractmethod
    def read(self, line: bytes, out: list[Record]) -> bool:
        """Append the line's records; False when the line is not of this format."""

    @classmethod
    def start(cls, line: bytes) -> TextFormat | None:
        """A reader if `line`, the first one with content, is of this format; it does not consume the line."""
        return cls() if cls().read(line, []) else None

    def is_header(self, line: bytes) -> bool:
        """Whether the first line with content only names columns."""
        return False

    def refuse(self, expected: str) -> bool:
        """False, with what was expected in place of this line."""
        self.expected = expected
        return False

    def at(self, time: int) -> bool:
        """Move on to a time; refused where it is before that of the last line."""
        if time < self.time:
            return self.refuse(f"a time from {self.time} on, for times must not go back")
        self.time = time
        return True


def whole(text: bytes, most: int, base: int = 0) -> int | None:
    """A number from 0 to `most`, hexadecimal after 0x; None for anything else."""
    if not text or len(text) > 24 or not text.isalnum():
        return None
    try:
        value = int(text, base or (16 if text[:2] in (b"0x", b"0X") else 10))
    except ValueError:
        return None
    return value if value <= most else None
