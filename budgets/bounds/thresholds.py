"""Split rule of balls: the thresholds that can trigger, and what a split at each level costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import Number, check_threshold, threshold

#: A larger threshold never triggers: the core counts own samples in 13 bits.
THRESHOLD_MAX: int = int(_spec.THRESHOLD_MAX)
#: More samples than there will ever be.
NEVER = 1 << 62
#: The deepest level a ball can have in the core's layout.
LEVEL_MAX: int = int(_spec.LEVEL_MAX)

#: What `split` can be, and what becomes of `inherited` in mode tracking: a ball whose mean is well known may
#: split early, at every EARLY_SAMPLES-th of its samples. With 1+1 dimensions EARLY_LEVELS levels below those
#: of the thresholds can be reached in this way alone.
RULES = ("own", "inherited")
EARLY = "early"
EARLY_SAMPLES: int = int(_spec.EARLY_MASK) + 1
EARLY_LEVELS: int = int(_spec.FINEST_EXTRA)


@dataclass(frozen=True)
class SplitRule:
    """Split rule of balls: the thresholds that can trigger, and what a split at each level costs.

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
    early_samples: int = EARLY_SAMPLES

    def held(self, d_a: int) -> SplitRule:
        """The rule of the held step, whose partition is over actions and may split early at any sample."""
        return replace(self, d=d_a, early_samples=1)

    @property
    def finest(self) -> int:
        return len(self.thresholds)

    @property
    def costs(self) -> tuple[int, ...]:
        """The fewest own samples with which a ball of each level splits; at least one.

        own: n + 1 ≥ n₊ after the update, so n₊ − 1 samples. inherited: min(ancestors, n₊(ℓ−1)) + n ≥ n₊; the
        ancestors of a ball that exists hold at least n₊(ℓ−1), so n₊(ℓ) − n₊(ℓ−1) samples, and n₊(0) at the
        root. early: the same, or below the root `early_samples`.
        """
        if self.rule == "own":
            return tuple(max(1, n - 1) for n in self.thresholds)
        costs = self._differences
        if self.rule == EARLY:
            costs = (*costs[:1], *(min(cost, self.early_samples) for cost in costs[1:]))
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
    'the threshold 32768 of level 5 is above 8190'
    """
    if d < 2:
        raise InputError("d", d, "must be at least 2 (one state and one action dimension)")
    if rule not in (*RULES, EARLY):
        raise InputError("split", rule, f"must be one of {', '.join(RULES)}")
    check_threshold(gamma, phi)
    found: list[int] = []
    for level in range(level_max):
        n = threshold(level, gamma, phi)
        if n > threshold_max:
            extra = min(level + EARLY_LEVELS, level_max) - level if d == 2 else 0
            early = _early_levels(rule, extra)
            because = f"the threshold {n} of level {level} is above {threshold_max}"
            more = f"; early splits reach {len(early)} levels more" if early else ""
            return SplitRule(d, rule, (*found, *early), because + more)
        found.append(n)
    return SplitRule(d, rule, tuple(found), f"the layout ends at level {level_max}")


def _early_levels(rule: str, count: int) -> tuple[int, ...]:
    """Levels below the last threshold, which only early splits reach."""
    return (int(_spec.THRESHOLD_NEVER),) * count if rule == EARLY else ()


def from_thresholds(d: int, thresholds: Sequence[int], rule: str) -> SplitRule:
    """The split rule of the levels of a block: a value above the limit ends it, unless balls split early."""
    found: list[int] = []
    for level, n in enumerate(thresholds):
        if n > THRESHOLD_MAX:
            early = _early_levels(rule, len(thresholds) - level)
            return SplitRule(d, rule, (*found, *early), f"the threshold of level {level} never triggers")
        found.append(int(n))
    return SplitRule(d, rule, tuple(found), f"the table ends at level {len(found)}")
