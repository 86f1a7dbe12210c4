"""A cache divided between two tenants: as a formula, and simulated line by line.

Here: stack distances and alias tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi, lib


def _keys(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.uint64)


def _pointer(kind: str, array: np.ndarray) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


class Stack:
    """Mattson's stack: how large an LRU cache must be for each request to hit."""

    def __init__(self, most_objects: int) -> None:
        made = lib.cache_stack_new(most_objects)
        if made == ffi.NULL:
            raise InputError("cache", most_objects, "not enough memory for a cache of this size")
        #: For C, which may use it as well.
        self.pointer = ffi.gc(made, lib.cache_stack_free)

    @property
    def objects(self) -> int:
        """Distinct objects seen and kept."""
        return int(lib.cache_stack_objects(self.pointer))

    def run(self, keys: np.ndarray) -> np.ndarray:
        """Distances (0: first use) of a prefix of the keys; shorter than `keys` when the stack is full."""
        wanted = _keys(keys)
        distances = np.empty(len(wanted), dtype=np.int64)
        taken = lib.cache_stack_run(
            self.pointer, _pointer("uint64_t", wanted), len(wanted), _pointer("int64_t", distances)
        )
        return distances[:taken]

    def hits(self, keys: np.ndarray) -> int:
        """Number of the keys that an LRU cache of `most_objects` lines hits."""
        wanted = _keys(keys)
        return int(lib.cache_stack_hits(self.pointer, _pointer("uint64_t", wanted), len(wanted)))

    def keep_below(self, limit: int) -> int:
        """Forget objects whose hash is `limit` or more; how many stay."""
        return int(lib.cache_stack_keep(self.pointer, limit))


def hashes(keys: np.ndarray) -> np.ndarray:
    """The 64-bit hash by which `Stack.keep_below` samples."""
    wanted = _keys(keys)
    out = np.empty(len(wanted), dtype=np.uint64)
    lib.cache_hashes(_pointer("uint64_t", wanted), len(wanted), _pointer("uint64_t", out))
    return out


def hits_by_size(distances: np.ndarray, largest: int) -> np.ndarray:
    """(largest + 1,) hits of LRU at every size from 0, from one pass of distances."""
    counted = distances[(distances > 0) & (distances <= largest)]
    return np.cumsum(np.bincount(counted, minlength=largest + 1))


def alias_table(popularity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's tables: draw an object, keep it with probability accept, else take its alias."""
    n = len(popularity)
    scaled = popularity / popularity.sum() * n
    accept, alias = np.ones(n), np.arange(n, dtype=np.int32)
    small = [i for i in range(n) if scaled[i] < 1.0]
    large = [i for i in range(n) if scaled[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        accept[low], alias[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            small.append(large.pop())
    return accept, alias
