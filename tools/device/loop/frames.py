"""Frames of the link as the host writes and reads them; `target/adamb_link.h` says what they are made of."""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from dataclasses import dataclass

START, END = b"~", b"\n"
ANSWER = 0x80
HEAD = struct.Struct("<HB")
CRC = struct.Struct("<I")
LONGEST = 160
"""Characters of a line; what is longer is noise."""


@dataclass(frozen=True)
class Frame:
    number: int
    op: int
    payload: bytes


def seed_of(session: bytes) -> int:
    """The CRC state that all frames of a session start from: those of another are then damaged ones."""
    return zlib.crc32(session)


def encode(frame: Frame, seed: int) -> bytes:
    """
    >>> encode(Frame(1, ord("E"), b""), seed=0)
    b'~AQBFyh4M0w==\\n'
    """
    body = HEAD.pack(frame.number, frame.op) + frame.payload
    return START + base64.b64encode(body + CRC.pack(zlib.crc32(body, seed))) + END


def decode(line: bytes, seeds: tuple[int, ...]) -> Frame | None:
    """The frame of a line without its ends; None where it is damaged or of another session.

    >>> decode(b"AQBFyh4M0w==", seeds=(0,))
    Frame(number=1, op=69, payload=b'')
    >>> decode(b"AQBFyh4M1w==", seeds=(0,)) is None
    True
    """
    try:
        body = base64.b64decode(line, validate=True)
    except binascii.Error:
        return None
    if len(body) < HEAD.size + CRC.size:
        return None
    text, (crc,) = body[: -CRC.size], CRC.unpack(body[-CRC.size :])
    if crc not in [zlib.crc32(text, seed) for seed in seeds]:
        return None
    number, op = HEAD.unpack(text[: HEAD.size])
    return Frame(number, op, text[HEAD.size :])


class Splitter:
    """Finds lines in a stream of bytes, whatever stands around them."""

    def __init__(self) -> None:
        self._held = b""

    def clear(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The whole lines that these bytes complete, without their ends.

        >>> splitter = Splitter()
        >>> splitter.feed(b"noise~AQ"), splitter.feed(b"==\\r\\nmore~~BQ==\\n>>> ")
        ([], [b'AQ==', b'BQ=='])
        """
        *whole, self._held = (self._held + data).split(END)
        found = [part[part.rindex(START) + 1 :].rstrip(b"\r") for part in whole if START in part]
        self._held = self._held[self._held.rindex(START) :] if START in self._held else b""
        if len(self._held) > LONGEST:
            self._held = b""
        return found
