"""What a channel did over a whole run: row hits, closed rows, bank conflicts, a histogram of read latency."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.host_sim.problems.dram.channel import ffi, lib

COUNTS = (
    "reads", "writes", "hits", "closed", "conflicts", "reopened", "read_latency", "worst_read", "refreshes",
)  # fmt: skip
BUCKETS: int = lib.DRAM_LATENCIES
TOTALS = len(COUNTS) + BUCKETS
_WORST = COUNTS.index("worst_read")


class Statistics:
    """Sums of `dram_totals`, an instance a row; the histogram is at the end of a row."""

    def __init__(self, n: int) -> None:
        self.sums = np.zeros((n, TOTALS), dtype=np.int64)
        assert ffi.sizeof("dram_totals") == self.sums[0].nbytes, "COUNTS names the fields of dram_totals"

    def _column(self, name: str) -> np.ndarray:
        return self.sums[:, COUNTS.index(name)]

    @property
    def mean_latency(self) -> float:
        """Cycles of a read, 0 before the first."""
        return float(self._column("read_latency").sum() / max(1, self._column("reads").sum()))

    def figures(self) -> dict[str, np.ndarray]:
        """Of every instance: shares of all requests, and the mean latency of its reads."""
        served = np.maximum(1, self._column("reads") + self._column("writes"))
        return {
            "row_hits": self._column("hits") / served,
            "closed_rows": self._column("closed") / served,
            "bank_conflicts": self._column("conflicts") / served,
            "read_latency": self._column("read_latency") / np.maximum(1, self._column("reads")),
        }

    def as_dict(self) -> dict[str, Any]:
        """Sums over all instances; a bucket [from, below, reads] of the histogram is an octave of cycles."""
        sums = self.sums.sum(axis=0)
        found = {name: int(value) for name, value in zip(COUNTS, sums, strict=False)}
        found["worst_read"] = int(self._column("worst_read").max())
        counts = sums[len(COUNTS) :].tolist()
        rows = [[2**i if i else 0, 2 ** (i + 1), reads] for i, reads in enumerate(counts)]
        last = max((i for i, reads in enumerate(counts) if reads), default=-1)
        first = next((i for i, reads in enumerate(counts) if reads), 0)
        return {**found, "mean_read": self.mean_latency, "latency": rows[first : last + 1]}
