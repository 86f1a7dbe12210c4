"""Where the requests of a DRAM problem come from: synthetic streams here, a trace file in `replay`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.problems.dram.channel import DramTiming, lib

#: Share of the data bus that a load of 1 asks for.
PEAK_LOAD: float = lib.DRAM_PEAK_LOAD
ROW_BITS, BANK_BITS = 13, 4


class Traffic:
    """How much is asked of the channels, epoch by epoch."""

    #: Banks with streams of their own, and whether load and write share vary.
    streams_n, varies = 0, (False, False)

    def __init__(self, timing: DramTiming, params: Mapping[str, Any]) -> None:
        self.timing, self.requests = timing, int(params["requests"])
        self._params = params
        #: Epochs seen, those that ask for more than the channel sustains, and the sum of what they ask for.
        self.counted = np.zeros(3)

    @property
    def saturated(self) -> bool:
        """Whether most epochs so far ask for more than the channel sustains."""
        epochs, too_much, _ = self.counted
        return bool(2 * too_much > epochs)

    def notes(self) -> list[str]:
        """What a user should know about the requests so far."""
        return []

    def count(self, asked: np.ndarray) -> None:
        """Count epochs that ask for these shares of the data bus."""
        self.counted += (asked.size, (asked >= PEAK_LOAD).sum(), asked.sum())


class SyntheticTraffic(Traffic):
    """One stream a bank; locality walks, and load and write share too where they are part of the state."""

    def __init__(self, timing: DramTiming, params: Mapping[str, Any], *, varies: tuple[bool, bool]) -> None:
        super().__init__(timing, params)
        wanted = params["streams"] or (timing.banks if varies[0] else min(4, timing.banks))
        if wanted > timing.banks:
            raise InputError("streams", wanted, f"the device has {timing.banks} banks")
        self.streams_n, self.varies = wanted, varies


def map_address(address: np.ndarray, banks: int) -> tuple[np.ndarray, np.ndarray]:
    """Bank and row of byte addresses: 8 KB rows, banks mixed with the low row bits so that strides spread."""
    row = address >> np.uint64(ROW_BITS + BANK_BITS)
    bank = ((address >> np.uint64(ROW_BITS)) ^ row) & np.uint64((1 << BANK_BITS) - 1)
    return (bank % np.uint64(banks)).astype(np.int32), row.astype(np.int64)
