"""Ratios of means over paired seeds, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adamb.host_sim.runner import half_widths


@dataclass(frozen=True)
class Ratio:
    """A ratio of means over paired seeds, with what each seed adds to its error."""

    value: float
    deviations: np.ndarray

    @property
    def ci95(self) -> float:
        return float(half_widths(self.deviations[:, None])[0])

    @property
    def low(self) -> float:
        return self.value - self.ci95

    @property
    def high(self) -> float:
        return self.value + self.ci95


def ratio(values: Sequence[float] | np.ndarray, base: Sequence[float] | np.ndarray) -> Ratio:
    """Mean of values over mean of base, seeds paired (first order in the deviations)."""
    above, below = np.asarray(values, dtype=float), np.asarray(base, dtype=float)
    value = float(above.mean() / below.mean())
    return Ratio(value, (above - value * below) / below.mean())


def average(ratios: Sequence[Ratio]) -> Ratio:
    """The mean of ratios that were measured on the same seeds."""
    value = float(np.mean([each.value for each in ratios]))
    return Ratio(value, np.mean([each.deviations for each in ratios], axis=0))


def in_percent(share: Ratio) -> str:
    """Of one seed only the value: it has no interval."""
    half = f" ± {100 * share.ci95:.1f}" if len(share.deviations) > 1 else ""
    return f"{100 * share.value:.1f}{half}"
