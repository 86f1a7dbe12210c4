"""A board with MicroPython: what it needs is copied to it by mpremote, and taken away again.

A board that answers the link by itself (firmware in C, or a program that serves it) is left alone.
"""

from __future__ import annotations

import ast
import hashlib
import io
import logging
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.boards.profile import CORE_IMPORT_BYTES
from adamb.budgets.errors import AdambError, InputError
from adamb.tools.device.loop.files import LINK, MAIN, target_files
from adamb.tools.device.loop.link import Link, LinkLost, Patience, TargetRefused
from adamb.tools.device.loop.port import PortError, PortTransport, drained

FOLDER = "/adamb_loop"
MARK = f"{FOLDER}/version"
LINK_RESERVE_BYTES = 8 * 1024
"""Heap for the link beside the core and the block: its module, and the frames of a call."""
PATIENCE = Patience()
GREETING = Patience(reply_seconds=0.7, tries=3)
BYTECODE = 6
# A firmware with the C core has adamb.core. A Python core elsewhere on the board is not to be taken for ours.
PROBE = """
import sys, gc
try:
    from adamb import core
except ImportError:
    core = getattr(sys, "modules", {}).pop("adamb", None) and None
gc.collect()
i = sys.implementation
print((i[0], i[1][:3], getattr(i, "_mpy", 0) & 255, gc.mem_free(), bool(core), sys.platform))
"""
log = logging.getLogger("adamb.loop")


def needed_bytes(words: int, *, native: bool = False) -> int:
    """The free heap that a board must have for a block of so many words; `native`: it has the C core."""
    return (0 if native else CORE_IMPORT_BYTES) + LINK_RESERVE_BYTES + 2 * words


@dataclass(frozen=True)
class Found:
    """What a board's MicroPython says about itself."""

    version: tuple[int, ...]
    bytecode: int
    free_bytes: int
    native: bool
    """Whether the firmware has the C core."""
    platform: str

    @property
    def kind(self) -> str:
        return "mpy" if self.bytecode == BYTECODE else "py"


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
        with _Repl(transport) as repl:
            found = repl.probe(self.name)
            self._check_heap(found, words)
            self._install(repl, found)
            repl.start(f"import sys; sys.path.insert(0, {FOLDER!r}); {MAIN}")
        self._started = True
        log.info("%s: the controller runs there", self.name)

    def _check_heap(self, found: Found, words: int) -> None:
        needed = needed_bytes(words, native=found.native)
        if found.free_bytes < needed:
            way_out = "take a smaller --budget or another board; adamb port --c runs in less"
            raise InputError(
                "core",
                self.name,
                f"{found.free_bytes} bytes of heap are free, {needed} are needed; {way_out}",
            )

    def _install(self, repl: _Repl, found: Found) -> None:
        wanted_files = target_files(found.kind, native=found.native)
        files = {f"{FOLDER}/{place}": path.read_bytes() for place, path in wanted_files.items()}
        wanted = hashlib.sha256(b"".join(files[place] for place in sorted(files))).hexdigest()[:16]
        there = repl.version()
        if there == wanted:
            return
        if there is not None and not (self.keep or self._copied):
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
        with _Repl(transport) as repl:
            if self._copied and not self.keep:
                repl.remove(FOLDER)
                log.info("%s: removed %s again", self.name, FOLDER)
                self._copied = False
            repl.leave()
        self._started = False


class _Repl:
    """MicroPython's raw prompt; mpremote's errors become ours, and what it prints goes nowhere."""

    def __init__(self, transport: PortTransport) -> None:
        self.port, self.remote = transport.port, transport.remote
        self._errors: tuple[type[Exception], ...] = (OSError, TypeError, ValueError)

    def __enter__(self) -> _Repl:
        from mpremote.transport import TransportError

        self._errors = (TransportError, OSError, TypeError, ValueError)
        try:
            with redirect_stdout(io.StringIO()):
                self.remote.enter_raw_repl(soft_reset=True)
        except self._errors as error:
            text = "answers neither the link nor at MicroPython's prompt"
            raise InputError(
                "core", f"board:{self.port}", f"{text}; is MicroPython on it? ({error})"
            ) from error
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            with suppress(Exception):
                self.leave()

    def run(self, code: str) -> str:
        from mpremote.transport import TransportExecError

        try:
            with redirect_stdout(io.StringIO()):
                return bytes(self.remote.exec(code)).decode(errors="replace")
        except TransportExecError as error:
            lines = str(getattr(error, "error_output", error)).strip().splitlines()
            raise TargetRefused(f"board:{self.port}: {lines[-1] if lines else error}") from error
        except self._errors as error:
            raise LinkLost(f"board:{self.port} does not answer at its prompt ({error})") from error

    def probe(self, name: str) -> Found:
        found = ast.literal_eval(self.run(PROBE).strip().splitlines()[-1])
        if found[0] != "micropython":
            raise InputError("core", name, f"runs {found[0]}, not MicroPython")
        return Found(tuple(found[1]), int(found[2]), int(found[3]), bool(found[4]), str(found[5]))

    def version(self) -> str | None:
        """What is written down in the folder; empty where there is a folder without it."""
        code = (
            f"import os\ntry:\n os.stat({FOLDER!r})\n try:\n  print(repr(open({MARK!r}).read()))\n"
            " except OSError:\n  print(repr(''))\nexcept OSError:\n print(None)"
        )
        found = ast.literal_eval(self.run(code).strip().splitlines()[-1])
        return None if found is None else str(found)

    def write(self, place: str, content: bytes) -> None:
        folders = place.split("/")[1:-1]
        for depth in range(len(folders)):
            folder = "/" + "/".join(folders[: depth + 1])
            self.run(f"import os\ntry:\n os.mkdir({folder!r})\nexcept OSError:\n pass")
        try:
            self.remote.fs_writefile(place, content)
        except Exception as error:
            raise TargetRefused(f"board:{self.port}: cannot write {place} ({error})") from error

    def remove(self, folder: str) -> None:
        self.run(
            "import os\ndef _adamb_rm(p):\n try:\n  for e in list(os.ilistdir(p)):\n   q = p + '/' + e[0]\n"
            "   if e[1] & 0x4000:\n    _adamb_rm(q)\n   else:\n    os.remove(q)\n  os.rmdir(p)\n"
            f" except OSError:\n  pass\n_adamb_rm({folder!r})"
        )

    def start(self, code: str) -> None:
        try:
            with redirect_stdout(io.StringIO()):
                self.remote.exec_raw_no_follow(code)
        except self._errors as error:
            raise LinkLost(f"board:{self.port} does not start {LINK} ({error})") from error

    def leave(self) -> None:
        """Back to the friendly prompt, and a soft reset: the board's own main.py runs again."""
        self.remote.exit_raw_repl()
        self.remote.serial.write(b"\x04")
