"""Rewards of an environment as numbers from 0 to 1; what lies outside the bounds is clipped and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adamb.budgets.errors import InputError

MARGIN = 0.1


class RewardMap:
    """One affine map for all rewards, the raw 0 after the end of an episode among them."""

    def __init__(self, low: float | None, high: float | None, n: int) -> None:
        self._given = (low, high)
        self.low, self.high = (0.0 if low is None else low), (1.0 if high is None else high)
        self.clipped = np.zeros(n, dtype=np.int64)
        self._outermost = [np.inf, -np.inf]
        self._assumed = False
        if None not in self._given:
            self._check()

    @property
    def missing(self) -> bool:
        """Whether a bound must be estimated."""
        return None in self._given

    def fit(self, seen: Sequence[float]) -> None:
        """Take missing bounds from rewards of random play, a little wider; 0 is always inside.

        Random play that meets no reward but 0 says nothing about the scale: 0 to 1 is assumed.
        """
        low, high = min(0.0, *seen), max(0.0, *seen)
        margin = MARGIN * (high - low)
        self._assumed = low == high
        if self._given[0] is None:
            self.low = low - margin if low < 0 else 0.0
        if self._given[1] is None:
            self.high = high + margin if high > 0 else float(self._assumed)
        self._check()

    def _check(self) -> None:
        if not self.low < self.high:
            raise InputError("reward_high", self.high, f"must be above reward_low = {self.low}")

    def scale(self, raw: np.ndarray, where: str) -> np.ndarray:
        """Raw rewards (n,) from 0 to 1; an InputError for what is no finite number."""
        if not np.isfinite(raw).all():
            wrong = float(raw[~np.isfinite(raw)][0])
            raise InputError("reward", wrong, f"{where}: rewards must be numbers")
        inside = np.clip(raw, self.low, self.high)
        outside = inside != raw
        if outside.any():
            self.clipped += outside
            self._outermost = [min(self._outermost[0], raw.min()), max(self._outermost[1], raw.max())]
        return (inside - self.low) / (self.high - self.low)

    def notes(self, steps: int) -> list[str]:
        """What the user should know about the bounds after so many steps of every seed."""
        found = []
        lowest, highest = self._outermost
        if self.clipped.any():
            share = 100 * self.clipped.sum() / max(1, steps * len(self.clipped))
            sides = [f"--set reward_low={lowest:g}"] if lowest < self.low else []
            sides += [f"--set reward_high={highest:g}"] if highest > self.high else []
            found.append(
                f"{self.clipped.sum()} rewards ({share:.2g} %) were outside {self.low:g} to {self.high:g} "
                f"and clipped, which changes the task; {' '.join(sides)} takes them all"
            )
        elif self._assumed:
            found.append(
                f"random play met no reward but 0, so {self.low:g} to {self.high:g} is assumed; "
                "set reward_low and reward_high"
            )
        elif self.missing:
            found.append(
                f"rewards from {self.low:g} to {self.high:g} became 0 to 1, as far as random play went; "
                f"--set reward_low={self.low:g} --set reward_high={self.high:g} keeps these bounds"
            )
        return found
