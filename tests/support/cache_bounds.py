"""What hindsight allows a cache of two tenants: the best split, free moves, evictions by future use."""

from __future__ import annotations

import numpy as np

from adamb.host_sim.problems.cache.caches import Stack, hits_by_size, simulate
from adamb.host_sim.problems.cache.simulated import Cache


def stack_distances(keys: np.ndarray) -> np.ndarray:
    """Distances of a whole sequence, 0 for first uses."""
    return Stack(max(1, len(np.unique(keys)))).run(keys)


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
