"""Act between every two stores of the compiled core, as a board runs it: nothing is added to its code.

The processor is emulated. Before every store to the block it stops, and `act` of the host decides on
a copy of the block; tests/chip/stores.c judges what it chose.
"""

from __future__ import annotations

import ctypes
import random
from collections import Counter

from adamb.firmware_model import _spec as spec
from adamb.tools.device.emulator.core import EmulatedCore
from adamb.tools.device.settings import DeviceSettings
from support.stores import Report, library

PERIOD = 150
"""Episodes after which rewards turn round, so that the change detector restarts."""
HORIZON = 3
EVENTS = {"restarts": spec.H_RESTARTS, "reclaims": spec.H_RECLAIMS}


class Watched:
    """An emulated core whose stores to the block are watched while a call is judged."""

    def __init__(self, settings: DeviceSettings, words: int, target: str, optimise: str, seed: int) -> None:
        self.core = EmulatedCore(settings.config(), words, target=target, optimise=optimise, counting=False)
        self.words, self.report, self.judging = words, Report(), False
        self.lib = library()
        self.lib.stores_open(words, seed, ctypes.byref(self.report))
        self.core.machine.watch_stores(self.core.block_address, 2 * words, self._store)

    def _copy(self) -> ctypes.Array:
        return (ctypes.c_uint16 * self.words).from_buffer_copy(self.core.block())

    def _store(self) -> None:
        if self.judging:
            self.lib.stores_seen(self._copy())

    def begin(self, h: int, state: list[int], following: list[int]) -> None:
        """What comes next is a call to judge, for a step that goes from a state to the following one."""
        points = [(ctypes.c_uint16 * 3)(*(point + [0, 0])[:3]) for point in (state, following)]
        self.lib.stores_before(self._copy(), HORIZON, h, *points)
        self.judging = True

    def end(self) -> None:
        self.judging = False
        self.lib.stores_after(self._copy())

    def word(self, place: int) -> int:
        return int.from_bytes(self.core.block()[2 * place : 2 * place + 2], "little")


def play(
    settings: DeviceSettings, more_words: int, *, seed: int, steps: int, target: str, optimise: str
) -> tuple[Report, Counter]:
    """So many steps; what act chose between the stores, and how often what happened."""
    rng = random.Random(seed)

    def point() -> list[int]:
        return [
            rng.choice((0, 65535, rng.randrange(65536), rng.randrange(65536))) for _ in range(settings.d_s)
        ]

    watched = Watched(settings, settings.required_words() + more_words, target, optimise, seed)
    core, state = watched.core, point()
    for episode in range(-(-steps // HORIZON)):
        turned = episode // PERIOD % 2
        for h in range(HORIZON):
            far, following = abs(core.act(h, state)[0] - state[0]), point()
            watched.begin(h, state, following)
            core.observe(h, far // 8 if turned else 65535 - far, following)
            watched.end()
            state = following
        watched.begin(0, state, state)
        core.end_episode()
        watched.end()
    return watched.report, Counter({name: watched.word(place) for name, place in EVENTS.items()})
