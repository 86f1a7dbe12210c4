"""Sharing a cache between two tenants, as a formula: a small version of `cache-2x1` with an exact optimum.

Hit curves come from Che's approximation of LRU under independent requests: an object stays for one common
characteristic time t, so the cache of size C holds C = sum(1 - exp(-p_i t)).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi
from adamb.host_sim.compiled import CompiledProblem, doubles
from adamb.host_sim.draws import exp, first_best, interpolate, log, read_line
from adamb.host_sim.parameter import START, Parameter, fixed_start
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.exogenous import ExogenousModel, ExogenousProblem
from adamb.host_sim.solvers import expected_clip, solution_key


@lru_cache(maxsize=64)
def zipf(exponent: float, objects: int) -> np.ndarray:
    """Popularity of objects 0..objects-1; read-only because it is shared."""
    weights = exp(-exponent * log(np.arange(1, objects + 1)))
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


#: Characteristic times at which a hit curve is known exactly; between them it is straight (error below 1e-5).
CHE_TIMES = 3000


@lru_cache(maxsize=64)
def che_curve(exponent: float, objects: int, largest: int) -> np.ndarray:
    """Hit ratio of LRU at sizes 0..largest under Zipf requests; read-only.

    Both the lines in use and the hit ratio are simple in the characteristic time t, so the curve is traced
    over t instead of solving for t at every size.
    """
    popularity = zipf(exponent, objects)
    first, last = log(np.array([0.5, 40.0 / popularity[-1]]))
    times = exp(np.linspace(first, last, CHE_TIMES))
    inside = [1.0 - exp(-popularity * t) for t in times]
    used = np.array([0.0, *(part.sum() for part in inside), float(objects)])
    hits = np.array([0.0, *((popularity * part).sum() for part in inside), 1.0])
    curve = interpolate(np.arange(largest + 1), used, hits)
    curve.flags.writeable = False
    return curve


class ShareModel(ExogenousModel):
    """x is tenant 0's share of the lines, y its share of the requests."""

    def __init__(
        self, horizon: int, requests: int, deviation: float, home: float, curves: tuple[np.ndarray, np.ndarray]
    ) -> None:
        super().__init__(horizon)
        self.lines = len(curves[0]) - 1
        self.deviation, self.moving = deviation, self.lines / requests
        self._curves = (home * curves[0] + (1.0 - home) * curves[1], home * curves[1] + (1.0 - home) * curves[0])
        self.workload = solution_key(*self._curves)

    def drift(self, h: int, y: np.ndarray) -> np.ndarray:
        return y

    def hit_ratio(self, requests: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Of both tenants together, once the parts are warm."""
        first = read_line(self._curves[0], share * self.lines)
        second = read_line(self._curves[1], (1.0 - share) * self.lines)
        return requests * first + (1.0 - requests) * second

    def reward_at(self, x: np.ndarray, requests: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Reward once the request share is known; linear in it."""
        gained = self.hit_ratio(requests, a) - self.moving * np.abs(a - x)
        return (gained + self.moving) / (1.0 + self.moving)

    def reward(self, h: int, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.reward_at(x, expected_clip(y, self.deviation), a)


class CacheLite(ExogenousProblem):
    """State (share of the lines, share of the requests) of tenant 0; the action is its next share of the
    lines.

    A moved line must be fetched again, which costs kappa = C/N of the epoch's hits for the whole cache.
    Location c is the part of a tenant's requests that goes to its own objects, so `--set drift=half` makes the
    tenants trade places.
    """

    d_s, d_a, horizon = 2, 1, 5
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "lines": Parameter(512, "int", "cache lines C", 2, 4096),
        "requests": Parameter(4000, "int", "requests an epoch N", 1, 10_000_000),
        "walk": Parameter(0.15, "float", "deviation of one step of the request share", 0.001, 1),
        "zipf": Parameter((1.0, 0.7), "floats", "Zipf exponents of the two tenants", 0, 3),
        "objects": Parameter((1000.0, 4000.0), "floats", "objects of the two tenants", 2, 100_000),
        "start": START,
        "c": Parameter(1.0, "float", "part of a tenant's requests that goes to its own objects", 0, 1),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        super().setup(generators)
        lines = self.params["lines"]
        first, second = tenants(self.params)
        self._curves = che_curve(*first, lines), che_curve(*second, lines)
        self.fixed_start = fixed_start(self, generators)

    def model(self, location: float) -> ShareModel:
        params = self.params
        return ShareModel(self.horizon, params["requests"], params["walk"], location, self._curves)

    def world(self) -> CompiledProblem:
        params, location = self.params, self.c
        world = ffi.new("cache_lite_world *", {"lines": params["lines"], "requests": params["requests"]})
        world.walk, world.c = params["walk"], doubles(location)
        world.curve = [doubles(curve) for curve in self._curves]
        return CompiledProblem.of("cache_lite_step", world, location, self._curves)

    def info(self) -> dict[str, np.ndarray]:
        raw = super().info()
        if self.last:
            raw["lines"] = np.rint(raw["action"][:, 0] * self.params["lines"])
        return raw

    def rules(self) -> dict[str, Policy]:
        """`greedy` takes the best hit ratio of the moment as if moving were free (the UCP rule)."""
        policies = super().rules()
        policies["half"] = policies.pop("centre")
        policies.pop("stay", None)
        policies["proportional"] = lambda h, states: states[:, 1:].copy()
        policies["keep"] = lambda h, states: states[:, :1].copy()
        policies["greedy"] = self._greedy
        return policies

    def _greedy(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = np.empty((len(states), 1))
        for place in np.unique(self.c):
            chosen = np.flatnonzero(self.c == place)
            model = self.model(float(place))
            seen = expected_clip(states[chosen, 1:], model.deviation)
            actions[chosen, 0] = model.actions[first_best(model.hit_ratio(seen, model.actions[None, :]))]
        return actions


def tenants(params: Mapping[str, Any]) -> list[tuple[float, int]]:
    """(Zipf exponent, objects) of both tenants."""
    for field in ("zipf", "objects"):
        if len(params[field]) != 2:
            raise InputError(field, params[field], "must be two numbers, one a tenant")
    return [(float(s), int(n)) for s, n in zip(params["zipf"], params["objects"], strict=True)]


register_problem("cache-lite", CacheLite)
