"""Exact worst case of pool units, bytes and count entries: a certificate for every history of k samples.

What a unit can be (SPEC.md, layout): a record, for a ball that has been visited; a routing block, for a
split (and, when a level has more than two bits, for each prefix with a visited child); a unit of a chain of
next-state counts; a node of a V tree; the table of the sharing test. Without a full pool each of them is
caused by samples:

- a split ball of level ℓ holds exactly its cost c_ℓ of own samples; a leaf holds fewer than c_ℓ (at the
finest
  level any number), and at least one if it has a record;
- n own samples at level ℓ ≥ 1 make entries for at most e = min(n, 2^(dS·ℓ)) cells: one fits into the record
itself;
  more take a unit of four in mode tracking (a fifth cell counts for its nearest), ⌈e/3⌉ units in mode paper;
  level 0 has one cell and stores nothing;
- the V tree of a step is refined below a state cell of level ℓ only if a ball over that cell has split, so
it has at
  most (2^dS − 1)·min(x_ℓ, 2^(dS·ℓ)) nodes there, where x_ℓ is the number of split balls of level ℓ.

So the worst case maximises a sum over balls under Σ samples ≤ k and x_ℓ ≤ 2^d·x_{ℓ−1}. It is bounded by weak
duality: for every price p ≥ 0 of a sample, the sum is at most p·k plus the largest sum in which every sample
is paid with p, and that largest sum is found level by level because all terms are concave in the number of
balls (`_paid`). Every p gives a valid bound; the best p is searched in floating point and the bound is then
computed with that p in exact fractions, so rounding can make it looser but never wrong.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import floor
from typing import Any

from adamb.budgets.bounds_exact import ForestBound, TreeBound
from adamb.budgets.controller import level_limit
from adamb.budgets.errors import InputError
from adamb.budgets.thresholds import EARLY, Number, SplitRule, split_rule
from adamb.firmware_model import _spec as spec

#: A price is a float in the search and a Fraction in the certificate; both obey the same arithmetic.
Price = Any
#: A concave function from 0 on: (length, slope) of its pieces.
Pieces = list[tuple[Price, Price]]

#: Entries of a unit: all its words in mode tracking; mode paper needs one of them as a link.
TRACKING_ENTRIES = int(spec.UNIT_WORDS)
CHAIN_ENTRIES = int(spec.UNIT_WORDS) - 1
MODES = ("tracking", "paper")
OBJECTIVES = ("units", "entries", "records", "blocks", "counts", "values")


@dataclass(frozen=True)
class Layout:
    """The dimensions that decide how many units things take."""

    d_s: int
    d_a: int
    horizon: int
    mode: str = "tracking"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError("mode", self.mode, f"must be one of {', '.join(MODES)}")
        for field, value in (("d_s", self.d_s), ("d_a", self.d_a)):
            if not 1 <= value <= spec.DIM_MAX:
                raise InputError(field, value, f"must be from 1 to {spec.DIM_MAX}")
        if not 1 <= self.horizon <= spec.HORIZON_MAX:
            raise InputError("horizon", self.horizon, f"must be from 1 to {spec.HORIZON_MAX}")

    @property
    def d(self) -> int:
        return self.d_s + self.d_a

    @property
    def level_max(self) -> int:
        """Where the bits of the codes or of a count entry end."""
        return level_limit(self.d_s, self.d_a)

    def header_units(self, finest: int) -> int:
        """Header, thresholds of levels 0..finest and the words of every step, in whole units."""
        words = int(spec.H_WORDS) + finest + 1 + self.horizon * int(spec.S_WORDS)
        return -(-words // int(spec.UNIT_WORDS))

    @property
    def child_groups(self) -> list[tuple[int, int]]:
        """(children, blocks that the first visit of each adds) of one split ball, most blocks first.

        A block routes by two bits. The first block comes with the split; the others come with the first
        visited child behind them, so visits that open new prefixes first add the most.
        """
        groups, prefixes, seen = [], [1 << bits for bits in range(2, self.d, 2)], 0
        for left, count in zip(range(len(prefixes), 0, -1), prefixes, strict=True):
            groups.append((count - seen, left))
            seen = count
        return [*groups, ((1 << self.d) - seen, 0)]

    def entries(self, samples: int, level: int) -> int:
        """The most cells that so many own samples of a ball give an entry."""
        cells = 1 << (self.d_s * level)
        most = min(samples, cells) if level else 0
        return min(most, TRACKING_ENTRIES) if self.mode == "tracking" else most

    def count_units(self, samples: int, level: int) -> int:
        """The units that these entries take beside the record."""
        entries = self.entries(samples, level)
        if entries <= 1:
            return 0
        return 1 if self.mode == "tracking" else -(-entries // CHAIN_ENTRIES)

    def rule(self, gamma: Number, phi: Number, split: str) -> SplitRule:
        rule = EARLY if split == "inherited" and self.mode == "tracking" else split
        return split_rule(self.d, gamma, phi, rule, level_max=self.level_max)


@dataclass(frozen=True)
class TreeUnits:
    """Worst cases of one tree and of the V trees that depend on it (`value_trees` of them)."""

    layout: Layout
    rule: SplitRule
    value_trees: int
    objective: str = "units"

    def _cells(self, level: int) -> int:
        return 1 if level == 0 else 1 << (self.layout.d_s * level)

    def _ball(self, samples: int, level: int) -> int:
        """What a ball with so many own samples contributes, apart from what its split brings."""
        record = 1 if samples else 0
        entries, units = self.layout.entries(samples, level), self.layout.count_units(samples, level)
        return {
            "units": record + units,
            "entries": entries,
            "records": record,
            "counts": units,
        }.get(self.objective, 0)

    def _leaf_points(self, level: int) -> list[tuple[int, int]]:
        """Corners (samples, contribution) of the smallest concave function above that of a leaf.

        One sample stays a corner of its own: what the first visit adds besides (`_leaf`) belongs to it alone.
        """
        most = self._cells(level) if self.layout.mode == "paper" else TRACKING_ENTRIES
        if level < self.rule.finest:
            most = min(most, self.rule.waits[level] - 1)
        hull = [(0, 0)]
        for n in _corner_samples(most):
            point = (n, self._ball(n, level))
            while len(hull) > 1 and hull[-1][0] > 1 and _above(hull[-2], hull[-1], point):
                hull.pop()
            if point[1] > hull[-1][1]:
                hull.append(point)
        return hull

    @lru_cache(maxsize=1024)  # noqa: B019 (small, and shared by equal trees)
    def _leaf_pieces(self, level: int) -> tuple[tuple[int, int], ...]:
        corners = self._leaf_points(level)
        return tuple((after[0] - before[0], after[1] - before[1]) for before, after in pairwise(corners))

    def _leaf(self, level: int, price: Price, bonus: int) -> Price:
        """The best a leaf can bring when samples are paid; `bonus` comes with its first sample."""
        total = 0 * price
        for n, gain in self._leaf_pieces(level) or ((1, 0),):
            total += max(0, gain + bonus - price * n)
            bonus = 0
        return total

    def _split_ball(self, level: int, price: Price) -> Price:
        """The best a ball can bring before its split: at once, or after more samples where it may wait."""
        first, last = self.rule.costs[level], self.rule.waits[level]
        later = range(first + 1, min(last, TRACKING_ENTRIES) + 1)  # only tracking may wait
        return max(self._ball(n, level) - price * n for n in (first, *later))

    @property
    def _blocks(self) -> int:
        return 1 if self.objective in ("units", "blocks") else 0

    def _value_rate(self) -> int:
        nodes = ((1 << self.layout.d_s) - 1) * self.value_trees
        return nodes if self.objective in ("units", "values") else 0

    def _paid(self, price: Price) -> Price:
        """The largest contribution of a whole tree when every sample costs `price`.

        `below` is what the children of x split balls can bring, with all that is under them, as a concave
        function of x. A fraction of a ball is allowed, which only adds.
        """
        below: Pieces = [((1 << (self.rule.d * self.rule.finest)) + 0 * price, 0 * price)]
        for level in range(self.rule.finest, -1, -1):
            groups = self.layout.child_groups if level else [(1, 0)]
            splitting = level < self.rule.finest
            if splitting:
                below = _add_first(below, self._cells(level), self._value_rate())
            offers = []
            for size, blocks in groups:
                bonus = blocks * self._blocks
                leaf = self._leaf(level, price, bonus)
                split = -1 + 0 * price
                if splitting:
                    split = self._split_ball(level, price) + self._blocks + bonus - leaf
                offers.append((size, leaf, split))
            below = _choose(below if splitting else [], offers, 1 << (self.rule.d * max(0, level - 1)))
        return sum(length * slope for length, slope in below)

    def bound(self, samples: int) -> int:
        """No history of that many samples has a larger contribution."""
        if samples < 0:
            raise InputError("samples", samples, "must be 0 or more")
        if samples == 0:
            return 0
        dearest = 16 + self._value_rate()
        found = _best_price(lambda p: p * samples + self._paid(p), dearest)
        price = Fraction(found).limit_denominator(1 << 40)
        total = price * samples + self._paid(price)
        if not isinstance(total, Fraction):
            raise TypeError("a certificate must not be rounded: a float got into the sum")
        return floor(total)


def _corner_samples(most: int) -> list[int]:
    """Sample counts at which counts can grow by a unit, and the largest count."""
    corners = [n for n in (1, 2) if n <= most]
    corners.extend(range(CHAIN_ENTRIES + 1, most + 1, CHAIN_ENTRIES))
    return corners if not corners or corners[-1] == most else [*corners, most]


def _above(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Whether the line from a to c passes above b (or through it)."""
    return (c[1] - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (c[0] - a[0])


def _add_first(pieces: Pieces, length: int, rate: int) -> Pieces:
    """The function plus `rate` times its argument up to `length`."""
    result: Pieces = []
    start: Price = 0
    for piece, slope in pieces:
        inside = max(0 * piece, min(piece, length + 0 * piece - start))
        result.extend(
            (part, value) for part, value in ((inside, slope + rate), (piece - inside, slope)) if part
        )
        start += piece
    return result


def _choose(below: Pieces, offers: list[tuple[int, Price, Price]], width: int) -> Pieces:
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


def _best_price(value: Callable[[float], float], dearest: float) -> float:
    """The minimum of a convex function on [0, dearest] by golden section; only looseness depends on it."""
    ratio = (5**0.5 - 1) / 2
    low, high = 0.0, float(dearest)
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


@dataclass(frozen=True)
class ControllerBound:
    """Worst cases of a whole controller after so many episodes, and what block they need."""

    layout: Layout
    rule: SplitRule
    share: str = "off"

    @property
    def forest(self) -> ForestBound:
        return ForestBound(TreeBound(self.rule), self.layout.horizon, self.share)

    @property
    def header_units(self) -> int:
        return self.layout.header_units(self.rule.finest)

    @lru_cache(maxsize=4096)  # noqa: B019 (a controller bound is asked a few hundred times and then dropped)
    def most(self, objective: str, episodes: int) -> int:
        """The most units (or records, blocks, counts, values, entries) that any run of so many episodes can
        have."""
        if objective not in OBJECTIVES:
            raise InputError("objective", objective, f"must be one of {', '.join(OBJECTIVES)}")
        worst = 0
        for trees, samples in self.forest.shapes(episodes):
            per_tree_values = self.layout.horizon // trees
            units = trees * TreeUnits(self.layout, self.rule, per_tree_values, objective).bound(samples)
            if self.share == "auto" and trees == 1 and objective == "units":
                units += int(spec.SHARE_TABLE_UNITS)
            worst = max(worst, units)
        return worst

    def units(self, episodes: int) -> int:
        return self.most("units", episodes)

    def block_units(self, pool_units: int) -> int:
        """Units of the smallest block in which so many pool units never reach the mark at which reclaiming
        starts."""
        total = self.header_units + pool_units + int(spec.POOL_SPARE)
        while total - self.header_units - pool_units < reclaim_mark(total):
            total += 1
        return total

    def block_bytes(self, episodes: int) -> int:
        """A block of this size never fills in so many episodes, whatever happens."""
        return self.block_units(self.units(episodes)) * int(spec.UNIT_WORDS) * 2

    def pool_units(self, block_bytes: int) -> int:
        """Pool units that a block offers before reclaiming starts; negative when not even the header fits."""
        total = min(block_bytes // (int(spec.UNIT_WORDS) * 2), int(spec.UNITS_MAX))
        return total - self.header_units - reclaim_mark(total)

    def first_binding_episode(self, block_bytes: int, limit: int = 10**7) -> int | None:
        """The first episode after which a block of that size can be full; None if not within `limit`
        episodes."""
        room = self.pool_units(block_bytes)
        if self.units(limit) <= room:
            return None
        low, high = -1, limit
        while high - low > 1:
            middle = (low + high) // 2
            if self.units(middle) > room:
                high = middle
            else:
                low = middle
        return high


def reclaim_mark(total_units: int) -> int:
    """Below so many free units the core starts to reclaim or refuses a split (SPEC.md, sections 6 and 7)."""
    return max(4 + (total_units >> 5), int(spec.SPLIT_ROOM))
