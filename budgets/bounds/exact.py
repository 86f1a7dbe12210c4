"""Exact worst case of the number of splits and leaves after k samples.

Theorem (level filling). Let a ball of level ℓ need c_ℓ ≥ 1 samples of its own before it splits into 2^d
balls, and let c_1 ≤ c_2 ≤ …  After k samples a tree has at most S(k) split balls, where S(k) is found by
paying for the root, then for all 2^d balls of level 1, then for all 4^d of level 2, …, until the samples run
out. It has at most 1 + (2^d − 1)·S(k) leaves, and both numbers can be reached.

Proof. Let x_ℓ be the number of split balls of level ℓ.
(1) Every sample is an own sample of exactly one ball, and a split ball of level ℓ holds at least c_ℓ own
    samples: it needed them to split and keeps them. (Merging children gives their samples to the parent, so
    this still holds after the parent splits again; halving or restarting only removes samples; a ball that
    could not split because the pool was full merely holds more than it needs.) Hence Σ c_ℓ·x_ℓ ≤ k.
(2) A split ball of level ℓ ≥ 1 is one of the 2^d children of a split ball, so x_0 ≤ 1, x_ℓ ≤ 2^d·x_{ℓ−1} and
    therefore x_ℓ ≤ w_ℓ = 2^(dℓ).
(3) Fix n ≥ 1 splits. Any such tree has x_0 = 1. Among all vectors with 0 ≤ x_ℓ ≤ w_ℓ, x_0 = 1 and Σ x_ℓ = n,
    Σ c_ℓ·x_ℓ is least when the n − 1 other splits sit on the cheapest places, and as c_1 ≤ c_2 ≤ … these are
    level 1 up to w_1, then level 2 up to w_2, and so on: moving one split to a lower level that
    is not full never costs more (exchange). c_0 needs no order, as every tree with a split pays it once.
(4) That vector belongs to a tree: all levels but the last are full, so the last level's splits have parents.
    Its cost f(n) is thus the least number of samples with which n splits exist, f increases with n, and
    S(k) = max{n : f(n) ≤ k}.
(5) Every split replaces one leaf by 2^d. The bound is reached by an adversary that sends each sample to the
    next ball of the filling order. ∎

For thresholds ⌈φ·2^(γℓ)⌉ the order c_1 ≤ c_2 ≤ … always holds for split=own. For split=inherited the
ceilings can break it when γ or φ is small (φ = 3/2, γ = 1/2 gives the costs 2, 1, 1, 2, 1, 3, …). Then each
cost is replaced by the smallest cost at its level or deeper: that only makes splits cheaper, so the result
is still an upper bound, and `tight` says that it may not be reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from adamb.budgets.bounds.thresholds import SplitRule
from adamb.firmware_model.host.errors import InputError

SHARES = ("off", "on", "auto")


@dataclass(frozen=True)
class Filling:
    """The level filling of one tree after `samples` samples."""

    samples: int
    per_level: tuple[int, ...]
    leaves: int
    finest_leaf: int
    tight: bool

    @property
    def splits(self) -> int:
        return sum(self.per_level)


@dataclass(frozen=True)
class TreeBound:
    """Worst cases of one tree under a split rule; all methods are exact integers.

    >>> from adamb.budgets import split_rule
    >>> TreeBound(split_rule(d=2, gamma=3)).leaves(2000)
    67
    """

    rule: SplitRule

    @cached_property
    def costs(self) -> tuple[int, ...]:
        """Costs made non-decreasing from level 1 on (unchanged when they already are)."""
        relaxed = list(self.rule.costs)
        for level in range(len(relaxed) - 2, 0, -1):
            relaxed[level] = min(relaxed[level], relaxed[level + 1])
        return tuple(relaxed)

    @property
    def tight(self) -> bool:
        return self.costs == self.rule.costs

    def fill(self, samples: int) -> Filling:
        """Fill levels in order with `samples` samples; the theorem above says this is the worst case."""
        if samples < 0:
            raise InputError("samples", samples, "must be 0 or more")
        per_level, left, width = [], samples, 1
        for cost in self.costs:
            taken = min(width, left // cost)
            if taken == 0:
                break
            per_level.append(taken)
            left -= taken * cost
            if taken < width:
                break
            width <<= self.rule.d
        leaves = 1 + ((1 << self.rule.d) - 1) * sum(per_level)
        return Filling(samples, tuple(per_level), leaves, self.deepest(samples), self.tight)

    def splits(self, samples: int) -> int:
        return self.fill(samples).splits

    def leaves(self, samples: int) -> int:
        return self.fill(samples).leaves

    def deepest(self, samples: int) -> int:
        """The finest level that any tree can reach: all samples down one path."""
        left, level = samples, 0
        for cost in self.rule.costs:
            if left < cost:
                break
            left -= cost
            level += 1
        return level

    def samples_for_level(self, level: int) -> int | None:
        """The fewest samples after which a ball of that level can exist; None if it never can."""
        return sum(self.rule.costs[:level]) if level <= self.rule.finest else None


@dataclass(frozen=True)
class ForestBound:
    """Worst cases of a whole controller: one tree per step, or one tree for all steps.

    In K episodes each per-step tree gets K samples; a shared tree gets K·H. `auto` starts shared and may
    restart per step, so at any episode it is at most the larger of the two.

    >>> from adamb.budgets import split_rule
    >>> tree = TreeBound(split_rule(d=2, gamma=3))
    >>> ForestBound(tree, horizon=5).leaves(2000) == 5 * tree.leaves(2000)
    True
    """

    tree: TreeBound
    horizon: int
    share: str = "off"

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise InputError("horizon", self.horizon, "must be at least 1")
        if self.share not in SHARES:
            raise InputError("share", self.share, f"must be one of {', '.join(SHARES)}")

    @property
    def _rates(self) -> list[tuple[int, int]]:
        """(trees, samples per tree and episode) of every shape the controller can have."""
        per_step, shared = (self.horizon, 1), (1, self.horizon)
        return {"off": [per_step], "on": [shared], "auto": [per_step, shared]}[self.share]

    def shapes(self, episodes: int) -> list[tuple[int, int]]:
        """(trees, samples per tree) of every shape the controller can have after so many episodes."""
        if episodes < 0:
            raise InputError("episodes", episodes, "must be 0 or more")
        return [(trees, episodes * rate) for trees, rate in self._rates]

    def splits(self, episodes: int) -> int:
        return max(trees * self.tree.splits(samples) for trees, samples in self.shapes(episodes))

    def leaves(self, episodes: int) -> int:
        return max(trees * self.tree.leaves(samples) for trees, samples in self.shapes(episodes))

    def finest_leaf(self, episodes: int) -> int:
        return max(self.tree.deepest(samples) for _, samples in self.shapes(episodes))
