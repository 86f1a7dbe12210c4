"""The C core on its targets: linked for the host, and cross compiled into an emulated board."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from adamb.firmware_model.host.errors import AdambError
from adamb.tools.device.emulator.compile import MICROBIT, Image, MemoryMap, build_image
from adamb.tools.device.emulator.cortex_m import EmulatedCall, Machine

_DECLARED = re.compile(r"/\* cffi begin \*/(.*?)/\* cffi end \*/", re.DOTALL)


class CoreError(AdambError):
    """A function of the core returned an error code."""


def c_folder() -> Path:
    """The folder of the C sources, in a checkout and in an installed package."""
    return Path(str(import_module("adamb.firmware_model").__file__)).resolve().parent / "c"


def sources() -> list[Path]:
    return sorted(c_folder().glob("*.c"))


def declared(header: Path) -> str:
    """The part of a header that Python may use."""
    return "".join(_DECLARED.findall(header.read_text()))


def public_functions() -> list[str]:
    """Names of the functions that the public header declares."""
    return re.findall(r"\b(adamb_\w+)\s*\([^()]*\)\s*;", declared(c_folder() / "adamb.h"))


#: What a controller at work calls; adamb_check, for diagnosis, is as large as a fifth of all this.
RUNNING = (
    "adamb_config_default", "adamb_thresholds", "adamb_required_words", "adamb_init",
    "adamb_act", "adamb_given", "adamb_observe", "adamb_end_episode", "adamb_stats",
)  # fmt: skip
DIAGNOSIS = "adamb_check"
HOT_PATH = ("adamb_act", "adamb_observe", "adamb_end_episode")


def defines(target: str) -> dict[str, int | str]:
    """Macros that describe a processor to the core: ARMv6-M has no divide instruction, the others do."""
    return {} if target.startswith("cortex-m0") else {"ADAMB_HAS_DIVIDE": 1}


@cache
def core_image(target: str = "cortex-m0", optimise: str = "size", roots: tuple[str, ...] = ()) -> Image:
    """The core alone, with everything its public functions reach (or only what `roots` reach)."""
    return Image(
        build_image(
            sources(),
            target=target,
            roots=list(roots) or public_functions(),
            includes=[c_folder()],
            optimise=optimise,
            defines=defines(target),
        )
    )


@dataclass(frozen=True)
class Flash:
    """Bytes of a controller at work, and what linking adamb_check adds to them."""

    running_bytes: int
    check_bytes: int


@cache
def flash(target: str = "cortex-m0", optimise: str = "size") -> Flash:
    running = core_image(target, optimise, RUNNING).sizes.flash_bytes
    return Flash(running, core_image(target, optimise, (*RUNNING, DIAGNOSIS)).sizes.flash_bytes - running)


def _check(name: str, result: int) -> None:
    if result < 0:
        raise CoreError(f"{name} returned {result}")


class HostCore:
    """The core as the host's own extension module runs it."""

    def __init__(self, config: bytes, words: int) -> None:
        binding: Any = import_module("adamb.firmware_model.host.binding")
        self._ffi, self._lib = binding.ffi, binding.lib
        self._config = self._ffi.new("adamb_config *")
        self._ffi.buffer(self._config)[:] = config
        self._block = self._ffi.new("uint16_t[]", words)
        _check("adamb_init", self._lib.adamb_init(self._config, self._block, words))
        self._state = self._ffi.new("uint16_t[3]")
        self._action = self._ffi.new("uint16_t[3]")
        self._d_a = int(self._config.d_a)

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        self._state[0 : len(state)] = list(state)
        _check("adamb_act", self._lib.adamb_act(self._block, h, self._state, self._action))
        return tuple(self._action[0 : self._d_a])

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        self._state[0 : len(next_state)] = list(next_state)
        _check("adamb_observe", self._lib.adamb_observe(self._block, h, reward, self._state))

    def end_episode(self) -> None:
        _check("adamb_end_episode", self._lib.adamb_end_episode(self._block))

    def block(self) -> bytes:
        return bytes(self._ffi.buffer(self._block))


class MachineCore:
    """The core on an emulated processor: its block, and room for what calls take."""

    last: Any
    """The last call, with what it cost."""

    def __init__(self, machine: Any, config: bytes, words: int) -> None:
        self.machine, self._d_a, self._words = machine, config[1], words
        self.block_address: int = machine.reserve(2 * words)
        place = machine.reserve(len(config))
        machine.write(place, config)
        self._state, self._action = machine.reserve(8), machine.reserve(8)
        self._call("adamb_init", place, self.block_address, words)

    def _call(self, name: str, *arguments: Any) -> None:
        self.last = self.machine.call(name, *arguments)
        _check(name, self.last.result)

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        self.machine.write(self._state, struct.pack(f"<{len(state)}H", *state))
        self._call("adamb_act", self.block_address, h, self._state, self._action)
        return struct.unpack(f"<{self._d_a}H", self.machine.read(self._action, 2 * self._d_a))

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        self.machine.write(self._state, struct.pack(f"<{len(next_state)}H", *next_state))
        self._call("adamb_observe", self.block_address, h, reward, self._state)

    def end_episode(self) -> None:
        self._call("adamb_end_episode", self.block_address)

    def block(self) -> bytes:
        return bytes(self.machine.read(self.block_address, 2 * self._words))


class EmulatedCore(MachineCore):
    """The core on an emulated Cortex-M; the block ends where RAM ends, so writing past it faults."""

    last: EmulatedCall

    def __init__(
        self,
        config: bytes,
        words: int,
        *,
        target: str = "cortex-m0",
        memory: MemoryMap = MICROBIT,
        optimise: str = "size",
        image: Image | None = None,
    ) -> None:
        self.image = image or core_image(target, optimise)
        machine = Machine(self.image, cpu=target, memory=memory)
        super().__init__(machine, config, words)

    def poke(self, index: int, word: int) -> None:
        """Replace one word of the block."""
        self.machine.write(self.block_address + 2 * index, struct.pack("<H", word))

    def load(self, block: bytes) -> None:
        """Put a whole block in place of the current one."""
        if len(block) != 2 * self._words:
            raise CoreError(f"a block of {len(block)} bytes does not fit one of {2 * self._words}")
        self.machine.write(self.block_address, block)
