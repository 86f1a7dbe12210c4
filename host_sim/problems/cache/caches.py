"""Caches as Python objects: LRU parts, traces under LRU, FIFO and Belady, stack distances, alias tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim import _sim
from adamb.host_sim.parameter import choose

lib, ffi = _sim.lib, _sim.ffi

POLICIES = {"lru": lib.CACHE_LRU, "fifo": lib.CACHE_FIFO, "belady": lib.CACHE_BELADY}


def _keys(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.uint64)


def _pointer(kind: str, array: np.ndarray) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


class Part:
    """An LRU cache of unit-size lines whose size may change while it runs."""

    def __init__(self, most_lines: int) -> None:
        self._most = most_lines
        self._part = _owned(lib.cache_part_new(most_lines), lib.cache_part_free)

    def clear(self) -> None:
        """Forget every line."""
        lib.cache_part_clear(self._part)

    def resize(self, lines: int) -> None:
        """Shrinking evicts the least recently used lines at once; growing fills on demand."""
        if not 0 <= lines <= self._most:
            raise InputError("lines", lines, f"must be from 0 to {self._most}")
        lib.cache_part_resize(self._part, lines)

    @property
    def held(self) -> int:
        """Lines in use."""
        return int(lib.cache_part_held(self._part))

    def run(self, keys: np.ndarray) -> int:
        """Request the keys in order; the number of hits."""
        wanted = _keys(keys)
        return int(lib.cache_part_run(self._part, _pointer("uint64_t", wanted), len(wanted)))


def run_parts(first: Part, second: Part, keys: np.ndarray, slots: np.ndarray) -> tuple[int, int, int]:
    """Request the keys in order, each of the part that its slot names.

    Gives the hits of both parts and how many requests were the second's.
    """
    found, wanted = ffi.new("int64_t[3]"), _keys(keys)
    pointers = _pointer("uint64_t", wanted), _pointer("uint8_t", slots)
    lib.cache_parts_run(first._part, second._part, *pointers, len(wanted), found)
    return found[0], found[1], found[2]


class Stack:
    """Mattson's stack: how large an LRU cache must be for each request to hit."""

    def __init__(self, most_objects: int) -> None:
        self._stack = _owned(lib.cache_stack_new(most_objects), lib.cache_stack_free)

    @property
    def objects(self) -> int:
        """Distinct objects seen and kept."""
        return int(lib.cache_stack_objects(self._stack))

    def run(self, keys: np.ndarray) -> np.ndarray:
        """Distances (0: first use) of a prefix of the keys; shorter than `keys` when the stack is full."""
        wanted = _keys(keys)
        distances = np.empty(len(wanted), dtype=np.int64)
        taken = lib.cache_stack_run(
            self._stack, _pointer("uint64_t", wanted), len(wanted), _pointer("int64_t", distances)
        )
        return distances[:taken]

    def keep_below(self, limit: int) -> int:
        """Forget objects whose hash is `limit` or more; how many stay."""
        return int(lib.cache_stack_keep(self._stack, limit))


def _owned(pointer: Any, free: Any) -> Any:
    if pointer == ffi.NULL:
        raise InputError("cache", "size", "not enough memory for a cache of this size")
    return ffi.gc(pointer, free)


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


def next_uses(keys: np.ndarray) -> np.ndarray:
    """1-based index of the next request for the same key, -1 for never (as oracleGeneral has it)."""
    n = len(keys)
    order = np.argsort(keys, kind="stable")
    following = np.full(n, -1, dtype=np.int64)
    same = keys[order[1:]] == keys[order[:-1]]
    following[order[:-1][same]] = order[1:][same] + 1
    return following


def simulate(
    policy: str, keys: np.ndarray, sizes: np.ndarray | int, capacity: int, following: np.ndarray | None = None
) -> np.ndarray:
    """Whether each request hits (bool array) in a cache of `capacity` bytes.

    Every object that fits is admitted and keeps the size it was admitted with. Belady evicts the farthest
    next use until the object fits; `following` spares it the pass that finds the next uses.
    """
    kind = POLICIES[choose("policy", policy, POLICIES)]
    wanted = _keys(keys)
    n = len(wanted)
    bytes_each = np.ascontiguousarray(np.broadcast_to(np.asarray(sizes, dtype=np.uint32), n))
    due = ffi.NULL
    if policy == "belady":
        known = next_uses(wanted) if following is None else following
        later = np.ascontiguousarray(known, dtype=np.int64)
        due = _pointer("int64_t", later)
    hit = np.zeros(n, dtype=np.uint8)
    done = lib.cache_trace(
        kind, _pointer("uint64_t", wanted), _pointer("uint32_t", bytes_each), due, n, capacity,
        _pointer("uint8_t", hit),
    )  # fmt: skip
    if done < 0:
        raise InputError("requests", n, "not enough memory to simulate this many requests at once")
    return hit.astype(bool)


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
