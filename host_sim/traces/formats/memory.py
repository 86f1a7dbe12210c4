"""Traces of memory requests: Ramulator, loads and stores, CPU traces, DRAMSim, DRAMSys, Valgrind's Lackey."""

from __future__ import annotations

import re
from typing import ClassVar

from adamb.host_sim._sim import lib
from adamb.host_sim.traces.formats.base import (
    LARGEST_ADDRESS,
    LARGEST_TIME,
    LINE,
    Record,
    TextFormat,
    whole,
)


class _TwoWords(TextFormat):
    """An address and a word for reading or writing, in either order."""

    #: Words by what they mean: 0 reads, 1 writes.
    kinds: ClassVar[tuple[bytes, bytes]]
    address_at: ClassVar[int]
    hexadecimal: ClassVar[bool] = False

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 2 or parts[1 - self.address_at] not in self.kinds:
            return False
        text = parts[self.address_at]
        address = whole(text, LARGEST_ADDRESS)
        if address is None or (self.hexadecimal and text[:2] not in (b"0x", b"0X")):
            return False
        out.append((0, address, LINE, self.kinds.index(parts[1 - self.address_at])))
        return True


class Ramulator(_TwoWords):
    name, example, fast = "ramulator", "0x12345680 R", lib.TRACE_RAMULATOR
    kinds, address_at, hexadecimal = (b"R", b"W"), 0, True


class LoadStore(_TwoWords):
    name, example, fast = "load-store", "LD 0x12345680", lib.TRACE_LOAD_STORE
    kinds, address_at = (b"LD", b"ST"), 1


class CpuTrace(TextFormat):
    """Instructions before the access, its address, and a write-back if one was caused."""

    name, example, clock = "cpu", "3 20734016 [20841280]", "instructions"
    fast = lib.TRACE_CPU

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if not 2 <= len(parts) <= 3:
            return False
        before = whole(parts[0], LARGEST_TIME)
        addresses = [whole(part, LARGEST_ADDRESS) for part in parts[1:]]
        if before is None or None in addresses or self.instructions + before >= LARGEST_TIME:
            return False
        self.instructions += before + 1
        for write, address in enumerate(addresses):
            out.append((self.instructions, address or 0, LINE, write))
        return True


_DRAMSIM_WORDS = {
    b"R": 0, b"W": 1, b"READ": 0, b"WRITE": 1, b"IFETCH": 0, b"P_FETCH": 0, b"P_MEM_RD": 0, b"P_MEM_WR": 1,
    b"P_LOCK_RD": 0, b"P_LOCK_WR": 1,
}  # fmt: skip


class DramSim(TextFormat):
    """Of DRAMsim3, and the words of DRAMSim2 for the same."""

    name, example, clock = "dramsim3", "0x2000D5C0 READ 30", "cycles"
    fast = lib.TRACE_DRAMSIM3

    def read(self, line: bytes, out: list[Record]) -> bool:
        parts = line.split()
        if len(parts) != 3 or parts[0][:2] not in (b"0x", b"0X"):
            return False
        write = _DRAMSIM_WORDS.get(parts[1].upper())
        address, cycle = whole(parts[0], LARGEST_ADDRESS), whole(parts[2], LARGEST_TIME, 10)
        if write is None or address is None or cycle is None or not self.at(cycle):
            return False
        out.append((cycle, address, LINE, write))
        return True


class DramSys(TextFormat):
    name, example, clock = "dramsys", "31: read 0x400140", "cycles"
    fast = lib.TRACE_DRAMSYS
    _LINE = re.compile(
        rb"\s*(\d{1,18}):\s*(?:\((\d{1,9})\)\s*)?(read|write)\s+0[xX]([0-9a-fA-F]{1,16})"
        rb"(?:\s+0[xX][0-9a-fA-F]+)?\s*$"
    )

    def read(self, line: bytes, out: list[Record]) -> bool:
        match = self._LINE.match(line)
        if match is None or not self.at(int(match[1])):
            return False
        cycle, length, kind, address = match.groups()
        out.append((int(cycle), int(address, 16), int(length or LINE), int(kind == b"write")))
        return True


class Lackey(TextFormat):
    """`valgrind --tool=lackey --trace-mem=yes`: loads, stores, and M, which is one of each.

    Fetches of instructions are no requests; they are the clock. Where they have been filtered out, every
    access counts as an instruction. What Valgrind says about itself begins with ==PID== and is left out.
    """

    name, example, clock = "lackey", " L 1ffeffe7e0,8", "instructions"
    _LINE = re.compile(rb"\s*([ILSM])\s+([0-9a-fA-F]{1,16}),\s?(\d{1,9})\s*$")
    _SAID = re.compile(rb"==\d+==")
    _fetches = False

    def read(self, line: bytes, out: list[Record]) -> bool:
        if self._SAID.match(line):
            return True
        match = self._LINE.match(line)
        if match is None:
            return False
        kind, address, size = match[1], int(match[2], 16), int(match[3])
        self._fetches = self._fetches or kind == b"I"
        if kind == b"I" or not self._fetches:
            self.instructions += 1
        if kind in b"LM":
            out.append((self.instructions, address, size, 0))
        if kind in b"SM":
            out.append((self.instructions, address, size, 1))
        return True
