"""Targets without a serial line, links that misbehave, and MicroPython on this computer, for tests of the loop."""

from __future__ import annotations

import os
import random
import shutil
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from adamb.tools.device.loop import adamb_link as device_link
from adamb.tools.device.loop.link import Link, Timeouts
from adamb.tools.device.settings import DeviceSettings

QUICK = Timeouts(reply_seconds=0.0, tries=60, return_seconds=0.0)


class PythonEnd:
    """The Python side of the link in this process; every byte that is written is served at once."""

    immediate = True

    def __init__(self) -> None:
        self.link = device_link.Link(lambda: 0, device_link.MICROSECONDS)
        self._answers = b""

    def write(self, data: bytes) -> None:
        letters = iter(data)

        def read_into(one: bytearray) -> int:
            found = next(letters, None)
            if found is not None:
                one[0] = found
            return 0 if found is None else 1

        def write(answer: bytes) -> None:
            self._answers += answer

        device_link.serve(self.link, read_into, write)

    def read(self, seconds: float) -> bytes:
        found, self._answers = self._answers, b""
        return found

    def close(self) -> None:
        pass


class Faults:
    """Lines with errors, from a seed: bytes get lost, flipped or doubled, lines held back or doubled."""

    def __init__(self, seed: int, rate: float = 0.15) -> None:
        self.random, self.rate = random.Random(seed), rate
        self.held: deque[bytes] = deque()
        self.done = dict.fromkeys(("drop", "flip", "double", "delay", "repeat", "noise"), 0)

    def pass_on(self, data: bytes) -> bytes:
        """What arrives of these bytes, with what was held back before."""
        if not data:
            return b""
        kind = self.random.choice(tuple(self.done)) if self.random.random() < self.rate else None
        late = self.held.popleft() if self.held and self.random.random() < 0.3 else b""
        if kind is None:
            return late + data
        self.done[kind] += 1
        at = self.random.randrange(len(data))
        if kind == "drop":
            return late + data[:at] + data[at + self.random.randint(1, 4) :]
        if kind == "flip":
            return late + data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1 :]
        if kind == "double":
            return late + data[: at + 1] + data[at:]
        if kind == "delay":
            self.held.append(data)
            return late
        if kind == "repeat":
            return late + data + data
        return late + self.random.randbytes(20) + data + self.random.randbytes(5)


class FaultyTransport:
    """A transport behind errors in both directions."""

    immediate = True

    def __init__(self, inner: Any, seed: int, rate: float = 0.15) -> None:
        self.inner, self.there, self.back = inner, Faults(seed, rate), Faults(seed + 1, rate)

    def write(self, data: bytes) -> None:
        self.inner.write(self.there.pass_on(data))

    def read(self, seconds: float) -> bytes:
        return self.back.pass_on(self.inner.read(seconds))

    def close(self) -> None:
        self.inner.close()


def session(transport: Any, words: int = 512, seed: int = 3, **options: Any) -> tuple[Link, bytes]:
    """A link with a controller of 1+1 dimensions behind it, and the controller's configuration."""
    config = DeviceSettings(1, 1, 5, seed=seed, **options).config()
    link = Link(transport, QUICK)
    link.hello()
    assert link.init(config, words) == 0
    return link, config


def play(link: Link, core: Any, steps: int, seed: int, each: Callable[[], object] = lambda: None) -> None:
    """Random steps on a link and on another core; the actions must be equal."""
    draw = random.Random(seed)
    for step in range(steps):
        h, state = step % 5, [draw.randrange(65536)]
        code, _, action = link.act(h, state)
        assert code == 0 and action == tuple(core.act(h, state)), f"seed {seed}, step {step}"
        each()
        reward, following = draw.randrange(65536), [draw.randrange(65536)]
        assert link.observe(h, reward, following)[0] == 0
        core.observe(h, reward, following)
        each()
        if h == 4:
            assert link.end_episode()[0] == 0
            core.end_episode()


@dataclass(frozen=True)
class Unix:
    program: str | None

    @property
    def needed(self) -> pytest.MarkDecorator:
        reason = "no micropython on the path (Debian: apt-get install micropython) or in MICROPYTHON"
        return pytest.mark.skipif(self.program is None, reason=reason)


UNIX = Unix(shutil.which(os.environ.get("MICROPYTHON", "micropython")))
