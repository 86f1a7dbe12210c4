"""Numbers that are the same on every machine: functions and choices that do not depend on the processor, and random
draws, one stream for each purpose of an instance.

numpy, scipy and the C library hold several versions of exp, log, pow, cos and of matrix products, pick one by
the processor, and these differ in the last digit. A learner that once compares two nearly equal numbers then
takes another course. Whatever decides a state, a reward or an action uses the functions below. Values of a
dynamic program need not: `first_best` and `settle` keep their last digits out of the actions.

`Generator.random` and `integers` are exact. `standard_normal` and `beta` ask the C library for logarithms,
`uniform` may be compiled to a fused multiply-add: the functions here stand in for them, with the same numbers
but for a last digit (and, for Beta shapes below 1, by another method). A problem reads its streams in blocks whose
length does not depend on how many instances step together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim._sim import ffi, lib

# Looked up once: these functions are called at every step.
_exact_map, _from_buffer, _DOUBLES = lib.exact_map, ffi.from_buffer, ffi.typeof("double[]")

#: Below it, two values of a dynamic program count as equal: rounding errors are a thousand times smaller.
TIE = 1e-10
#: Actions that come out of a formula with library functions are multiples of this.
ACTION_GRID = 2.0**-24

_PI = Fraction(3141592653589793238462643383279502884197, 10**39)


def _map(which: int, values: np.ndarray | float) -> np.ndarray:
    result = np.array(values, dtype=float, order="C")
    _exact_map(which, _from_buffer(_DOUBLES, result), result.size)
    return result


def exp(values: np.ndarray | float) -> np.ndarray:
    return _map(lib.EXACT_EXP, values)


def exp2(values: np.ndarray | float) -> np.ndarray:
    return _map(lib.EXACT_EXP2, values)


def log(values: np.ndarray | float) -> np.ndarray:
    return _map(lib.EXACT_LOG, values)


def log2(values: np.ndarray | float) -> np.ndarray:
    return _map(lib.EXACT_LOG2, values)


def log1p(values: np.ndarray | float) -> np.ndarray:
    return _map(lib.EXACT_LOG1P, values)


@lru_cache(maxsize=4096)
def cosine_of_turn(part: int, whole: int) -> float:
    """cos(2 pi part/whole), by the Taylor series in fractions."""
    turn = Fraction(part % whole, whole)
    angle = 2 * _PI * min(turn, 1 - turn)
    term, total = Fraction(1), Fraction(1)
    for k in range(1, 26):
        term = (term * -angle * angle / ((2 * k - 1) * 2 * k)).limit_denominator(10**40)
        total += term
    return float(total)


def first_best(values: np.ndarray) -> np.ndarray:
    """Along the last axis, the first index whose value is the largest but for rounding."""
    return np.argmax(values >= values.max(axis=-1, keepdims=True) - TIE, axis=-1)


def settle(actions: np.ndarray) -> np.ndarray:
    """Actions on a grid far finer than matters and far coarser than rounding errors."""
    return np.rint(np.asarray(actions) / ACTION_GRID) * ACTION_GRID


def interpolate(at: np.ndarray, nodes: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """As np.interp, which a compiler may fuse."""
    cell = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, len(nodes) - 2)
    width = np.maximum(nodes[cell + 1] - nodes[cell], 1e-300)
    share = np.clip((at - nodes[cell]) / width, 0.0, 1.0)
    return heights[cell] + share * (heights[cell + 1] - heights[cell])


def read_line(heights: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The line through heights at 0, 1, 2, ..., read at points between them."""
    cell = np.minimum(at.astype(np.int64), len(heights) - 2)
    return heights[cell] + (at - cell) * (heights[cell + 1] - heights[cell])


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
        """Episodes that one block still holds; more are drawn where it holds none."""
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
            from adamb.host_sim.user_code import place_of

            shape = f"({', '.join(('episodes', 'H')[: len(leads)])}, ...)"
            limit = f"must return {shape} numbers of one instance, for 1 episode here {leads}{place_of(self._draw)}"
            raise InputError(getattr(self._draw, "__name__", "draw"), np.shape(drawn), limit)


def normal(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal numbers."""
    out = np.empty(shape)
    lib.draws_normal(ziggurat(), _bits(generator), ffi.from_buffer("double[]", out), out.size)
    return out


def beta(generator: np.random.Generator, a: float, b: float, shape: tuple[int, ...]) -> np.ndarray:
    """Beta(a, b) numbers."""
    out = np.empty(shape)
    lib.draws_beta(ziggurat(), _bits(generator), a, b, ffi.from_buffer("double[]", out), out.size)
    return out


def uniform(generator: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Uniform numbers from low to high."""
    return low + (high - low) * generator.random(n)


def _bits(generator: np.random.Generator) -> Any:
    return ffi.cast("void *", generator.bit_generator.ctypes.bit_generator.value)


@lru_cache(maxsize=1)
def ziggurat() -> Any:
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
