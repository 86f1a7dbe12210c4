"""Targets by name: what `--core` means, how each is started, and what is said where that is not possible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from adamb.budgets.errors import InputError
from adamb.tools.device.loop.link import Link, Patience, Transport
from adamb.tools.device.loop.port import one_name

CORTEX = ("cortex-m0", "cortex-m3")
NAMES = (*CORTEX, "micropython", "micropython:unix", "board:PORT")


class Target(Protocol):
    """A place where a controller runs. It is opened once for a run, and again where it went away."""

    name: str
    patience: Patience
    fresh: bool
    """Whether each seed gets a target that has just been started."""

    def open(self, words: int) -> Transport:
        """Start what is needed there for a block of so many words; the way to it."""
        ...

    def close(self, transport: Transport, link: Link | None) -> None:
        """Leave the place as it was."""
        ...


@dataclass
class EmulatedTarget:
    """An emulated Cortex-M, the link over its memory."""

    name: str
    patience: Patience = field(default_factory=lambda: Patience(0.0, tries=1, return_seconds=0.0))
    fresh: bool = False

    def open(self, words: int) -> Transport:
        from adamb.tools.device.loop.memory import MemoryTransport

        return MemoryTransport(self.name, words)

    def close(self, transport: Transport, link: Link | None) -> None:
        transport.close()


@dataclass
class MicroPythonTarget:
    """A MicroPython process, the link over its standard streams: the WebAssembly build, or a program."""

    name: str
    program: str | None = None
    patience: Patience = field(default_factory=lambda: Patience(30.0, tries=2, return_seconds=0.0))
    fresh: bool = True  # in the WebAssembly build no memory comes back while a program runs

    def open(self, words: int) -> Transport:
        from adamb.tools.device.loop.process import micropython_in_node, micropython_program

        return micropython_in_node() if self.program is None else micropython_program(self.program)

    def close(self, transport: Transport, link: Link | None) -> None:
        transport.close()


def find_targets(text: str, *, keep: bool = False) -> list[Target]:
    """The targets of `cortex-m0` or `board:A,board:B`; a mistake is an InputError."""
    names = [name.strip() for name in text.split(",")]
    ports = [one_name(name.removeprefix("board:")) for name in names if name.startswith("board:")]
    for name in names:
        if name.startswith("board:") and ports.count(one_name(name.removeprefix("board:"))) > 1:
            raise InputError("core", text, f"{name} is there twice; one board plays one seed at a time")
    if keep and not all(name.startswith("board:") for name in names):
        raise InputError("keep", keep, f"is for board:PORT, and the core is {text}")
    return [_find(text, name, keep) for name in names]


def _find(text: str, name: str, keep: bool) -> Target:
    if name in CORTEX:
        return EmulatedTarget(name)
    if name == "micropython":
        return MicroPythonTarget(name)
    if name.startswith("micropython:"):
        from adamb.tools.device.loop.process import find_program

        return MicroPythonTarget(name, find_program(text, name.removeprefix("micropython:")))
    if name.startswith("board:") and len(name) > len("board:"):
        from adamb.tools.device.loop.board import BoardTarget

        return BoardTarget(name, name.removeprefix("board:"), keep)
    raise InputError("core", text, f"{name!r} is no target; one of {', '.join(NAMES)}")
