"""A cache shared by two tenants, to be divided again while it runs.

State: tenant 0's share of the lines and its share of the last epoch's requests. The action a sets its next
share of the lines, (8a - 1)/6 within [0,1]. Each part is LRU: shrinking evicts at once, growing fills on
demand, so moving lines costs misses. The reward is the hit ratio of the epoch.

Hits are found by how deep a line lies in the order of use (`c/worlds/cache.h`), once for all agents that
share a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem, ProblemInC, Tapes, pointer
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import LocatedProblem, Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.cache import Stack, alias_table
from adamb.host_sim.problems.cache.lite import tenants, zipf
from adamb.host_sim.problems.cache.rules import FillModel, Planner, SharedLru, UtilityGreedy, action_of
from adamb.host_sim.traces import object_ids, open_store

#: Keys of the second trace are moved here, so that two files never share a line.
SECOND_TENANT = np.uint64(1 << 63)


class SyntheticTenants:
    """Zipf tenants; a tenant with a loop goes round its lines in place of drawing them."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        laws = tenants(params)
        loop = int(params["loop"])
        self._objects, self._loops = (laws[0][1], loop or laws[1][1]), (0, int(loop > 0))
        self._tables = [alias_table(zipf(*law)) for law in laws]

    def describe(self, world: Any) -> None:
        """Say in a `cache_world` where the tables are, which this object keeps."""
        world.objects, world.loops = self._objects, self._loops
        world.accept = [pointer("double", accept) for accept, _ in self._tables]
        world.alias = [pointer("int32_t", alias) for _, alias in self._tables]


class TraceTenants:
    """One file per tenant; the request share decides whose turn it is. Files start over at their end."""

    def __init__(self, n: int, paths: str, requests: int) -> None:
        files = [part.strip() for part in paths.split(",") if part.strip()]
        if len(files) != 2:
            raise InputError("trace", paths, "must be two files separated by a comma, one per tenant")
        self._stores = [open_store(Path(file)) for file in files]
        for file, store in zip(files, self._stores, strict=True):
            if len(store) < requests:
                limit = f"has {len(store)} requests, an epoch needs {requests}; --set requests={len(store)}"
                raise InputError("trace", file, f"{limit} takes shorter ones")
        self._cursors = np.zeros((n, 2), dtype=np.int64)

    def start(self, i: int, drawn: np.ndarray) -> None:
        """Begin an episode of tape i at a place that two of its uniform numbers give."""
        for tenant, store in enumerate(self._stores):
            self._cursors[i, tenant] = int(drawn[2 + tenant] * len(store))

    def draw(self, i: int, seed: int, share: float, keys: np.ndarray, slots: np.ndarray) -> None:
        """Fill in the next requests of tape i, of which `share` are slot 0's."""
        slots[:] = np.random.default_rng(seed).random(len(slots)) >= share
        for tenant in (0, 1):
            mine = slots == tenant
            keys[mine] = self._take(i, tenant, int(mine.sum()))

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


#: Requests per line before an episode starts, so that both parts are as full as their tenants make them.
WARM_UP = 8


