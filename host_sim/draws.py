"""Random draws: one stream for each purpose of an instance, and numbers that are the same on every machine.

A problem reads its streams in blocks whose length does not depend on how many instances step together.

`Generator.random` and `integers` are exact. `standard_normal` and `beta` ask the C library for logarithms,
`uniform` may be compiled to a fused multiply-add: the functions here stand in for them, with the same numbers
but for a last digit (and, for Beta shapes below 1, by another method).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.exact_math import exp, log
from adamb.host_sim.user_code import place_of

LAYERS = 256
#: Where the tail of a ziggurat of 256 equal areas begins, and the area of each.
EDGE, AREA = 3.6541528853610088, 0.004928673233974655


# One random stream per purpose, so that for example a fixed start leaves the noise as it was.
STREAM_INSTANCE, STREAM_START, STREAM_NOISE, STREAM_DRIFT, STREAM_POLICY = range(5)

TAPE_NUMBERS = 1024


def stream(seed: int, purpose: int) -> np.random.Generator:
    """The generator of one purpose of one instance."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


class Tape:
    """Random numbers of whole episodes, drawn in blocks per instance, handed out for all instances at once.

    The block length depends on the shape of one episode only, not on N: a block boundary is visible in the
    numbers when a draw mixes distributions.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        purpose: int,
        draw: Callable[[np.random.Generator, int], np.ndarray],
        leads: tuple[int, ...] = (),
    ) -> None:
        """`draw` gives an array (episodes, *leads, ...)."""
        self._seeds, self._purpose, self._draw, self._leads = seeds, purpose, draw, leads
        self._generators: list[np.random.Generator] = []
        self._block = np.empty(0)
        self._cursor = 0
        self._episodes = 0

    def episode(self) -> np.ndarray:
        """The numbers of the next episode; the last axis counts instances."""
        self.episodes_left()
        return self.take(1)[0]

    def episodes_left(self) -> int:
        """How many episodes one block still holds; more are drawn where it holds none."""
        if self._cursor == self._episodes:
            self._refill()
        return self._episodes - self._cursor

    def take(self, episodes: int) -> np.ndarray:
        """The numbers of the next episodes, no more than are left; the first axis counts episodes."""
        self._cursor += episodes
        return self._block[self._cursor - episodes : self._cursor]

    def _refill(self) -> None:
        if not self._generators:
            self._generators = [stream(seed, self._purpose) for seed in self._seeds]
            probe = self._draw(np.random.default_rng(0), 1)
            self._check(probe, (1, *self._leads))
            self._episodes = max(1, TAPE_NUMBERS // max(1, probe.size))
        draws = [self._draw(generator, self._episodes) for generator in self._generators]
        self._block = np.ascontiguousarray(np.stack(draws, axis=-1))
        self._cursor = 0

    def _check(self, drawn: Any, leads: tuple[int, ...]) -> None:
        if np.shape(drawn)[: len(leads)] != leads:
            place = place_of(self._draw)
            limit = f"the shape for {leads[0]} episode must begin with {leads}{place}"
            raise InputError(getattr(self._draw, "__name__", "draw"), np.shape(drawn), limit)


def normal(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal numbers."""
    out = np.empty(shape)
    lib.draws_normal(_ziggurat(), _bits(generator), ffi.from_buffer("double[]", out), out.size)
    return out


def beta(generator: np.random.Generator, a: float, b: float, shape: tuple[int, ...]) -> np.ndarray:
    """Beta(a, b) numbers."""
    out = np.empty(shape)
    lib.draws_beta(_ziggurat(), _bits(generator), a, b, ffi.from_buffer("double[]", out), out.size)
    return out


def uniform(generator: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Uniform numbers from low to high."""
    return low + (high - low) * generator.random(n)


def _bits(generator: np.random.Generator) -> Any:
    return ffi.cast("void *", generator.bit_generator.ctypes.bit_generator.value)


@lru_cache(maxsize=1)
def _ziggurat() -> Any:
    """The layers under exp(-x^2/2), from the widest up."""
    table, scale = ffi.new("draws_ziggurat *"), 2.0**52
    x, height = EDGE, _curve(EDGE)
    base = AREA / height
    table.edge, table.height[0] = EDGE, 1.0
    table.width[0], table.inside[0] = base / scale, int(x / base * scale)
    for layer in range(LAYERS - 1, 0, -1):
        table.width[layer], table.height[layer] = x / scale, height
        narrower = math.sqrt(-2.0 * float(log(AREA / x + height))) if layer > 1 else 0.0
        table.inside[layer] = int(narrower / x * scale)
        x, height = narrower, _curve(narrower)
    return table


def _curve(x: float) -> float:
    return float(exp(-0.5 * x * x))


def reflect(values: np.ndarray) -> np.ndarray:
    """Fold numbers back into [0,1] at the borders, so that a walk does not stick to them."""
    folded = np.mod(values, 2.0)
    return np.where(folded > 1.0, 2.0 - folded, folded)


def checked_seed(seed: object) -> int:
    """The seed of an instance as an int, or an InputError."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError("seed", seed, "must be a whole number from 0")
    return int(seed)
