"""The Python core in this interpreter, for a stream to be replayed on."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

from adamb.firmware_model import core as shipped
from adamb.tools.device.emulator.core import CoreError


class PythonCore:
    """What `replay` drives: the shipped core, or a variant of it."""

    def __init__(self, fields: dict[str, Any], words: int, core: Any = shipped) -> None:
        self._block = array("H", bytes(2 * words))
        made = core.init(core.Config(**fields), self._block)
        if isinstance(made, int):
            raise CoreError(f"init returned {made}")
        self._controller = made
        self._action = array("H", bytes(2 * fields["d_a"]))

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        _check("act", self._controller.act(h, state, self._action))
        return tuple(self._action)

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        _check("observe", self._controller.observe(h, reward, next_state))

    def end_episode(self) -> None:
        _check("end_episode", self._controller.end_episode())

    def block(self) -> bytes:
        words = self._block if sys.byteorder == "little" else array("H", self._block)
        if sys.byteorder != "little":
            words.byteswap()
        return words.tobytes()


def _check(name: str, code: int) -> None:
    if code < 0:
        raise CoreError(f"{name} returned {code}")
