"""Rules for dividing a cache that need no model: one LRU for all, and greedy utility as UCP measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.cache_core import Part, Stack, hits_by_size, simulate, stack_distances

if TYPE_CHECKING:
    from adamb.host_sim.cache import Cache


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
        if not self._stacks or (h == 0 and not cache.continuing):
            self._stacks = [(Stack(self.MOST_OBJECTS), Stack(self.MOST_OBJECTS)) for _ in range(cache.n)]
            self._utility[:] = 0.0
        actions = np.empty((cache.n, 1))
        for i, (keys, slots) in enumerate(cache.seen):
            self._utility[i] *= 0.5
            for tenant in (0, 1):
                distances = self._watch(i, tenant, keys[slots == tenant])
                self._utility[i, tenant] += hits_by_size(distances, cache.lines)
            together = self._utility[i, 0] + self._utility[i, 1, ::-1]
            actions[i, 0] = np.argmax(together) / cache.lines
        return actions

    def _watch(self, i: int, tenant: int, keys: np.ndarray) -> np.ndarray:
        distances = self._stacks[i][tenant].run(keys)
        if len(distances) == len(keys):
            return distances
        fresh = Stack(self.MOST_OBJECTS)
        pair = self._stacks[i]
        self._stacks[i] = (fresh, pair[1]) if tenant == 0 else (pair[0], fresh)
        return np.concatenate([distances, fresh.run(keys[len(distances) :])])


# ---- what nobody can beat -------------------------------------------------------------------------------


def best_static_split(keys: np.ndarray, slots: np.ndarray, lines: int) -> tuple[int, np.ndarray]:
    """Lines of tenant 0 that give most hits over the whole sequence, and the hits of every split.

    One pass of stack distances a tenant answers for all splits at once (parts start empty).
    """
    first = hits_by_size(stack_distances(keys[slots == 0]), lines)
    second = hits_by_size(stack_distances(keys[slots == 1]), lines)
    together = first + second[::-1]
    return int(np.argmax(together)), together


def epoch_bound(keys: np.ndarray, slots: np.ndarray, lines: int, epoch: int) -> np.ndarray:
    """Hits of each epoch if lines could be moved between tenants for free, contents included.

    A part never holds more than the top of its tenant's stack, so no partition does better.
    """
    distances = np.zeros(len(keys), dtype=np.int64)
    for tenant in (0, 1):
        distances[slots == tenant] = stack_distances(keys[slots == tenant])
    bounds = []
    for start in range(0, len(keys) - epoch + 1, epoch):
        part, who = distances[start : start + epoch], slots[start : start + epoch]
        together = hits_by_size(part[who == 0], lines) + hits_by_size(part[who == 1], lines)[::-1]
        bounds.append(int(together.max()))
    return np.array(bounds)


def belady_bound(keys: np.ndarray, lines: int) -> np.ndarray:
    """Whether each request hits when evictions know the future; no cache of this size hits more often."""
    return simulate("belady", keys, 1, lines)


def lru_hits(keys: np.ndarray, lines: int) -> int:
    """Hits of one LRU cache, by running it."""
    part = Part(lines)
    return part.run(keys)
