"""Epochs of a trace file as the requests of a DRAM problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.problems.dram.channel import DramTiming
from adamb.host_sim.problems.dram.traffic import PEAK_LOAD, Traffic, map_address
from adamb.host_sim.traces import byte_addresses, open_store

#: Load that a CPU trace gets where nothing is said: half of what the channel sustains.
USUAL_LOAD = 0.5 * PEAK_LOAD
#: Instructions a memory cycle of a core that never waits: four a cycle at the clock of the memory.
MOST_IPC = 4.0
#: The parameter that says how fast a trace is played, by what its times count; without such times, a gap.
PACES = {"cycles": "stretch", "instructions": "ipc"}
GAP = "gap"


class TraceTraffic(Traffic):
    """Consecutive requests of a file; where an episode starts is drawn from the seed."""

    def __init__(self, n: int, timing: DramTiming, params: Mapping[str, Any], *, epochs: int) -> None:
        super().__init__(timing, params)
        self._store = open_store(Path(params["trace"]))
        needed = epochs * self.requests
        if len(self._store) < needed:
            few, fewer = f"has {len(self._store)} requests, {needed} are needed", len(self._store) // epochs
            remedy = f"; --set requests={fewer} takes shorter epochs" if fewer else ""
            raise InputError("trace", params["trace"], few + remedy)
        self._last_start = len(self._store) - needed
        self._place = np.zeros(n, dtype=np.int64)
        self._clock = np.zeros(n, dtype=np.int64)
        self.pace = PACES.get(self._store.clock, GAP)
        #: Set where `ipc` was left to us and the trace asks for more than it should at full speed.
        self._slowed = False
        if self.pace == "ipc" and params["ipc"] is None:
            self._params = {**params, "ipc": self._usual_ipc()}

    @property
    def pace_value(self) -> float:
        """The value of the parameter `pace`, which says how fast requests come."""
        return float(self._params[self.pace])

    def _usual_ipc(self) -> float:
        """A core waits for its memory, a trace does not: slow enough for the usual load on average."""
        first, last = (int(self._store[part]["time"][0]) for part in (slice(0, 1), slice(-1, None)))
        cycles = len(self._store) * self.timing.burst / USUAL_LOAD
        wanted = max(last - first, 1) / cycles
        self._slowed = wanted < MOST_IPC
        return float(f"{min(wanted, MOST_IPC):.3g}")

    def notes(self) -> list[str]:
        """How fast the trace was played, where we chose it, and whether that was too fast."""
        said = []
        if self._slowed:
            said.append(
                f"ipc={self.pace_value:g} instructions a memory cycle was chosen: the trace then asks for "
                f"half of what the channel sustains; --set ipc={MOST_IPC:g} is a core that never waits"
            )
        if self.saturated:
            epochs, too_much, asked = self.counted.tolist()
            share, factor = too_much / epochs, asked / epochs / USUAL_LOAD
            better = self.pace_value / factor if self.pace == "ipc" else self.pace_value * factor
            said.append(
                f"the trace asks for more than the channel sustains in {share:.0%} of the epochs, so that "
                f"latency says little about the policy; --set {self.pace}={better:.3g} brings it to half "
                f"(now {self.pace_value:g})"
            )
        return said

    def start(self, i: int, drawn: np.ndarray, requests: np.ndarray) -> None:
        """The first epoch of tape i, from four uniform numbers, into `requests`."""
        self._place[i] = int(drawn[3] * (self._last_start + 1))
        self._clock[i] = 0
        self.next(i, requests)

    def next(self, i: int, requests: np.ndarray) -> None:
        """The next epoch; a continuing run that reaches the end of the file goes on at its beginning."""
        if self._place[i] + self.requests > len(self._store):
            self._place[i] = 0
        records = self._store[int(self._place[i]) : int(self._place[i]) + self.requests]
        self._place[i] += self.requests
        addresses = byte_addresses(records, self._store.unit)
        requests["bank"], requests["row"] = map_address(addresses, self.timing.banks)
        requests["write"] = records["write"]
        requests["arrival"] = self._clock[i] + self._arrivals(records["time"])
        self._clock[i] = requests["arrival"][-1]

    def _arrivals(self, times: np.ndarray) -> np.ndarray:
        """Cycles since the previous request of the epoch's first; never decreasing."""
        if self.pace == "stretch":
            elapsed = (times - times[0]) * self.pace_value
        elif self.pace == "ipc":
            elapsed = (times - times[0]) / self.pace_value
        else:
            elapsed = np.arange(len(times)) * self.pace_value
        return np.floor(elapsed).astype(np.int64) + 1
