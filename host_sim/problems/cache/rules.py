"""Rules for dividing a cache that need no model: one LRU for all, and greedy utility as UCP measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.problems.cache.caches import Stack, hits_by_size

if TYPE_CHECKING:
    from adamb.host_sim.problems.cache.simulated import Cache


class SharedLru:
    """No partition at all."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        self._cache.share_lines()
        return states[:, :1].copy()


class UtilityGreedy:
    """Count how many hits each tenant would have had at every size, halve old counts, give lines where they
    hit.

    The counters are those of utility-based partitioning (UCP), with a full stack in place of sampled sets.
    """

    #: Distinct objects a monitor remembers; when more come it starts over.
    MOST_OBJECTS = 1 << 16

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._stacks: list[tuple[Stack, Stack]] = []
        self._utility = np.zeros((cache.n, 2, cache.lines + 1))

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        cache = self._cache
        if not self._stacks:
            self._stacks = [(Stack(self.MOST_OBJECTS), Stack(self.MOST_OBJECTS)) for _ in range(cache.n)]
        elif h == 0 and not cache.continuing:
            self._forget()
        actions = np.empty((cache.n, 1))
        for i, (keys, slots) in enumerate(cache.seen):
            self._utility[i] *= 0.5
            for tenant in (0, 1):
                distances = self._watch(i, tenant, keys[slots == tenant])
                self._utility[i, tenant] += hits_by_size(distances, cache.lines)
            together = self._utility[i, 0] + self._utility[i, 1, ::-1]
            actions[i, 0] = np.argmax(together) / cache.lines
        return actions

    def _forget(self) -> None:
        """An episode begins; stacks are emptied, as making them takes longer than a step."""
        for pair in self._stacks:
            for stack in pair:
                stack.keep_below(0)
        self._utility[:] = 0.0

    def _watch(self, i: int, tenant: int, keys: np.ndarray) -> np.ndarray:
        distances = self._stacks[i][tenant].run(keys)
        if len(distances) == len(keys):
            return distances
        fresh = Stack(self.MOST_OBJECTS)
        pair = self._stacks[i]
        self._stacks[i] = (fresh, pair[1]) if tenant == 0 else (pair[0], fresh)
        return np.concatenate([distances, fresh.run(keys[len(distances) :])])
