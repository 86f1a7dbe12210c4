"""Rules for dividing a cache: one LRU for all, greedy utility as UCP measures it, and planning over fills.

An LRU part always holds the most recently used objects of its tenant, as many as fit: it grows by one line a
miss until it is full. With h(m) the hit ratio of a part that holds m lines, dm/dn = 1 - h(m) per request. A
loop of L lines hits nothing until all of it is in. That makes (lines held by 0, lines held by 1, request
share) a state with known mean motion, good enough to plan with; its values are estimates, not an optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.draws import first_best
from adamb.host_sim.problems.cache import Stack, hits_by_size
from adamb.host_sim.problems.cache.lite import che_curve, tenants
from adamb.host_sim.solvers import clipped_normal_slopes, interpolate

if TYPE_CHECKING:
    from adamb.host_sim.problems.cache.simulated import Cache

FILL_NODES, SHARE_NODES, ACTION_NODES = 33, 17, 33


def action_of(share: np.ndarray) -> np.ndarray:
    """The action that gives tenant 0 this share of the lines."""
    return (6.0 * share + 1.0) / 8.0


class ZipfPart:
    """Mean filling of a part under independent requests."""

    def __init__(self, curve: np.ndarray) -> None:
        self._curve, self._sizes = curve, np.arange(len(curve))
        misses = np.maximum(1.0 - 0.5 * (curve[1:] + curve[:-1]), 1e-9)
        self._requests_to = np.concatenate([[0.0], np.cumsum(1.0 / misses)])

    def epoch(self, held: np.ndarray, room: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hits of n requests and lines held afterwards."""
        held = np.minimum(held, room)
        began, full = (np.interp(lines, self._sizes, self._requests_to) for lines in (held, room))
        grown = np.minimum(np.interp(began + n, self._requests_to, self._sizes), room)
        filling = np.minimum(n, full - began)
        steady = (n - filling) * np.interp(room, self._sizes, self._curve)
        return filling - (grown - held) + steady, grown


class LoopPart:
    """A tenant that goes round `lines` lines: LRU keeps none of them long enough until all fit."""

    def __init__(self, lines: int) -> None:
        self._lines = float(lines)

    def epoch(self, held: np.ndarray, room: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hits of n requests and lines held afterwards."""
        held = np.minimum(np.minimum(held, room), self._lines)
        fits = room >= self._lines - 1e-9
        hits = np.where(fits, np.maximum(0.0, n - (self._lines - held)), 0.0)
        return hits, np.minimum(held + n, np.where(fits, self._lines, room))


class FillModel:
    """Dynamic programming over (held by 0, held by 1, request share of 0)."""

    def __init__(self, parts: tuple[Any, Any], lines: int, requests: int, deviation: float, horizon: int) -> None:
        self.lines, self.horizon = lines, horizon
        self.fills = np.linspace(0.0, 1.0, FILL_NODES)
        self.shares = np.linspace(0.0, 1.0, SHARE_NODES)
        self.actions = np.linspace(0.0, 1.0, ACTION_NODES)
        first, second, share, action = np.meshgrid(self.fills, self.fills, self.shares, self.actions, indexing="ij")
        room = np.rint(action * lines)
        hits_0, held_0 = parts[0].epoch(first * lines, room, share * requests)
        hits_1, held_1 = parts[1].epoch(second * lines, lines - room, (1.0 - share) * requests)
        self._reward = (hits_0 + hits_1) / requests
        self._following = np.stack([held_0 / lines, held_1 / lines, share], axis=-1)
        slopes = clipped_normal_slopes(self.shares, np.full(SHARE_NODES, deviation), self.shares)
        self._chain = np.zeros((SHARE_NODES, SHARE_NODES))
        self._chain[:, 0] = 1.0
        self._chain[:, :-1] -= slopes
        self._chain[:, 1:] += slopes

    @classmethod
    def of(cls, params: Mapping[str, Any], horizon: int, home: float) -> FillModel:
        """The model of a synthetic workload; tenants that mix (0 < home < 1) count as the nearer case."""
        lines = int(params["lines"])
        laws = tenants(params)
        parts = [ZipfPart(che_curve(*laws[0], lines)), ZipfPart(che_curve(*laws[1], lines))]
        pair: list[Any] = [parts[0], LoopPart(params["loop"]) if params["loop"] else parts[1]]
        if home < 0.5:
            pair.reverse()
        return cls((pair[0], pair[1]), lines, int(params["requests"]), params["walk"], horizon)

    def _expected(self, values: np.ndarray) -> np.ndarray:
        """Average over the walk of the request share: (F, F, Q, A) in, the same out."""
        return np.einsum("qp,xypa->xyqa", self._chain, values, optimize=True)

    @cached_property
    def immediate(self) -> np.ndarray:
        """Expected hit ratio of the epoch, by fills, request share and action."""
        return self._expected(self._reward)

    @cached_property
    def planned(self) -> list[np.ndarray]:
        """Q of every step, by fills, request share and action."""
        values = np.zeros((FILL_NODES, FILL_NODES, SHARE_NODES))
        steps = []
        for _ in range(self.horizon):
            steps.append(self._expected(self._reward + interpolate(values, self._following)))
            values = steps[-1].max(axis=3)
        return steps[::-1]

    @cached_property
    def immediate_by_action(self) -> np.ndarray:
        return _by_action(self.immediate)

    @cached_property
    def planned_by_action(self) -> list[np.ndarray]:
        return [_by_action(step) for step in self.planned]


def _by_action(table: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(table, -1, 0))


class Planner:
    """The policies of a FillModel, fed with how full the parts really are."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._models: dict[bool, FillModel] = {}

    def _best(self, h: int, states: np.ndarray, *, ahead: bool) -> np.ndarray:
        cache = self._cache
        held = cache.in_c.held / cache.lines
        points = np.concatenate([held, states[:, 1:]], axis=1)
        actions = np.empty((len(states), 1))
        for traded in (False, True):
            chosen = np.flatnonzero((cache.c < 0.5) == traded)
            if not len(chosen):
                continue
            model = self._model(traded)
            tables = model.planned_by_action[h] if ahead else model.immediate_by_action
            worth = np.stack([interpolate(values, points[chosen]) for values in tables], axis=-1)
            actions[chosen, 0] = model.actions[first_best(worth)]
        return action_of(actions)

    def _model(self, traded: bool) -> FillModel:
        if traded not in self._models:
            params, horizon = self._cache.params, self._cache.horizon
            self._models[traded] = FillModel.of(params, horizon, 0.0 if traded else 1.0)
        return self._models[traded]

    def myopic(self, h: int, states: np.ndarray) -> np.ndarray:
        """The best expected hit ratio of this epoch."""
        return self._best(h, states, ahead=False)

    def planned(self, h: int, states: np.ndarray) -> np.ndarray:
        """The best expected hits of the rest of the episode."""
        return self._best(h, states, ahead=True)


class SharedLru:
    """No partition at all."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        self._cache.share_lines()
        return action_of(states[:, :1])


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
        for i in range(cache.n):
            keys, slots = cache.in_c.seen(i)
            self._utility[i] *= 0.5
            for tenant in (0, 1):
                distances = self._watch(i, tenant, keys[slots == tenant])
                self._utility[i, tenant] += hits_by_size(distances, cache.lines)
            together = self._utility[i, 0] + self._utility[i, 1, ::-1]
            actions[i, 0] = np.argmax(together) / cache.lines
        return action_of(actions)

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
