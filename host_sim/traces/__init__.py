"""Trace files: requests to memory or to a cache from every supported format, recognised by content.

`open_store` gives random access for replay, `TraceReader` one pass in bounded memory, `read_series` one
column of a csv. A format is a class in `traces/formats`; gzip is transparent everywhere.
"""

from __future__ import annotations

import numpy as np

from adamb.host_sim.traces.reader import RECORD, TraceReader
from adamb.host_sim.traces.series import read_series
from adamb.host_sim.traces.store import TraceStore, open_store

__all__ = [
    "LINE_BYTES",
    "RECORD",
    "TraceReader",
    "TraceStore",
    "byte_addresses",
    "object_ids",
    "open_store",
    "read_series",
]

#: A cache line; byte addresses of one line are one object to a cache.
LINE_BYTES = 64


def object_ids(records: np.ndarray, unit: str) -> np.ndarray:
    """What a cache keys on: the id (or the start of an extent) itself, or the line of a byte address."""
    return records["address"] // np.uint64(LINE_BYTES) if unit == "bytes" else records["address"]


def byte_addresses(records: np.ndarray, unit: str) -> np.ndarray:
    """What a memory decodes: the address itself, or one line per object (ids wrap at 58 bits)."""
    return records["address"] * np.uint64(LINE_BYTES) if unit == "objects" else records["address"]
