"""A board with MicroPython: what it needs is copied to it by mpremote, and taken away again.

A serial line may damage a byte. What is sent to MicroPython's raw prompt can be sent twice, so a failure brings
the prompt back to its start and is tried once more; a file counts as written when the board gives its CRC. A
board that answers the link by itself (firmware in C, or a program that serves it) is left alone.
"""

from __future__ import annotations

import ast
import binascii
import hashlib
import io
import logging
import struct
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from adamb.budgets.boards import CORE_IMPORT_BYTES
from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.tools.device.loop.link import Link, LinkLost, TargetRefused, Timeouts
from adamb.tools.device.loop.transports import LINK, MAIN, PortError, PortTransport, drained, target_files
from adamb.tools.device.micropython.machine import MOUNT, NO_DEVICE

RETURN_SECONDS = 5
"""Timeout of the prompt after something went wrong."""
BYTECODE = 6
# The C core is in the firmware or in the root of the file system, and says its hash; the Python core in /lib is not
# to be loaded for this question, and one that was is not to be taken for ours.
PROBE = """
import sys, gc
p = list(getattr(sys, "path", ()))
for q in p:
    if q and q != ".frozen":
        sys.path.remove(q)
try:
    from adamb import core
    core = hasattr(core, "SPEC_HASH")
except ImportError:
    core = False
for q in p:
    if q not in sys.path:
        sys.path.append(q)
if not core:
    for q in list(getattr(sys, "modules", {})):
        if q.split(".")[0] == "adamb":
            sys.modules.pop(q)
try:
    import os
    os.stat("/lib")
    e = 0
except OSError as error:
    e = error.args[0]
except Exception:
    e = 0
gc.collect()
i = sys.implementation
print((i[0], i[1][:3], getattr(i, "_mpy", 0) & 255, gc.mem_free(), core, sys.platform, e))
"""
CLOSE = """
try:
    f.close()
except Exception:
    pass
"""
"""Of a file that mpremote left open when it was interrupted."""
CRC = """
import binascii
c = 0
with open({!r}, "rb") as f:
    while True:
        b = f.read(256)
        if not b:
            break
        c = binascii.crc32(b, c)
print(c)
"""
REMOVE = (
    CLOSE
    + """
import os
def _adamb_rm(p):
    try:
        for e in list(os.ilistdir(p)):
            q = p + "/" + e[0]
            if e[1] & 0x4000:
                _adamb_rm(q)
            else:
                os.remove(q)
        os.rmdir(p)
    except OSError:
        pass
_adamb_rm({0!r})
try:
    os.stat({0!r})
    print(False)
except OSError:
    print(True)
"""
)
T = TypeVar("T")


@dataclass(frozen=True)
class BoardInfo:
    """The description that a board's MicroPython gives of itself."""

    version: tuple[int, ...]
    bytecode: int
    free_bytes: int
    native: bool
    """True if the firmware has the C core."""
    platform: str
    has_files: bool = True
    """True if it has a file system."""

    @property
    def kind(self) -> str:
        return "mpy" if self.bytecode == BYTECODE else "py"


def board_info(printed: Any, field: str, name: str) -> BoardInfo:
    """The description in what PROBE printed; another Python than MicroPython is an error of this field."""
    if printed[0] != "micropython":
        raise InputError(field, name, f"runs {printed[0]}, not MicroPython")
    version, bytecode, free_bytes, native, platform, error = printed[1:]
    return BoardInfo(tuple(version), bytecode, free_bytes, native, platform, error != NO_DEVICE)


