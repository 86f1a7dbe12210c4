"""Rules for dividing a cache that need no model: one LRU for all, and greedy utility as UCP measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.cache_core import Stack, hits_by_size, simulate, stack_distances

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


def epoch_bound(keys: np.ndarray, slots: np.ndarray, lines: int, epoch: int, warm: int = 0) -> np.ndarray:
    """Hits of each epoch after `warm` requests if lines could be moved between tenants for free, contents
    included.

    A part never holds more than the top of its tenant's stack, so no partition does better.
    """
    distances = np.zeros(len(keys), dtype=np.int64)
    for tenant in (0, 1):
        distances[slots == tenant] = stack_distances(keys[slots == tenant])
    bounds = []
    for start in range(warm, len(keys) - epoch + 1, epoch):
        part, who = distances[start : start + epoch], slots[start : start + epoch]
        together = hits_by_size(part[who == 0], lines) + hits_by_size(part[who == 1], lines)[::-1]
        bounds.append(int(together.max()))
    return np.array(bounds)


def belady_bound(keys: np.ndarray, lines: int) -> np.ndarray:
    """Whether each request hits when evictions know the future; no cache of this size hits more often."""
    return simulate("belady", keys, 1, lines)


def episode_bounds(cache: Cache) -> dict[str, np.ndarray]:
    """(n,) hit ratios summed over the next episode that hindsight allows: one split, free moves, free
    evictions.

    Plays the episode; what tenants ask for does not depend on how the cache is divided.
    """
    states = cache.begin_episode()
    heard = [[cache.seen[i]] for i in range(cache.n)]
    for h in range(cache.horizon):
        _, states = cache.step(h, states[:, :1])
        for i in range(cache.n):
            heard[i].append(cache.seen[i])
    totals: dict[str, list[float]] = {"static": [], "free-moves": [], "belady": []}
    for parts in heard:
        keys, slots = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
        warm = len(parts[0][0])
        totals["static"].append(_paid_static(keys, slots, cache.lines, warm))
        totals["free-moves"].append(epoch_bound(keys, slots, cache.lines, cache.requests, warm).sum())
        totals["belady"].append(belady_bound(keys, cache.lines)[warm:].sum())
    return {name: np.array(values) / cache.requests for name, values in totals.items()}


def _paid_static(keys: np.ndarray, slots: np.ndarray, lines: int, warm: int) -> int:
    """Most hits after the warm-up of one split kept from the very beginning."""
    together = np.zeros(lines + 1, dtype=np.int64)
    for tenant, order in ((0, 1), (1, -1)):
        mine = slots == tenant
        distances = stack_distances(keys[mine])[int(mine[:warm].sum()) :]
        together += hits_by_size(distances, lines)[::order]
    return int(together.max())
