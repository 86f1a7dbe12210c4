"""Where the requests of two cache tenants come from: popularity laws and loops, or two trace files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.problems.cache.caches import _pointer, alias_table, ffi, lib
from adamb.host_sim.problems.cache.lite import tenants, zipf
from adamb.host_sim.traces import object_ids, open_store

#: Keys of the second trace are moved here, so that two files never share a line.
SECOND_TENANT = np.uint64(1 << 63)


class Workload(ABC):
    """Requests of n instances, some at a time."""

    @abstractmethod
    def restart(self, i: int, places: np.ndarray) -> None:
        """Begin an episode at a place given by two uniform numbers."""

    @abstractmethod
    def draw(self, i: int, seed: int, n: int, share: float, home: float) -> tuple[np.ndarray, np.ndarray]:
        """Keys and slots (0 or 1) of n requests, of which `share` are slot 0's."""


class SyntheticWorkload(Workload):
    """Zipf tenants; a tenant with a loop goes round its lines in place of drawing them."""

    def __init__(self, n: int, params: Mapping[str, Any]) -> None:
        laws = tenants(params)
        loop = int(params["loop"])
        self._objects = ffi.new("int32_t[2]", [laws[0][1], loop or laws[1][1]])
        self._loops = ffi.new("int32_t[2]", [0, int(loop > 0)])
        self._cursors = [ffi.new("int32_t[2]") for _ in range(n)]
        #: Of this step: copies of an instance, which agents under comparison play, have the same requests.
        self._drawn: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray, list[int]]] = {}
        self._tables = [alias_table(zipf(*law)) for law in laws]
        self._accept = ffi.new("double *[2]", [_pointer("double", accept) for accept, _ in self._tables])
        self._alias = ffi.new("int32_t *[2]", [_pointer("int32_t", alias) for _, alias in self._tables])

    def describe(self, world: Any) -> None:
        """Say in a `cache_world` where the tables are, which this object keeps."""
        for tenant in (0, 1):
            world.objects[tenant], world.loops[tenant] = self._objects[tenant], self._loops[tenant]
            world.accept[tenant], world.alias[tenant] = self._accept[tenant], self._alias[tenant]

    def restart(self, i: int, places: np.ndarray) -> None:
        self._cursors[i][0], self._cursors[i][1] = 0, int(places[1] * self._objects[1])

    def draw(self, i: int, seed: int, n: int, share: float, home: float) -> tuple[np.ndarray, np.ndarray]:
        if i == 0:
            self._drawn.clear()
        cursors = self._cursors[i]
        epoch = (seed, n, share, home, *cursors)
        if epoch not in self._drawn:
            keys, slots = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint8)
            lib.cache_epoch(
                seed, n, share, home, self._objects, self._accept, self._alias, self._loops, cursors,
                _pointer("uint64_t", keys), _pointer("uint8_t", slots),
            )  # fmt: skip
            self._drawn[epoch] = keys, slots, list(cursors)
        keys, slots, cursors[0:2] = self._drawn[epoch]
        return keys, slots


class TraceWorkload(Workload):
    """One file a tenant; the request share decides whose turn it is. Files start over at their end."""

    def __init__(self, n: int, paths: str, requests: int) -> None:
        files = [part.strip() for part in paths.split(",") if part.strip()]
        if len(files) != 2:
            raise InputError("trace", paths, "must be two files separated by a comma, one a tenant")
        self._stores = [open_store(Path(file)) for file in files]
        for file, store in zip(files, self._stores, strict=True):
            if len(store) < requests:
                limit = f"has {len(store)} requests, an epoch needs {requests}; --set requests={len(store)}"
                raise InputError("trace", file, f"{limit} takes shorter ones")
        self._cursors = np.zeros((n, 2), dtype=np.int64)

    def restart(self, i: int, places: np.ndarray) -> None:
        for tenant, store in enumerate(self._stores):
            self._cursors[i, tenant] = int(places[tenant] * len(store))

    def draw(self, i: int, seed: int, n: int, share: float, home: float) -> tuple[np.ndarray, np.ndarray]:
        slots = (np.random.default_rng(seed).random(n) >= share).astype(np.uint8)
        keys = np.empty(n, dtype=np.uint64)
        for tenant in (0, 1):
            mine = slots == tenant
            keys[mine] = self._take(i, tenant, int(mine.sum()))
        return keys, slots

    def _take(self, i: int, tenant: int, n: int) -> np.ndarray:
        store = self._stores[tenant]
        pieces = []
        while n > 0:
            start = int(self._cursors[i, tenant])
            records = store[start : start + n]
            ids = object_ids(records, store.unit)
            pieces.append(ids | SECOND_TENANT if tenant else ids & ~SECOND_TENANT)
            n -= len(records)
            self._cursors[i, tenant] = (start + len(records)) % len(store)
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.uint64)
