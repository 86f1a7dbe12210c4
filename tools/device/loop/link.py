"""The host's side of the link: one request at a time, sent again until its answer comes."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from adamb.budgets.errors import AdambError
from adamb.firmware_model import _spec
from adamb.tools.device.loop.frames import ANSWER, Frame, Splitter, decode, encode, seed_of

VERSION = 1
WORDS = 48
EXPECTED = (VERSION, _spec.SPEC_HASH, _spec.LEARNER_HASH)
"""What a target must say: the version of the link, and the hashes of specification and learner."""
UNITS = {0: "", 1: "µs", 2: "cycles"}


class LinkLost(AdambError):
    """The target does not answer any more; what it had learnt may be gone."""


class TargetRefused(AdambError):
    """The target answers, and what it says cannot be worked with."""


class Transport(Protocol):
    """Bytes to and from a target. Both raise LinkLost where there is no way any more."""

    def write(self, data: bytes) -> None: ...

    def read(self, seconds: float) -> bytes:
        """What has come, at least one byte; b"" after so many seconds."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Patience:
    """How long to wait for one answer, how often to ask, and how long to wait for a target that went away."""

    reply_seconds: float = 1.5
    tries: int = 8
    return_seconds: float = 60.0


@dataclass(frozen=True)
class Hello:
    """What a target says about itself."""

    version: int
    spec_hash: int
    learner_hash: int
    unit: str
    free_bytes: int
    name: str


@dataclass
class LinkCounts:
    """What happened on the line."""

    calls: int = 0
    repeats: int = 0
    damaged: int = 0
    returns: int = 0
    """How often the target went away, came back, and was given its block again."""


class Link:
    """A session with a target. A call is executed once, however often its frames are lost or doubled."""

    def __init__(self, transport: Transport, patience: Patience, counts: LinkCounts | None = None) -> None:
        self.transport, self.patience = transport, patience
        self.counts = counts or LinkCounts()
        self._session = os.urandom(4)
        self._seed = seed_of(self._session)
        self._number = 0
        self._splitter = Splitter()

    def hello(self, tries: int | None = None) -> Hello:
        """Begin the session; an error where the target speaks another version of the link or of the core."""
        answer = self._exchange(ord("H"), bytes([VERSION]) + self._session, 0, tries)
        version, spec, learner, unit, free = struct.unpack("<BHHBI", answer[:10])
        found = Hello(version, spec, learner, UNITS.get(unit, ""), free, answer[10:].decode(errors="replace"))
        if (version, spec, learner) != EXPECTED:
            theirs, ours = (
                "link {}, specification {}, learner {}".format(*each)
                for each in ((version, spec, learner), EXPECTED)
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

    def _exchange(self, op: int, payload: bytes, seed: int, tries: int | None) -> bytes:
        self._number = (self._number + 1) & 0xFFFF
        line = encode(Frame(self._number, op, payload), seed)
        self.counts.calls += 1
        for attempt in range(tries or self.patience.tries):
            self.counts.repeats += attempt > 0
            self.transport.write(line)
            answer = self._await(op | ANSWER, seed)
            if answer is not None:
                return answer
        waited = (tries or self.patience.tries) * self.patience.reply_seconds
        raise LinkLost(f"the target has not answered for {waited:.3g} s")

    def _await(self, op: int, seed: int) -> bytes | None:
        """The answer to the current request; whatever else comes is dropped."""
        end = time.monotonic() + self.patience.reply_seconds
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
