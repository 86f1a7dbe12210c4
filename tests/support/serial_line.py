"""A serial line for tests: a pseudo-terminal in front of a process, with a cable that can be pulled and can
damage what passes."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
import tty
from collections.abc import Callable, Sequence
from pathlib import Path

from adamb.tools.device.loop.transports import MAIN
from support.looped import Faults


class SerialLine:
    """`port` is where the board seems to be; the process behind it is the board."""

    def __init__(self, command: Sequence[str], port: Path, *, faults: tuple[Faults, Faults] | None = None):
        self.command, self.port, self.faults = command, port, faults
        self.passed = self.requests = 0
        self._tail: bytes | None = b""
        self.on_bytes: Callable[[SerialLine], object] = lambda line: None
        self._ends: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.power_on()
        self.plug()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def power_on(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, bufsize=0)

    def power_off(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def plug(self) -> None:
        near, far = pty.openpty()
        tty.setraw(far)
        self.port.unlink(missing_ok=True)
        self.port.symlink_to(os.ttyname(far))
        self._ends = (near, far)

    def unplug(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, None
            self.port.unlink(missing_ok=True)
            for each in ends or ():
                os.close(each)

    def _carry(self) -> None:
        while not self._closed:
            with self._lock:
                ends, board = self._ends, self.process.stdout
                watched = [ends[0]] if ends is not None else []
                watched += [] if board.closed else [board.fileno()]
                try:
                    ready = select.select(watched, [], [], 0.02)[0]
                    if ends is not None and ends[0] in ready:
                        self._to_board(os.read(ends[0], 4096))
                    if not board.closed and board.fileno() in ready:
                        self._from_board(os.read(board.fileno(), 4096), ends)
                except OSError:
                    pass
            self.on_bytes(self)

    def _to_board(self, data: bytes) -> None:
        self.passed += len(data)
        self._count(data)
        if not self.process.stdin.closed:
            self.process.stdin.write(self.faults[0].pass_on(data) if self.faults else data)

    def _count(self, data: bytes) -> None:
        """Requests since the link's program was started; a file that is copied may hold the same sign."""
        if self._tail is None:
            self.requests += data.count(b"~")
            return
        self._tail += data
        if MAIN.encode() in self._tail:
            self._tail = None

    def _from_board(self, data: bytes, ends: tuple[int, int] | None) -> None:
        if ends is not None:
            os.write(ends[0], self.faults[1].pass_on(data) if self.faults else data)

    def close(self) -> None:
        self._closed = True
        self._thread.join(5)
        self.unplug()
        self.power_off()
