"""The host's side of the link: frames as `adamb_link.h` says, and requests sent again until answered."""

from __future__ import annotations

import base64
import binascii
import os
import struct
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import AdambError

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


VERSION = 1
WORDS = 48
EXPECTED = (VERSION, _spec.SPEC_HASH, _spec.LEARNER_HASH)
"""The answer of a target that fits: version of the link, hashes of specification and learner."""
UNITS = {0: "", 1: "µs", 2: "cycles"}


class LinkLost(AdambError):
    """The target does not answer any more; what it had learnt may be gone."""


class TargetRefused(AdambError):
    """The target answers, and what it says cannot be worked with."""


class Transport(Protocol):
    """Bytes to and from a target. Both raise LinkLost where there is no way any more."""

    def write(self, data: bytes) -> None: ...

    def read(self, seconds: float) -> bytes:
        """The bytes that have come, at least one; b"" after so many seconds."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Timeouts:
    """Timeouts: of one answer, the number of requests, and for the return of a target that went away."""

    reply_seconds: float = 1.5
    tries: int = 8
    return_seconds: float = 60.0


@dataclass(frozen=True)
class Hello:
    """The description that a target gives of itself."""

    version: int
    spec_hash: int
    learner_hash: int
    unit: str
    free_bytes: int
    name: str


@dataclass
class LinkCounts:
    """Counters of the line."""

    calls: int = 0
    repeats: int = 0
    damaged: int = 0
    returns: int = 0
    """Times that the target went away, came back, and got its block again."""


class Link:
    """A session with a target. A call is executed once, however often its frames are lost or doubled."""

    def __init__(self, transport: Transport, timeouts: Timeouts, counts: LinkCounts | None = None) -> None:
        self.transport, self.timeouts = transport, timeouts
        self.counts = counts or LinkCounts()
        self._session = os.urandom(4)
        self._seed = seed_of(self._session)
        self._number = 0
        self._splitter = Splitter()

    def hello(self) -> Hello:
        """Begin the session; an error where the target speaks another version of the link or of the core."""
        answer = self._exchange(ord("H"), bytes([VERSION]) + self._session, 0)
        version, spec, learner, unit, free = struct.unpack("<BHHBI", answer[:10])
        found = Hello(version, spec, learner, UNITS.get(unit, ""), free, answer[10:].decode(errors="replace"))
        if (version, spec, learner) != EXPECTED:
            theirs, ours = (
                "link {}, specification {}, learner {}".format(*each) for each in ((version, spec, learner), EXPECTED)
            )
            text = f"another version runs on the target: {theirs}; this is {ours}"
            raise TargetRefused(f"{text}; bring the firmware up to date")
        return found

    def init(self, config: bytes, words: int) -> int:
        """Make a controller there; the core's code."""
        return self._status(self.call("I", struct.pack("<I", words) + config))

    def act(self, h: int, state: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
        """The core's code, what the call took, and the action."""
        answer = self.call("A", struct.pack(f"<B{len(state)}H", h, *state))
        words = answer[5:]
        return *self._timed(answer), struct.unpack(f"<{len(words) // 2}H", words)

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> tuple[int, int]:
        return self._timed(self.call("O", struct.pack(f"<BH{len(next_state)}H", h, reward, *next_state)))

    def end_episode(self) -> tuple[int, int]:
        return self._timed(self.call("E"))

    def crc(self) -> int:
        """CRC-32 of the block."""
        return int(struct.unpack("<I", self.call("C")[1:5])[0])

    def read_block(self, words: int) -> bytes:
        parts = []
        for at in range(0, words, WORDS):
            answer = self.call("R", struct.pack("<IB", at, min(WORDS, words - at)))
            if self._status(answer):
                raise TargetRefused(f"the target does not give word {at} of its block")
            parts.append(answer[1:])
        return b"".join(parts)

    def write_block(self, block: bytes) -> None:
        for at in range(0, len(block) // 2, WORDS):
            if self._status(self.call("W", struct.pack("<I", at) + block[2 * at : 2 * (at + WORDS)])):
                raise TargetRefused(f"the target does not take word {at} of a block")

    def quit(self) -> None:
        """End the program on the target."""
        self.call("Q", tries=2)

    def call(self, op: str, payload: bytes = b"", tries: int | None = None) -> bytes:
        """The payload of the answer, which starts with the core's code."""
        answer = self._exchange(ord(op), payload, self._seed, tries)
        if not answer:
            raise LinkLost("the target gave an empty answer")
        return answer

    def _exchange(self, op: int, payload: bytes, seed: int, tries: int | None = None) -> bytes:
        self._number = (self._number + 1) & 0xFFFF
        line = encode(Frame(self._number, op, payload), seed)
        self.counts.calls += 1
        for attempt in range(tries or self.timeouts.tries):
            self.counts.repeats += attempt > 0
            self.transport.write(line)
            answer = self._await(op | ANSWER, seed)
            if answer is not None:
                return answer
        waited = (tries or self.timeouts.tries) * self.timeouts.reply_seconds
        raise LinkLost(f"the target has not answered for {waited:.3g} s")

    def _await(self, op: int, seed: int) -> bytes | None:
        """The answer to the current request; whatever else comes is dropped."""
        end = time.monotonic() + self.timeouts.reply_seconds
        while True:
            left = end - time.monotonic()
            data = self.transport.read(max(0.0, left))
            for line in self._splitter.feed(data):
                frame = decode(line, (seed,))
                if frame is not None and frame.number == self._number and frame.op == op:
                    return frame.payload
                self.counts.damaged += frame is None
            if left <= 0 or (not data and getattr(self.transport, "immediate", False)):
                return None

    @staticmethod
    def _status(answer: bytes) -> int:
        return int(struct.unpack("<b", answer[:1])[0])

    def _timed(self, answer: bytes) -> tuple[int, int]:
        return self._status(answer), int(struct.unpack("<I", answer[1:5])[0]) if len(answer) >= 5 else 0
