"""A board with MicroPython: what it needs is copied to it by mpremote, and taken away again.

A board that answers the link by itself (firmware in C, or a program that serves it) is left alone.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.boards.profile import CORE_IMPORT_BYTES
from adamb.budgets.errors import AdambError, InputError
from adamb.tools.device.loop.files import MAIN, target_files
from adamb.tools.device.loop.link import Link, LinkLost, Patience, TargetRefused
from adamb.tools.device.loop.port import PortError, PortTransport, drained
from adamb.tools.device.loop.prompt import Found, Prompt

FOLDER = "/adamb_loop"
MARK = f"{FOLDER}/version"
LINK_RESERVE_BYTES = 8 * 1024
"""Heap for the link beside the core and the block: its module, and the frames of a call."""
PATIENCE = Patience()
GREETING = Patience(reply_seconds=0.7, tries=3)
log = logging.getLogger("adamb.loop")


def needed_bytes(words: int, *, native: bool = False, file_bytes: int = 0) -> int:
    """The free heap that a board must have for a block of so many words; `native`: it has the C core;
    `file_bytes`: of files that are in the heap, too."""
    return (0 if native else CORE_IMPORT_BYTES) + LINK_RESERVE_BYTES + 2 * words + file_bytes


@dataclass
class BoardTarget:
    """A board at a serial port, or at a `socket://`."""

    name: str
    port: str
    keep: bool = False
    patience: Patience = field(default_factory=lambda: PATIENCE)
    fresh: bool = False
    _copied: bool = False
    _started: bool = False

    def open(self, words: int) -> PortTransport:
        try:
            transport = PortTransport(self.port)
        except PortError as error:
            raise InputError("core", self.name, str(error)) from error
        try:
            if not self._answers(transport):
                self._start(transport, words)
        except BaseException:
            transport.close()
            raise
        return transport

    def _answers(self, transport: PortTransport) -> bool:
        """Whether the link is served already; another version there is an error."""
        drained(transport)
        try:
            Link(transport, GREETING).hello()
        except LinkLost:
            return False
        except TargetRefused as error:
            raise InputError("core", self.name, f"{error}, or reset the board") from error
        return True

    def _start(self, transport: PortTransport, words: int) -> None:
        with Prompt(transport) as repl:
            found = repl.probe(self.name)
            wanted = target_files(found.kind, native=found.native)
            files = {f"{FOLDER}/{place}": path.read_bytes() for place, path in wanted.items()}
            in_heap = 0 if found.has_files else sum(map(len, files.values()))
            self._check_heap(found, needed_bytes(words, native=found.native, file_bytes=in_heap))
            try:
                self._install(repl, found, files)
                repl.start(f"import sys; sys.path.insert(0, {FOLDER!r}); {MAIN}")
            except BaseException:
                self._clear_away(repl)
                raise
        self._started = True
        log.info("%s: the controller runs there", self.name)

    def _check_heap(self, found: Found, needed: int) -> None:
        if found.free_bytes < needed:
            way_out = "take a smaller --budget or another board; adamb port --c runs in less"
            if not found.native:
                way_out += ", and so does MicroPython with the C core, adamb port --usermod"
            raise InputError(
                "core",
                self.name,
                f"{found.free_bytes} bytes of heap are free, {needed} are needed; {way_out}",
            )

    def _install(self, repl: Prompt, found: Found, files: dict[str, bytes]) -> None:
        if not found.has_files:
            log.info("%s: there is no file system; files are kept in its heap until the end", self.name)
            repl.mount()
        wanted = hashlib.sha256(b"".join(files[place] for place in sorted(files))).hexdigest()[:16]
        there = repl.text_of(MARK)
        if there == wanted:
            return
        # The mark is written last: a folder without one is a copy of ours that was broken off.
        if there and not (self.keep or self._copied):
            text = f"another version is in {FOLDER} on the board; add --keep to replace it"
            raise InputError(
                "core", self.name, f"{text}, or remove it: mpremote connect {self.port} rm -r :{FOLDER}"
            )
        version = ".".join(map(str, found.version))
        size = sum(map(len, files.values()))
        log.info(
            "%s: MicroPython %s on %s, %d bytes of heap free; copying %d files, %d bytes",
            self.name, version, found.platform, found.free_bytes, len(files), size,
        )  # fmt: skip
        self._copied = True
        repl.remove(FOLDER)
        for number, (place, content) in enumerate(files.items(), 1):
            repl.write(place, content)
            if number % 5 == 0 or number == len(files):
                log.info("%s: %d of %d files", self.name, number, len(files))
        repl.write(MARK, wanted.encode())

    def _clear_away(self, repl: Prompt) -> None:
        """Half a copy is of no use: remove it, where the board can still be reached."""
        if self._copied:
            with suppress(AdambError):
                repl.remove(FOLDER)
                self._copied = False

    def close(self, transport: Any, link: Link | None) -> None:
        """End the program, take away what was copied, and start the board's own program again."""
        try:
            if self._started:
                self._restore(transport, link)
        except AdambError as error:
            if self._copied and not self.keep:
                log.warning("%s: cannot be reached to remove %s (%s)", self.name, FOLDER, error)
        finally:
            transport.close()

    def _restore(self, transport: PortTransport, link: Link | None) -> None:
        if link is not None:
            with suppress(LinkLost):
                link.quit()
        with Prompt(transport) as repl:
            if self._copied and not self.keep:
                repl.remove(FOLDER)
                log.info("%s: removed %s again", self.name, FOLDER)
                self._copied = False
            repl.leave()
        self._started = False
