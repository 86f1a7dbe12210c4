"""The core on an emulated processor, driven call by call."""

from __future__ import annotations

import struct
from array import array
from types import SimpleNamespace
from typing import Any

from adamb.firmware_model.host import binding


class Calls:
    """The calls on a block of that processor behind the interface that a replay drives, codes and all."""

    def __init__(self, machine: Any, words: int, d_a: int, order: str = "<") -> None:
        self._machine, self._words, self._d_a, self._order = machine, words, d_a, order
        self._block = machine.reserve(2 * words)
        self._machine.write(self._block, b"\xa5\xa5" * words)
        self._point, self._action = machine.reserve(8), machine.reserve(8)

    def _call(self, name: str, *arguments: Any) -> int:
        made = self._machine.call(name, *arguments)
        return made if isinstance(made, int) else made.result

    def _read(self, place: int, count: int) -> array:
        return array("H", struct.unpack(f"{self._order}{count}H", self._machine.read(place, 2 * count)))

    @property
    def w(self) -> array:
        return self._read(self._block, self._words)

    def act(self, h: int, point: Any, action: array) -> int:
        self._machine.write(self._point, struct.pack(f"{self._order}{len(point)}H", *point))
        code = self._call("adamb_act", self._block, h, self._point, self._action)
        if code == 0:
            action[:] = self._read(self._action, self._d_a)
        return code

    def given(self, h: int, point: Any, action: Any) -> int:
        self._machine.write(self._point, struct.pack(f"{self._order}{len(point)}H", *point))
        self._machine.write(self._action, struct.pack(f"{self._order}{len(action)}H", *action))
        return self._call("adamb_given", self._block, h, self._point, self._action)

    def observe(self, h: int, reward: int, point: Any) -> int:
        self._machine.write(self._point, struct.pack(f"{self._order}{len(point)}H", *point))
        return self._call("adamb_observe", self._block, h, reward, self._point)

    def end_episode(self) -> int:
        return self._call("adamb_end_episode", self._block)


class BoardController(Calls):
    """A new controller, on a processor with the low byte first."""

    def __init__(self, config: Any, words: int, machine: Any) -> None:
        super().__init__(machine, words, config.d_a)
        structure = bytes(binding.ffi.buffer(binding.c_config(SimpleNamespace(**config.as_dict()))))
        place = machine.reserve(len(structure))
        machine.write(place, structure)
        self.code = self._call("adamb_init", place, self._block, words)