class Parts:
    """Both parts of every cache of a problem."""

    def __init__(self, cache: Cache) -> None:
        self._tapes = tapes = Tapes(cache.seeds)
        n, lines, requests, epochs = cache.n, cache.lines, cache.requests, cache.horizon
        warm_up, trace, copies = max(WARM_UP * lines, requests), cache.params["trace"], len(tapes.firsts)
        room = tapes.make_room(epochs * (4 * requests + 8 * (lines + 1) + 4) + 8)
        #: Whether tapes hold whole episodes: none depends on the one before or on a trace, and there is room.
        self.whole = room and trace is None and not cache.continuing
        if not self.whole:
            tapes.episodes = epochs = 1
        self._replay = None if trace is None else TraceTenants(copies, trace, requests)
        #: Lines held and hits of the last epoch, by instance and tenant.
        self.held, self.hits = np.zeros((n, 2), dtype=np.int32), np.zeros((n, 2), dtype=np.int64)
        self._stacks = [Stack(lines) for _ in range(2 * copies)]
        self._common: list[Stack] = []
        self._c, self._share = np.empty(n), np.zeros(copies)
        self._asked, self._keys = 0, np.empty((copies, warm_up), dtype=np.uint64)
        self._slots = np.empty((copies, warm_up), dtype=np.uint8)
        self._kept: list[Any] = [
            ffi.new("cache_stack *[]", [stack.pointer for stack in self._stacks]),
            np.zeros((copies, 2), dtype=np.int32),
            tapes.array(2, kind=np.int32),
            tapes.array(epochs, kind=np.int32),
            tapes.array(epochs, requests, kind=np.int32),
            tapes.array(epochs, 2, lines + 1, kind=np.uint32),
        ]
        stacks, cursor, self._warm, first, depth, at_most = self._kept
        world = self.world = ffi.new("cache_world *")
        world.n, world.horizon, world.lines, world.requests = n, cache.horizon, lines, requests
        world.warm_up, world.walk = warm_up, cache.params["walk"]
        world.episodes, world.epochs = tapes.episodes, epochs
        if trace is None:
            self._tenants = SyntheticTenants(cache.params)
            self._tenants.describe(world)
        world.c, world.tape = pointer("double", self._c), pointer("int32_t", tapes.of)
        world.held, world.hits = pointer("int32_t", self.held), pointer("int64_t", self.hits)
        world.stack, world.share, world.cursor = stacks, pointer("double", self._share), pointer("int32_t", cursor)
        world.keys, world.slots = pointer("uint64_t", self._keys), pointer("uint8_t", self._slots)
        world.warm, world.first = pointer("int32_t", self._warm), pointer("int32_t", first)
        world.depth, world.at_most = pointer("int32_t", depth), pointer("uint32_t", at_most)

    @property
    def most_at_once(self) -> int:
        return self._tapes.episodes

    def offer(self) -> CompiledProblem:
        return CompiledProblem.of("cache_step", self.world, self, numbers=2)

    def seen(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and slots that were asked of instance i last."""
        tape = self._tapes.of[i]
        return self._keys[tape, : self._asked].copy(), self._slots[tape, : self._asked].copy()

    def start(self, c: np.ndarray, lines: np.ndarray, shares: np.ndarray, drawn: np.ndarray) -> None:
        """Warm up for an episode that begins with so many lines (n,) of tenant 0, and its share of requests."""
        self._c[:] = c
        self._asked = self.world.warm_up
        for tape, i in enumerate(self._tapes.firsts):
            if self._replay is None:
                row = np.ascontiguousarray(drawn[i])
                lib.cache_world_start(self.world, tape, 0, i, int(lines[i]), shares[i], pointer("double", row))
            else:
                self._share[tape] = shares[i]
                self._replay.start(tape, drawn[i])
                self._take_trace(tape, drawn[i, 4])
                lib.cache_world_warm(self.world, tape, 0, int(lines[i]))
        self.held[:] = self._warm[self._tapes.of, 0]
        for tape, stack in enumerate(self._common):
            stack.keep_below(0)
            stack.hits(self._keys[tape])

    def next(self, h: int, c: np.ndarray, noise: np.ndarray) -> None:
        """The epoch of step h at the locations c."""
        self._c[:] = c
        self._asked = self.world.requests
        numbers = np.ascontiguousarray(noise)
        for tape, i in enumerate(self._tapes.firsts):
            if self._replay is None:
                lib.cache_world_next(self.world, tape, 0, h, i, pointer("double", numbers))
            else:
                self._share[tape] = min(max(self._share[tape] + self.world.walk * noise[0, i], 0.0), 1.0)
                self._take_trace(tape, noise[1, i])
                lib.cache_world_take(self.world, tape, 0, h)

    def fill(self, c: np.ndarray, states: np.ndarray, lines: np.ndarray, drawn: np.ndarray, noise: np.ndarray) -> None:
        """The tapes of whole episodes from these states, of which `lines` (m, n) are the first tenant's."""
        self._c[:] = c
        own = np.ascontiguousarray(lines, dtype=np.int32)
        numbers: list[Any] = [np.ascontiguousarray(each) for each in (states, drawn, noise)]
        pointers = [pointer("int32_t", own), *(pointer("double", each) for each in numbers)]
        for tape, first in enumerate(self._tapes.firsts):
            lib.cache_world_fill(self.world, tape, first, len(drawn), *pointers)

    def watch_common(self) -> None:
        """From now on one LRU over all lines takes part."""
        if not self._common:
            self._common = [Stack(self.world.lines) for _ in self._tapes.firsts]
            for tape, stack in enumerate(self._common):
                stack.hits(self._keys[tape, : self._asked])

    def common_hits(self) -> np.ndarray | None:
        """(n,) hits of that LRU in the epoch that was drawn; None without it."""
        if not self._common:
            return None
        hits = [stack.hits(keys[: self._asked]) for stack, keys in zip(self._common, self._keys, strict=True)]
        return np.array(hits)[self._tapes.of]

    def _take_trace(self, tape: int, uniform: float) -> None:
        assert self._replay is not None, "a trace is replayed"
        keys, slots = self._keys[tape, : self._asked], self._slots[tape, : self._asked]
        self._replay.draw(tape, int(uniform * 2.0**53), float(self._share[tape]), keys, slots)


class Cache(ProblemInC, LocatedProblem):
    """N caches with two tenants each; location c is the part of requests that go to one's own objects."""

    d_s, d_a, horizon = 2, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "lines": Parameter(512, "int", "cache lines C", 2, 1_000_000),
        "requests": Parameter(4000, "int", "requests an epoch N", 1, 10_000_000),
        "walk": Parameter(0.15, "float", "deviation of one step of the request share", 0, 1),
        "zipf": Parameter((1.0, 0.7), "floats", "Zipf exponents of the two tenants", 0, 3),
        "objects": Parameter((1000.0, 4000.0), "floats", "objects of the two tenants", 2, 1_000_000),
        "loop": Parameter(0, "int", "lines that tenant 1 goes round instead of its Zipf law", 0, 1_000_000),
        "start": START,
        "c": Parameter(1.0, "float", "part of a tenant's requests that goes to its own objects", 0, 1),
        "trace": Parameter(None, "str", "two trace files separated by a comma, one per tenant"),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.lines, self.requests = int(params["lines"]), int(params["requests"])
        self.fixed_start = fixed_start(self, generators)
        self.set_location(params["c"])
        if params["trace"] is not None:
            self.drift_width = 0
        self.in_c = Parts(self)
        self.most_at_once = self.in_c.most_at_once
        self.share_next = False

    # ---- random draws -----------------------------------------------------------------------------------

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """Share of lines, share of requests, two places and the seed of the warm-up."""
        return generator.random((episodes, 5))

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        walks = draws.normal(generator, (episodes, self.horizon, 1))
        return np.concatenate([walks, generator.random((episodes, self.horizon, 1))], axis=2)

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """Parts warmed at the start share by requests that are seen but not paid."""
        states, lines = self._whole_lines(super().fresh_start(drawn[:, :2].copy()))
        self.in_c.start(self.c, lines, states[:, 1], drawn)
        return states

    def fresh_starts(self, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        states, lines = self._whole_lines(super().fresh_starts(drawn[..., :2], noise))
        self.in_c.fill(self.c, states, lines, drawn, noise)
        return states

    def _whole_lines(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states with a whole number of lines for tenant 0, and these lines."""
        lines = np.rint(states[..., 0] * self.lines)
        states[..., 0] = lines / self.lines
        return states, lines

    # ---- one epoch --------------------------------------------------------------------------------------

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        self.in_c.world.carry = self.continuing and self.episode > 0
        self.in_c.next(h, self.c, noise)
        rewards, following = super().dynamics(h, states, actions, noise)
        together = self.in_c.common_hits()
        if together is not None and self.share_next:
            rewards = together / self.requests
        self.share_next = False
        return rewards, following

    def world(self) -> CompiledProblem:
        return self.in_c.offer()

    def compiled(self) -> CompiledProblem | None:
        return super().compiled() if self.in_c.whole else None

    # ---- what else a step can do and tell ---------------------------------------------------------------

    def share_lines(self) -> None:
        """Count the hits of the next step as one LRU over all lines would have them."""
        self.in_c.watch_common()
        self.share_next = True

    def info(self) -> dict[str, np.ndarray]:
        """Adds lines held and hits by tenant."""
        raw = super().info()
        raw["held"] = self.in_c.held.astype(int)
        if self.last:
            raw["lines"] = np.rint(raw["next_state"][:, 0] * self.lines)
            raw["epoch_hits"] = self.in_c.hits.copy()
        return raw

    # ---- rules of thumb ---------------------------------------------------------------------------------

    def rules(self) -> dict[str, Policy]:
        """`myopic` and `planned` know the distribution of requests and how full the parts are."""
        policies = super().rules()
        policies["half"] = policies.pop("centre")
        policies.pop("stay", None)
        policies["shared-lru"] = SharedLru(self)
        policies["proportional"] = lambda h, states: action_of(states[:, 1:])
        policies["keep"] = lambda h, states: action_of(states[:, :1])
        policies["utility-greedy"] = UtilityGreedy(self)
        if self.params["trace"] is None:
            planner = Planner(self)
            policies["myopic"] = planner.myopic
            policies["planned"] = planner.planned
        return policies

    def model(self) -> FillModel:
        """Mean filling and hits of the parts at the first instance's location; needs a synthetic workload."""
        if self.params["trace"] is not None:
            raise InputError("trace", self.params["trace"], "the distribution of a trace is not known")
        return FillModel.of(self.params, self.horizon, float(self.c[0]))


register_problem("cache-2x1", Cache)
register_problem("cache-scan", Cache, loop=1500)
register_problem("cache-slow", Cache, loop=384, requests=300)
