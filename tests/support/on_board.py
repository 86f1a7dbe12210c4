"""What tests give a board: a port copied where its README says, a machine with a heater, a short run."""

from __future__ import annotations

from pathlib import Path

HEAP_ON_BOARD = Path(__file__).with_name("heap_on_board.py")
VECTORS_ON_BOARD = Path(__file__).with_name("vectors_on_board.py")
# 600 steps of a controller `core` imported before, in a block of 1 KiB.
LIFE = """
block = array("H", bytes(1024))
controller = core.init(core.Config(seed=9), block)
state, action = array("H", (0,)), array("H", (0,))
for k in range(600):
    controller.act(k % 5, state, action)
    state[0] = (state[0] * 3 + action[0] + k * 977) // 4 & 0xFFFF
    controller.observe(k % 5, action[0], state)
    if k % 5 == 4:
        controller.end_episode()
"""

# `machine` of a board with a heater behind an ADC and a PWM. Every second reading is of a period later;
# `looked`, which a test adds, is called at every reading.
MACHINE = """
import sys

class World:
    temperature = 13000
    duty = 0
    reads = 0
    feeds = 0

class Pin:
    def __init__(self, name):
        self.name = name

class ADC:
    ATTN_11DB = 3
    def __init__(self, pin, atten=None):
        self.atten = atten
    def read_u16(self):
        World.reads += 1
        if World.reads % 2 == 0:
            World.temperature += (13000 + World.duty * 3 // 4 - World.temperature) // 10
        looked()
        return World.temperature

class PWM:
    def __init__(self, pin, freq, duty_u16):
        self.duty_u16(duty_u16)
    def duty_u16(self, duty):
        World.duty = duty

class WDT:
    def __init__(self, timeout):
        assert 500 < timeout <= 8388
    def feed(self):
        World.feeds += 1
"""


def without_waiting(folder: Path) -> str:
    """The board file of a port with periods that take no time."""
    text = (folder / "adamb_board.py").read_text()
    assert "PERIOD_MS = plant.PERIOD_MS" in text
    return text.replace("PERIOD_MS = plant.PERIOD_MS", "PERIOD_MS = 0")


def copied(folder: Path, kind: str, *names: str) -> dict[str, Path | bytes | str]:
    """The modules of a port and files beside them, by their place on the board."""
    files: dict[str, Path | bytes | str] = {
        f"/lib/{path.relative_to(folder / kind).as_posix()}": path for path in (folder / kind).rglob(f"*.{kind}")
    }
    return files | {f"/{name}": folder / name for name in names}
