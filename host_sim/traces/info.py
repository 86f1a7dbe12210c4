"""Content of a trace, from one pass in bounded memory.

Distinct objects are followed exactly up to a limit. Beyond it a shrinking random part of them (chosen by
hash, so all requests of an object count or none do) stands for the rest, which keeps stack distances
unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adamb.host_sim.problems.cache import Stack, hashes
from adamb.host_sim.problems.dram.channel import REQUEST, ROW_BITS, as_requests, ffi, lib, map_address
from adamb.host_sim.traces import LINE_BYTES, TraceReader, byte_addresses, object_ids

MOST_OBJECTS = 1 << 18
BANKS = 16
#: Cache sizes at which the miss ratio is known: eight an octave, powers of two among them.
SIZES = np.unique(np.rint(2.0 ** (np.arange(0, 8 * 36 + 1) / 8)).astype(np.int64))
#: Slices of the picture over time, at least this many once a trace has as many requests; and requests of one
#: at first.
SLICES, SLICE = 200, 256


class MissRatio:
    """Stack distances of a stream, sampled once there are more objects than fit."""

    def __init__(self, most_objects: int = MOST_OBJECTS) -> None:
        self._stack = Stack(most_objects)
        self._limit = 1 << 64
        self._weight = np.zeros(len(SIZES) + 1)
        self.first_bytes = 0.0

    @property
    def rate(self) -> float:
        """Part of the objects that is followed."""
        return self._limit / 2.0**64

    @property
    def objects(self) -> float:
        """Distinct objects, exact while the rate is 1."""
        return self._stack.objects / self.rate

    def add(self, keys: np.ndarray, sizes: np.ndarray) -> None:
        """Follow more requests."""
        while len(keys):
            if self._limit < 1 << 64:
                chosen = hashes(keys) < np.uint64(self._limit)
                keys, sizes = keys[chosen], sizes[chosen]
            distances = self._stack.run(keys)
            self._count(distances, sizes[: len(distances)])
            keys, sizes = keys[len(distances) :], sizes[len(distances) :]
            if len(keys):
                self._limit //= 2
                self._stack.keep_below(self._limit)

    def _count(self, distances: np.ndarray, sizes: np.ndarray) -> None:
        again = distances > 0
        scaled = np.maximum(1, np.rint(distances[again] / self.rate)).astype(np.int64)
        places = np.searchsorted(SIZES, scaled, side="left")
        self._weight += np.bincount(places, minlength=len(SIZES) + 1) / self.rate
        self.first_bytes += float(sizes[~again].sum()) / self.rate

    def curve(self, requests: int) -> tuple[np.ndarray, np.ndarray]:
        """(sizes in objects, miss ratio of LRU) up to the first size that holds everything."""
        hits = np.cumsum(self._weight[:-1])
        enough = min(len(SIZES), int(np.searchsorted(SIZES, self.objects)) + 1)
        misses = np.clip(1.0 - hits / max(requests, 1), 0.0, 1.0)
        return SIZES[:enough], misses[:enough]


class RowHits:
    """Requests that find their row open when rows stay open and nothing is reordered."""

    def __init__(self) -> None:
        self._shadow, self._view = ffi.new("dram_shadow *"), ffi.new("dram_view *")
        lib.dram_shadow_reset(self._shadow)
        self.same = 0

    def add(self, bank: np.ndarray, row: np.ndarray) -> int:
        """Follow more requests; how many of them hit."""
        requests = np.zeros(len(row), dtype=REQUEST)
        requests["bank"], requests["row"] = bank, row
        lib.dram_observe(self._shadow, as_requests(requests), len(requests), self._view)
        self.same += self._view.same_row
        return int(self._view.same_row)


@dataclass
class TraceInfo:
    """The summary of a trace; `curve` are sizes in objects and LRU miss ratios."""

    path: str
    format: str
    unit: str
    clock: str
    requests: int = 0
    writes: int = 0
    objects: float = 0.0
    footprint_bytes: float = 0.0
    sampling_rate: float = 1.0
    row_hit_rate: float = 0.0
    row_hit_rate_hashed: float = 0.0
    duration: int | None = None
    curve: tuple[np.ndarray, np.ndarray] = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    #: (slices, 3): request a slice ends at, its row-hit rate and its write share.
    phases: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))

    @property
    def write_share(self) -> float:
        return self.writes / self.requests

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the curve at powers of two."""
        sizes, misses = self.curve
        octaves = [i for i, size in enumerate(sizes.tolist()) if size & (size - 1) == 0]
        return {
            "file": self.path,
            "format": self.format,
            "unit": self.unit,
            "clock": self.clock,
            "duration": self.duration,
            "requests": self.requests,
            "write_share": self.write_share,
            "objects": round(self.objects),
            "footprint_bytes": round(self.footprint_bytes),
            "sampling_rate": self.sampling_rate,
            "row_hit_rate": self.row_hit_rate,
            "row_hit_rate_hashed": self.row_hit_rate_hashed,
            "miss_ratio": [[int(sizes[i]), float(misses[i])] for i in octaves],
        }


def trace_info(path: Path, most_objects: int = MOST_OBJECTS) -> TraceInfo:
    """Read a trace once; memory does not depend on its length."""
    reader = TraceReader(path)
    info = TraceInfo(str(path), reader.format, reader.unit, reader.clock)
    misses, plain, hashed, phases = MissRatio(most_objects), RowHits(), RowHits(), Phases()
    first_time: int | None = None
    last_time = 0  # not of the last request: block traces are not sorted strictly
    for records in reader:
        if not len(records):
            continue
        addresses = byte_addresses(records, reader.unit)
        bank, row = map_address(addresses, BANKS)
        hashed.add(bank, row)
        plain_bank = ((addresses >> np.uint64(ROW_BITS)) & np.uint64(BANKS - 1)).astype(np.int32)
        for at in range(0, len(records), SLICE):
            piece = slice(at, at + SLICE)
            same = plain.add(plain_bank[piece], row[piece])
            phases.add(len(row[piece]), same, int(records["write"][piece].sum()))
        misses.add(object_ids(records, reader.unit), records["size"].astype(np.int64))
        info.requests += len(records)
        info.writes += int(records["write"].sum())
        earliest = int(records["time"].min())
        first_time = earliest if first_time is None else min(first_time, earliest)
        last_time = max(last_time, int(records["time"].max()))
    info.duration = None if reader.clock == "none" or first_time is None else last_time - first_time
    info.row_hit_rate = plain.same / info.requests
    info.row_hit_rate_hashed = hashed.same / info.requests
    info.objects, info.sampling_rate = misses.objects, misses.rate
    info.footprint_bytes = misses.objects * LINE_BYTES if reader.unit == "bytes" else misses.first_bytes
    info.curve, info.phases = misses.curve(info.requests), phases.shares()
    return info


class Phases:
    """Row hits and writes over time; neighbouring slices are merged when there are too many."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int]] = []

    def add(self, requests: int, row_hits: int, writes: int) -> None:
        self._rows.append((requests, row_hits, writes))
        if len(self._rows) >= 2 * SLICES:
            pairs = zip(self._rows[::2], self._rows[1::2], strict=True)
            self._rows = [(a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a, b in pairs]

    def shares(self) -> np.ndarray:
        """(slices, 3): the request a slice ends at, its row-hit rate and its write share."""
        rows = np.array(self._rows, dtype=float).reshape(-1, 3)
        return np.stack([rows[:, 0].cumsum(), rows[:, 1] / rows[:, 0], rows[:, 2] / rows[:, 0]], axis=1)
