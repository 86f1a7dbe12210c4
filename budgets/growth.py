"""How fast a measured quantity grows with the number of episodes, and whether it stayed below its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adamb.budgets.errors import InputError

#: A fit uses the last part of a run: the first hundredth is start-up, where constants hide the growth.
FIT_FROM = 0.01


@dataclass(frozen=True)
class Exponent:
    """The slope of log(value) over log(episode): mean over seeds, and the half width of its 95 % interval."""

    measured: float
    ci95: float | None
    seeds: int
    first_episode: int
    last_episode: int


@dataclass(frozen=True)
class Violation:
    """A measurement above its bound; there must be none."""

    quantity: str
    episode: int
    seed: int
    measured: float
    bound: float

    def __str__(self) -> str:
        return (
            f"{self.quantity} = {self.measured:g} after episode {self.episode} of seed {self.seed}, "
            f"above the bound {self.bound:g}"
        )


def log_points(episodes: int, per_decade: int = 8) -> list[int]:
    """Episodes 1 … K, evenly spaced on a logarithmic axis, always with the last."""
    if episodes < 1:
        raise InputError("episodes", episodes, "must be at least 1")
    if per_decade < 1:
        raise InputError("per_decade", per_decade, "must be at least 1")
    count = max(2, round(np.log10(episodes) * per_decade) + 1)
    return sorted({*np.geomspace(1, episodes, count).round().astype(int).tolist(), episodes})


def fit_exponent(points: Sequence[int], values: np.ndarray, *, fit_from: float = FIT_FROM) -> Exponent | None:
    """The growth exponent of values (seeds, points); None when fewer than three usable points remain.

    One slope per seed, then Student's t over the seeds: seeds are independent, the points of one run are not.
    """
    from scipy import stats

    episodes, table = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(episodes):
        raise InputError("values", table.shape, "must have one row per seed and one column per point")
    usable = (episodes >= fit_from * episodes[-1]) & (table > 0).all(axis=0)
    if usable.sum() < 3:
        return None
    x = np.log(episodes[usable])
    x -= x.mean()
    slopes = np.log(table[:, usable]) @ x / (x @ x)
    seeds = len(slopes)
    ci95 = float(stats.t.ppf(0.975, seeds - 1) * stats.sem(slopes)) if seeds > 1 else None
    first, last = int(episodes[usable][0]), int(episodes[usable][-1])
    return Exponent(float(slopes.mean()), ci95, seeds, first, last)


def violations(
    quantity: str, points: Sequence[int], values: np.ndarray, bounds: Sequence[float], seeds: Sequence[int]
) -> list[Violation]:
    """Every measurement (seeds, points) that is above the bound of its point."""
    table, limits = np.asarray(values, dtype=float), np.asarray(bounds, dtype=float)
    rows, columns = np.nonzero(table > limits[None, :])
    return [
        Violation(quantity, int(points[j]), int(seeds[i]), float(table[i, j]), float(limits[j]))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
