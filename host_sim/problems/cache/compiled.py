"""Simulated caches that play whole episodes in C: what they share with `simulated`, and where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem
from adamb.host_sim.problems.cache.workload import SyntheticWorkload
from adamb.host_sim.problems.tapes import Tapes, pointer

if TYPE_CHECKING:
    from adamb.host_sim.problems.cache.simulated import Cache

#: Depths are kept in 16 bits, one of which says "deeper than all lines".
MOST_LINES = 65_534


class CompiledParts:
    """The parts of all caches of a problem, and the tapes of what is asked of them."""

    def __init__(self, cache: Cache, workload: SyntheticWorkload, tapes: Tapes, warm_up: int) -> None:
        self._tapes, self._workload = tapes, workload
        n, lines, requests, horizon = cache.n, cache.lines, cache.requests, cache.horizon
        #: Lines held and hits of the last epoch, by instance and tenant.
        self.held, self.hits = np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
        self._c = np.empty(n)
        self._warm, self._first = tapes.array(2, kind=np.int32), tapes.array(horizon, kind=np.int32)
        self._depth = tapes.array(horizon, requests, kind=np.uint16)
        self._at_most = tapes.array(horizon, 2, lines + 1, kind=np.uint32)
        world = self._world = ffi.new("cache_world *")
        world.n, world.horizon, world.lines, world.requests = n, horizon, lines, requests
        world.warm_up, world.walk, world.episodes = warm_up, cache.params["walk"], tapes.episodes
        workload.describe(world)
        world.c, world.tape = pointer("double", self._c), pointer("int32_t", tapes.of)
        world.held, world.hits = pointer("int32_t", self.held), pointer("int64_t", self.hits)
        world.warm, world.first = pointer("int32_t", self._warm), pointer("int32_t", self._first)
        world.depth, world.at_most = pointer("uint16_t", self._depth), pointer("uint32_t", self._at_most)

    @classmethod
    def of(cls, cache: Cache, warm_up: int) -> CompiledParts | None:
        """None where an episode depends on the one before, on a trace, or on more than there is room for."""
        workload, tapes = cache.workload, Tapes(cache.seeds)
        alone = not cache.continuing and cache.shared is None
        if not alone or not isinstance(workload, SyntheticWorkload) or cache.lines > MOST_LINES:
            return None
        room = tapes.make_room(cache.horizon * (2 * cache.requests + 8 * (cache.lines + 1) + 4) + 8)
        return cls(cache, workload, tapes, warm_up) if room else None

    @property
    def most_at_once(self) -> int:
        return self._tapes.episodes

    def offer(self) -> CompiledProblem:
        return CompiledProblem.of("cache_step", self._world, self, numbers=2)

    def begin(
        self, c: np.ndarray, states: np.ndarray, lines: np.ndarray, drawn: np.ndarray, noise: np.ndarray
    ) -> None:
        """Fill the tapes for episodes from these states, of which `lines` (m, n) are the first tenant's."""
        self._c[:] = c
        own = np.ascontiguousarray(lines, dtype=np.int32)
        numbers: list[Any] = [np.ascontiguousarray(each) for each in (states, drawn, noise)]
        pointers = [pointer("int32_t", own), *(pointer("double", each) for each in numbers)]
        for tape, first in enumerate(self._tapes.firsts):
            if not lib.cache_world_fill(self._world, tape, first, len(drawn), *pointers):
                raise MemoryError("the host has not enough memory for these caches")
