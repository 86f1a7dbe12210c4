"""A DRAM channel and its synthetic traffic as Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.host_sim.problems.dram.channel import REQUEST, DramTiming, as_requests, ffi, lib


class Channel:
    """One channel with its own banks and queues; `serve` continues where the last batch ended."""

    def __init__(self, timing: DramTiming) -> None:
        self.timing = timing
        self._timing = timing.as_c()
        self._state = ffi.new("dram_channel *")
        self._totals = ffi.new("dram_totals *")
        self.reset()

    def reset(self) -> None:
        """All banks closed, queues empty, time zero."""
        lib.dram_reset(self._state, self._timing)

    def serve(self, requests: np.ndarray, policy: Any) -> Any:
        """Run a batch under `policy` (`Knobs.as_c()`); its totals are valid until the next call."""
        ffi.memmove(self._totals, bytes(ffi.sizeof("dram_totals")), ffi.sizeof("dram_totals"))
        lib.dram_run(
            self._state, self._timing, policy, as_requests(requests), len(requests), self._totals
        )  # fmt: skip
        return self._totals


class Streams:
    """Synthetic traffic, one stream a bank (see `dram_streams_next`)."""

    def __init__(self, streams: int, seed: int, p: float, gap_stay: float, gap_move: float) -> None:
        self._state = ffi.new("dram_streams *")
        lib.dram_streams_reset(self._state, streams, seed, p, gap_stay, gap_move)

    def next(
        self, n: int, seed: int, p: float, gap_stay: float, gap_move: float, writes: float
    ) -> np.ndarray:
        """The next n requests."""
        requests = np.empty(n, dtype=REQUEST)
        lib.dram_streams_next(self._state, seed, p, gap_stay, gap_move, writes, as_requests(requests), n)
        return requests