class Prompt:
    """MicroPython's raw prompt; mpremote's errors become ours, and what it prints goes nowhere."""

    def __init__(self, transport: PortTransport) -> None:
        self.port, self.remote = transport.port, transport.remote
        self._errors: tuple[type[Exception], ...] = (OSError, TypeError, ValueError, struct.error)

    def __enter__(self) -> Prompt:
        from mpremote.transport import TransportError

        self._errors = (TransportError, *self._errors)
        try:
            with redirect_stdout(io.StringIO()):
                self.remote.enter_raw_repl(soft_reset=True)
        except self._errors as error:
            text = "answers neither the link nor at MicroPython's prompt"
            raise InputError("core", f"board:{self.port}", f"{text}; is MicroPython on it? ({error})") from error
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            with suppress(Exception):
                self.leave()

    def _twice(self, work: Callable[[], T]) -> T:
        """Do it, and once more after an error: a damaged byte does no harm, a lasting cause is reported."""
        try:
            return self._once(work)
        except AdambError:
            self._once(self._begin_again)
            return self._once(work)

    def _begin_again(self) -> None:
        """An empty prompt, whatever was half sent or half answered."""
        self.remote.enter_raw_repl(soft_reset=False, timeout_overall=RETURN_SECONDS)

    def _once(self, work: Callable[[], T]) -> T:
        from mpremote.transport import TransportExecError

        try:
            with redirect_stdout(io.StringIO()):
                return work()
        except TransportExecError as error:
            lines = str(getattr(error, "error_output", error)).strip().splitlines()
            raise TargetRefused(f"board:{self.port}: {lines[-1] if lines else 'unknown error'}") from error
        except self._errors as error:
            raise LinkLost(f"board:{self.port} does not answer at its prompt ({error})") from error

    def _value(self, code: str) -> Any:
        """Execute the code; its last line as a value."""

        def work() -> Any:
            lines = bytes(self.remote.exec(code)).decode().strip().splitlines()
            try:
                return ast.literal_eval(lines[-1])
            except (IndexError, SyntaxError) as error:
                raise ValueError(f"it printed {lines[-1:]}") from error

        return self._twice(work)

    def probe(self, name: str) -> BoardInfo:
        return board_info(self._value(PROBE), "core", name)

    def mount(self) -> None:
        """Give a board without a file system one in its heap, until the next reset."""
        self._twice(lambda: self.remote.exec(MOUNT))

    def text_of(self, place: str) -> str:
        """The text of a file; empty where there is none."""
        code = f"p = {place!r}\ntry:\n t = open(p).read()\nexcept OSError:\n t = ''\nprint((p, t))"
        asked, text = self._value(code)
        if asked != place:  # a damaged name would be a file that is not there
            raise LinkLost(f"board:{self.port}: asked for {place}, it looked for {asked}")
        return str(text)

    def write(self, place: str, content: bytes) -> None:
        """Write a file, and read it back on the board."""
        folders = place.split("/")[1:-1]
        made = ["/" + "/".join(folders[: depth + 1]) for depth in range(len(folders))]

        def work() -> None:
            self.remote.exec(CLOSE)
            for folder in made:
                self.remote.exec(f"import os\ntry:\n os.mkdir({folder!r})\nexcept OSError:\n pass")
            self.remote.fs_writefile(place, content)
            if int(self.remote.exec(CRC.format(place)) or b"-1") != binascii.crc32(content):
                raise TargetRefused(f"board:{self.port}: damaged on the way")

        try:
            self._twice(work)
        except AdambError as error:
            text = f"{place} cannot be written, twice; look at cable and free flash, and run again"
            raise TargetRefused(f"{text} ({error})") from error

    def remove(self, folder: str) -> None:
        if not self._value(REMOVE.format(folder)):
            raise TargetRefused(f"board:{self.port}: {folder} cannot be removed")

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


FOLDER = "/adamb_loop"
MARK = f"{FOLDER}/version"
LINK_RESERVE_BYTES = 8 * 1024
"""Heap for the link beside the core and the block: its module, and the frames of a call."""
TIMEOUTS = Timeouts()
GREETING = Timeouts(reply_seconds=0.7, tries=3)
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
    timeouts: Timeouts = field(default_factory=lambda: TIMEOUTS)
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
        """True if the link is served already; another version there is an error."""
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

    def _check_heap(self, found: BoardInfo, needed: int) -> None:
        if found.free_bytes < needed:
            way_out = "take a smaller --budget or another board; adamb port --runtime c runs in less"
            if not found.native:
                way_out += ", and so does MicroPython with the C core, adamb port --runtime usermod"
            raise InputError(
                "core", self.name, f"{found.free_bytes} bytes of heap are free, {needed} are needed; {way_out}"
            )

    def _install(self, repl: Prompt, found: BoardInfo, files: dict[str, bytes]) -> None:
        if not found.has_files:
            log.info("%s: there is no file system; files are kept in its heap until the end", self.name)
            repl.mount()
        wanted = hashlib.sha256(b"".join(files[place] for place in sorted(files))).hexdigest()[:16]
        there = repl.text_of(MARK)
        if there == wanted:
            return
        # The mark is written last: a folder without one is a copy of ours that was broken off.
        if there and not (self.keep or self._copied):
            text = f"another version is in {FOLDER} on the board; add --agent-set keep=1 to replace it"
            raise InputError("core", self.name, f"{text}, or remove it: mpremote connect {self.port} rm -r :{FOLDER}")
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
