"""How a run went over its episodes: the rows of curves.csv, and the running means that are drawn."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.files import csv_bytes
from adamb.host_sim.runner import half_widths

if TYPE_CHECKING:
    from adamb.host_sim.runner import RunResult

POINTS = 400
SMOOTHING = 50
"""A running mean covers this part of the episodes."""


@dataclass
class RunCurves:
    """curves.csv by column: a row per episode, means over the seeds; bytes only where they were recorded."""

    episode: list[float | None]
    reward_mean: list[float | None]
    reward_ci95: list[float | None]
    optimal_mean: list[float | None]
    regret_mean: list[float | None]
    bytes_mean: list[float | None]
    bytes_max: list[float | None]


def curves_csv(result: RunResult) -> bytes:
    """The file, from the returns of every seed."""
    reward, half = result.returns.mean(axis=0), half_widths(result.returns)
    single = len(result.seeds) == 1
    recorded = {int(point): column for column, point in enumerate(result.points)}
    regret = None if result.optimal is None else np.cumsum((result.optimal - result.returns).mean(axis=0))
    best = None if result.optimal is None else result.optimal.mean(axis=0)
    rows: list[list[object]] = []
    for k in range(result.episodes):
        column = recorded.get(k + 1)
        in_use = None if column is None else result.bytes[:, column]
        rows.append(
            [
                k + 1,
                repr(float(reward[k])),
                "" if single else repr(float(half[k])),
                "" if best is None else repr(float(best[k])),
                "" if regret is None else repr(float(regret[k])),
                "" if in_use is None else repr(float(in_use.mean())),
                "" if in_use is None else int(in_use.max()),
            ]
        )
    return csv_bytes([each.name for each in fields(RunCurves)], rows)


@dataclass
class RewardCurve:
    """Running means over the episodes, with the 95 % half width over the seeds of each mean."""

    window: int
    episode: list[int]
    reward: list[float]
    reward_ci95: list[float] | None
    optimal: list[float] | None


def reward_curve(returns: np.ndarray, optimal: np.ndarray | None) -> RewardCurve:
    """From returns (seeds, episodes); a single row gives no band."""
    episodes = returns.shape[1]
    window, ends = max(1, episodes // SMOOTHING), curve_ends(episodes)
    reward = running_mean(returns, ends, window)
    return RewardCurve(
        window,
        ends.tolist(),
        _short(reward.mean(axis=0)),
        None if len(reward) < 2 else _short(half_widths(reward)),
        None if optimal is None else _short(running_mean(optimal, ends, window).mean(axis=0)),
    )


def curve_ends(episodes: int) -> np.ndarray:
    """After which episodes a point is drawn: half of them close together at the start."""
    even = np.linspace(1, episodes, min(episodes, POINTS // 2))
    log = np.geomspace(1, episodes, min(episodes, POINTS // 2))
    return np.unique(np.concatenate([even, log]).round().astype(int))


def running_mean(values: np.ndarray, ends: np.ndarray, window: int) -> np.ndarray:
    """Mean of the last `window` columns before each end, or of as many as there are."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    starts = np.maximum(ends - window, 0)
    return (sums[:, ends] - sums[:, starts]) / (ends - starts)


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
