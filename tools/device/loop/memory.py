"""The link over memory: frames go into the RAM of an emulated Cortex-M, where the C side of the link runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import build_image, memory_holding
from adamb.tools.device.emulator.core import HOT_PATH, c_folder, defines, sources
from adamb.tools.device.emulator.cortex_m import DeviceFault, Machine
from adamb.tools.device.emulator.elf import Image
from adamb.tools.device.loop.link import LinkLost

FOLDER = Path(__file__).resolve().parent / "target"
START, TAKE = "adamb_link_start", "adamb_link_take_all"
LINK_BYTES = 512
"""Room for an adamb_link, which begins with its answer."""
INPUT_BYTES = 256
SPARE_BYTES = 1024


@cache
def link_image(target: str) -> Image:
    return Image(
        build_image(
            [FOLDER / "adamb_link.c", *sources()],
            target=target,
            roots=[START, TAKE],
            includes=[c_folder(), FOLDER],
            defines=defines(target),
        )
    )


@cache
def _stack_bytes(target: str) -> int:
    return int(stack_report(link_image(target), (TAKE,)).bytes)


class CountingMachine(Machine):
    """A machine that notes the instructions of every act, observe and end_episode inside a call."""

    def __init__(self, image: Image, **arguments: Any) -> None:
        self._watched = {image.functions[name].address & ~1: name for name in HOT_PATH}
        self._entered: tuple[int, int] | None = None
        self.spent = 0
        super().__init__(image, **arguments)

    def _on_block(self, uc: Any, address: int, size: int, data: object) -> None:
        if self._entered is not None and address == self._entered[0]:
            self.spent = self._instructions - self._entered[1]
            self._entered = None
        elif self._entered is None and address in self._watched:
            back = uc.reg_read(self._arm.UC_ARM_REG_LR) & ~1
            self._entered = (back, self._instructions)
        super()._on_block(uc, address, size, data)


class MemoryTransport:
    """Writes go to the machine at once and leave an answer or none; there is nothing to wait for."""

    immediate = True

    def __init__(self, target: str, words: int) -> None:
        image = link_image(target)
        needed = 2 * words + LINK_BYTES + INPUT_BYTES + SPARE_BYTES + _stack_bytes(target)
        self.machine = CountingMachine(image, cpu=target, memory=memory_holding(needed))
        self._block = self.machine.reserve(2 * words)
        self._link = self.machine.reserve(LINK_BYTES)
        self._input = self.machine.reserve(INPUT_BYTES)
        self._answer = b""
        self.machine.call(START, self._link, self._block, words, 0, 0)

    def write(self, data: bytes) -> None:
        for at in range(0, len(data), INPUT_BYTES):
            part = data[at : at + INPUT_BYTES]
            self.machine.write(self._input, part)
            try:
                count = self.machine.call(TAKE, self._link, self._input, len(part)).result
            except DeviceFault as error:
                raise LinkLost(f"the emulated program failed: {error}") from error
            if count:
                self._answer += self.machine.read(self._link, count)

    def read(self, seconds: float) -> bytes:
        found, self._answer = self._answer, b""
        return found

    @property
    def spent(self) -> int:
        """Instructions of the last act, observe or end_episode."""
        return self.machine.spent

    def close(self) -> None:
        pass
