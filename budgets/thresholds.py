"""Exact integer thresholds n₊(ℓ) = ⌈φ·2^(γℓ)⌉ for rational φ and γ.

Floating point would misplace the ceiling whenever φ·2^(γℓ) is an integer or nearly so, and a threshold that
is one too small makes every bound on splits wrong. With γℓ = p/q and φ = a/b in lowest terms the threshold
is the smallest n with n^q·b^q ≥ a^q·2^p, which integers decide exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec

Number = int | float | str | Fraction | Decimal

#: A larger threshold never triggers: the core counts own samples in 13 bits.
THRESHOLD_MAX: int = int(_spec.THRESHOLD_MAX)
#: More samples than there will ever be.
NEVER = 1 << 62
#: The deepest level a ball can have in the core's layout.
LEVEL_MAX: int = int(_spec.LEVEL_MAX)

#: n^q has about q·13 bits; beyond this denominator the exact test would be slow for no gain in meaning.
DENOMINATOR_MAX = 1000
#: No run needs more; both keep every threshold a number that is quickly computed.
GAMMA_MAX, PHI_MAX = 16, 1_000_000

#: What `split` can be, and what becomes of `inherited` in mode tracking: a ball whose mean is well known may
#: split early, at every EARLY_SAMPLES-th of its samples. With 1+1 dimensions EARLY_LEVELS levels below those
#: of the thresholds can be reached in this way alone.
RULES = ("own", "inherited")
EARLY = "early"
EARLY_SAMPLES: int = int(_spec.EARLY_MASK) + 1
EARLY_LEVELS: int = int(_spec.FINEST_EXTRA)


def exact(field: str, value: Number) -> Fraction:
    """The rational number a user means: a float counts as the decimal text it prints as (0.1 is 1/10)."""
    try:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError
            return Fraction(repr(value))
        if isinstance(value, str):
            return Fraction(value.strip())
        return Fraction(value)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError, InvalidOperation):
        raise InputError(field, value, "must be a finite number such as 3, 2.5 or 5/2") from None


def _ceil_root(numerator: int, denominator: int, degree: int) -> int:
    """Smallest n ≥ 1 with n^degree·denominator ≥ numerator."""
    high = 1
    while high**degree * denominator < numerator:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree * denominator < numerator:
            low = middle
        else:
            high = middle
    return high


def threshold(level: int, gamma: Number, phi: Number = 1) -> int:
    """n₊(ℓ) = ⌈φ·2^(γℓ)⌉, exactly, for any level ≥ 0.

    >>> [threshold(level, gamma=2) for level in range(4)]
    [1, 4, 16, 64]
    """
    gamma_q, phi_q = _checked(gamma, phi)
    if level < 0:
        raise InputError("level", level, "must be 0 or more")
    exponent = gamma_q * level
    degree = exponent.denominator
    numerator = phi_q.numerator**degree << exponent.numerator
    return _ceil_root(numerator, phi_q.denominator**degree, degree)


def _checked(gamma: Number, phi: Number) -> tuple[Fraction, Fraction]:
    gamma_q, phi_q = exact("gamma", gamma), exact("phi", phi)
    if not 0 < gamma_q <= GAMMA_MAX:
        raise InputError("gamma", gamma, f"must be above 0 and at most {GAMMA_MAX}")
    if gamma_q.denominator > DENOMINATOR_MAX:
        raise InputError("gamma", gamma, f"must be a fraction with a denominator up to {DENOMINATOR_MAX}")
    if not 0 < phi_q <= PHI_MAX:
        raise InputError("phi", phi, f"must be above 0 and at most {PHI_MAX}")
    if phi_q.denominator > 10**18:
        raise InputError("phi", phi, "must have at most 18 decimals")
    return gamma_q, phi_q


@dataclass(frozen=True)
class SplitRule:
    """When balls split: the thresholds that can trigger, and what a split at each level costs.

    `thresholds[ℓ]` belongs to level ℓ; levels from `finest` on never split, because their threshold is above
    the 13-bit limit or because the layout has no deeper level (`finest_because` says which). A threshold
    above the limit stands for a level whose balls split early or never.

    >>> rule = split_rule(d=2, gamma=3)
    >>> rule.thresholds, rule.finest
    ((1, 8, 64, 512, 4096), 5)
    """

    d: int
    rule: str
    thresholds: tuple[int, ...]
    finest_because: str

    @property
    def finest(self) -> int:
        return len(self.thresholds)

    @property
    def costs(self) -> tuple[int, ...]:
        """The fewest own samples with which a ball of each level splits; at least one.

        own: n + 1 ≥ n₊ after the update, so n₊ − 1 samples. inherited: min(ancestors, n₊(ℓ−1)) + n ≥ n₊; the
        ancestors of a ball that exists hold at least n₊(ℓ−1), so n₊(ℓ) − n₊(ℓ−1) samples, and n₊(0) at the
        root. early: the same, or below the root EARLY_SAMPLES.
        """
        if self.rule == "own":
            return tuple(max(1, n - 1) for n in self.thresholds)
        costs = self._differences
        if self.rule == EARLY:
            costs = (*costs[:1], *(min(cost, EARLY_SAMPLES) for cost in costs[1:]))
        return costs

    @property
    def _differences(self) -> tuple[int, ...]:
        pairs = zip(self.thresholds, (0, *self.thresholds), strict=False)
        return tuple(max(1, n - before) if n <= THRESHOLD_MAX else NEVER for n, before in pairs)

    @property
    def waits(self) -> tuple[int, ...]:
        """The most own samples with which a ball of each level splits, if there is room.

        early: n₊(ℓ) − n₊(ℓ−1), whatever its ancestors hold; below the last threshold any number.
        """
        return self._differences if self.rule == EARLY else self.costs


def split_rule(
    d: int,
    gamma: Number,
    phi: Number = 1,
    rule: str = "own",
    *,
    threshold_max: int = THRESHOLD_MAX,
    level_max: int = LEVEL_MAX,
) -> SplitRule:
    """The split rule of a d-dimensional S×A with thresholds ⌈φ·2^(γℓ)⌉, cut where one cannot trigger.

    >>> split_rule(d=2, gamma=3).finest_because
    'the threshold 32768 is above 8190'
    """
    if d < 2:
        raise InputError("d", d, "must be at least 2 (one state and one action dimension)")
    if rule not in (*RULES, EARLY):
        raise InputError("split", rule, f"must be one of {', '.join(RULES)}")
    _checked(gamma, phi)
    found: list[int] = []
    for level in range(level_max):
        n = threshold(level, gamma, phi)
        if n > threshold_max:
            extra = min(level + EARLY_LEVELS, level_max) - level if d == 2 else 0
            early = _early_levels(rule, extra)
            return SplitRule(d, rule, (*found, *early), f"the threshold {n} is above {threshold_max}")
        found.append(n)
    return SplitRule(d, rule, tuple(found), f"the layout ends at level {level_max}")


def _early_levels(rule: str, count: int) -> tuple[int, ...]:
    """Levels below the last threshold, which only early splits reach."""
    return (int(_spec.THRESHOLD_NEVER),) * count if rule == EARLY else ()


def from_thresholds(
    d: int, thresholds: Sequence[int], rule: str, *, threshold_max: int = THRESHOLD_MAX
) -> SplitRule:
    """The split rule of the levels of a block: a value above the limit ends it, unless balls split early."""
    found: list[int] = []
    for level, n in enumerate(thresholds):
        if n > threshold_max:
            early = _early_levels(rule, len(thresholds) - level)
            return SplitRule(d, rule, (*found, *early), f"the threshold of level {level} never triggers")
        found.append(int(n))
    return SplitRule(d, rule, tuple(found), f"the table ends at level {len(found)}")
