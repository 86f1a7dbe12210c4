"""A cache shared by two tenants, to be divided again while it runs.

State: tenant 0's share of the lines and its share of the last epoch's requests. The action is its next share
of the lines. Each part is LRU: shrinking evicts at once, growing fills on demand, so moving lines costs
misses. The reward is the hit ratio of the epoch.

The parts are kept line by line here, for traces, continuing tasks and one LRU for all. Whole episodes find
hits by how deep a line lies in the order of use (`c/worlds/cache.h`), once for all agents that share a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim.compiled import CompiledProblem, ProblemInC
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems.cache.caches import Part, run_parts
from adamb.host_sim.problems.cache.compiled import CompiledParts
from adamb.host_sim.problems.cache.planner import FillModel, Planner
from adamb.host_sim.problems.cache.rules import SharedLru, UtilityGreedy
from adamb.host_sim.problems.cache.workload import SyntheticWorkload, TraceWorkload, Workload
from adamb.host_sim.problems.located import LocatedProblem
from adamb.host_sim.registry import register_problem

#: Requests per line before an episode starts, so that both parts are as full as their tenants make them.
WARM_UP = 8


class Cache(ProblemInC, LocatedProblem):
    """N caches with two tenants each; location c is the part of requests that go to one's own objects."""

    d_s, d_a, horizon = 2, 1, 5
    #: How many files `trace` takes, one a tenant.
    trace_files = 2
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "lines": Parameter(512, "int", "cache lines C", 2, 1_000_000),
        "requests": Parameter(4000, "int", "requests an epoch N", 1, 10_000_000),
        "walk": Parameter(0.15, "float", "deviation of one step of the request share", 0, 1),
        "zipf": Parameter((1.0, 0.7), "floats", "Zipf exponents of the two tenants", 0, 3),
        "objects": Parameter((1000.0, 4000.0), "floats", "objects of the two tenants", 2, 1_000_000),
        "loop": Parameter(0, "int", "lines that tenant 1 goes round instead of its Zipf law", 0, 1_000_000),
        "start": START,
        "c": Parameter(1.0, "float", "part of a tenant's requests that goes to its own objects", 0, 1),
        "trace": Parameter(None, "str", "two trace files separated by a comma, one a tenant"),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.lines, self.requests = int(params["lines"]), int(params["requests"])
        self.fixed_start = fixed_start(self, generators)
        self.set_location(params["c"])
        self.workload: Workload
        if params["trace"] is None:
            self.workload = SyntheticWorkload(self.n, params)
        else:
            self.drift_width = 0
            self.workload = TraceWorkload(self.n, params["trace"], self.requests)
        self.parts = [(Part(self.lines), Part(self.lines)) for _ in range(self.n)]
        #: Latent request share of tenant 0, and the keys and slots of the last epoch of each instance.
        self.latent = np.zeros(self.n)
        self.seen: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0), np.empty(0))] * self.n
        self.shared: list[Part] | None = None
        self.share_next = False
        self._in_c: CompiledParts | None = None
        #: Lines held where the last episode was played in C.
        self._held_in_c: np.ndarray | None = None
        self._hits = np.zeros((self.n, 2), dtype=np.int64)
        self._second = [0] * self.n

    # ---- random draws -----------------------------------------------------------------------------------

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """Share of lines, share of requests, two places and the seed of the warm-up."""
        return generator.random((episodes, 5))

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        walks = draws.normal(generator, (episodes, self.horizon, 1))
        return np.concatenate([walks, generator.random((episodes, self.horizon, 1))], axis=2)

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """Parts warmed at the start share by requests that are seen but not paid."""
        self._held_in_c = None
        states = super().fresh_start(drawn[:, :2].copy())
        for i, (first, second) in enumerate(self.parts):
            own = round(states[i, 0] * self.lines)
            states[i, 0] = own / self.lines
            self.latent[i] = states[i, 1]
            first.clear()
            second.clear()
            first.resize(own)
            second.resize(self.lines - own)
            if self.shared is not None:
                self.shared[i].clear()
            self.workload.restart(i, drawn[i, 2:4])
            self._serve(i, _seed(drawn[i, 4]), self._warm_up)
        return states

    @property
    def _warm_up(self) -> int:
        return max(WARM_UP * self.lines, self.requests)

    # ---- one epoch --------------------------------------------------------------------------------------

    def _serve(self, i: int, seed: int, n: int) -> int:
        """Let n requests come in; the hits of the parts, or of a common LRU if that is asked for."""
        keys, slots = self.workload.draw(i, seed, n, float(self.latent[i]), float(self.c[i]))
        self.seen[i] = keys, slots
        first, second, self._second[i] = run_parts(*self.parts[i], keys, slots)
        self._hits[i] = first, second
        if self.shared is not None:
            together = self.shared[i].run(keys)
            return together if self.share_next else first + second
        return first + second

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        rewards, following = np.empty(self.n), np.empty((self.n, 2))
        self.latent = np.clip(self.latent + self.params["walk"] * noise[0], 0.0, 1.0)
        for i, (first, second) in enumerate(self.parts):
            own = round(float(actions[i, 0]) * self.lines)
            first.resize(own)
            second.resize(self.lines - own)
            rewards[i] = self._serve(i, _seed(noise[1, i]), self.requests) / self.requests
            following[i] = own / self.lines, 1.0 - self._second[i] / self.requests
        self.share_next = False
        return rewards, following

    # ---- whole episodes in C ----------------------------------------------------------------------------

    def compiled(self) -> CompiledProblem | None:
        if self._in_c is None:
            self._in_c = CompiledParts.of(self, self._warm_up)
        if self._in_c is None or self.shared is not None:
            return None
        self.most_at_once = self._in_c.most_at_once
        return super().compiled()

    def world(self) -> CompiledProblem:
        assert self._in_c is not None, "asked for what is compiled first"
        return self._in_c.offer()

    def fresh_starts(self, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        assert self._in_c is not None, "asked for what is compiled first"
        states = super().fresh_starts(drawn[..., :2], noise)
        lines = np.rint(states[..., 0] * self.lines)
        states[..., 0] = lines / self.lines
        self._in_c.begin(self.c, states, lines, drawn, noise)
        return states

    def end_episodes(self, *last: np.ndarray) -> None:
        super().end_episodes(*last)
        assert self._in_c is not None, "asked for what is compiled first"
        self._held_in_c, self._hits = self._in_c.held.astype(int), self._in_c.hits.copy()

    # ---- what else a step can do and tell ---------------------------------------------------------------

    def share_lines(self) -> None:
        """Count the hits of the next step as one LRU over all lines would have them."""
        if self.shared is None:
            self.shared = [Part(self.lines) for _ in range(self.n)]
            for part, (keys, _) in zip(self.shared, self.seen, strict=True):
                part.run(keys)
        self.share_next = True

    def info(self) -> dict[str, np.ndarray]:
        """Adds lines held and hits by tenant."""
        raw = super().info()
        raw["held"] = np.array([[part.held for part in parts] for parts in self.parts])
        if self._held_in_c is not None:
            raw["held"] = self._held_in_c.copy()
        if self.last:
            raw["lines"] = np.rint(raw["action"][:, 0] * self.lines)
            raw["epoch_hits"] = self._hits.copy()
        return raw

    # ---- rules of thumb ---------------------------------------------------------------------------------

    def baselines(self) -> dict[str, Policy]:
        """`myopic` and `planned` know the distribution of requests and how full the parts are."""
        policies = super().baselines()
        policies["half"] = policies.pop("centre")
        policies.pop("stay", None)
        policies["shared-lru"] = SharedLru(self)
        policies["proportional"] = lambda h, states: states[:, 1:].copy()
        policies["keep"] = lambda h, states: states[:, :1].copy()
        policies["utility-greedy"] = UtilityGreedy(self)
        if self.params["trace"] is None:
            planner = Planner(self)
            policies["myopic"] = planner.myopic
            policies["planned"] = planner.planned
        return policies

    def model(self) -> FillModel:
        """How parts fill and hit on average at the first instance's location; needs a synthetic workload."""
        if self.params["trace"] is not None:
            raise InputError("trace", self.params["trace"], "the distribution of a trace is not known")
        return FillModel.of(self.params, self.horizon, float(self.c[0]))


def _seed(uniform: float) -> int:
    return int(uniform * 2.0**53)


register_problem("cache-2x1", Cache)
register_problem("cache-scan", Cache, loop=1500)
register_problem("cache-slow", Cache, loop=384, requests=300)
