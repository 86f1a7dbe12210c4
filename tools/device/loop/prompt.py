"""MicroPython's raw prompt: what a board says about itself, and files that arrive whole.

A serial line may damage a byte. What is sent here can be sent twice, so a failure brings the prompt back to
its start and is tried once more; a file counts as written when the board gives its CRC.
"""

from __future__ import annotations

import ast
import binascii
import io
import struct
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from adamb.budgets.errors import AdambError, InputError
from adamb.tools.device.loop.files import LINK
from adamb.tools.device.loop.link import LinkLost, TargetRefused
from adamb.tools.device.loop.port import PortTransport
from adamb.tools.device.micropython.heap_files import MOUNT, NO_DEVICE

RETURN_SECONDS = 5
"""How long the prompt may take to come back after something went wrong."""
BYTECODE = 6
# A firmware with the C core has adamb.core. A Python core elsewhere on the board is not to be taken for ours.
PROBE = """
import sys, gc
try:
    from adamb import core
except ImportError:
    core = getattr(sys, "modules", {}).pop("adamb", None) and None
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
print((i[0], i[1][:3], getattr(i, "_mpy", 0) & 255, gc.mem_free(), bool(core), sys.platform, e))
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
class Found:
    """What a board's MicroPython says about itself."""

    version: tuple[int, ...]
    bytecode: int
    free_bytes: int
    native: bool
    """Whether the firmware has the C core."""
    platform: str
    has_files: bool = True
    """Whether it has a file system."""

    @property
    def kind(self) -> str:
        return "mpy" if self.bytecode == BYTECODE else "py"


def found_in(printed: Any, field: str, name: str) -> Found:
    """What PROBE printed; another Python than MicroPython is an error of this field."""
    if printed[0] != "micropython":
        raise InputError(field, name, f"runs {printed[0]}, not MicroPython")
    version, bytecode, free_bytes, native, platform, error = printed[1:]
    return Found(tuple(version), bytecode, free_bytes, native, platform, error != NO_DEVICE)


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
            raise InputError(
                "core", f"board:{self.port}", f"{text}; is MicroPython on it? ({error})"
            ) from error
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
        """What the code prints in its last line, as a value."""

        def work() -> Any:
            lines = bytes(self.remote.exec(code)).decode().strip().splitlines()
            try:
                return ast.literal_eval(lines[-1])
            except (IndexError, SyntaxError) as error:
                raise ValueError(f"it printed {lines[-1:]}") from error

        return self._twice(work)

    def probe(self, name: str) -> Found:
        return found_in(self._value(PROBE), "core", name)

    def mount(self) -> None:
        """Give a board without a file system one in its heap, until the next reset."""
        self._twice(lambda: self.remote.exec(MOUNT))

    def text_of(self, place: str) -> str:
        """What is written in a file; empty where there is none."""
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
