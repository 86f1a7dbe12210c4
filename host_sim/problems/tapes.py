"""What simulators that play whole episodes in C have in common: tapes of what no action changes.

Instances with the same seed, which agents under comparison play, share one tape. A tape holds as many
episodes as there is memory for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamb.host_sim._sim import ffi

#: For all tapes together; more than a processor keeps near would be no faster.
USUAL_BYTES = 24_000_000
#: A simulation whose tapes of a single episode need more is played step by step.
MOST_BYTES = 256_000_000
MOST_EPISODES = 64


class Tapes:
    """Which tape an instance has, and memory by instance or by tape and episode that C only points to."""

    def __init__(self, seeds: Sequence[int]) -> None:
        firsts: dict[int, int] = {}
        for i, seed in enumerate(seeds):
            firsts.setdefault(seed, i)
        #: The first instance of each tape.
        self.firsts = list(firsts.values())
        order = {seed: number for number, seed in enumerate(firsts)}
        self.of = np.array([order[seed] for seed in seeds], dtype=np.int32)
        self.episodes = 0

    def make_room(self, bytes_an_episode: int) -> bool:
        """Choose how many episodes a tape has; False where not even one has room."""
        needed = len(self.firsts) * bytes_an_episode
        self.episodes = max(1, min(MOST_EPISODES, USUAL_BYTES // needed))
        return needed <= MOST_BYTES

    def array(self, *shape: int, kind: Any = np.float64) -> np.ndarray:
        """(tape, episode, ...)."""
        return np.zeros((len(self.firsts), self.episodes, *shape), dtype=kind)


def pointer(kind: str, array: np.ndarray) -> Any:
    """Where an array lies, as C declares it; the caller keeps it."""
    return ffi.cast(f"{kind} *", array.ctypes.data)
