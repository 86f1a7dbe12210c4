"""An upper bound on pool units, bytes and count entries: a certificate for every history of k samples.

What a unit can be (SPEC 3.8 to 3.13): a record, for a ball that has been visited; a routing block, for a
split (and, when a level has more than two bits, for each prefix with a visited child); a unit of a chain of
next-state counts; a node of a V tree; the table of the sharing test. Without a full pool each of them is
caused by samples:

- a split ball of level ℓ holds exactly its cost c_ℓ of own samples; a leaf holds fewer than c_ℓ (at the
  finest level any number), and at least one if it has a record;
- n own samples at level ℓ ≥ 1 make entries for at most e = min(n, 2^(dS·ℓ)) cells: one fits into the record
  itself; more take a unit of four in mode tracking (a fifth cell counts for its nearest), ⌈e/3⌉ units in
  mode paper; level 0 has one cell and stores nothing;
- the V tree of a step is refined below a state cell of level ℓ only if a ball over that cell has split, so
  it has at most (2^dS − 1)·min(x_ℓ, 2^(dS·ℓ)) nodes there, where x_ℓ is the number of split balls of
  level ℓ;
- where steps share in mode tracking, the held step has a tree of its own: dS = 0, so that it has neither
  counts nor V nodes, and every episode is at most one sample of it.

So the worst case maximises a sum over balls under Σ samples ≤ k and x_ℓ ≤ 2^d·x_{ℓ−1}. It is bounded by weak
duality: for every price p ≥ 0 of a sample, the sum is at most p·k plus the largest sum in which every sample
is paid with p, and that largest sum is found level by level because all terms are concave in the number of
balls (`_paid`). Every p gives a valid bound; the best p is searched in floating point and the bound is then
computed with that p in exact fractions, so rounding can make it looser but never wrong.

It is not the exact worst case: fractions of balls are allowed, a leaf is replaced by a concave function above
it, and one price serves all levels. `tests/unit/bounds/test_units.py` compares it with every history of a few
samples, `tests/unit/bounds/test_adversary.py` with an attack on the core itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import floor

from adamb.budgets.bounds.concave import Pieces, Price, above, add_first, best_price, choose
from adamb.budgets.bounds.exact import ForestBound, TreeBound
from adamb.budgets.bounds.layout import CHAIN_ENTRIES, TRACKING_ENTRIES, Layout
from adamb.budgets.bounds.thresholds import SplitRule
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.errors import InputError

OBJECTIVES = ("units", "entries", "records", "blocks", "counts", "values")


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
        """Contribution of a ball with so many own samples, without what its split brings."""
        record = 1 if samples else 0
        entries, units = self.layout.entries(samples, level), self.layout.count_units(samples, level)
        return {"units": record + units, "entries": entries, "records": record, "counts": units}.get(self.objective, 0)

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
            while len(hull) > 1 and hull[-1][0] > 1 and above(hull[-2], hull[-1], point):
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
                below = add_first(below, self._cells(level), self._value_rate())
            offers = []
            for size, blocks in groups:
                bonus = blocks * self._blocks
                leaf = self._leaf(level, price, bonus)
                split = -1 + 0 * price
                if splitting:
                    split = self._split_ball(level, price) + self._blocks + bonus - leaf
                offers.append((size, leaf, split))
            below = choose(below if splitting else [], offers, 1 << (self.rule.d * max(0, level - 1)))
        return sum(length * slope for length, slope in below)

    def bound(self, samples: int) -> int:
        """No history of that many samples has a larger contribution."""
        if samples < 0:
            raise InputError("samples", samples, "must be 0 or more")
        if samples == 0:
            return 0
        highest = 16 + self._value_rate()
        found = best_price(lambda p: p * samples + self._paid(p), highest)
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


@dataclass(frozen=True)
class ControllerBound:
    """Worst cases of a whole controller after so many episodes, and what block they need.

    >>> layout = Layout(d_s=1, d_a=1, horizon=5)
    >>> bound = ControllerBound(layout, layout.rule(gamma=2, phi=1, split="inherited"))
    >>> bound.units(100) < bound.units(1000)
    True
    """

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
            if trees == 1 and self.share != "off" and self.layout.mode == "tracking":
                held = TreeUnits(self.layout.held, self.rule.held(self.layout.d_a), 0, objective)
                units += held.bound(episodes)
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
    """Below so many free units the core starts to reclaim or refuses a split (SPEC 7.6 and 6.31)."""
    return max(spec.RECLAIM_ROOM + (total_units >> spec.RECLAIM_ROOM_SHIFT), spec.SPLIT_ROOM)
