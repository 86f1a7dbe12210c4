"""The core on an emulated processor, driven call by call."""

from __future__ import annotations

import struct
from array import array
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model.host import binding
from adamb.tools.device.emulator.cortex_m import Machine


class BoardController:
    """The core on an emulated processor behind the interface that a replay drives, codes and all."""

    def __init__(self, config: Any, words: int, machine: Machine) -> None:
        self._machine = machine
        self._words, self._d_a = words, config.d_a
        self._block = self._machine.reserve(2 * words)
        self._machine.write(self._block, b"\xa5\xa5" * words)
        structure = bytes(binding.ffi.buffer(binding.c_config(SimpleNamespace(**config.as_dict()))))
        place = self._machine.reserve(len(structure))
        self._machine.write(place, structure)
        self._point, self._action = self._machine.reserve(8), self._machine.reserve(8)
        self.code = self._machine.call("adamb_init", place, self._block, words).result

    @property
    def w(self) -> array:
        return array("H", self._machine.read(self._block, 2 * self._words))

    def act(self, h: int, point: Any, action: array) -> int:
        self._machine.write(self._point, struct.pack(f"<{len(point)}H", *point))
        code = self._machine.call("adamb_act", self._block, h, self._point, self._action).result
        if code == 0:
            action[:] = array("H", self._machine.read(self._action, 2 * self._d_a))
        return code

    def observe(self, h: int, reward: int, point: Any) -> int:
        self._machine.write(self._point, struct.pack(f"<{len(point)}H", *point))
        return self._machine.call("adamb_observe", self._block, h, reward, self._point).result

    def end_episode(self) -> int:
        return self._machine.call("adamb_end_episode", self._block).result
