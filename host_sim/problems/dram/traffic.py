"""Where the requests of a DRAM problem come from: synthetic streams here, a trace file in `replay`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.problems.dram.channel import REQUEST, DramTiming, as_requests, ffi, lib
from adamb.host_sim.problems.dram.lite import heading

#: Share of the data bus that a load of 1 asks for: near what sixteen banks sustain when no row is ever
#: reused.
PEAK_LOAD = 0.45
LEAST_LOAD = 0.02
MOST_WRITES = 0.6
ROW_BITS, BANK_BITS = 13, 4


class Traffic(ABC):
    """Requests of n instances, epoch by epoch, and what a controller may see of them."""

    def __init__(self, n: int, timing: DramTiming, params: Mapping[str, Any]) -> None:
        self.timing, self.requests = timing, int(params["requests"])
        self._params = params
        self._shadows = [ffi.new("dram_shadow *") for _ in range(n)]
        self._view = ffi.new("dram_view *")
        self._seen = np.zeros((n, 3))
        self._last: list[tuple[np.ndarray, float]] = [(np.empty(0), 0.0)] * n
        #: Epochs seen, those that ask for more than the channel sustains, and the sum of what they ask for.
        self.counted = np.zeros(3)

    @abstractmethod
    def start(self, i: int, drawn: np.ndarray) -> np.ndarray:
        """The first epoch of an episode, from four uniform numbers."""

    @abstractmethod
    def next(self, i: int, noise: np.ndarray, location: float) -> np.ndarray:
        """The next epoch, from three normal numbers and a uniform one; `location` says how much lasts."""

    def repeat(self, i: int, origin: int) -> np.ndarray:
        """The epoch that `origin` has just had: for instance i, which has the same seed."""
        self._seen[i], (requests, busy) = self._seen[origin], self._last[origin]
        self._count(busy)
        return requests

    def gaps(self, locality: float, load: float) -> tuple[float, float]:
        """Mean cycles until a stream returns to its row and until it asks for another, as far as is known."""
        return self._params["g1"], self._params["g2"]

    @property
    def saturated(self) -> bool:
        """Whether most epochs so far ask for more than the channel sustains."""
        epochs, too_much, _ = self.counted
        return bool(2 * too_much > epochs)

    def notes(self) -> list[str]:
        """What a user should know about the requests so far."""
        return []

    def seen(self, i: int) -> np.ndarray:
        """(row locality, load, write share) of the last epoch."""
        return self._seen[i]

    def _forget(self, i: int) -> None:
        lib.dram_shadow_reset(self._shadows[i])

    def _observe(self, i: int, requests: np.ndarray) -> np.ndarray:
        view = self._view
        lib.dram_observe(self._shadows[i], as_requests(requests), len(requests), view)
        busy = view.requests * self.timing.burst / max(view.span, 1)
        self._count(busy)
        self._last[i] = requests, busy
        self._seen[i] = (
            view.same_row / view.requests,
            min(busy / PEAK_LOAD, 1.0),
            view.writes / view.requests,
        )
        return requests

    def count_epochs(self, epochs: int, too_much: int) -> None:
        """Epochs that were drawn elsewhere, so many of which ask for more than the channel sustains."""
        self.counted += (epochs, too_much, 0.0)

    def _count(self, busy: float) -> None:
        self.counted += (1, busy >= PEAK_LOAD, busy)


class SyntheticTraffic(Traffic):
    """One stream a bank; locality walks, and load and write share too where they are part of the state."""

    def __init__(
        self, n: int, timing: DramTiming, params: Mapping[str, Any], *, varies: tuple[bool, bool]
    ) -> None:
        super().__init__(n, timing, params)
        wanted = params["streams"] or (timing.banks if varies[0] else min(4, timing.banks))
        if wanted > timing.banks:
            raise InputError("streams", wanted, f"the device has {timing.banks} banks")
        self.streams_n = wanted
        self.varies = self._vary_load, self._vary_writes = varies
        self._streams = [ffi.new("dram_streams *") for _ in range(n)]
        #: Locality, load and write share of each instance, each in [0,1].
        self.latent = np.zeros((n, 3))

    def start(self, i: int, drawn: np.ndarray) -> np.ndarray:
        self.latent[i] = drawn[:3]
        self._forget(i)
        seed = _seed(drawn[3])
        gaps = self.gaps(self.latent[i, 0], self.latent[i, 1])
        lib.dram_streams_reset(self._streams[i], self.streams_n, seed + 1, self.latent[i, 0], *gaps)
        return self._epoch(i, seed, gaps)

    def next(self, i: int, noise: np.ndarray, location: float) -> np.ndarray:
        self.latent[i, 0] = heading(location, self.latent[i, 0])
        self.latent[i] = np.clip(self.latent[i] + self._params["walk"] * noise[:3], 0.0, 1.0)
        gaps = self.gaps(self.latent[i, 0], self.latent[i, 1])
        return self._epoch(i, _seed(noise[3]), gaps)

    def repeat(self, i: int, origin: int) -> np.ndarray:
        self.latent[i] = self.latent[origin]
        return super().repeat(i, origin)

    def gaps(self, locality: float, load: float) -> tuple[float, float]:
        """A given load fixes the average gap, g2/g1 the ratio."""
        stay, move = self._params["g1"], self._params["g2"]
        if not self._vary_load:
            return stay, move
        busy = LEAST_LOAD + (PEAK_LOAD - LEAST_LOAD) * load
        wanted = max(self.streams_n * self.timing.burst / busy - 1.0, 1.0)
        stretch = wanted / (locality * stay + (1.0 - locality) * move)
        return stay * stretch, move * stretch

    def _epoch(self, i: int, seed: int, gaps: tuple[float, float]) -> np.ndarray:
        requests = np.empty(self.requests, dtype=REQUEST)
        writes = MOST_WRITES * self.latent[i, 2] if self._vary_writes else 0.0
        lib.dram_streams_next(
            self._streams[i], seed, self.latent[i, 0], *gaps, writes, as_requests(requests), len(requests)
        )
        return self._observe(i, requests)


def _seed(uniform: float) -> int:
    return int(uniform * 2.0**53)


def map_address(address: np.ndarray, banks: int) -> tuple[np.ndarray, np.ndarray]:
    """Bank and row of byte addresses: 8 KB rows, banks mixed with the low row bits so that strides spread."""
    row = address >> np.uint64(ROW_BITS + BANK_BITS)
    bank = ((address >> np.uint64(ROW_BITS)) ^ row) & np.uint64((1 << BANK_BITS) - 1)
    return (bank % np.uint64(banks)).astype(np.int32), row.astype(np.int64)
