"""Functions and choices that do not depend on the processor, so that a seed gives the same everywhere.

numpy, scipy and the C library hold several versions of exp, log, pow, cos and of matrix products, pick one by
the processor, and these differ in the last digit. A learner that once compares two nearly equal numbers then
takes another course. Whatever decides a state, a reward or an action uses the functions below. Values of a
dynamic program need not: `first_best` and `settle` keep their last digits out of the actions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

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
