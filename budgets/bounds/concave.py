"""Concave functions made of straight pieces: floats for a search, exact fractions for a certificate."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

#: A price is a float in the search and a Fraction in the certificate; both obey the same arithmetic.
Price = Any
#: A concave function from 0 on: (length, slope) of its pieces.
Pieces = list[tuple[Price, Price]]


def above(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Whether the line from a to c passes above b (or through it)."""
    return (c[1] - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (c[0] - a[0])


def add_first(pieces: Pieces, length: int, rate: int) -> Pieces:
    """The function plus `rate` times its argument up to `length`."""
    result: Pieces = []
    start: Price = 0
    for piece, slope in pieces:
        inside = max(0 * piece, min(piece, length + 0 * piece - start))
        result.extend((part, value) for part, value in ((inside, slope + rate), (piece - inside, slope)) if part)
        start += piece
    return result


def choose(below: Pieces, offers: list[tuple[int, Price, Price]], width: int) -> Pieces:
    """Best contribution of x families as a function of x up to `width`, when every member may split or not.

    A family has `size` members of each kind in `offers` (size, leaf, gain of splitting over that leaf), best
    gains first; `below` is what y splits bring beneath. With all kinds up to one of them split, y runs over
    [reach before·x, reach after·x], and a kind is split only while its gain plus the slope of `below` is
    positive. The derivative of that maximum in x is the sum below; it can only change where a reach meets a
    corner of `below`.
    """
    base = sum(size * leaf for size, leaf, _ in offers)
    if not below:
        return [(width + 0 * base, base)]
    ends = list(accumulate(length for length, _ in below))
    slopes = [slope for _, slope in below]
    kinds, reach = [], 0
    for size, _, gain in offers:
        kinds.append((reach, reach + size, gain))
        reach += size
    limit = width + 0 * base
    corners = sorted({end / after for end in ends for _, after, _ in kinds if end / after < limit} | {limit})
    result: Pieces = []
    start = 0 * base
    for corner in corners:
        middle = (start + corner) / 2
        slope = base
        for before, after, gain in kinds:
            for edge, sign in ((after, 1), (before, -1)):
                at = min(bisect_right(ends, edge * middle), len(slopes) - 1)
                slope += sign * edge * max(0, gain + slopes[at])
        if result and result[-1][1] == slope:
            result[-1] = (result[-1][0] + corner - start, slope)
        elif corner > start:
            result.append((corner - start, slope))
        start = corner + 0 * base
    return result


def best_price(value: Callable[[float], float], highest: float) -> float:
    """The minimum of a convex function on [0, highest] by golden section; only looseness depends on it."""
    ratio = (5**0.5 - 1) / 2
    low, high = 0.0, float(highest)
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = value(a), value(b)
    for _ in range(56):
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = value(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = value(b)
    return min((low, at_a), (a, at_a), (b, at_b), key=lambda pair: value(pair[0]))[0]
